/** The log of a session. */
import { Schema } from "effect"
import { count, flag, optional } from "./fields.js"
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
  event: Json.annotations({ description: "The event; `_tag` is its type" }),
  actor: Schema.optional(Actor),
}).annotations({ identifier: "Event" })

export type RecordedEvent = typeof RecordedEvent.Type

export const EventPage = Schema.Struct({ events: Schema.Array(RecordedEvent) }).annotations({
  identifier: "EventPage",
})
