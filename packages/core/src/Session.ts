/** The states of sessions, folded from their logs. */
export { evolve, fold } from "./session/evolve.js"
export { isOnBranch } from "./session/branches.js"
export { headsOf } from "./session/prefix.js"
export type { Prefix } from "./session/prefix.js"
export { contextTokens, empty } from "./session/SessionState.js"
export type {
  Entry,
  Failures,
  KnownFact,
  Running,
  SessionState,
  Spent,
  Summary,
} from "./session/SessionState.js"
export { make } from "./shell/Sessions.js"
export type { SessionError, Sessions } from "./shell/Sessions.js"
export type { DescriptionChange } from "./session/description.js"
export { decodeRecords, readEvents } from "./shell/replay.js"
export { projectionsOf } from "./shell/replay.js"
export type { SummaryRecord, SummaryStatus } from "./projection/summaries.js"
