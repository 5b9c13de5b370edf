/**
 * `memfold`: conversation memory with everything it needs. For Effect users, and to install parts on their own,
 * there is `@memfold/core`.
 */
export {
  type AskModel,
  Closed,
  createMemory,
  type CreateOptions,
  type FormattedContext,
  type Formats,
  InvalidOption,
  type PromiseMemory,
} from "./createMemory.js"
export { UnknownName } from "./parts.js"
export { Fold, Keep, Split, Strategy, Take, Trigger, Wording } from "@memfold/core"
export { RollingBuffer } from "@memfold/strategy-rolling-buffer"
export { Rounds } from "@memfold/strategy-rounds"
export { SlidingWindow } from "@memfold/strategy-sliding-window"
export { SplitTurn } from "@memfold/strategy-split-turn"
