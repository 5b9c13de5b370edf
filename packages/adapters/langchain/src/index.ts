/** Durable, compacted memory for LangChain: a middleware for agents, a chat message history, and the codec of its messages. */
export type { ContextParts, UnsupportedSection } from "@memfold/codec"
export { decodeMessage, decodeMessages, LangChainDecodeError } from "./decode.js"
export {
  encodeContext,
  type EncodedContext,
  encodeMessages,
  type EncodeOptions,
  type LangChainContext,
} from "./encode.js"
export { type AddOptions, type HistoryOptions, MemfoldChatMessageHistory } from "./history.js"
export { langchain, type LangChainMemory } from "./langchain.js"
export { type AgentRuntime, memfold, type MemfoldOptions } from "./middleware.js"
export { NoSession } from "./NoSession.js"
export type { RenderedContext } from "./session.js"
export { type AskInContext, summarizer, type SummarizerOptions } from "./summarizer.js"
