/** Counting the tokens of messages, as users of the package see it. */
export {
  estimateMargin,
  estimating,
  guarded,
  marginOf,
  messageOverhead,
  ofBoundParts,
  ofMessage,
  TokenCounter,
} from "./message/TokenCounter.js"
export type { Service } from "./message/TokenCounter.js"
