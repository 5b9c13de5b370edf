/** Erasures, holds, and who did what. */
import { Schema } from "effect"
import { described, number, optional, text } from "./fields.js"
import { Time } from "./form.js"

export const Actor = Schema.Struct({
  id: text("The person or the program"),
  via: optional(Schema.String, "The token or the program that it came through"),
  onBehalfOf: optional(Schema.String, "For whom, if for somebody else"),
}).annotations({ identifier: "Actor" })

const ErasedSession = Schema.Struct({
  session: Schema.String,
  version: Schema.Number,
  bytes: number("The size of its sealed records"),
  sha256: text("The SHA-256 of its sealed records"),
}).annotations({ identifier: "ErasedSession" })

export const AuditEntry = Schema.Struct({
  time: Time,
  session: described(Schema.NullOr(Schema.String), "The session; `null` for what was done to an owner"),
  version: Schema.Number,
  act: text("What was done: `append`, `edit`, `summary`, `redact`, `erase`, `hold`, `read`, and others"),
  actor: described(Schema.NullOr(Actor), "Who did it; `null` if nobody has said so"),
  kind: optional(Schema.String, "The role of an appended message"),
  summarizer: Schema.optional(Schema.String),
  messages: optional(Schema.Number, "How many messages a summary covers, or how many facts were learned"),
  operation: Schema.optional(Schema.String),
  reason: Schema.optional(Schema.String),
  destroyTime: Schema.optional(Time),
  sessions: Schema.optional(Schema.Array(ErasedSession)),
  keys: Schema.optional(Schema.Array(Schema.String)),
}).annotations({ identifier: "AuditEntry" })

export const Audit = Schema.Struct({
  entries: Schema.Array(AuditEntry),
  totals: Schema.Record({ key: Schema.String, value: Schema.Number }),
  trails: Schema.Array(
    Schema.Struct({
      of: Schema.Literal("session", "owner"),
      entries: Schema.Number,
      head: text("The SHA-256 of the last record: kept elsewhere, it shows that nothing was taken away"),
      brokenAt: described(
        Schema.NullOr(Schema.Number),
        "The first entry that is not as it was written; `null` if the chain holds",
      ),
    }),
  ),
}).annotations({ identifier: "Audit" })

export type Audit = typeof Audit.Type

export const Erase = Schema.Struct({
  reason: text("Why; it stands in the receipt and in the audit"),
  after: optional(
    Schema.Number.pipe(Schema.nonNegative()),
    "How long it can be taken back, in milliseconds: 30 days by default, 0 for not at all",
  ),
})

export const Receipt = Schema.Struct({
  owner: Schema.String,
  actor: Schema.String,
  reason: Schema.String,
  time: Time,
  destroyTime: described(Schema.NullOr(Time), "When the keys are destroyed"),
  sessions: Schema.Array(ErasedSession),
  keys: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      made: Time,
      revoked: Schema.NullOr(Time),
      due: Schema.NullOr(Time),
      destroyed: Schema.NullOr(Time),
    }),
  ),
  notProven: described(Schema.Array(Schema.String), "What the receipt does not prove"),
}).annotations({ identifier: "Receipt" })

export type Receipt = typeof Receipt.Type

export const RestoreOwner = Schema.Struct({ reason: optional(Schema.String, "Why") })

export const RestoredOwner = Schema.Struct({ keys: number("How many keys are in use again") })

export const Hold = Schema.Struct({
  reason: described(Schema.NullOr(Schema.String), "Why, as refusals name it; `null` ends the hold"),
})
