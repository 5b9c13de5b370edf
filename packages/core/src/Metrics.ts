/** The metrics of the package. */
export {
  appendDuration,
  backgroundFailures,
  compactionDuration,
  compactions,
  contextTokens,
  duplicateAppends,
  embedderCalls,
  embedderFailures,
  listen,
  messagesAppended,
  shadowDecisions,
  summarizerCalls,
  summarizerFailures,
  tokensSaved,
} from "./observe/metrics.js"
export type { Update } from "./observe/metrics.js"
