/** Durable, compacted memory for LangChain: a middleware for agents, a chat message history, and the codec of its messages. */
export type { UnsupportedSection } from "@memfold/codec"
export { decodeMessage, decodeMessages } from "./decode.js"
export {
  encodeContext,
  type EncodedContext,
  encodeMessages,
  type EncodeOptions,
  type LangChainContext,
} from "./encode.js"
export { LangChainDecodeError } from "./LangChainDecodeError.js"
