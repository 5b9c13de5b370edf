/**
 * What can happen in a session. Events are facts: immutable, versioned, and enough to rebuild every state and
 * every prompt of the past (law L10).
 *
 * To add one: declare it here, list it in {@link Event} and {@link schemaVersions}; the build then breaks in every
 * fold that has not answered it.
 */
import { Schema } from "effect"
import { Message } from "../message/Message.js"
import { Wording } from "../summary/Wording.js"
import { Files, Segment, SegmentKind } from "../summary/Summary.js"

const Index = Schema.NonNegativeInt
const Tokens = Schema.NonNegativeInt
/** Finite, because JSON has no other numbers: an infinite one would come back as `null`. */
const Millis = Schema.JsonNumber

/** A message entered the session at `index`, with its tokens as counted then. */
export const MessageAppended = Schema.TaggedStruct("MessageAppended", {
  index: Index,
  message: Message,
  tokens: Tokens,
})
export type MessageAppended = typeof MessageAppended.Type

/** A piece of the plan: these messages become (part of) a segment of this kind. */
export const PlannedPart = Schema.Struct({ kind: SegmentKind, from: Index, to: Index })
export type PlannedPart = typeof PlannedPart.Type

/**
 * A compaction of `[from, to)` took the session's lock. `leaseUntil` says when others may take over (liveness
 * only); `tailFrom` is where the policy's tail began, which `to` never passes unless the turn was split.
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

/**
 * A compaction ended well. The new summary consists of the first `carried` segments of the one before it,
 * unchanged, and of `segments`; it covers `[0, coveredTo)`. `files` are those of all messages it covers. `tokens` is
 * what it takes in a context, wording included; `tokensBefore` and `tokensAfter` are the whole context's.
 */
export const SummaryCommitted = Schema.TaggedStruct("SummaryCommitted", {
  compaction: Schema.String,
  summary: Schema.String,
  coveredTo: Index,
  carried: Index,
  segments: Schema.Array(Segment),
  files: Schema.optional(Files),
  wording: Wording,
  summarizer: Schema.String,
  calls: Schema.NonNegativeInt,
  tokens: Tokens,
  tokensBefore: Tokens,
  tokensAfter: Tokens,
})
export type SummaryCommitted = typeof SummaryCommitted.Type

/** An older summary gave way to a newer one. It stays readable in the log. */
export const SummarySuperseded = Schema.TaggedStruct("SummarySuperseded", {
  summary: Schema.String,
  by: Schema.String,
})
export type SummarySuperseded = typeof SummarySuperseded.Type

/**
 * What a compaction committed at `version` counts as never made, and what it had replaced is back (the summary before it,
 * or the raw messages): it turned out to be unusable, or was taken back. `summary` is its id, where there is one that
 * can be read.
 */
export const SummaryInvalidated = Schema.TaggedStruct("SummaryInvalidated", {
  version: Schema.NonNegativeInt,
  summary: Schema.NullOr(Schema.String),
  reason: Schema.String,
})
export type SummaryInvalidated = typeof SummaryInvalidated.Type

/** Nothing is compacted by itself before there are `until` messages: what was taken back is not done again at once. */
export const CompactionPaused = Schema.TaggedStruct("CompactionPaused", { until: Index })
export type CompactionPaused = typeof CompactionPaused.Type

/**
 * What is left in contexts of one tool output: its first `head` and last `tail` characters with `note` between
 * them. `tokens` is what its whole message takes from now on.
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
 * A compaction shortened outputs of tools in messages that stay raw. The log keeps them whole. It ends the
 * compaction unless a summary is committed with it.
 */
export const ToolOutputsPruned = Schema.TaggedStruct("ToolOutputsPruned", {
  compaction: Schema.String,
  outputs: Schema.Array(PrunedOutput),
})
export type ToolOutputsPruned = typeof ToolOutputsPruned.Type

/** A compaction ended without a summary. The messages stay raw; none before `retryTime` or `retryMessages` messages. */
export const CompactionFailed = Schema.TaggedStruct("CompactionFailed", {
  compaction: Schema.String,
  reason: Schema.String,
  detail: Schema.String,
  retryTime: Millis,
  retryMessages: Index,
})
export type CompactionFailed = typeof CompactionFailed.Type

/**
 * A compaction was given up without having failed: its engine was shut down, its caller went away, or what it was
 * working from was taken back.
 */
export const CompactionReleased = Schema.TaggedStruct("CompactionReleased", { compaction: Schema.String })
export type CompactionReleased = typeof CompactionReleased.Type

/**
 * A message was forgotten: its text is gone from the event that brought it in, and from every event that had words of
 * it. `rewritten` are their sequence numbers.
 */
export const MessageRedacted = Schema.TaggedStruct("MessageRedacted", {
  version: Schema.NonNegativeInt,
  rewritten: Schema.Array(Schema.NonNegativeInt),
})
export type MessageRedacted = typeof MessageRedacted.Type

/** The session starts over: indices begin at 0 again, and what was before stays in the log. */
export const SessionCleared = Schema.TaggedStruct("SessionCleared", {})
export type SessionCleared = typeof SessionCleared.Type

/**
 * Something worth remembering beyond the messages it was said in, `[from, to)`. A newer fact of the same layer
 * and `key` takes the place of an older one.
 */
export const Fact = Schema.Struct({
  id: Schema.String,
  layer: Schema.Literal("user", "scope"),
  /** What sort of fact: `profile`, `preference`, `digest`, `plan`, `document`, or any other word. */
  kind: Schema.String,
  text: Schema.String,
  key: Schema.optional(Schema.String),
  from: Index,
  to: Index,
})
export type Fact = typeof Fact.Type

/**
 * The rounds in `[from, to)` were looked through for facts, and these belong in this log. In a log that several
 * sessions share, `session` says whose rounds.
 */
export const FactsLearned = Schema.TaggedStruct("FactsLearned", {
  from: Index,
  to: Index,
  facts: Schema.Array(Fact),
  session: Schema.optional(Schema.String),
})
export type FactsLearned = typeof FactsLearned.Type

/** A fact is wrong or out of date, and is recalled no more. */
export const FactRemoved = Schema.TaggedStruct("FactRemoved", { fact: Schema.String, reason: Schema.String })
export type FactRemoved = typeof FactRemoved.Type

/** Every event this version of memfold knows. */
export const Event = Schema.Union(
  MessageAppended,
  CompactionStarted,
  SummaryCommitted,
  SummarySuperseded,
  SummaryInvalidated,
  CompactionPaused,
  ToolOutputsPruned,
  CompactionFailed,
  CompactionReleased,
  FactsLearned,
  FactRemoved,
  MessageRedacted,
  SessionCleared,
)
export type Event = typeof Event.Type

/** The schema version each event is written with. Older ones are upcast when read, see `EventCodec`. */
export const schemaVersions: { readonly [Tag in Event["_tag"]]: number } = {
  MessageAppended: 1,
  CompactionStarted: 1,
  SummaryCommitted: 1,
  SummarySuperseded: 1,
  SummaryInvalidated: 1,
  CompactionPaused: 1,
  ToolOutputsPruned: 1,
  CompactionFailed: 1,
  CompactionReleased: 1,
  FactsLearned: 1,
  FactRemoved: 1,
  MessageRedacted: 1,
  SessionCleared: 1,
}
