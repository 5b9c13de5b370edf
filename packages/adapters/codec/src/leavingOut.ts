/** Messages without parts that are not sent, and what was left out of them. */
import type { Message } from "@memfold/message"
import type { Omitted } from "./Omitted.js"

/** Messages, and what was left out of them. */
export interface Sendable {
  readonly messages: ReadonlyArray<Message.Message>
  readonly omitted: ReadonlyArray<Omitted>
}

/**
 * The messages without some of their parts. Every message stays in its place, if need be without parts.
 *
 * @param isLeftOut - whether a part is left out. It is asked once about each part, in their order
 */
export const leavingOut = (
  messages: ReadonlyArray<Message.Message>,
  isLeftOut: (part: Message.Part, message: Message.Message, position: number) => boolean,
): Sendable => {
  const omitted: Array<Omitted> = []
  return {
    messages: messages.map((message, position) => {
      const parts = message.parts.filter((part) => {
        const left = isLeftOut(part, message, position)
        if (left) omitted.push({ message: position, part: part.type })
        return !left
      })
      return parts.length === message.parts.length ? message : { ...message, parts }
    }),
    omitted,
  }
}
