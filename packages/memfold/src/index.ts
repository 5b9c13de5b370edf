/**
 * `memfold`: conversation memory with Promises, and with every strategy and store. Effect users, and programs that
 * install only the parts they need, use `@memfold/core`.
 */
export { Closed, createMemory, InvalidOption } from "./createMemory.js"
export type { Formats } from "./promise/formats.js"
export type { AskModel, GivenSummarizer } from "./promise/models.js"
export type {
  AsyncHooks,
  CreateOptions,
  FormattedContext,
  PromiseMemory,
  RequestOptions,
} from "./promise/PromiseMemory.js"
export { UnknownName } from "./parts.js"
export {
  SummaryMode as Fold,
  Keep,
  ToolNotes as Notes,
  Pin,
  Prune,
  Split,
  Strategy,
  BatchSize as Take,
  Trigger,
  Wording,
} from "@memfold/core"
export { modelExtractor, rules } from "@memfold/layers"
export { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
export { Rounds } from "@memfold/strategy-rounds"
export { SlidingWindow } from "@memfold/strategy-sliding-window"
export { SplitTurn } from "@memfold/strategy-split-turn"
