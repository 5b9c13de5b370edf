/** The messages of a conversation, as users of the package see them. */
export {
  assistant,
  call,
  calls,
  failed,
  File,
  forReader,
  isBound,
  isReplacing,
  Message,
  Opaque,
  outputOf,
  Part,
  partsFor,
  Reasoning,
  result,
  results,
  Role,
  system,
  text,
  Text,
  ToolCall,
  ToolResult,
  Usage,
  user,
} from "./message/Message.js"
export type { Options, Readable, Reader } from "./message/Message.js"
export { withoutText } from "./history/redact.js"
