/** The log of a session. */
import { Schema } from "effect"
import { described, count, flag, optional, text } from "./fields.js"
import { Actor } from "./governance.js"
import { Json, Time } from "./form.js"

export const EventQuery = Schema.Struct({
  fromVersion: Schema.optional(count),
  toVersion: Schema.optional(count),
  reverse: optional(flag, "The newest first"),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most events of the page, 1 to 1,000; 100 by default. It has fewer where they are large: the next one begins behind its last event",
  ),
})

export const RecordedEvent = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  id: Schema.String,
  time: Time,
  event: described(Json, "The event; `_tag` is its type"),
  actor: Schema.optional(Actor),
}).annotations({ identifier: "Event" })

export type RecordedEvent = typeof RecordedEvent.Type

/** Where a reader of the feed of all sessions goes on. */
export const FeedQuery = Schema.Struct({
  after: optional(
    Schema.String,
    "The `position` of the last event that is done; from the first event by default",
  ),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most events of the page, 1 to 1,000; 100 by default. It has fewer where they are large; an empty page is the end",
  ),
  wait: optional(
    count.pipe(Schema.between(0, 30)),
    "How many seconds to wait for an event where there is none, 0 to 30; 0 by default",
  ),
})

export const FedEvent = Schema.Struct({
  ...RecordedEvent.fields,
  position: Schema.String.annotations({ description: "Where to go on behind this event" }),
}).annotations({ identifier: "FedEvent" })

export type FedEvent = typeof FedEvent.Type

export const FeedPage = Schema.Struct({
  events: Schema.Array(FedEvent),
  after: described(
    Schema.NullOr(Schema.String),
    "Where to go on: the position of the last event, or what was asked for; `null` at the start",
  ),
}).annotations({ identifier: "FeedPage" })

export const GroupPath = Schema.Struct({
  group: text("The name of a group of consumers, without U+0000"),
})

export const GivenUpPath = Schema.Struct({ ...GroupPath.fields, id: count })

const givenUp = {
  session: text("The session of the event, without U+0000"),
  version: Schema.Int.pipe(Schema.positive()),
  position: Schema.String.annotations({ description: "The `position` of the event" }),
  attempts: Schema.Int.pipe(Schema.between(0, 1_000_000)).annotations({
    description: "The attempts",
  }),
  reason: Schema.String.annotations({
    description: "Why the last attempt failed, in a word: an erasure does not look here",
  }),
}

export const GivenUpQuery = Schema.Struct({
  after: optional(count, "Begins behind this `id`; with the oldest by default"),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most events, 1 to 1,000; 100 by default. Fewer are the end",
  ),
})

export const GivenUp = Schema.Struct({
  givenUp: Schema.Array(
    Schema.Struct({
      id: Schema.Int.annotations({ description: "The place in the list" }),
      ...givenUp,
      time: Schema.Number.annotations({
        description: "When it was given up, in milliseconds since the epoch",
      }),
    }),
  ),
}).annotations({ identifier: "GivenUp" })

/** What a consumer of a group asks for. */
export const Consume = Schema.Struct({
  turn: optional(
    Schema.String,
    "The `turn` of the answer before. Without one, the turn of the group is taken, once no other consumer has it",
  ),
  done: optional(
    Schema.String,
    "The `position` of the last event that is done: it is kept, and what is behind it comes",
  ),
  givenUp: optional(
    Schema.Array(Schema.Struct({ ...givenUp, reason: givenUp.reason.pipe(Schema.maxLength(500)) })).pipe(
      Schema.maxItems(1000),
    ),
    "The events up to `done` that are given up",
  ),
  after: optional(
    Schema.String,
    "The `position` behind which to read on, for who has not done yet what came: none of it is kept",
  ),
  limit: optional(
    Schema.Int.pipe(Schema.between(0, 1000)),
    "The most events of the answer, 0 to 1,000; 100 by default. With 0, `done` and the turn are kept",
  ),
  wait: optional(
    Schema.Int.pipe(Schema.between(0, 30)),
    "How many seconds to wait for the turn and for an event, 0 to 30; 0 by default",
  ),
  lease: optional(
    Schema.Number.pipe(Schema.between(0, 3600)),
    "For how many seconds from the answer on the turn is kept, 0 to 3,600; 30 by default. With 0, it ends",
  ),
  from: optional(
    Schema.Literal("start", "end"),
    "Where a new group begins: with the first event of the store (`start`, the default), or with what comes from now on",
  ),
})

export const Consumed = Schema.Struct({
  turn: described(
    Schema.NullOr(Schema.String),
    "The turn, for the next request; `null` while another consumer has it, and where it was ended",
  ),
  events: Schema.Array(FedEvent),
  after: described(
    Schema.NullOr(Schema.String),
    "Where to read on: the position of the last event, or where the group is; `null` at the start",
  ),
}).annotations({ identifier: "Consumed" })

export const EventPage = Schema.Struct({ events: Schema.Array(RecordedEvent) }).annotations({
  identifier: "EventPage",
})
