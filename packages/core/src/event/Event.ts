/**
 * The events of a session. Events are immutable facts (only redaction rewrites them), and they are enough to rebuild
 * every past state and context (law L10).
 *
 * To add an event, declare it here and list it in {@link Event} and {@link schemaVersions}. The code then does not
 * compile until every fold handles it.
 */
import { Schema } from "effect"
import { Message, Origin } from "@memfold/message/Message"
import { Wording } from "../summary/Wording.js"
import { Files, Segment, SegmentKind } from "../summary/Summary.js"
import {
  FactConfirmed,
  FactEnded,
  FactRedacted,
  FactRemoved,
  FactRetracted,
  FactReverted,
  FactsLearned,
  FactsRebuilt,
  RebuildEnded,
} from "./FactEvents.js"

export * from "./FactEvents.js"

const Index = Schema.NonNegativeInt
const Tokens = Schema.NonNegativeInt
/** Milliseconds since the epoch, finite: JSON turns an infinite number into `null`. */
const Millis = Schema.JsonNumber

/**
 * The bound parts of a message (see `Message.isBound`), such as signed reasoning.
 *
 * - `tokens`: how many of the message's tokens they take
 * - `head`: present if they were produced behind the prefix that the session has at this event; it names what stands in
 *   front of the messages and is not in the log. Absent if they were produced behind another prefix, or nobody knows.
 */
export const BoundParts = Schema.Struct({ tokens: Tokens, head: Schema.optional(Schema.String) })
export type BoundParts = typeof BoundParts.Type

/** How many different things of each kind a guard has left out of a message before it was stored. */
export const GuardCounts = Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt })
export type GuardCounts = typeof GuardCounts.Type

/**
 * A message was appended at the message index `index`. `tokens` is its size, counted when it was appended; `bound`
 * describes its bound parts, if it has any. `guarded` says what a guard has left out, if it has; the text of that is nowhere.
 */
export const MessageAppended = Schema.TaggedStruct("MessageAppended", {
  index: Index,
  message: Message,
  tokens: Tokens,
  bound: Schema.optional(BoundParts),
  guarded: Schema.optional(GuardCounts),
})
export type MessageAppended = typeof MessageAppended.Type

/** A part of a plan: the messages `[from, to)` go into a segment of this kind. */
export const PlannedPart = Schema.Struct({ kind: SegmentKind, from: Index, to: Index })
export type PlannedPart = typeof PlannedPart.Type

/**
 * A compaction took the session's lock.
 *
 * - `compaction`: its id
 * - `strategy`: the name of the strategy that decided on it
 * - `reason`: why it was due
 * - `from`, `to`: it compacts the messages `[from, to)`
 * - `tailFrom`: the message index at which the tail starts; `to` is beyond it only for a split turn
 * - `parts`: the segments to write
 * - `leaseUntil`: when its lease ends unless it is renewed, in milliseconds since the epoch, by the clock of the process
 *   that runs it; after that, others may take the lock
 */
export const CompactionStarted = Schema.TaggedStruct("CompactionStarted", {
  compaction: Schema.String,
  strategy: Schema.String,
  reason: Schema.String,
  from: Index,
  to: Index,
  tailFrom: Index,
  parts: Schema.Array(PlannedPart),
  leaseUntil: Millis,
})
export type CompactionStarted = typeof CompactionStarted.Type

/** A compaction is still at work: its lease ends at `leaseUntil` (milliseconds since the epoch) now. */
export const CompactionRenewed = Schema.TaggedStruct("CompactionRenewed", {
  compaction: Schema.String,
  leaseUntil: Millis,
})
export type CompactionRenewed = typeof CompactionRenewed.Type

/**
 * A compaction committed a summary, which covers the messages `[0, coveredTo)`.
 *
 * - `compaction`, `summary`: the ids of the compaction and of the summary
 * - `carried`: how many segments of the previous summary it keeps unchanged, from the first one
 * - `segments`: the segments it adds after them
 * - `shown`: the positions of the segments that contexts show, carried ones included; all of them if absent
 * - `files`: the files that tools read and changed in all covered messages
 * - `origin`: the best that its new segments count as, where they may rest on more than the messages that they cover: another program wrote
 *   them
 * - `summarizer`: the name of the summarizer that wrote it
 * - `calls`: how many times the summarizer was called
 * - `tokens`: the tokens of the summary in a context, wording included; without the segments that are not shown
 * - `tokensBefore`, `tokensAfter`: the tokens of the whole context before and after
 */
