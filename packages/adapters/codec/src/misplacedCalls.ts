/** Calls of tools in messages that are not the assistant's: no provider has a place for them. */
import type { Message } from "@memfold/message"
import { leavingOut, type Sendable } from "./leavingOut.js"

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
export const withoutMisplacedCalls = (messages: ReadonlyArray<Message.Message>): Sendable => {
  if (!messages.some(isMisplaced)) return { messages, omitted: [] }
  /** For each id, whether its open calls are left out, the oldest first. */
  const open = new Map<string, Array<boolean>>()
  return leavingOut(messages, (part, { role }) => {
    if (part.type === "tool-result") return open.get(part.id)?.shift() ?? false
    if (part.type !== "tool-call") return false
    const isLeftOut = role !== "assistant"
    open.set(part.id, [...(open.get(part.id) ?? []), isLeftOut])
    return isLeftOut
  })
}
