import { Schema } from "effect"

/**
 * The input is no message of Mastra. The error has the place and what is allowed there, never the content.
 *
 * - `index`: the position in the list, from zero; absent when the list itself is wrong
 * - `path`: the field, like `content.parts`; empty for the whole message
 * - `problem`: the rest of a sentence about the message, like `has no id`
 * - `use`: for a message of another library, the package or the format that reads it
 */
export class MastraDecodeError extends Schema.TaggedError<MastraDecodeError>()("MastraDecodeError", {
  index: Schema.optional(Schema.NonNegativeInt),
  path: Schema.String,
  problem: Schema.String,
  allowed: Schema.String,
  use: Schema.optional(Schema.String),
}) {
  override get message(): string {
    const subject = this.index === undefined ? "the input" : `message ${this.index}`
    return `${subject} ${this.problem}; allowed: ${this.allowed}`
  }
}
