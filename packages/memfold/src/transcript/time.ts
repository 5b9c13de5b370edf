/** When a message was said. */
import { Either } from "effect"

/** What a time in a transcript may look like. */
export const timeAllowed = "an ISO 8601 time or milliseconds since the epoch"

const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** The furthest that a date can be from the epoch. */
const farthest = 8.64e15

/**
 * Milliseconds since the epoch. A time of day without an offset is taken as UTC, never as local time, so that
 * the same file reads the same everywhere. Left, without a reason, for anything else.
 */
export const readTime = (value: unknown): Either.Either<number, void> => {
  const at = typeof value === "number" ? value : typeof value === "string" ? parseIso(value) : Number.NaN
  return Math.abs(at) <= farthest ? Either.right(at) : Either.left(undefined)
}

const parseIso = (text: string): number => {
  const [, date, time = "00:00", offset = "Z"] = iso.exec(text) ?? []
  return date === undefined ? Number.NaN : Date.parse(`${date}T${time}${offset}`)
}
