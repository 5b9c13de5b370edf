import { Schema } from "effect"

/**
 * A message that is no Chat Completions message. Says where and what is allowed there, never what was said.
 *
 * - `index`: the position in the list, from zero; absent for a single message or when the list itself is wrong
 * - `path`: the field, like `tool_calls[0].function.name`; empty for the whole message
 * - `problem`: the rest of a sentence about the message, like `has no role`
 */
export class OpenAIDecodeError extends Schema.TaggedError<OpenAIDecodeError>()("OpenAIDecodeError", {
  index: Schema.optional(Schema.NonNegativeInt),
  path: Schema.String,
  problem: Schema.String,
  allowed: Schema.String,
}) {
  override get message(): string {
    const subject = this.index === undefined ? "the input" : `message ${this.index}`
    return `${subject} ${this.problem}; allowed: ${this.allowed}`
  }
}
