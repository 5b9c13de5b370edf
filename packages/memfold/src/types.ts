/** The types of `@memfold/core` that the methods of a memory take and return. */
import type {
  Embedder,
  Event,
  EventCodec,
  EventLog,
  Memory,
  Metrics,
  Render,
  Session,
  Summarizer,
  TokenCounter,
} from "@memfold/core"

export type {
  Budget,
  BudgetOutcome,
  Message,
  CompactionOutcome,
  HookDecision,
  PlannedCompaction,
  SubscribeOptions,
} from "@memfold/core"

/** The messages that were appended. */
export type AppendedMessages = Memory.AppendedMessages
/** A branch of a conversation. */
export type BranchInfo = Memory.BranchInfo
/** What became of an edit, a regeneration or a checkout. */
export type Edited = Memory.Edited
/** What `undo` has taken back. */
export type Undone = Memory.Undone
/** An event of a session. */
export type SessionEvent = Event.Event
/** An event as it is stored: with its version, id and time. */
export type RecordedEvent = EventCodec.RecordedEvent
/** An active fact of a session. */
export type KnownFact = Session.KnownFact
/** An update of a metric. */
export type MetricUpdate = Metrics.Update
/** A section of a context. */
export type Section = Render.Section
/** An entry in the list of sessions. */
export type SessionInfo = EventLog.SessionInfo
/** A page of an owner's sessions. */
export type SessionPage = Memory.SessionPage
/** The folded state of a session. */
export type SessionState = Session.SessionState
/** The answer of a summarizer. */
export type SummarizerResult = Summarizer.Result
/** An embedder as a service. */
export type EmbedderService = Embedder.Service
/** A summarizer as a service. */
export type SummarizerService = Summarizer.Service
/** A summary with its status. */
export type SummaryRecord = Session.SummaryRecord
/** Counts the tokens of a text. */
export type TokenCounterService = TokenCounter.Service
