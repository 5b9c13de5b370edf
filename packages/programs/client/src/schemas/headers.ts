/** Headers of requests. */
import { Schema } from "effect"
import { optional } from "./fields.js"

const key = {
  "idempotency-key": optional(
    Schema.String,
    "A text of your own for this write; a retry with it is applied once",
  ),
}

/** Headers of writes that are applied once. */
export const KeyHeaders = Schema.Struct(key)

/** Headers of writes that are applied once, and only to the version that they are for. */
export const WriteHeaders = Schema.Struct({
  ...key,
  "if-match": optional(
    Schema.String,
    'The `ETag` of what was read: the write is refused if the session has another version. Or `"0"`, for a new session',
  ),
})

export const ReadHeaders = Schema.Struct({
  "if-none-match": optional(
    Schema.String,
    "The `ETag` of an earlier response: 304 if it is still the version",
  ),
})

export const ChangesHeaders = Schema.Struct({
  "last-event-id": optional(
    Schema.String,
    "The id of the last event that came: the stream goes on behind it",
  ),
})
