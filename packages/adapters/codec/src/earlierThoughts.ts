/** Reasoning that is bound to what stands before it, where a later system message is sent in front of all. */
import { Message } from "@memfold/message"
import { leavingOut, type Sendable } from "./leavingOut.js"

/**
 * The messages without bound parts from before a system message in the midst of the conversation. A format that has system
 * messages apart sends it in front, and that changes what stands before all that was said earlier.
 *
 * @example
 * ```ts
 * import { withoutEarlierThoughts } from "@memfold/codec"
 * import { Message } from "@memfold/core"
 *
 * const thought = { type: "reasoning" as const, text: "It rains.", signature: "EqQB" }
 * const answer: Message.Message = { role: "assistant", parts: [thought, { type: "text", text: "Yes." }] }
 * const given = [Message.user("Does it rain?"), answer, Message.system("Be brief.")]
 * console.log(withoutEarlierThoughts(given).omitted) // [{ message: 1, part: "reasoning" }]
 * ```
 */
export const withoutEarlierThoughts = (messages: ReadonlyArray<Message.Message>): Sendable => {
  const begin = messages.findIndex(({ role }) => role !== "system")
  const last = messages.findLastIndex(({ role }) => role === "system")
  if (begin === -1 || last < begin) return { messages, omitted: [] }
  return leavingOut(messages, (part, _message, position) => position <= last && Message.isBound(part))
}
