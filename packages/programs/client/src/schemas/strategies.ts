/** A session over its versions, and under other strategies. */
import { Schema } from "effect"
import { described, number, optional, text } from "./fields.js"
import { Json, Time } from "./form.js"
import { Part } from "./summaries.js"

export const Timeline = Schema.Struct({
  version: Schema.Number,
  versions: Schema.Array(
    Schema.Struct({
      version: Schema.Number,
      time: Time,
      event: text("The type of the event"),
      total: number("How many messages the conversation has"),
      coveredTo: Schema.Number,
      tokens: number("The tokens of the context"),
      branch: Schema.Number,
    }).annotations({ identifier: "TimelineVersion" }),
  ),
  compactions: Schema.Array(
    Schema.Struct({
      compaction: Schema.String,
      outcome: Schema.Literal("running", "committed", "pruned", "failed", "released"),
      strategy: Schema.String,
      reason: Schema.String,
      startedAt: number("The version of its start"),
      endedAt: Schema.NullOr(Schema.Number),
      startTime: Time,
      endTime: Schema.NullOr(Time),
      parts: Schema.Array(Part),
      coveredTo: Schema.NullOr(Schema.Number),
      summary: described(Schema.NullOr(Schema.String), "The id of its summary"),
      status: Schema.NullOr(Schema.Literal("active", "superseded", "invalid")),
      supersedes: Schema.NullOr(Schema.String),
      tokensBefore: Schema.NullOr(Schema.Number),
      tokensAfter: Schema.NullOr(Schema.Number),
      summarizer: Schema.NullOr(Schema.String),
      calls: Schema.NullOr(Schema.Number),
      pruned: Schema.Array(Schema.Number),
      failure: Schema.NullOr(Schema.String),
    }).annotations({ identifier: "TimelineCompaction" }),
  ),
}).annotations({ identifier: "Timeline" })

export const Compare = Schema.Struct({
  strategy: described(
    Schema.NullOr(Schema.String),
    "The name of a strategy; `null` for the full history, which nothing compacts",
  ),
  settings: optional(Json, "Settings of the strategy"),
  prices: optional(
    Schema.Union(Schema.String, Json),
    "What tokens cost: the name of a preset, or an object of prices; `claude-sonnet-5.5` by default",
  ),
})

export const Compared = Schema.Struct({
  strategy: Schema.NullOr(Schema.String),
  prices: text("The model that the prices are of"),
  messages: Schema.Number,
  compactions: Schema.Number,
  failures: Schema.Number,
  firstFailure: Schema.NullOr(Schema.String),
  points: Schema.Array(
    Schema.Struct({
      index: number("The message that the call answered with"),
      tokens: number("The tokens of its context"),
      dollars: number("What all calls up to here cost, without their answers"),
      cached: number("The share of the prompts up to here that the provider read from its cache"),
      needed: number("How many identifiers were needed up to here"),
      there: number("How many of them were in the context"),
      compactions: Schema.Number,
    }).annotations({ identifier: "CallPoint" }),
  ),
}).annotations({ identifier: "Compared" })
