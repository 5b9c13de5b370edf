/** What a page sends: new messages, and answers to calls that are open. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import type { UIMessage } from "ai"
import { metadataOf, ofType, ownData } from "./form.js"
import { responded, resultOf, toolOf } from "./ui/decode.js"

/** The ids of the calls without a result since the last message of a user, which closes all of them. */
const openCalls = (messages: ReadonlyArray<Message.Message>): ReadonlySet<string> => {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1)
  const open = new Set(since.flatMap(Message.calls).map(({ id }) => id))
  for (const { id } of since.flatMap(Message.results)) open.delete(id)
  return open
}

/**
 * The tool message with what a message of a page answers: results of tools that run on the page, and approvals. `undefined`
 * if it answers nothing that is open.
 *
 * @param stored the newest messages of the session
 * @param isKnown whether the message of the page is stored under its id
 */
export const answersOf = (
  page: UIMessage,
  stored: ReadonlyArray<Message.Message>,
  isKnown: boolean,
): Message.Message | undefined => {
  if (page.role !== "assistant") return undefined
  const open = openCalls(stored)
  const before = stored.flatMap((one) => one.parts)
  const asked = new Set(ofType(before, "tool-approval-request").map(({ approvalId }) => approvalId))
  const known = new Set(ofType(before, "tool-approval-response").map(({ approvalId }) => approvalId))
  const { parts: given } = Codec.freeze(page).json as { readonly parts: ReadonlyArray<Codec.Fields> }
  const parts = given.flatMap((part): ReadonlyArray<Message.Part> => {
    if (toolOf(part) === undefined) return []
    const result = resultOf(part)
    const responses = responded(part).filter((response) => {
      const id = ownData(response)?.["approvalId"]
      return asked.has(id) && !known.has(id) && open.has(String(part["toolCallId"]))
    })
    return [
      // On the page, the call says it; here nothing else does.
      ...responses.map(({ providerData: _derived, ...response }) => response as Message.Part),
      ...(result !== undefined && open.has(result.id) ? [result] : []),
    ]
  })
  if (parts.length === 0) return undefined
  const ui = isKnown ? { id: page.id, continues: true } : undefined
  return { role: "tool", parts, ...metadataOf({ ui }) }
}

/** Whether a message was sent by a page, or by a program as a model message. */
export const isOfPage = (message: unknown): message is UIMessage =>
  typeof message === "object" && message !== null && "parts" in message
