/** Summaries: what they consist of, what they rest on, and the compactions that write them. */
import { Schema } from "effect"
import { Context } from "./conversation.js"
import { described, Origin, count, number, optional, text } from "./fields.js"
import { Time, inFormat, ofRequest, pauseFor } from "./form.js"

export const Segment = Schema.Struct({
  kind: Schema.String,
  from: Schema.Number,
  to: Schema.Number,
  text: Schema.String,
}).annotations({ identifier: "Segment" })

export type Segment = typeof Segment.Type

export const Summary = Schema.Struct({
  id: Schema.String,
  version: Schema.Number,
  status: Schema.Literal("active", "superseded", "invalid"),
  supersededBy: Schema.NullOr(Schema.String),
  coveredTo: Schema.Number,
  text: Schema.String,
  segments: described(Schema.Array(Segment), "Its parts, each with the messages that it covers"),
  origins: Schema.optional(Schema.Array(Origin)).annotations({
    description: "The lowest origin of the messages that each segment rests on",
  }),
  carried: number("How many of them stayed as they were in the summary before it"),
  tokens: Schema.Number,
  time: Time,
}).annotations({ identifier: "Summary" })

export type Summary = typeof Summary.Type

export const Part = Schema.Struct({ kind: Schema.String, from: Schema.Number, to: Schema.Number })

export const TraceRequest = Schema.Struct({
  text: optional(Schema.String, "A text: its sentences are traced to all messages"),
  summary: optional(
    Schema.String,
    "The id of a summary, instead of a text: its sentences are traced to the messages that it covers",
  ),
})

const sharing = {
  share: number("How much of the sentence's weight is there, from 0 to 1"),
  words: described(Schema.Array(Schema.String), "What both have, as the sentence writes it"),
}

export const Trace = Schema.Struct({
  version: Schema.Number,
  text: Schema.String,
  sentences: Schema.Array(
    Schema.Struct({
      text: Schema.String,
      from: number("Where it begins in `text`, in UTF-16 code units"),
      to: Schema.Number,
      supported: Schema.Boolean,
      share: Schema.Number,
      messages: Schema.Array(Schema.Struct({ index: Schema.Number, ...sharing })),
      missing: described(Schema.Array(Schema.String), "Identifiers that no message has"),
    }).annotations({ identifier: "TracedSentence" }),
  ),
}).annotations({ identifier: "Trace" })

export const MessagePath = Schema.Struct({ session: Schema.String, message: count })

export const TracedSummary = Schema.Struct({
  summary: Schema.String,
  status: Schema.Literal("active", "superseded", "invalid"),
  sentences: Schema.Array(Schema.Struct({ text: Schema.String, ...sharing })),
}).annotations({ identifier: "TracedSummary" })

export const Compact = Schema.Struct({
  which: optional(
    Schema.Literal("next", "due", "all"),
    "One compaction now (default), all that are due, or all anew from the messages",
  ),
  instructions: optional(Schema.String, "A text for the prompt of the summarizer"),
  takeOver: optional(Schema.Boolean, "Takes the lock from a compaction that runs"),
  ...ofRequest,
})

export const Outcome = Schema.Struct({
  outcome: Schema.Literal("Idle", "Committed", "Pruned", "Failed", "Lost"),
  reason: optional(Schema.String, "Why nothing was done, or what failed"),
  summary: optional(Schema.String, "The id of the new summary"),
  coveredTo: Schema.optional(Schema.Number),
  tokensBefore: Schema.optional(Schema.Number),
  tokensAfter: Schema.optional(Schema.Number),
}).annotations({ identifier: "CompactionOutcome" })

export type Outcome = typeof Outcome.Type

export const Preview = Schema.Struct({
  ...inFormat,
  which: Compact.fields.which,
  instructions: Compact.fields.instructions,
  takeOver: Compact.fields.takeOver,
  summarizer: optional(
    Schema.Literal("extractive", "own"),
    "Writes the summaries of the preview: the extractive summarizer (default), which costs nothing, or the service's own, which may ask a model",
  ),
  ...ofRequest,
})

export const Previewed = Schema.Struct({
  version: Schema.Number,
  strategy: Schema.String,
  summarizer: text("Who wrote the summaries of the preview"),
  compactions: Schema.Array(
    Schema.Struct({
      outcome: Schema.Literal("Committed", "Pruned", "Failed"),
      reason: text("Why it would run"),
      failure: optional(Schema.String, "Why it would fail"),
      from: Schema.Number,
      to: Schema.Number,
      tailFrom: Schema.Number,
      parts: Schema.Array(Part),
      segments: described(Schema.Array(Segment), "The segments that would be written"),
      carried: number("How many segments of the earlier summary would stay in front of them"),
      pruned: described(
        Schema.Array(Schema.Number),
        "The indexes of messages whose tool outputs would be shortened",
      ),
      replaced: Schema.Struct({
        messages: Schema.Number,
        tokens: Schema.Number,
        segments: Schema.Array(Segment),
      }),
      tokensBefore: Schema.NullOr(Schema.Number),
      tokensAfter: Schema.NullOr(Schema.Number),
    }).annotations({ identifier: "PreviewedCompaction" }),
  ),
  idle: described(Schema.NullOr(Schema.String), "Why nothing, or nothing more, would be done"),
  before: Context,
  after: Context,
}).annotations({ identifier: "Preview" })

export type Previewed = typeof Previewed.Type

export const Compacted = Schema.Struct({ outcomes: Schema.Array(Outcome) })

export const Revert = Schema.Struct({
  toSummary: optional(
    Schema.NullOr(Schema.String),
    "The id of a summary, or `null` (default) for the messages",
  ),
  pauseFor,
})

export const Reverted = Schema.Struct({ reverted: Schema.Number })
