/** Sessions as a fold of their log. */
export { evolve, fold, rewinds } from "./evolve.js"
export { prunedText } from "./prune.js"
export { contextTokens, empty, tokensBetween } from "./SessionState.js"
export type { Entry, Failures, KnownFact, Running, SessionState, Summary } from "./SessionState.js"
export { make } from "./Sessions.js"
export type { SessionError, Sessions } from "./Sessions.js"
export { allRows, historyOf } from "./summaries.js"
export type { Commit, History, SummaryRecord, SummaryStatus } from "./summaries.js"
