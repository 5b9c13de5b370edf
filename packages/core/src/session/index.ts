/** Sessions as a fold of their log. */
export { evolve, fold } from "./evolve.js"
export { contextTokens, empty, tokensBetween } from "./SessionState.js"
export type { Entry, Failures, Running, SessionState, Summary } from "./SessionState.js"
export type { SessionError } from "./Sessions.js"
