import { Schema } from "effect"

/**
 * The input is no item of the OpenAI Agents SDK. The error has the place and what is allowed there, never the content.
 *
 * - `index`: the position in the list, from zero; absent if the list itself is wrong
 * - `path`: the field, like `callId`; empty for the whole item
 * - `problem`: the rest of a sentence about the item, like `has no callId`
 */
export class AgentsDecodeError extends Schema.TaggedError<AgentsDecodeError>()("AgentsDecodeError", {
  index: Schema.optional(Schema.NonNegativeInt),
  path: Schema.String,
  problem: Schema.String,
  allowed: Schema.String,
}) {
  override get message(): string {
    const subject = this.index === undefined ? "the input" : `item ${this.index}`
    return `${subject} ${this.problem}; allowed: ${this.allowed}`
  }
}
