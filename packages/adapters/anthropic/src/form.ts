/**
 * How a message was written when it came from Anthropic, where that does not follow from its parts. Decoding leaves it
 * in `metadata.anthropic` of the message and `providerData.anthropic` of its parts. Encoding reads it there, so that
 * the same message comes out again.
 */
import type * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

const FieldsSchema = Schema.Record({ key: Schema.String, value: Schema.Unknown })

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
  fields: Schema.optional(FieldsSchema),
  response: Schema.optional(FieldsSchema),
})
export type Form = typeof Form.Type

/**
 * How the block of a part was written, in `providerData.anthropic` of the part.
 *
 * - `fields`: further fields of the block (`cache_control`, `citations`, …)
 * - `content`: a tool result whose content was absent, or a list where a string would do
 */
export const PartForm = Schema.Struct({
  fields: Schema.optional(FieldsSchema),
  content: Schema.optional(Schema.Literal("absent", "blocks")),
})
export type PartForm = typeof PartForm.Type

const isForm = Schema.is(Form)
const isPartForm = Schema.is(PartForm)

/** The form left by decoding; empty for a message from anywhere else. */
export const formOf = (message: Message.Message): Form => {
  const form = message.metadata?.["anthropic"]
  return form !== undefined && isForm(form) ? form : {}
}

/** The metadata that carries a form: none at all for a form that says nothing. */
export const metadataOf = (form: Form): { readonly metadata?: Codec.Fields } =>
  Object.keys(form).length === 0 ? {} : { metadata: { anthropic: form } }

/** The form of a part left by decoding; none for a part from anywhere else. */
export const partFormOf = ({ providerData }: Message.Part): PartForm | undefined => {
  const form = providerData?.["anthropic"]
  return isPartForm(form) ? form : undefined
}

/** The part with its form: none at all for a form that says nothing. */
export const withForm = <P extends Message.Part>(
  part: P,
  fields: Codec.Fields | undefined,
  content?: PartForm["content"],
): P => {
  const form: PartForm = {
    ...(fields === undefined ? {} : { fields }),
    ...(content === undefined ? {} : { content }),
  }
  return Object.keys(form).length === 0 ? part : { ...part, providerData: { anthropic: form } }
}

/** Whether a text has nothing to read. The API refuses such texts. */
export const isBlank = (text: string): boolean => text.trim() === ""
