/**
 * Pin rules: which messages are pinned when they are appended. A pinned message is always shown verbatim, even when a
 * summary covers it. The leading system messages and the messages that the caller marks are pinned without a rule.
 */
import type { Message } from "@memfold/message/Message"
import type { Structure } from "@memfold/message/Structure"

/** The pin rule of a strategy. */
export interface Pin {
  /**
   * Returns whether to pin a message that is about to be appended. `before` has the turn and the open calls before it.
   * The answer is stored with the message and does not change when the strategy changes.
   */
  readonly pins: (message: Pick<Message, "role" | "name">, before: Structure) => boolean
}

/** Pins the first user message, which usually states what the conversation is about. */
export const firstUserMessage: Pin = {
  pins: ({ role }, { turn }) => role === "user" && turn === null,
}
