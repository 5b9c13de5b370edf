/** The log of a session. */
import { Schema } from "effect"
import { described, count, flag, optional } from "./fields.js"
import { Actor } from "./governance.js"
import { Json, Time } from "./form.js"

export const EventQuery = Schema.Struct({
  fromVersion: Schema.optional(count),
  toVersion: Schema.optional(count),
  reverse: optional(flag, "The newest first"),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most events of the page, 1 to 1,000; 100 by default",
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
  limit: EventQuery.fields.limit,
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

export const EventPage = Schema.Struct({ events: Schema.Array(RecordedEvent) }).annotations({
  identifier: "EventPage",
})
