/** The events of facts: what was learned, and what became of it. */
import { Schema } from "effect"
import { Origin } from "@memfold/message/Message"

const Index = Schema.NonNegativeInt
/** Milliseconds since the epoch, finite: JSON turns an infinite number into `null`. */
const Millis = Schema.JsonNumber

/** Whether a bound of time was said in the conversation, or is taken from the time of the message. */
export const TimeSource = Schema.Literal("said", "assumed")
export type TimeSource = typeof TimeSource.Type

/** Where a fact was said: `quote` stands in the message that the event at version `event` of `session` appended, byte for byte in NFC. */
export const FactSource = Schema.Struct({
  session: Schema.String,
  event: Schema.NonNegativeInt,
  quote: Schema.String,
})
export type FactSource = typeof FactSource.Type

/** The extractor that has found something. */
export const FoundBy = Schema.Struct({ extractor: Schema.String, version: Schema.String })
export type FoundBy = typeof FoundBy.Type

/** How many facts were found and not taken, by why. */
const Refused = Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt })

/**
 * A fact learned from the messages `[from, to)`: those that it was said in if its value stands there, and otherwise all that its
 * extractor read.
 *
 * - `layer`: whether it is about the user, or about the scope (project, workspace) of the session
 * - `text`: the fact as a line for a context
 * - `key`: the subject has one value of it at a time, and a newer fact of the same layer, subject and key ends the older one. A fact
 *   without `sources` replaces it
 * - `origin`: the lowest origin of these messages; absent if it was learned before facts had one, and then nobody knows
 * - `subject`, `predicate`, `value`: what is said of whom, in any JSON; the user is the subject if there is none
 * - `validFrom`, `validUntil`: when it is true, `[validFrom, validUntil)`, in milliseconds since the epoch; an open bound is absent
 * - `timeSource`: whether these bounds were said
 * - `sources`: where it was said; absent in facts that were learned before facts had quotes
 * - `by`: what has found it
 */
export const Fact = Schema.Struct({
  id: Schema.String,
  layer: Schema.Literal("user", "scope"),
  /** The kind of the fact: `profile`, `preference`, `digest`, `plan`, `document`, or a word of your own. */
  kind: Schema.String,
  text: Schema.String,
  key: Schema.optional(Schema.String),
  from: Index,
  to: Index,
  origin: Schema.optional(Origin),
  subject: Schema.optional(Schema.String),
  predicate: Schema.optional(Schema.String),
  value: Schema.optional(Schema.Unknown),
  validFrom: Schema.optional(Millis),
  validUntil: Schema.optional(Millis),
  timeSource: Schema.optional(TimeSource),
  sources: Schema.optional(Schema.Array(FactSource)),
  by: Schema.optional(FoundBy),
})
export type Fact = typeof Fact.Type

/**
 * Facts were learned from the turns in `[from, to)`; the list may be empty. In a log that several sessions share,
 * `session` names the session of these turns. `refused` says how many an extractor found that were not taken, by why; `by` which
 * extractor that was.
 */
export const FactsLearned = Schema.TaggedStruct("FactsLearned", {
  from: Index,
  to: Index,
  facts: Schema.Array(Fact),
  session: Schema.optional(Schema.String),
  refused: Schema.optional(Refused),
  by: Schema.optional(FoundBy),
})
export type FactsLearned = typeof FactsLearned.Type

/** A fact is not there any more: what was learned anew has taken its place, or a version before facts had quotes removed it. `fact` is its id. */
export const FactRemoved = Schema.TaggedStruct("FactRemoved", { fact: Schema.String, reason: Schema.String })
export type FactRemoved = typeof FactRemoved.Type

/**
 * A fact was true until `until` (milliseconds since the epoch), and is no longer. `fact` is its id.
 *
 * - `timeSource`: whether the time was said
 * - `source`: where that was said; absent if it was not said in a conversation
 */
export const FactEnded = Schema.TaggedStruct("FactEnded", {
  fact: Schema.String,
  until: Millis,
  timeSource: TimeSource,
  source: Schema.optional(FactSource),
  reason: Schema.optional(Schema.String),
})
export type FactEnded = typeof FactEnded.Type

/** A fact was never true. `fact` is its id. */
export const FactRetracted = Schema.TaggedStruct("FactRetracted", {
  fact: Schema.String,
  reason: Schema.String,
})
export type FactRetracted = typeof FactRetracted.Type

/**
 * A fact must not be known: it was erased from the event that it was learned with. `fact` is its id, and `places` the messages that it
 * was said in: nothing else is learned from them when facts are rebuilt. Without an id, the messages themselves are about to be
 * redacted: nothing at all is learned from them, by whoever has read them before.
 */
export const FactRedacted = Schema.TaggedStruct("FactRedacted", {
  fact: Schema.String,
  places: Schema.optional(Schema.Array(Schema.Struct({ session: Schema.String, event: Index }))),
})
export type FactRedacted = typeof FactRedacted.Type

/** Somebody has judged that a fact is true. `fact` is its id. */
export const FactConfirmed = Schema.TaggedStruct("FactConfirmed", { fact: Schema.String })
export type FactConfirmed = typeof FactConfirmed.Type

/** The newest end or retraction of a fact is taken back. `fact` is its id. */
export const FactReverted = Schema.TaggedStruct("FactReverted", { fact: Schema.String })
export type FactReverted = typeof FactReverted.Type

/**
 * What was learned anew from a session, beside the facts in force: nothing of it is a fact before it is taken. Events of one `rebuild`
 * are one batch.
 *
 * - `by`: the extractor that has found it
 * - `toVersion`: the version of the last message that was read
 * - `facts`, `ended`: as in `FactsLearned`, and what ends some of them
 */
export const FactsRebuilt = Schema.TaggedStruct("FactsRebuilt", {
  rebuild: Schema.String,
  by: FoundBy,
  session: Schema.String,
  toVersion: Index,
  facts: Schema.Array(Fact),
  ended: Schema.Array(FactEnded),
  refused: Schema.optional(Refused),
})
export type FactsRebuilt = typeof FactsRebuilt.Type

/** What was learned anew has been taken, all of it, or dropped. */
export const RebuildEnded = Schema.TaggedStruct("RebuildEnded", {
  rebuild: Schema.String,
  as: Schema.Literal("taken", "dropped"),
})
export type RebuildEnded = typeof RebuildEnded.Type
