/**
 * How a message was written when it came from Anthropic, where that does not follow from its parts. Decoding
 * leaves it in `metadata.anthropic` and encoding reads it there, so that the same message comes out again.
 */
import type * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

const FieldsSchema = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * - `place`: a system message that stood among the messages, not in the `system` field
 * - `separate`: a message of its own although the one before has the same role
 * - `content`: a list of blocks where a string would do, or an empty list
 * - `blocks`: by index of the part, further fields of its block (`cache_control`, `citations`, …). An entry
 *   without fields marks a block that is only written because it came from Anthropic like that: a blank text
 *   or thinking without a signature
 * - `results`: by index of the part, tool results whose content was absent, or a list where a string would do
 * - `fields`: further fields of the message
 * - `response`: what only a response has (`id`, `model`, `usage`, …); the API refuses it in a request
 */
export const Form = Schema.Struct({
  place: Schema.optional(Schema.Literal("messages")),
  separate: Schema.optional(Schema.Literal(true)),
  content: Schema.optional(Schema.Literal("blocks")),
  blocks: Schema.optional(Schema.Record({ key: Schema.String, value: FieldsSchema })),
  results: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Literal("absent", "blocks") })),
  fields: Schema.optional(FieldsSchema),
  response: Schema.optional(FieldsSchema),
})
export type Form = typeof Form.Type

const isForm = Schema.is(Form)

/** The form left by decoding; empty for a message from anywhere else. */
export const formOf = (message: Message.Message): Form => {
  const form = message.metadata?.["anthropic"]
  return isForm(form) ? form : {}
}

/** The metadata that carries a form: none at all for a form that says nothing. */
export const metadataOf = (form: Form): { readonly metadata?: Codec.Fields } =>
  Object.keys(form).length === 0 ? {} : { metadata: { anthropic: form } }

/** Whether a text has nothing to read. The API refuses such texts. */
export const isBlank = (text: string): boolean => text.trim() === ""
