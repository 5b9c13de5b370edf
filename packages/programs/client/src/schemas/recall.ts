/** Searching messages, and the tools of a model for it; facts of memory layers. */
import { Schema } from "effect"
import { described, count, mostRecalled, Origin, optional, text, TimeFromString } from "./fields.js"
import { Formatted, Json, Time, ofRequest } from "./form.js"

const Tokens = Schema.Int.pipe(Schema.between(0, mostRecalled))

const searched = {
  query: text("A question, words, an identifier or a path, in any language"),
  tokens: optional(Tokens, "The most tokens of the result; 1,000 by default"),
  after: Schema.optional(Time),
  before: Schema.optional(Time),
  timeZone: optional(Schema.String, "For words such as `yesterday`; `UTC` by default"),
}

export const Recall = Schema.Struct({
  ...searched,
  ...ofRequest,
  messages: Schema.optional(Schema.Literal("all", "outside-context")),
  atVersion: Schema.optional(Schema.Int),
})

export const OwnerRecall = Schema.Struct({
  ...searched,
  owner: Schema.String,
  without: optional(Schema.Array(Schema.String), "Sessions that are not searched"),
})

const found = {
  index: Schema.Number,
  version: Schema.Number,
  time: Time,
  role: Schema.String,
  origin: Schema.optional(Origin),
  text: Schema.String,
  excerpt: described(Schema.Boolean, "Whether `text` is only a part of the message"),
  rank: optional(Schema.Number, "1 for what fits the query best"),
  message: Formatted,
}

const foundIn = { text: Schema.String, tokens: Schema.Number }

export const Recalled = Schema.Struct({
  messages: Schema.Array(Schema.Struct(found).annotations({ identifier: "RecalledMessage" })),
  ...foundIn,
  unsearched: optional(
    Schema.Number,
    "How many messages were not searched, or not by meaning, since indexes or vectors are still being made; search again",
  ),
}).annotations({ identifier: "Recalled" })

export const OwnerRecalled = Schema.Struct({
  messages: Schema.Array(
    Schema.Struct({ session: Schema.String, ...found }).annotations({ identifier: "OwnedRecalledMessage" }),
  ),
  ...foundIn,
  unreadable: Schema.Array(Schema.String),
  unsearchedSessions: optional(
    Schema.Number,
    "How many sessions were not searched as a whole, or not by meaning, since indexes or vectors are still being made; search again",
  ),
}).annotations({ identifier: "OwnedRecalled" })

const Source = Schema.Struct({
  session: Schema.String,
  event: Schema.Number,
  quote: Schema.String,
}).annotations({
  identifier: "FactSource",
  description: "Words of the message that the event at this version of the session appended",
})

const Extractor = Schema.Struct({ extractor: Schema.String, version: Schema.String })

const Fact = Schema.Struct({
  id: Schema.String,
  layer: Schema.Literal("user", "scope"),
  kind: Schema.String,
  text: Schema.String,
  key: Schema.optional(Schema.String),
  from: Schema.Number,
  to: Schema.Number,
  origin: Schema.optional(Origin),
  time: Time,
  subject: Schema.optional(Schema.String),
  predicate: Schema.optional(Schema.String),
  value: optional(Schema.Unknown, "What is said, in JSON"),
  validFrom: optional(Time, "Since when it is true; an open bound is absent"),
  validUntil: optional(Time, "Until when it is true, which is no longer so at this time"),
  timeSource: Schema.optional(Schema.Literal("said", "assumed")),
  sources: Schema.optional(Schema.Array(Source)),
  by: Schema.optional(Extractor),
  confirmed: optional(Schema.Boolean, "Somebody has judged that it is true"),
  observed: optional(Schema.Array(Schema.String), "The ids of all facts that say it, if several do"),
  endedBy: optional(Schema.String, "The id of the fact that has taken its place"),
  conflicts: optional(
    Schema.Array(Schema.String),
    "The ids of facts that say something else of the subject at the time",
  ),
}).annotations({ identifier: "Fact" })

export const Facts = Schema.Struct({ facts: Schema.Array(Fact) })

export const FactsDiff = Schema.Struct({
  diff: Schema.NullOr(
    Schema.Struct({
      by: Extractor,
      come: Schema.Array(Fact),
      go: Schema.Array(Fact),
      change: Schema.Array(Schema.Struct({ before: Fact, after: Fact })),
      refused: Schema.Record({ key: Schema.String, value: Schema.Number }),
    }).annotations({
      identifier: "FactsDiff",
      description:
        "What would come, go and change if what was learned anew were taken; `null` if nothing was",
    }),
  ),
})

export const FactsRebuilt = Schema.Struct({
  come: Schema.Number,
  go: Schema.Number,
  change: Schema.Number,
}).annotations({ description: "How many facts would come, go and change" })

export const FactsQuery = Schema.Struct({
  at: optional(
    Schema.Union(Schema.Literal("always"), TimeFromString),
    "Facts that are true at this time, in milliseconds since the epoch, or `always`; now by default",
  ),
  asOfVersion: optional(count, "As they were known at this version of the log"),
})

export const RebuiltQuery = Schema.Struct({
  of: optional(
    Schema.Literal("owner", "session"),
    "What the id in the path names: an owner (default), or a session that has none",
  ),
})

export const RemoveFactQuery = Schema.Struct({
  as: optional(
    Schema.Literal("ended", "retracted"),
    "It was true until now or `until`; it was never true (default)",
  ),
  until: optional(TimeFromString, "When it ended, in milliseconds since the epoch"),
  reason: optional(Schema.String, "A text that is kept in the log"),
})

export const FactConfirmed = Schema.Struct({ confirmed: Schema.Boolean })

export const FactReverted = Schema.Struct({ reverted: Schema.Boolean })

export const RebuildTaken = Schema.Struct({ taken: Schema.Boolean })

export const RebuildDropped = Schema.Struct({ dropped: Schema.Boolean })

export const FactPath = Schema.Struct({ session: Schema.String, fact: Schema.String })

export const Tools = Schema.Struct({
  openai: Schema.Array(Json),
  responses: Schema.Array(Json),
  anthropic: Schema.Array(Json),
})

export const ToolCall = Schema.Struct({
  name: Schema.String,
  arguments: Json,
  tokens: Schema.optional(Tokens),
  ...ofRequest,
})

export const ToolResult = Schema.Struct({ text: Schema.String })
