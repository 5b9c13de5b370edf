/**
 * Which messages are pinned as they come in: shown verbatim for ever, whether covered or not. The leading system
 * messages are pinned anyhow, and so is what the caller marks. It is written into the log with the message.
 */
import type { Message } from "../message/Message.js"
import type { Structure } from "../message/Structure.js"

/** Decides for a message that is about to be appended where groups and rounds stand like this. */
export interface Pin {
  readonly pins: (message: Pick<Message, "role" | "name">, before: Structure) => boolean
}

/** The first message of the user's: what the conversation is about. */
export const firstUserMessage: Pin = {
  pins: ({ role }, { turn }) => role === "user" && turn === null,
}
