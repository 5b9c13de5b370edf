/**
 * How a message was written when it came from OpenAI, where that does not follow from its parts. Decoding
 * leaves it in `metadata.openai` and encoding reads it there, so that the same message comes out again.
 */
import type * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

const FieldsSchema = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/**
 * - `role`: the role on the wire, where memfold has another name for it
 * - `content`: how the content was written, where another way would be usual
 * - `reasoning`: the field that the reasoning came in (an extension of several compatible servers)
 * - `calls`: by index of the part, calls that are not of type `function`
 * - `parts`: by index of the part, further fields of its wire form (`detail`, `cache_control`, …)
 * - `fields`: further fields of the message
 */
export const Form = Schema.Struct({
  role: Schema.optional(Schema.Literal("developer", "function")),
  content: Schema.optional(Schema.Literal("absent", "null", "parts")),
  reasoning: Schema.optional(Schema.Literal("reasoning_content", "reasoning")),
  calls: Schema.optional(
    Schema.Record({ key: Schema.String, value: Schema.Literal("custom", "function_call") }),
  ),
  parts: Schema.optional(Schema.Record({ key: Schema.String, value: FieldsSchema })),
  fields: Schema.optional(FieldsSchema),
})
export type Form = typeof Form.Type

const isForm = Schema.is(Form)

/** The form left by decoding; empty for a message from anywhere else. */
export const formOf = (message: Message.Message): Form => {
  const form = message.metadata?.["openai"]
  return isForm(form) ? form : {}
}

/** The metadata that carries a form: none at all for a form that says nothing. */
export const metadataOf = (form: Form): { readonly metadata?: Codec.Fields } =>
  Object.keys(form).length === 0 ? {} : { metadata: { openai: form } }
