/** Durable, compacted memory for Mastra: processors for agents, and the codec of its messages. */
export { BranchLeft } from "@memfold/codec"
export { decodeMessages, MastraDecodeError } from "./decode.js"
export { encodeMessages, type EncodeOptions } from "./encode.js"
export { NoSession } from "./NoSession.js"
export { mastra, type MastraMemory, type MastraThread } from "./mastra.js"
export {
  type AgentCall,
  contextOf,
  memfold,
  type MemfoldOptions,
  type MemfoldProcessors,
  messagesOf,
} from "./memfold.js"
export type { Prompt, Target } from "./prompt.js"
export type { RenderedPrompt } from "./session.js"
export type { ContextParts, UnsupportedSection } from "@memfold/codec"
export { summarizer, type SummarizerOptions } from "./summarizer.js"
