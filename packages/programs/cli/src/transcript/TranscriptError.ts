import type { Message } from "@memfold/core"
import { Schema } from "effect"
import { problemLine } from "./source.js"

/**
 * A text is not a valid transcript, or only its start is. The message is one line and never quotes the conversation:
 * `chat.jsonl:17: not JSON (unexpected end)`.
 *
 * - `line`: the line of the problem from 1, if known
 * - `problem`: the problem; `allowed`: the values that are allowed
 */
export class TranscriptError extends Schema.TaggedError<TranscriptError>()("TranscriptError", {
  file: Schema.String,
  line: Schema.optional(Schema.Positive),
  problem: Schema.String,
  allowed: Schema.optional(Schema.String),
}) {
  // A private field, because printing or serializing the error must not show the conversation.
  #readable: ReadonlyArray<Message.Message> = []

  /** The messages before the broken place. */
  get readable(): ReadonlyArray<Message.Message> {
    return this.#readable
  }

  /** This error with the messages before it. */
  after(readable: ReadonlyArray<Message.Message>): this {
    this.#readable = readable
    return this
  }

  override get message(): string {
    return problemLine(this)
  }
}
