/**
 * Chat Completions messages as they travel: types for what {@link encodeMessages} returns, schemas for what is
 * read. The types are structural and list what the API documents, so that they fit the SDK's own without
 * depending on it; at run time a message may carry more fields, because unknown ones are kept.
 */
import { Schema } from "effect"

export interface TextPart {
  type: "text"
  text: string
}
export interface RefusalPart {
  type: "refusal"
  refusal: string
}
/** `detail` has the values that all clients know; what came with a newer one keeps it. */
export interface ImagePart {
  type: "image_url"
  image_url: { url: string; detail?: "auto" | "low" | "high" }
}
export interface AudioPart {
  type: "input_audio"
  /** `data` is base64. */
  input_audio: { data: string; format: "wav" | "mp3" }
}
export interface FilePart {
  type: "file"
  /** `file_data` is a `data:` URI. */
  file: { file_data?: string; file_id?: string; filename?: string }
}
export type UserPart = TextPart | ImagePart | AudioPart | FilePart

export interface FunctionToolCall {
  id: string
  type: "function"
  function: { name: string; arguments: string }
}
export interface CustomToolCall {
  id: string
  type: "custom"
  custom: { name: string; input: string }
}

export interface SystemMessage {
  role: "system"
  content: string | Array<TextPart>
  name?: string
}
export interface DeveloperMessage {
  role: "developer"
  content: string | Array<TextPart>
  name?: string
}
export interface UserMessage {
  role: "user"
  content: string | Array<UserPart>
  name?: string
}
export interface AssistantMessage {
  role: "assistant"
  content?: string | Array<TextPart | RefusalPart> | null
  name?: string
  refusal?: string | null
  tool_calls?: Array<FunctionToolCall | CustomToolCall>
  /** Superseded by `tool_calls`. */
  function_call?: { name: string; arguments: string } | null
}
export interface ToolMessage {
  role: "tool"
  content: string | Array<TextPart>
  tool_call_id: string
}
/** Superseded by {@link ToolMessage}. */
export interface FunctionMessage {
  role: "function"
  content: string | null
  name: string
}
export type OpenAIMessage =
  | SystemMessage
  | DeveloperMessage
  | UserMessage
  | AssistantMessage
  | ToolMessage
  | FunctionMessage

// A part of a type we do not know, or in a shape we do not know, is kept as it came; a text has to be a text.
const Part = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("text").annotations({ description: 'a string, like "text"' }),
    text: Schema.String,
  }),
  Schema.Struct({
    type: Schema.String.pipe(Schema.filter((type) => type !== "text")),
  }),
).annotations({ description: 'an object with a "type"' })

const Content = Schema.Union(Schema.String, Schema.Null, Schema.Array(Part)).annotations({
  description: "a string, null or a list of content parts",
})

const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

const JsonText = Schema.String.annotations({ description: "a string of JSON, as the model wrote it" })
const FunctionCall = Schema.Struct({ name: Schema.String, arguments: JsonText })

const callType = { description: '"function" or "custom"' }

/** Some compatible servers leave out the type, some the id. */
const ToolCall = Schema.Union(
  Schema.Struct({
    type: nullable(Schema.Literal("function").annotations(callType)),
    id: nullable(Schema.String),
    function: FunctionCall,
  }),
  Schema.Struct({
    type: Schema.Literal("custom").annotations(callType),
    id: nullable(Schema.String),
    custom: Schema.Struct({ name: Schema.String, input: Schema.String }),
  }),
)
export type WireToolCall = typeof ToolCall.Type

const spoken = Schema.Struct({ content: Content, name: nullable(Schema.String) })

/** What each role has to look like. None of them transforms: a message that passes is used as it is. */
export const messages = {
  system: spoken,
  developer: spoken,
  user: spoken,
  assistant: Schema.Struct({
    content: Schema.optional(Content),
    name: nullable(Schema.String),
    refusal: nullable(Schema.String),
    tool_calls: nullable(Schema.Array(ToolCall)),
    function_call: nullable(FunctionCall),
  }),
  tool: Schema.Struct({
    content: Content,
    tool_call_id: nullable(Schema.String),
    name: nullable(Schema.String),
  }),
  function: Schema.Struct({ content: Content, name: Schema.String }),
}

export type WireRole = keyof typeof messages
export type WirePart = { readonly type: string; readonly [key: string]: unknown }

/** A checked message of any role, with the fields that any of them may have. */
export interface WireMessage {
  readonly role: WireRole
  readonly content?: string | null | ReadonlyArray<WirePart>
  readonly name?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: ReadonlyArray<WireToolCall> | null
  readonly function_call?: typeof FunctionCall.Type | null
  readonly tool_call_id?: string | null
  readonly [key: string]: unknown
}
