/**
 * How a message was written when it came from Effect AI, where that does not follow from its parts. Decoding leaves it in
 * `metadata["effect-ai"]` of the message and `providerData["effect-ai"]` of its parts. Encoding reads it there, so that the
 * same message comes out again.
 */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

/** The name of the format in `metadata`, `providerData` and opaque parts. */
export const provider = "effect-ai"

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

const left = Codec.forms(provider, Form, PartForm)

export const { formOf } = left

/** The form of a part left by decoding; empty for a part from anywhere else. */
export const partFormOf = (part: Message.Part): PartForm => left.partFormOf(part) ?? {}

/** The metadata that carries a form: none at all for a form that says nothing. */
export const metadataOf = (form: Codec.Unsaid<Form>) => left.metadataOf(Codec.withoutEmpty(form))

/** The part with its form, and with what its form says already: none at all for a form that says nothing. */
export const withForm = <Part extends Message.Part>(part: Part, form: Codec.Unsaid<PartForm>): Part =>
  left.withForm(part, Codec.withoutEmpty({ ...partFormOf(part), ...form }))

/** The data of an opaque part of this format; `undefined` for any other part. */
export const ownData = (part: Message.Part): Codec.Fields | undefined =>
  part.type === "opaque" && part.provider === provider && Codec.isFields(part.data) ? part.data : undefined
