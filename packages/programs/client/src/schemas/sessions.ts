/** Sessions and their owners: lists, descriptions, copies. */
import { Schema } from "effect"
import { described, count, number, optional, text, TimeFromString } from "./fields.js"
import { Time } from "./form.js"

export const Session = Schema.Struct({ session: described(Schema.NonEmptyString, "The id of the session") })

export const ListQuery = Schema.Struct({
  owner: optional(
    Schema.String,
    "Only sessions of this owner, the newest activity first; without it, all in the order of their ids",
  ),
  title: optional(Schema.String, "Only sessions whose title has this text, whatever its case"),
  activeFrom: Schema.optional(TimeFromString),
  activeTo: Schema.optional(TimeFromString),
  limit: optional(
    count.pipe(Schema.between(1, 1000)),
    "The most sessions of the page, 1 to 1,000; 50 by default",
  ),
  cursor: optional(Schema.String, "The `next` of a page, for the page behind it"),
})

export const SessionInfo = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  createdTime: Time,
  updatedTime: Time,
  owner: Schema.optional(Schema.String),
  title: Schema.optional(Schema.String),
}).annotations({ identifier: "SessionInfo" })

export type SessionInfo = typeof SessionInfo.Type

export const SessionPage = Schema.Struct({
  sessions: Schema.Array(SessionInfo),
  next: described(
    Schema.NullOr(Schema.String),
    "The `cursor` of the next page; `null` at the end. With filters, a page can be short, and others follow",
  ),
}).annotations({ identifier: "SessionPage" })

export type SessionPage = typeof SessionPage.Type

export const SessionOverview = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  total: number("How many messages the conversation has"),
  coveredTo: number("The active summary covers the messages before this"),
  summary: described(Schema.NullOr(Schema.String), "The id of the active summary"),
  branch: number("The id of the branch in force"),
  compacting: described(Schema.Boolean, "Whether a compaction has the lock of the session"),
  tokens: number("The tokens of the next context, without facts and recalled messages"),
  summaries: number("How many summaries were committed since the last clear"),
  failures: number("How many compactions have failed since the last one that succeeded"),
  owner: Schema.NullOr(Schema.String),
  title: Schema.NullOr(Schema.String),
}).annotations({ identifier: "Session" })

export type SessionOverview = typeof SessionOverview.Type

export const Description = Schema.Struct({
  owner: Schema.optional(Schema.NullOr(Schema.String)),
  title: Schema.optional(Schema.NullOr(Schema.String)),
})

export const Fork = Schema.Struct({
  to: text("The id of the new session"),
  atVersion: optional(Schema.Int, "The version to copy up to; the newest by default"),
})

export const Forked = Schema.Struct({ session: Schema.String, version: Schema.Number })

export const OwnerPath = Schema.Struct({
  owner: described(Schema.NonEmptyString, "The owner, an id of the application"),
})

export const OwnerDeleted = Schema.Struct({
  deleted: number("How many sessions there were"),
})

export const Deleted = Schema.Struct({ deleted: Schema.Boolean })

export const SpentOfCap = Schema.Struct({
  scope: described(
    Schema.Literal("session", "owner", "total"),
    "Whose spend it is: of the session, of all sessions of its owner, of all of the store",
  ),
  cap: described(
    Schema.NullOr(
      Schema.Struct({ tokens: Schema.optional(Schema.Number), dollars: Schema.optional(Schema.Number) }),
    ),
    "The most of a day; `null` if another process counts and its cap is not known here",
  ),
  tokens: Schema.Number,
  dollars: Schema.Number,
  heldTokens: number("The most that calls under way may cost besides"),
  heldDollars: Schema.Number,
  reached: described(Schema.NullOr(Time), "When the cap was reached today; `null` if it was not"),
}).annotations({ identifier: "SpentOfCap" })

export const SpentToday = Schema.Struct({
  day: text("The day, in UTC, such as `2026-11-26`"),
  caps: Schema.Array(SpentOfCap),
}).annotations({ identifier: "SpentToday" })
