/** Divides what a summary is to be written of: what was said in the conversation, and material, which nobody in it has said. */
import { type Message, type Part, calls, failed, type ToolCall } from "@memfold/message/Message"
import { isMaterial, ofPart } from "@memfold/message/Origin"
import { OpenCalls } from "@memfold/message/Structure"
import type { Entry } from "../session/SessionState.js"

/** What a call has in place of its result where that is apart. */
export const resultApart = "(The result is among the material.)"

/** A part of the conversation in place of material: calls keep a result, so that nobody takes them for interrupted ones. */
const standIn = (part: Part): ReadonlyArray<Part> =>
  part.type === "tool-result"
    ? [{ type: "tool-result", id: part.id, output: resultApart, ...(failed(part) ? { isError: true } : {}) }]
    : []

const withParts = ({ role, name, time }: Message, parts: ReadonlyArray<Part>): Message => ({
  role,
  parts,
  ...(name === undefined || role === "tool" ? {} : { name }),
  ...(time === undefined ? {} : { time }),
})

/**
 * Divides messages by the origin of their parts. Material is always from a tool: nothing of it may look like the words of the user
 * or of the application. Its results have the names of their calls, which stay in the conversation.
 */
export const divide = (
  entries: ReadonlyArray<Entry>,
): { readonly said: ReadonlyArray<Entry>; readonly material: ReadonlyArray<Entry> } => {
  const said: Array<Entry> = []
  const material: Array<Entry> = []
  let open = new OpenCalls<ToolCall>()
  for (const entry of entries) {
    const { message } = entry
    if (message.role === "user") open = new OpenCalls()
    const isLow = (part: Part) => isMaterial(ofPart(message, part))
    const low = message.parts.filter(isLow).map((part): Part => {
      if (part.type !== "tool-result") return part
      const call = open.answer(part)
      return call === undefined ? part : { ...part, name: part.name ?? call.name }
    })
    open.addAll(calls(message))
    const parts = message.parts.flatMap((part) => (isLow(part) ? standIn(part) : [part]))
    if (low.length === 0) said.push(entry)
    else {
      material.push({ ...entry, message: withParts({ ...message, role: "tool" }, low) })
      if (parts.length > 0) said.push({ ...entry, message: withParts(message, parts) })
    }
  }
  return { said, material }
}
