/** Durable, compacted chats for Effect AI: chats on sessions of a memory, and the codec of prompts and responses. */
export { decodePrompt } from "./decode.js"
export { encodeContext, type EncodedContext, type EncodeOptions, encodePrompt } from "./encode.js"
export { effectAi, type EffectAiMemory } from "./effectAi.js"
export * as MemfoldChat from "./MemfoldChat.js"
export { decodeResponse, encodeResponse, type WriteParams } from "./response.js"
export type { ContextParts, UnsupportedSection } from "@memfold/codec"
export { type AskInContext, summarizer, summarizerLayer, type SummarizerOptions } from "./summarizer.js"
