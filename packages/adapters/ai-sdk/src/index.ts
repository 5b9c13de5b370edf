/** Durable, compacted memory for the AI SDK: sessions, and the codec of its messages. */
export {
  AiSdkDecodeError,
  type AiSdkContext,
  type ConvertDataPart,
  type DataPart,
  decodeMessage,
  decodeMessages,
  encodeContext,
  type EncodedContext,
  encodeMessages,
  type EncodeOptions,
  encodeUIMessages,
  type Major,
  type PageId,
} from "./codec.js"
export { askForFacts, type AskForFactsOptions, type FactsAnswer, type FactsPrompt } from "./askForFacts.js"
export { embedder, type EmbedderOptions } from "./embedder.js"
export { BranchLeft, type ContextParts, type UnsupportedSection } from "@memfold/codec"
export type { PageRequest } from "./page.js"
export type { RenderedContext } from "./rendered.js"
export {
  aiSdk,
  type AiSdkMemory,
  type AiSdkOptions,
  AiSdkSession,
  type UserInput,
  type MessagesOptions,
  type OpenSession,
  type SessionOptions,
} from "./session.js"
export type { EndOfCall, EndOfPage, Step, StepToPrepare, StepUsage } from "./steps.js"
export { type AskInContext, type CallOptions, summarizer, type SummarizerOptions } from "./summarizer.js"
