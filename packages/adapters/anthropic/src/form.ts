/**
 * How a message was written when it came from Anthropic, where that does not follow from its parts. Decoding leaves it
 * in `metadata.anthropic` of the message and `providerData.anthropic` of its parts. Encoding reads it there, so that
 * the same message comes out again.
 */
import * as Codec from "@memfold/codec"
import { Schema } from "effect"

/**
 * - `place`: a system message that stood among the messages, not in the `system` field
 * - `separate`: a message of its own although the one before has the same role
 * - `content`: a list of blocks where a string would do, or an empty list
 * - `fields`: further fields of the message
 * - `response`: what only a response has (`id`, `model`, `usage`, …); the API refuses it in a request
 */
export const Form = Schema.Struct({
  place: Schema.optional(Schema.Literal("messages")),
  separate: Schema.optional(Schema.Literal(true)),
  content: Schema.optional(Schema.Literal("blocks")),
  fields: Schema.optional(Codec.JsonFields),
  response: Schema.optional(Codec.JsonFields),
})
export type Form = typeof Form.Type

/**
 * How the block of a part was written, in `providerData.anthropic` of the part.
 *
 * - `fields`: further fields of the block (`cache_control`, `citations`, …)
 * - `content`: a tool result whose content was absent, or a list where a string would do
 */
export const PartForm = Schema.Struct({
  fields: Schema.optional(Codec.JsonFields),
  content: Schema.optional(Schema.Literal("absent", "blocks")),
})
export type PartForm = typeof PartForm.Type

export const { formOf, metadataOf, opaque, partFormOf, withForm } = Codec.forms("anthropic", Form, PartForm)

/** Whether a text has nothing to read. The API refuses such texts. */
export const isBlank = (text: string): boolean => text.trim() === ""
