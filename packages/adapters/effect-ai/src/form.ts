/**
 * How a message was written when it came from Effect AI, where that does not follow from its parts. Decoding leaves it in
 * `metadata["effect-ai"]` of the message and `providerData["effect-ai"]` of its parts. Encoding reads it there, so that the
 * same message comes out again.
 */
import * as Codec from "@memfold/codec"
import { Schema } from "effect"

/**
 * - `options`: options of the message, by provider
 * - `items`: how many parts are bound to their prefix and have the id of an item of the provider
 * - `response`: parts of a response that a prompt has no place for (`finish`, `response-metadata`, `source`, `error`), each with
 *   its position among all parts of the response
 * - `special`: the values that are no JSON
 */
export const Form = Schema.Struct({
  options: Schema.optional(Codec.JsonFields),
  items: Schema.optional(Schema.NonNegativeInt),
  response: Schema.optional(
    Schema.Array(Schema.Struct({ at: Schema.NonNegativeInt, part: Codec.JsonFields })),
  ),
  special: Schema.optional(Schema.Array(Codec.Special)),
})
export type Form = typeof Form.Type

/**
 * - `options`: options of the part, by provider
 * - `data`: how the data of a file was written
 * - `absent`: a field that was not there, where one would be written
 * - `result`: the result of the tool was JSON, and no text
 * - `signedBy`: the provider whose options have the signature
 * - `tool`: in a response, the names of the tool that the part itself does not have
 * - `special`: the values that are no JSON
 */
export const PartForm = Schema.Struct({
  options: Schema.optional(Codec.JsonFields),
  data: Schema.optional(Schema.Literal("bytes", "url", "text")),
  absent: Schema.optional(Schema.Literal("params", "result")),
  result: Schema.optional(Schema.Literal("json")),
  signedBy: Schema.optional(Schema.String),
  tool: Schema.optional(
    Schema.Struct({ name: Schema.optional(Schema.String), providerName: Schema.optional(Schema.String) }),
  ),
  special: Schema.optional(Schema.Array(Codec.Special)),
})
export type PartForm = typeof PartForm.Type

export const { formOf, itemsIn, metadataOf, opaque, ownData, partFormOf, withForm } = Codec.forms(
  "effect-ai",
  Form,
  PartForm,
)
