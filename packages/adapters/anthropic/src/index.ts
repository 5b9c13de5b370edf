export type { CacheControl } from "./cacheControl.js"
export {
  type CompactionClient,
  type CompactionOptions,
  type CompactionRequest,
  compactionBeta,
  nativeCompaction,
} from "./compaction.js"
export { AnthropicDecodeError, decodeMessage, decodeMessages } from "./decode.js"
export { encodeAndReport, encodeMessages, type Encoded, type EncodeOptions } from "./encode.js"
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
