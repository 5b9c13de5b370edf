export {
  type CompactionClient,
  type CompactionOptions,
  type CompactRequest,
  nativeCompaction,
} from "./compaction.js"
export { decodeMessage, decodeMessages, decodingInSteps } from "./decode.js"
export {
  encodeAndReport,
  encodeMessage,
  encodeMessages,
  encodingInSteps,
  type Encoded,
  type EncodeOptions,
} from "./encode.js"
export { OpenAIDecodeError } from "./OpenAIDecodeError.js"
export type {
  AssistantMessage,
  AudioPart,
  CustomToolCall,
  DeveloperMessage,
  FilePart,
  FunctionMessage,
  FunctionToolCall,
  ImagePart,
  OpenAIMessage,
  RefusalPart,
  SystemMessage,
  TextPart,
  ToolMessage,
  UserMessage,
  UserPart,
} from "./wire.js"
export * as Responses from "./responses/index.js"
