/**
 * How items were written when they came from the Responses API, where that does not follow from the parts. Decoding
 * leaves it in `metadata` of the message and `providerData` of its parts, under the name `openai-responses`. Encoding
 * reads it there, so that the same items come out again.
 */
import type * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

/** The name of the provider data of this format. */
export const provider = "openai-responses"

const FieldsSchema = Schema.Record({ key: Schema.String, value: Schema.Unknown })

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
  fields: Schema.optional(FieldsSchema),
  reasoning: Schema.optional(Schema.NonNegativeInt),
  response: Schema.optional(FieldsSchema),
})
export type Form = typeof Form.Type

/**
 * - `fields`: further fields of the content part, the call or the output
 * - `item`: the part is the first of a message item of the assistant, with these further fields
 * - `continues`: the part belongs to the message item of the part before it
 * - `text`: the message item has a string as its content
 * - `type`: the type of a call that is no `function_call`, or of an output that is no `function_call_output`
 * - `unidentified`: an output without the id of its call
 * - `output`: the output was absent; a list where a string would do; or a value that `content` holds as it came
 */
export const PartForm = Schema.Struct({
  fields: Schema.optional(FieldsSchema),
  item: Schema.optional(FieldsSchema),
  continues: Schema.optional(Schema.Literal(true)),
  text: Schema.optional(Schema.Literal(true)),
  type: Schema.optional(Schema.String),
  unidentified: Schema.optional(Schema.Literal(true)),
  output: Schema.optional(Schema.Literal("absent", "parts", "value")),
})
export type PartForm = typeof PartForm.Type

const isForm = Schema.is(Form)
const isPartForm = Schema.is(PartForm)

/** The form left by decoding; empty for a message from anywhere else. */
export const formOf = (message: Message.Message): Form => {
  const form = message.metadata?.[provider]
  return form !== undefined && isForm(form) ? form : {}
}

/** The metadata that carries a form: none at all for a form that says nothing. */
export const metadataOf = (form: Form): { readonly metadata?: Codec.Fields } =>
  Object.keys(form).length === 0 ? {} : { metadata: { [provider]: form } }

/** The form of a part left by decoding; none for a part from anywhere else. */
export const partFormOf = ({ providerData }: Message.Part): PartForm | undefined => {
  const form = providerData?.[provider]
  return isPartForm(form) ? form : undefined
}

/** The part with its form. */
export const withForm = <P extends Message.Part>(part: P, form: PartForm): P => ({
  ...part,
  providerData: { [provider]: { ...partFormOf(part), ...form } },
})
