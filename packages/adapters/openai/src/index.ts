export { decodeMessage, decodeMessages } from "./decode.js"
export { encodeMessage, encodeMessages, type EncodeOptions } from "./encode.js"
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
