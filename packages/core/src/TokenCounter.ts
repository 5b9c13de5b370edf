/** Counting the tokens of messages, as users of the package see it. */
export {
  byLine,
  estimateMargin,
  estimating,
  growing,
  guarded,
  marginOf,
  messageOverhead,
  ofBoundParts,
  ofMessage,
  remembering,
  TokenCounter,
} from "@memfold/message/TokenCounter"
export type { Service } from "@memfold/message/TokenCounter"
