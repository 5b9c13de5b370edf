/**
 * How a message was written when it came from OpenAI, where that does not follow from its parts. Decoding leaves it in
 * `metadata.openai` of the message and `providerData.openai` of its parts. Encoding reads it there, so that the same
 * message comes out again.
 */
import * as Codec from "@memfold/codec"
import { Schema } from "effect"

/**
 * - `role`: the role on the wire, where memfold has another name for it
 * - `content`: how the content was written, where another way would be usual
 * - `reasoning`: the field that the reasoning came in (an extension of several compatible servers)
 * - `fields`: further fields of the message
 * - `response`: what only a whole response has (`id`, `model`, …); it is never sent
 */
export const Form = Schema.Struct({
  role: Schema.optional(Schema.Literal("developer", "function")),
  content: Schema.optional(Schema.Literal("absent", "null", "parts")),
  reasoning: Schema.optional(Schema.Literal("reasoning_content", "reasoning")),
  fields: Schema.optional(Codec.JsonFields),
  response: Schema.optional(Codec.JsonFields),
})
export type Form = typeof Form.Type

/**
 * How a part was written, in `providerData.openai` of the part.
 *
 * - `fields`: further fields of its wire form (`detail`, `cache_control`, …)
 * - `call`: a call that is not of type `function`
 */
export const PartForm = Schema.Struct({
  fields: Schema.optional(Codec.JsonFields),
  call: Schema.optional(Schema.Literal("custom", "function_call")),
})
export type PartForm = typeof PartForm.Type

export const { formOf, metadataOf, opaque, partFormOf, withForm } = Codec.forms("openai", Form, PartForm)
