/**
 * How a message was written when it came from the AI SDK, where that does not follow from its parts. Decoding leaves it in
 * `metadata["ai-sdk"]` of the message and `providerData["ai-sdk"]` of its parts. Encoding reads it there, so that the
 * same message comes out again.
 */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

/**
 * What a message was as one of a page (`UIMessage`).
 *
 * - `id`: the id of the message on the page; several messages of the log can be one there
 * - `continues`: whether an earlier message of the log begins it
 * - `step`: whether a `step-start` stands before the parts
 * - `fields`: further fields, such as `metadata`
 * - `places`: where the parts stand on the page, if they were stored behind parts that stand behind them there
 * - `unseen`: the ids of messages before it that its page did not show, because another page had sent them
 */
export const UIForm = Schema.Struct({
  id: Schema.optional(Schema.String),
  continues: Schema.optional(Schema.Boolean),
  step: Schema.optional(Schema.Boolean),
  fields: Schema.optional(Codec.JsonFields),
  places: Schema.optional(Schema.Array(Schema.NonNegativeInt)),
  unseen: Schema.optional(Schema.Array(Schema.String)),
})
export type UIForm = typeof UIForm.Type

/**
 * - `content`: the content was a list, where a text would be usual
 * - `items`: how many parts are bound to their prefix and have the id of an item of the provider
 * - `fields`: further fields of the message, such as `providerOptions`
 * - `special`: the values that are no JSON
 * - `ui`: what it was on a page
 */
export const Form = Schema.Struct({
  content: Schema.optional(Schema.Literal("parts")),
  items: Schema.optional(Schema.NonNegativeInt),
  fields: Schema.optional(Codec.JsonFields),
  special: Schema.optional(Schema.Array(Codec.Special)),
  ui: Schema.optional(UIForm),
})
export type Form = typeof Form.Type

/**
 * - `wire`: the type of the part, where the neutral part can have several
 * - `data`: how the data of a file was written
 * - `absent`: a field that was not there, where one would be written
 * - `signedBy`: the provider whose options have the signature
 * - `output`: the type of the output of a tool
 * - `fields`: further fields of the part, such as `providerOptions`
 * - `special`: the values that are no JSON
 * - `ui`: the further fields of the part of a page
 * - `derived`: the part says again what another one of the page says; pages leave it out
 */
export const PartForm = Schema.Struct({
  wire: Schema.optional(Schema.String),
  data: Schema.optional(Schema.Literal("data", "url", "text", "bare")),
  absent: Schema.optional(Schema.String),
  signedBy: Schema.optional(Schema.String),
  output: Schema.optional(Schema.Literal("json", "execution-denied")),
  fields: Schema.optional(Codec.JsonFields),
  special: Schema.optional(Schema.Array(Codec.Special)),
  ui: Schema.optional(Codec.JsonFields),
  derived: Schema.optional(Schema.Boolean),
})
export type PartForm = typeof PartForm.Type

export const { formOf, itemsIn, metadataOf, opaque, ownData, partFormOf, withForm } = Codec.forms(
  "ai-sdk",
  Form,
  PartForm,
)

/** What only this adapter reads in parts, as far as it is of a type. */
export const ofType = (parts: ReadonlyArray<Message.Part>, type: string): ReadonlyArray<Codec.Fields> =>
  parts.flatMap((part) => {
    const data = ownData(part)
    return data?.["type"] === type ? [data] : []
  })
