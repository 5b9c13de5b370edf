/**
 * How items were written when they came from the Responses API, where that does not follow from the parts. Decoding
 * leaves it in `metadata` of the message and `providerData` of its parts, under the name `openai-responses`. Encoding
 * reads it there, so that the same items come out again.
 */
import * as Codec from "@memfold/codec"
import { Item, type Message } from "@memfold/core"
import { Schema } from "effect"

/** The name of the provider data of this format. */
export const provider = "openai-responses"

/** The items of this format, by their types. */
export const itemTable = Item.items[provider]

/**
 * - `role`: the role on the wire, where memfold has another name for it
 * - `content`: a list where a string would do, or an empty one
 * - `fields`: further fields of the item
 * - `reasoning`: how many reasoning items the message came with. If one of them is missing, the others' items lose
 *   their ids: the API refuses an item whose reasoning it knows and does not find
 * - `response`: what only a whole response has (`id`, `model`, …); it is never sent
 */
export const Form = Schema.Struct({
  role: Schema.optional(Schema.Literal("developer")),
  content: Schema.optional(Schema.Literal("parts")),
  fields: Schema.optional(Codec.JsonFields),
  reasoning: Schema.optional(Schema.NonNegativeInt),
  response: Schema.optional(Codec.JsonFields),
})
export type Form = typeof Form.Type

/**
 * - `fields`: further fields of the content part, the call or the output
 * - `item`: the part is the first of a message item of the assistant, with these further fields
 * - `continues`: the part belongs to the message item of the part before it
 * - `text`: the message item has a string as its content
 * - `type`: the type of a call that is no `function_call`, or of an output that is no `function_call_output`
 * - `unidentified`: an output without the id of its call
 * - `idField`: the field with the id of the call, if it is not `call_id`
 * - `output`: the output was absent; a list where a string would do; or a value that `content` holds as it came
 */
export const PartForm = Schema.Struct({
  fields: Schema.optional(Codec.JsonFields),
  item: Schema.optional(Codec.JsonFields),
  continues: Schema.optional(Schema.Literal(true)),
  text: Schema.optional(Schema.Literal(true)),
  type: Schema.optional(Schema.String),
  unidentified: Schema.optional(Schema.Literal(true)),
  idField: Schema.optional(Schema.String),
  output: Schema.optional(Schema.Literal("absent", "parts", "value")),
})
export type PartForm = typeof PartForm.Type

export const { formOf, hasForm, metadataOf, opaque, partFormOf } = Codec.forms(provider, Form, PartForm)

/** The part with its form. */
export const withForm = <P extends Message.Part>(part: P, form: PartForm): P => ({
  ...part,
  providerData: { [provider]: { ...partFormOf(part), ...form } },
})
