/**
 * Items of the Responses API as they travel: types for what {@link encodeItems} returns, schemas for what is read. The
 * types are structural and list what memfold writes by itself, so that they fit the SDK's own without depending on it;
 * at run time there may be items of other types with more fields: they are kept.
 */
import { Schema } from "effect"

export interface InputText {
  type: "input_text"
  text: string
}
export interface InputImage {
  type: "input_image"
  detail: "auto" | "low" | "high"
  image_url: string
}
export interface InputFile {
  type: "input_file"
  /** A `data:` URI. */
  file_data?: string
  file_url?: string
  filename?: string
}

/** What the user says, or an instruction. */
export interface InputMessage {
  role: "user" | "system" | "developer"
  content: string | Array<InputText | InputImage | InputFile>
  type?: "message"
}
/** What the model said. */
export interface AssistantMessage {
  role: "assistant"
  content: string
  type?: "message"
}
export interface FunctionCall {
  type: "function_call"
  call_id: string
  name: string
  /** JSON, as the model wrote it. */
  arguments: string
}
export interface FunctionCallOutput {
  type: "function_call_output"
  call_id: string
  output: string | Array<InputText | InputImage | InputFile>
}
export interface ReasoningItem {
  type: "reasoning"
  id: string
  summary: Array<{ type: "summary_text"; text: string }>
  encrypted_content?: string | null
}
/** An item of a request's `input`. */
export type ResponsesItem =
  | InputMessage
  | AssistantMessage
  | FunctionCall
  | FunctionCallOutput
  | ReasoningItem

const known = { description: 'an object with a "type"' }
const typed = Schema.Struct({ type: Schema.String }).annotations(known)
const Text = (type: string) =>
  Schema.Struct({
    type: Schema.Literal(type).annotations({ description: `a string, like "${type}"` }),
    text: Schema.String,
  })
const Other = Schema.Struct({
  type: Schema.String.pipe(Schema.filter((type) => type !== "input_text" && type !== "output_text")),
})
const content = Schema.Union(
  Schema.String,
  Schema.Array(Schema.Union(Text("input_text"), Text("output_text"), Other).annotations(known)),
).annotations({ description: "a string or a list of content parts" })

/** The items that become parts of their own have to be right; any other is kept as it came. */
export const items = {
  message: Schema.Struct({
    role: Schema.Literal("user", "assistant", "system", "developer").annotations({
      description: "user, assistant, system, developer",
    }),
    content,
  }),
  function_call: Schema.Struct({
    call_id: Schema.String,
    name: Schema.String,
    arguments: Schema.String.annotations({ description: "a string of JSON, as the model wrote it" }),
  }),
  custom_tool_call: Schema.Struct({ call_id: Schema.String, name: Schema.String, input: Schema.String }),
  function_call_output: Schema.Struct({
    call_id: Schema.optional(Schema.NullOr(Schema.String)),
    output: content,
  }),
  custom_tool_call_output: Schema.Struct({ call_id: Schema.String, output: content }),
} satisfies Record<string, Schema.Schema.AnyNoContext>

export const anyItem = typed

export type WirePart = { readonly type: string; readonly [key: string]: unknown }
export type WireContent = string | ReadonlyArray<WirePart>
/** A checked item: `type` is missing in a message that was written by hand. */
export interface WireItem {
  readonly type?: string
  readonly [key: string]: unknown
}
