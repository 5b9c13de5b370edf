/** The states of sessions, folded from their logs. */
export { evolve, fold } from "./session/evolve.js"
export type { EvolveOptions, Invalidated } from "./session/evolve.js"
export type { States } from "./session/switchBranch.js"
export { isOnBranch } from "./session/branches.js"
export type { Branch, Gap, LeftBranch } from "./session/branches.js"
export { headsOf } from "./session/prefix.js"
export type { Origin, Prefix } from "./session/prefix.js"
export { contextTokens, empty } from "./session/SessionState.js"
export type {
  CoveredCounts,
  Entry,
  Failures,
  FrontMoment,
  KnownFact,
  MessageCounts,
  Redaction,
  Running,
  SessionState,
  Spent,
  Summary,
  Unreadable,
} from "./session/SessionState.js"
export { isErased, isUnreadable } from "./shell/openSession.js"
export { make } from "./shell/Sessions.js"
export type { NewestMessages, PageMessage } from "./shell/NewestMessages.js"
export type { PrefixState } from "./session/PrefixState.js"
export { Sequence } from "./session/Sequence.js"
export type { Answered, Committed, Decide, SessionError, Sessions, Step } from "./shell/Sessions.js"
export type { DescriptionChange } from "./session/description.js"
export { decodeRecords, readEvents } from "./shell/replay.js"
export { projectionsOf } from "./shell/replay.js"
export type { Description } from "@memfold/log/Projections"
export type { Commit, History, SummaryRecord, SummaryStatus } from "./projection/summaries.js"
export { newestChange } from "./history/newestChange.js"
export type { SummaryChange } from "./history/newestChange.js"