export const SummaryCommitted = Schema.TaggedStruct("SummaryCommitted", {
  compaction: Schema.String,
  summary: Schema.String,
  coveredTo: Index,
  carried: Index,
  segments: Schema.Array(Segment),
  shown: Schema.optional(Schema.Array(Index)),
  files: Schema.optional(Files),
  wording: Wording,
  origin: Schema.optional(Origin),
  summarizer: Schema.String,
  calls: Schema.NonNegativeInt,
  tokens: Tokens,
  tokensBefore: Tokens,
  tokensAfter: Tokens,
})
export type SummaryCommitted = typeof SummaryCommitted.Type

/** The summary `by` replaced an older summary. The older one stays readable in the log. */
export const SummarySuperseded = Schema.TaggedStruct("SummarySuperseded", {
  summary: Schema.String,
  by: Schema.String,
})
export type SummarySuperseded = typeof SummarySuperseded.Type

/**
 * The commit of a compaction at `version` counts as never made, because it is damaged or was taken back. The context
 * goes back to the previous summary, or to the messages.
 *
 * - `summary`: the id of the summary; `null` if it is unreadable or the compaction only pruned
 * - `reason`: why it is invalid
 */
export const SummaryInvalidated = Schema.TaggedStruct("SummaryInvalidated", {
  version: Schema.NonNegativeInt,
  summary: Schema.NullOr(Schema.String),
  reason: Schema.String,
})
export type SummaryInvalidated = typeof SummaryInvalidated.Type

/**
 * No automatic compaction runs until the session has `until` messages: a compaction that was taken back must not run
 * again at once.
 */
export const CompactionPaused = Schema.TaggedStruct("CompactionPaused", { until: Index })
export type CompactionPaused = typeof CompactionPaused.Type

/**
 * How one tool output is shortened in contexts.
 *
 * - `index`, `part`: the message index, and the position of the tool result among the parts of that message
 * - `method`: `soft-trim` keeps both ends of the output, `hard-clear` keeps nothing
 * - `originalLength`: the length of the whole output in UTF-16 code units
 * - `head`, `tail`: how many code units are kept at the start and at the end
 * - `note`: the text that replaces everything between them
 * - `tokens`: the tokens of the whole message afterwards
 */
export const PrunedOutput = Schema.Struct({
  index: Index,
  part: Schema.NonNegativeInt,
  method: Schema.Literal("soft-trim", "hard-clear"),
  originalLength: Schema.NonNegativeInt,
  head: Schema.NonNegativeInt,
  tail: Schema.NonNegativeInt,
  note: Schema.String,
  tokens: Tokens,
})
export type PrunedOutput = typeof PrunedOutput.Type

/**
 * A compaction shortened tool outputs in messages that stay uncovered. The log keeps the whole outputs. A compaction
 * that covers no messages ends with this event.
 */
export const ToolOutputsPruned = Schema.TaggedStruct("ToolOutputsPruned", {
  compaction: Schema.String,
  outputs: Schema.Array(PrunedOutput),
})
export type ToolOutputsPruned = typeof ToolOutputsPruned.Type

/**
 * A compaction failed. Its messages stay uncovered.
 *
 * - `reason`: the kind of failure; `detail`: the error
 * - `retryTime`: when the next attempt is allowed, in milliseconds since the epoch
 * - `retryMessages`: the number of messages that allows the next attempt earlier
 */
export const CompactionFailed = Schema.TaggedStruct("CompactionFailed", {
  compaction: Schema.String,
  reason: Schema.String,
  detail: Schema.String,
  retryTime: Millis,
  retryMessages: Index,
})
export type CompactionFailed = typeof CompactionFailed.Type

/**
 * A compaction lost its lock without a failure: it was interrupted, the engine shut down, another compaction took the
 * lock over, or a revert, a redaction, a fork or a repair ended it.
 */
