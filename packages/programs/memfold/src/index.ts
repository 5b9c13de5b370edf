/**
 * `memfold`: conversation memory with Promises, and with every strategy and store. Effect users, and programs that
 * install only the parts they need, use `@memfold/core`.
 */
export { compactionBeta, nativeCompaction as anthropicCompaction } from "@memfold/anthropic"
export { nativeCompaction as openaiCompaction } from "@memfold/openai"
export { createMemory } from "./createMemory.js"
export {
  defaultStrategy,
  storeForms,
  summarizerInContext,
  type SummarizerInContextOptions,
  type AskModel,
  type FormatOptions,
  type Formats,
  type GivenSummarizer,
  type Known,
  type ModelSummarizer,
  type QueueUrl,
  type ShippedStrategy,
  type StoreForm,
  type StoreUrl,
  type StrategyName,
  type SummarizerName,
  type SystemMessages,
  type UnsupportedSection,
} from "@memfold/catalog"
export type { AsyncEmbedder } from "./promise/embedder.js"
export type { AsyncReranker } from "./promise/reranker.js"
export type {
  AsyncHooks,
  CompactionOptions,
  CreateOptions,
  Formatted,
  FormattedContext,
  FormattedPage,
  FormattedPreview,
  FormattedOwnedRecall,
  FormattedOwnedRecalledMessage,
  FormattedRecall,
  FormattedRecalledMessage,
  NamedOptions,
  OwnedFacts,
  PreviewOptions,
  PromiseMemory,
  TransactionMemory,
  RecallParts,
  RequestOptions,
} from "./promise/PromiseMemory.js"
export type {
  AiSdkTool,
  AnthropicTool,
  ChatTool,
  MemoryTools,
  ResponsesTool,
  ToolParameters,
} from "./promise/tools.js"
export type { GivenLogger, Level, LogEntry } from "./promise/logging.js"
export * from "./errors.js"
export type * from "./types.js"
export {
  BatchSize,
  Keep,
  Origin,
  SummaryMode,
  Pin,
  Prune,
  Split,
  Strategy,
  ToolNotes,
  Trigger,
  Wording,
} from "@memfold/core"
export { Fact, functionExtractor, modelExtractor, rules } from "@memfold/layers"
export { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
export { BreakEven } from "@memfold/strategy-break-even"
export { Rounds } from "@memfold/strategy-rounds"
export { SlidingWindow } from "@memfold/strategy-sliding-window"
export { SplitTurn } from "@memfold/strategy-split-turn"
