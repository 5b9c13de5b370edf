/** The form of messages, and how one request is decided. */
import { Predicate, Schema } from "effect"
import { described, count, optional } from "./fields.js"

export const Time = Schema.Number.annotations({
  identifier: "Time",
  description: "Milliseconds since the epoch",
})

/** An object, whatever is in it: looking at each of its fields would take most of the time of a long list. */
export const Json = Schema.declare((value): value is { readonly [field: string]: unknown } =>
  Predicate.isReadonlyRecord(value),
).annotations({
  identifier: "JsonObject",
  jsonSchema: {
    type: "object",
    required: [],
    properties: {},
    additionalProperties: { $id: "/schemas/unknown", title: "unknown" },
  },
})

export type Json = typeof Json.Type

/** The formats that messages come and go in. */
export const Format = Schema.Literal("openai", "openai-responses", "anthropic", "memfold").annotations({
  identifier: "Format",
  description:
    "The format of messages: of Chat Completions (`openai`, the default), of the Responses API, of Anthropic's Messages API, or of `@memfold/core`",
})

export type Format = typeof Format.Type

/** A message of a format, or a whole response of a provider. */
export const Message = Json.annotations({
  identifier: "Message",
  description: "A message in the format of the request; the documentation of the provider describes it",
})

export const OneOrMore = described(
  Schema.Union(Message, Schema.Array(Message)),
  "One message or a list; a whole response of the provider, too",
)

/** Messages of a format: a list, or an object with the system messages apart. */
export const Formatted = described(
  Schema.Union(Schema.Array(Message), Message),
  "A list of messages; an object with the system messages apart, where the format has them apart",
)

export const inFormat = { format: Schema.optional(Format) }

/** How one request is decided, whatever the service is set to. */
export const ofRequest = {
  strategy: optional(Schema.String, "The name of a strategy, for this request"),
  settings: optional(Json, "Settings of the strategy, for this request"),
  fullContextTurns: optional(
    Schema.Int,
    "A setting of the strategy `rounds`: the turns that stay word for word",
  ),
  cachedContextTurns: optional(
    Schema.Int,
    "A setting of the strategy `rounds`: the turns of one block of the summary",
  ),
}

/** The fields of {@link ofRequest} in a query. */
export const ofQuery = {
  strategy: ofRequest.strategy,
  settings: optional(Schema.parseJson(Json), "Settings of the strategy, as JSON"),
  fullContextTurns: Schema.optional(count),
  cachedContextTurns: Schema.optional(count),
}

export const pauseFor = optional(
  Schema.Int,
  "How many messages have to come before automatic compaction goes on; 20 by default",
)

/** The name of a message: its index, or the version of its event. */
export const MessageName = Schema.Union(Schema.Int, Schema.Struct({ version: Schema.Int })).annotations({
  identifier: "MessageName",
  description: "The index of a message, or `{ version }` of the event that appended it",
})
