/** Searching messages, and the tools of a model for it; facts of memory layers. */
import { Schema } from "effect"
import { Origin, optional, text } from "./fields.js"
import { Formatted, Json, Time, ofRequest } from "./form.js"

const searched = {
  query: text("A question, words, an identifier or a path, in any language"),
  tokens: optional(Schema.Int, "The most tokens of the result; 1,000 by default"),
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
  excerpt: Schema.Boolean.annotations({ description: "Whether `text` is only a part of the message" }),
  rank: optional(Schema.Number, "1 for what fits the query best"),
  message: Formatted,
}

const foundIn = { text: Schema.String, tokens: Schema.Number }

export const Recalled = Schema.Struct({
  messages: Schema.Array(Schema.Struct(found).annotations({ identifier: "RecalledMessage" })),
  ...foundIn,
  unsearched: optional(
    Schema.Number,
    "How many messages were not searched, since the index is still being built; search again",
  ),
}).annotations({ identifier: "Recalled" })

export const OwnerRecalled = Schema.Struct({
  messages: Schema.Array(
    Schema.Struct({ session: Schema.String, ...found }).annotations({ identifier: "OwnedRecalledMessage" }),
  ),
  ...foundIn,
  unreadable: Schema.Array(Schema.String),
}).annotations({ identifier: "OwnedRecalled" })

export const Facts = Schema.Struct({
  facts: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      layer: Schema.Literal("user", "scope"),
      kind: Schema.String,
      text: Schema.String,
      key: Schema.optional(Schema.String),
      from: Schema.Number,
      to: Schema.Number,
      origin: Schema.optional(Origin),
      time: Time,
    }).annotations({ identifier: "Fact" }),
  ),
})

export const FactPath = Schema.Struct({ session: Schema.String, fact: Schema.String })

export const Tools = Schema.Struct({
  openai: Schema.Array(Json),
  responses: Schema.Array(Json),
  anthropic: Schema.Array(Json),
})

export const ToolCall = Schema.Struct({
  name: Schema.String,
  arguments: Json,
  tokens: Schema.optional(Schema.Int),
  ...ofRequest,
})

export const ToolResult = Schema.Struct({ text: Schema.String })
