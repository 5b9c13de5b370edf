/**
 * How a message was written when it came from LangChain, where that does not follow from its parts. Decoding leaves it in
 * `metadata.langchain` of the message and `providerData.langchain` of its parts. Encoding reads it there, so that the same
 * message comes out again.
 */
import { forms, JsonFields, Special } from "@memfold/codec"
import { Schema } from "effect"

/**
 * - `id`: the id of the message
 * - `role`: of a `ChatMessage`, which has any role
 * - `content`: the content was a list, where a text would be usual
 * - `bound`: how many parts are bound to their prefix
 * - `fields`: further fields of the message, such as `response_metadata`, and the `artifact` of a tool
 * - `raw`: the whole message, if it does not follow from the parts, such as one whose calls have another order in its
 *   content
 * - `special`: the values that are no JSON
 * - `unseen`: the ids of messages before it that its page did not show, because another page had sent them
 */
export const Form = Schema.Struct({
  id: Schema.optional(Schema.String),
  role: Schema.optional(Schema.String),
  content: Schema.optional(Schema.Literal("blocks")),
  bound: Schema.optional(Schema.NonNegativeInt),
  fields: Schema.optional(JsonFields),
  raw: Schema.optional(JsonFields),
  special: Schema.optional(Schema.Array(Special)),
  unseen: Schema.optional(Schema.Array(Schema.String)),
})
export type Form = typeof Form.Type

/**
 * - `block`: the kind of the content block, where the part can have several, or none (a call that is only in `tool_calls`)
 * - `patch`: the fields of the block that do not follow from the part
 * - `call`: the fields of the entry in `tool_calls` that do not follow from the part
 */
export const PartForm = Schema.Struct({
  block: Schema.optional(
    Schema.Literal(
      "thinking",
      "reasoning",
      "tool_use",
      "tool_call",
      "image_url",
      "tagged",
      "plain",
      "source",
      "kwargs",
    ),
  ),
  patch: Schema.optional(JsonFields),
  call: Schema.optional(JsonFields),
})
export type PartForm = typeof PartForm.Type

/** The kind of a content block. */
export type Block = NonNullable<PartForm["block"]>

export const { formOf, metadataOf, opaque, ownData, partFormOf, withForm } = forms(
  "langchain",
  Form,
  PartForm,
)
