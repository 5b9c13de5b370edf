export type { CacheControl } from "./cacheControl.js"
export {
  type CompactionClient,
  type CompactionOptions,
  type CompactionRequest,
  compactionBeta,
  nativeCompaction,
} from "./compaction.js"
export {
  AnthropicDecodeError,
  decodeMessage,
  decodeMessages,
  type Decoding,
  decodingInSteps,
} from "./decode.js"
export {
  encodeAndReport,
  encodeMessages,
  encodingInSteps,
  type Encoded,
  type EncodeOptions,
} from "./encode.js"
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
