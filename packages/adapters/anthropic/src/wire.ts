/**
 * Messages API requests as they travel: types for what {@link encodeMessages} returns, schemas for what is
 * read. The types are structural and list what the API documents, so that they fit the SDK's own without
 * depending on it; at run time a block may be of another type or carry more fields: they are kept.
 */
import { Schema } from "effect"
import { toArguments } from "./input.js"

export interface TextBlock {
  type: "text"
  text: string
}
export interface ImageBlock {
  type: "image"
  source:
    | { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
    | { type: "url"; url: string }
}
export interface DocumentBlock {
  type: "document"
  source:
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string }
    | { type: "url"; url: string }
  title?: string | null
}
export interface ThinkingBlock {
  type: "thinking"
  thinking: string
  signature: string
}
export interface RedactedThinkingBlock {
  type: "redacted_thinking"
  data: string
}
export interface ToolUseBlock {
  type: "tool_use"
  id: string
  name: string
  input: unknown
}
export interface ToolResultBlock {
  type: "tool_result"
  tool_use_id: string
  content?: string | Array<TextBlock | ImageBlock | DocumentBlock>
  is_error?: boolean
}

export interface UserMessage {
  role: "user"
  content: string | Array<ToolResultBlock | TextBlock | ImageBlock | DocumentBlock>
}
export interface AssistantMessage {
  role: "assistant"
  content: string | Array<TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock>
}
/** A system message in the midst of a conversation, which newer models take. */
export interface SystemMessage {
  role: "system"
  content: string | Array<TextBlock>
}
export type AnthropicMessage = UserMessage | AssistantMessage | SystemMessage

/** The part of a request that is the conversation. */
export interface AnthropicConversation {
  system?: string | Array<TextBlock>
  messages: Array<AnthropicMessage>
}

const type = <T extends string>(literal: T) =>
  Schema.Literal(literal).annotations({ description: `a string, like "${literal}"` })
// An input that was never JSON (a cycle, a bigint) could not become the text of the arguments.
const jsonObject = { description: "a JSON object" }
const Input = Schema.Record({ key: Schema.String, value: Schema.Unknown })
  .annotations(jsonObject)
  .pipe(Schema.filter((input) => toArguments(input) !== undefined, jsonObject))

// The blocks that become parts of their own have to be right; any other is kept as it came.
const Text = Schema.Struct({ type: type("text"), text: Schema.String })
const Thinking = Schema.Struct({
  type: type("thinking"),
  thinking: Schema.String,
  signature: Schema.optional(Schema.String),
})
const ToolUse = Schema.Struct({
  type: type("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: Input,
})
const known = new Set(["text", "thinking", "tool_use", "tool_result"])
const Other = Schema.Struct({
  type: Schema.String.pipe(Schema.filter((name) => !known.has(name))),
})
const blocks = <A, I>(block: Schema.Schema<A, I>) =>
  Schema.Union(
    Schema.String,
    Schema.Array(block.annotations({ description: 'an object with a "type"' })),
  ).annotations({ description: "a string or a list of content blocks" })

const ToolResult = Schema.Struct({
  type: type("tool_result"),
  tool_use_id: Schema.String,
  content: Schema.optional(blocks(Schema.Union(Text, Other))),
  is_error: Schema.optional(Schema.Boolean),
})

/** What each role has to look like. None of them transforms: a message that passes is used as it is. */
export const messages = {
  user: Schema.Struct({ content: blocks(Schema.Union(Text, ToolResult, Other)) }),
  assistant: Schema.Struct({ content: blocks(Schema.Union(Text, Thinking, ToolUse, Other)) }),
  system: Schema.Struct({ content: blocks(Schema.Union(Text, Other)) }),
}

/** The `system` field of a request. */
export const system = Schema.Struct({ system: blocks(Schema.Union(Text, Other)) })

export type WireRole = keyof typeof messages
export type WireBlock = { readonly type: string; readonly [key: string]: unknown }
export type WireContent = string | ReadonlyArray<WireBlock>

/** A checked message of any role. */
export interface WireMessage {
  readonly role: WireRole
  readonly content: WireContent
  readonly [key: string]: unknown
}
