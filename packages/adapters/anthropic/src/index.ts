export { AnthropicDecodeError } from "./AnthropicDecodeError.js"
export { decodeMessage, decodeMessages } from "./decode.js"
export { encodeMessages, type EncodeOptions } from "./encode.js"
export type {
  AnthropicConversation,
  AnthropicMessage,
  AssistantMessage,
  DocumentBlock,
  ImageBlock,
  RedactedThinkingBlock,
  SystemMessage,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserMessage,
} from "./wire.js"
