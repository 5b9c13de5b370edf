import type { Message } from "@memfold/core"
import { Schema } from "effect"

/**
 * A text that is no transcript, or stops being one somewhere. One line, never with what was said:
 * `chat.jsonl:17: not JSON (unexpected end)`.
 *
 * - `line`: from one, where the place is known
 * - `problem`: what is wrong, and `allowed`: what could stand there
 */
export class TranscriptError extends Schema.TaggedError<TranscriptError>()("TranscriptError", {
  file: Schema.String,
  line: Schema.optional(Schema.Positive),
  problem: Schema.String,
  allowed: Schema.optional(Schema.String),
}) {
  // A private field, so that nothing that prints or serialises the error shows the conversation.
  #readable: ReadonlyArray<Message.Message> = []

  /** The messages before the broken place, for who wants to keep them. */
  get readable(): ReadonlyArray<Message.Message> {
    return this.#readable
  }

  /** This error, with the messages that could be read before it. */
  after(readable: ReadonlyArray<Message.Message>): this {
    this.#readable = readable
    return this
  }

  override get message(): string {
    const line = this.line === undefined ? "" : `:${this.line}`
    const allowed = this.allowed === undefined ? "" : `; allowed: ${this.allowed}`
    return `${this.file}${line}: ${this.problem}${allowed}`
  }
}
