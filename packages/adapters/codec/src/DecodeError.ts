/** The errors of codecs: what is given is no message of their format. */
import { Schema } from "effect"

const fields = {
  index: Schema.optional(Schema.NonNegativeInt),
  path: Schema.String,
  problem: Schema.String,
  allowed: Schema.String,
  use: Schema.optional(Schema.String),
}

/**
 * The class that the decode error of a codec extends. An error has the place and what is allowed there, never the content.
 *
 * - `index`: the position in the list, from zero; absent for a single message or when the list itself is wrong
 * - `path`: the field, like `content[0].toolCallId`; empty for the whole message
 * - `problem`: the rest of a sentence about the message, like `has no role`
 * - `allowed`: what may stand there
 * - `use`: for a message of another library, the package or the format that reads it
 *
 * @example
 * ```ts
 * import { DecodeError } from "@memfold/codec"
 *
 * class MyDecodeError extends DecodeError<MyDecodeError>()("MyDecodeError") {}
 * const error = new MyDecodeError({ index: 2, path: "role", problem: "has no role", allowed: "user, assistant" })
 * console.log(error.message) // message 2 has no role; allowed: user, assistant
 * ```
 */
export const DecodeError =
  <Self>() =>
  <Tag extends string>(
    tag: Tag,
    /** What the format calls a message. */
    one: "message" | "item" = "message",
  ): Schema.TaggedErrorClass<Self, Tag, { readonly _tag: Schema.tag<Tag> } & typeof fields> => {
    class Base extends Schema.TaggedError<Base>()(tag, fields) {
      override get message(): string {
        const subject = this.index === undefined ? "the input" : `${one} ${this.index}`
        return `${subject} ${this.problem}; allowed: ${this.allowed}`
      }
    }
    return Base as never
  }
