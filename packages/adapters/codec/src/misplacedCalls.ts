/** Calls of tools in messages that are not the assistant's: no provider has a place for them. */
import type { Message } from "@memfold/message"
import type { Omitted } from "./Omitted.js"

const isMisplaced = ({ role, parts }: Message.Message): boolean =>
  role !== "assistant" && parts.some(({ type }) => type === "tool-call")

/**
 * The messages without calls outside of assistant messages, and without the results of these calls, which would answer
 * nothing. Every message stays in its place, if need be without parts.
 *
 * @example
 * ```ts
 * import { withoutMisplacedCalls } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 *
 * const call = { type: "tool-call" as const, id: "c1", name: "search", arguments: "{}" }
 * const given = [{ role: "user" as const, parts: [call] }, Message.result({ id: "c1", output: "found" })]
 * console.log(withoutMisplacedCalls(given).omitted.map(({ part }) => part)) // ["tool-call", "tool-result"]
 * ```
 */
export const withoutMisplacedCalls = (
  messages: ReadonlyArray<Message.Message>,
): { readonly messages: ReadonlyArray<Message.Message>; readonly omitted: ReadonlyArray<Omitted> } => {
  if (!messages.some(isMisplaced)) return { messages, omitted: [] }
  const omitted: Array<Omitted> = []
  /** For each id, whether its open calls are sent, the oldest first. */
  const open = new Map<string, Array<boolean>>()
  const sends = (part: Message.Part, role: Message.Role): boolean => {
    if (part.type === "tool-result") return open.get(part.id)?.shift() ?? true
    if (part.type !== "tool-call") return true
    open.set(part.id, [...(open.get(part.id) ?? []), role === "assistant"])
    return role === "assistant"
  }
  return {
    messages: messages.map((message, position) => {
      const parts = message.parts.filter((part) => {
        const sent = sends(part, message.role)
        if (!sent) omitted.push({ message: position, part: part.type })
        return sent
      })
      return parts.length === message.parts.length ? message : { ...message, parts }
    }),
    omitted,
  }
}
