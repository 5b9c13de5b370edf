/** The types of `@memfold/core` that the methods of a memory take and return. */
import type {
  Audit,
  Embedder,
  Event,
  EventCodec,
  EventLog,
  Memory,
  Metrics,
  Render,
  Reranker,
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

/** Who does something. */
export type Actor = Audit.Actor
/** Who did what with a session or an owner. */
export type AuditReport = Audit.AuditReport
/** Something that was done with a session or an owner. */
export type AuditEntry = Audit.AuditEntry
/** What an erasure has reached. */
export type Receipt = EventLog.Receipt
/** The messages that were appended. */
export type AppendedMessages = Memory.AppendedMessages
/** A branch of a conversation. */
export type BranchInfo = Memory.BranchInfo
/** What became of an edit, a regeneration or a checkout. */
export type Edited = Memory.Edited
/** A compaction that would run, and what it would replace. */
export type PreviewedCompaction = Memory.PreviewedCompaction
/** A session through time. */
export type Timeline = Memory.Timeline
/** A version of a session, with the size of its context. */
export type TimelineVersion = Memory.TimelineVersion
/** A compaction, and how it ended. */
export type TimelineCompaction = Memory.TimelineCompaction
/** A text or a summary to trace. */
export type Traced = Memory.Traced
/** A text with what its sentences rest on. */
export type Trace = Memory.Trace
/** A sentence with the messages that it rests on. */
export type TracedSentence = Memory.TracedSentence
/** A message that a sentence rests on. */
export type SupportingMessage = Memory.SupportingMessage
/** A summary that covers a message, with its sentences that rest on it. */
export type TracedSummary = Memory.TracedSummary
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
/** A reranker as a service. */
export type RerankerService = Reranker.Service
/** A summarizer as a service. */
export type SummarizerService = Summarizer.Service
/** A summary with its status. */
export type SummaryRecord = Session.SummaryRecord
/** Counts the tokens of a text. */
export type TokenCounterService = TokenCounter.Service