export const CompactionReleased = Schema.TaggedStruct("CompactionReleased", { compaction: Schema.String })
export type CompactionReleased = typeof CompactionReleased.Type

/**
 * The text of a message was erased from the event at `version` that appended it, and from every other event that
 * contained it. `rewritten` lists the versions of the changed events.
 */
export const MessageRedacted = Schema.TaggedStruct("MessageRedacted", {
  version: Schema.NonNegativeInt,
  rewritten: Schema.Array(Schema.NonNegativeInt),
})
export type MessageRedacted = typeof MessageRedacted.Type

/**
 * The conversation goes on from an earlier place: with the first `index` messages of the state at `version`. What was said
 * behind them stays in the log as a branch.
 *
 * - `version`: the version of the state that it goes back to; the version right before this event if the messages to leave
 *   are still uncovered
 * - `index`: how many messages of that state stay
 * - `branch`: the id of the branch that it returns to. Absent for a new branch, whose id is the version of this event
 */
export const BranchSwitched = Schema.TaggedStruct("BranchSwitched", {
  version: Schema.NonNegativeInt,
  index: Index,
  branch: Schema.optional(Schema.NonNegativeInt),
})
export type BranchSwitched = typeof BranchSwitched.Type

/**
 * The message at `version` cannot be read, and the session goes on without it for good: `memfold repair` says so. The damaged
 * record stays in the log.
 */
export const MessageSetAside = Schema.TaggedStruct("MessageSetAside", { version: Schema.NonNegativeInt })
export type MessageSetAside = typeof MessageSetAside.Type

/** The session was cleared: message indexes start at 0 again. The log keeps the earlier events. */
export const SessionCleared = Schema.TaggedStruct("SessionCleared", {})
export type SessionCleared = typeof SessionCleared.Type

/**
 * The session got an owner or a title, or another one: `null` removes it, and what is missing stays as it was. The owner
 * is an id of the application, by which sessions are listed. `guarded` says what a guard has left out of the title.
 */
export const SessionDescribed = Schema.TaggedStruct("SessionDescribed", {
  owner: Schema.optional(Schema.NullOr(Schema.String)),
  title: Schema.optional(Schema.NullOr(Schema.String)),
  guarded: Schema.optional(GuardCounts),
})
export type SessionDescribed = typeof SessionDescribed.Type

/** The parts of a memory that may ask a model by the call. */
export const SpendPart = Schema.Literal("summarizer", "embedder", "extractor")
export type SpendPart = typeof SpendPart.Type

/**
 * A call of a part that costs something, in the log that counts what a session, an owner or all sessions have spent. Before the
 * call, the most that it may cost is held; a second event with the id `call` has what it did cost, and gives back what was held. A
 * process that is killed in between leaves it held: a call is never counted for less than it costs.
 *
 * - `day`: the day of the call in UTC, such as `2026-11-26`
 * - `call`: the id of the call
 * - `tokens`, `dollars`: what was spent
 * - `heldTokens`, `heldDollars`: what is held from now on, negative where it is given back
 */
export const SpendCharged = Schema.TaggedStruct("SpendCharged", {
  day: Schema.String,
  call: Schema.String,
  part: SpendPart,
  tokens: Tokens,
  dollars: Schema.JsonNumber,
  heldTokens: Schema.Int,
  heldDollars: Schema.JsonNumber,
})
export type SpendCharged = typeof SpendCharged.Type

/**
 * A day's spend has reached its cap, and calls wait until the next day.
 *
 * - `day`: the day in UTC
 * - `tokens`, `dollars`: the cap
 */
export const SpendCapReached = Schema.TaggedStruct("SpendCapReached", {
  day: Schema.String,
  tokens: Schema.optional(Schema.JsonNumber),
  dollars: Schema.optional(Schema.JsonNumber),
})
export type SpendCapReached = typeof SpendCapReached.Type

/** What was done with what is kept of a session or an owner, beside what the events of sessions say. */
export const AuditAct = Schema.Literal(
  "read",
  "export",
  "delete",
  "begin-erase",
  "erase",
  "restore",
  "hold",
  "release",
  "pass",
  "fork",
  "archive",
  "move",
)
export type AuditAct = typeof AuditAct.Type

