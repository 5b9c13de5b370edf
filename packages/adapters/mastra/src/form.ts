/**
 * What a message of Mastra says beside its parts. The messages of an answer have it in `metadata.mastra`, where the newest one
 * counts: Mastra adds the parts of each step to one message, and changes its other fields meanwhile.
 */
import { accepting, type Fields, isFields, JsonFields, Special } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { Schema } from "effect"

/** The name of the format in `metadata` and `providerData`. */
const provider = "mastra"

/**
 * - `message`: fields of the message: `createdAt`, `threadId`, …
 * - `content`: fields of its content that do not follow from the parts
 * - `mirrors`: by which rule the others follow from them
 * - `special`: the values that are no JSON
 */
export const Form = Schema.Struct({
  message: JsonFields,
  content: Schema.optional(JsonFields),
  mirrors: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  special: Schema.optional(Schema.Array(Special)),
})
export type Form = typeof Form.Type

const isForm = accepting(Form)

/** The form that decoding left; none for a message from anywhere else. */
export const formOf = ({ metadata }: Message.Message): Form | undefined => {
  const form = metadata?.[provider]
  return isForm(form) ? form : undefined
}

/** The message with its form. */
export const withForm = (message: Message.Message, form: Form): Message.Message => ({
  ...message,
  metadata: { ...message.metadata, [provider]: form },
})

/** The id of the message of Mastra, or of another page, that a message is of. */
export const idOf = ({ metadata }: Message.Message): string | undefined => {
  const page = metadata?.["ai-sdk"]
  const ui = isFields(page) ? page["ui"] : undefined
  const id = isFields(ui) ? ui["id"] : undefined
  return typeof id === "string" ? id : undefined
}

/** What the tool returned, where the model got something else. */
export const returnedOf = ({ providerData }: Message.ToolResult): Message.ToolResult | undefined => {
  const data = providerData?.[provider] as Fields | undefined
  return isFields(data) ? (data["returned"] as Message.ToolResult | undefined) : undefined
}

/** The result that the model got, with what the tool returned. */
export const withReturned = (
  given: Message.ToolResult,
  returned: Message.ToolResult,
): Message.ToolResult => ({
  ...given,
  providerData: { ...given.providerData, [provider]: { returned } },
})