/** A session as a receipt names it: its version, the size of its records as they are stored, and their SHA-256. */
const ErasedSession = Schema.Struct({
  session: Schema.String,
  version: Schema.NonNegativeInt,
  bytes: Schema.NonNegativeInt,
  sha256: Schema.String,
})

/** What the ids of audit trails begin with. */
export const trailPrefix = "memfold:audit:"

/**
 * Whether a log is the trail of an audit, which stands in a store as it is, also in one that is sealed.
 *
 * @example
 * ```ts
 * import { Audit } from "@memfold/core"
 *
 * console.log(Audit.isTrail(Audit.trailOf({ owner: "ann" }))) // true
 * ```
 */
export const isTrail = (log: string): boolean => log.startsWith(trailPrefix)

/**
 * An entry of an audit trail, which is a log of its own. It never has a text of a conversation.
 *
 * - `session` or `owner`: what it was done to; both for a session that the owner has passed on (`pass`), or that a rule has deleted
 * - `operation`: the operation that read or exported
 * - `reason`: why, in the words of whoever did it
 * - `destroyTime`: when the keys of an erasure are destroyed, in milliseconds since the epoch
 * - `sessions`, `keys`: what an erasure reached
 * - `owners`: the owners whose facts may rest on words of the one whose erasure begins (`begin-erase`)
 * - `previous`: the SHA-256 of the record before it, as it is stored; empty for the first one
 */
export const AuditNoted = Schema.TaggedStruct("AuditNoted", {
  act: AuditAct,
  session: Schema.optional(Schema.String),
  owner: Schema.optional(Schema.String),
  operation: Schema.optional(Schema.String),
  reason: Schema.optional(Schema.String),
  destroyTime: Schema.optional(Millis),
  sessions: Schema.optional(Schema.Array(ErasedSession)),
  keys: Schema.optional(Schema.Array(Schema.String)),
  owners: Schema.optional(Schema.Array(Schema.String)),
  previous: Schema.String,
})
export type AuditNoted = typeof AuditNoted.Type

/** All events that this version of memfold knows. */
export const Event = Schema.Union(
  MessageAppended,
  CompactionStarted,
  CompactionRenewed,
  SummaryCommitted,
  SummarySuperseded,
  SummaryInvalidated,
  CompactionPaused,
  ToolOutputsPruned,
  CompactionFailed,
  CompactionReleased,
  FactsLearned,
  FactRemoved,
  FactEnded,
  FactRetracted,
  FactRedacted,
  FactConfirmed,
  FactReverted,
  FactsRebuilt,
  RebuildEnded,
  MessageRedacted,
  BranchSwitched,
  MessageSetAside,
  SessionCleared,
  SessionDescribed,
  SpendCharged,
  SpendCapReached,
  AuditNoted,
)
export type Event = typeof Event.Type

/** The schema version that each event is written in. Older ones are upcast when they are read, see `EventCodec`. */
// Written out: made of the schemas, the table would bring all of them into a page that needs a number of it.
export const schemaVersions: { readonly [Tag in Event["_tag"]]: number } = {
  MessageAppended: 2,
  CompactionStarted: 1,
  CompactionRenewed: 1,
  SummaryCommitted: 1,
  SummarySuperseded: 1,
  SummaryInvalidated: 1,
  CompactionPaused: 1,
  ToolOutputsPruned: 1,
  CompactionFailed: 1,
  CompactionReleased: 1,
  FactsLearned: 1,
  FactRemoved: 1,
  FactEnded: 1,
  FactRetracted: 1,
  FactRedacted: 1,
  FactConfirmed: 1,
  FactReverted: 1,
  FactsRebuilt: 1,
  RebuildEnded: 1,
  MessageRedacted: 1,
  BranchSwitched: 1,
  MessageSetAside: 1,
  SessionCleared: 1,
  SessionDescribed: 1,
  SpendCharged: 1,
  SpendCapReached: 1,
  AuditNoted: 1,
}
