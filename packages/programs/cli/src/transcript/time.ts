/** The times of messages. */
import { Either } from "effect"

/** The allowed forms of a time in a transcript, for errors. */
export const timeAllowed = "an ISO 8601 time, or seconds or milliseconds since the epoch"

const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?:Z|([+-]\d{2})(?::?(\d{2}))?)?)?$/

/** The largest distance of a date from the epoch, in milliseconds. */
const farthest = 8.64e15

/**
 * Numbers in this range are seconds: from 1973 to the year 5138. As milliseconds they would be of 1970 to 1973, when nobody
 * recorded conversations. Smaller numbers stay milliseconds of a clock that begins at 0.
 */
const [firstSeconds, firstMillis] = [1e8, 1e11]

const millisOf = (value: number): number => {
  const size = Math.abs(value)
  return size >= firstSeconds && size < firstMillis ? value * 1_000 : value
}

/**
 * Milliseconds since the epoch. A number may count seconds, with a fraction too. A time without an offset is UTC, never local time: the same file gives the same result
 * everywhere. A `Left` without a reason if the value is not a time.
 */
export const readTime = (value: unknown): Either.Either<number, void> => {
  const at =
    typeof value === "number" ? millisOf(value) : typeof value === "string" ? parseIso(value) : Number.NaN
  return Math.abs(at) <= farthest ? Either.right(at) : Either.left(undefined)
}

const parseIso = (text: string): number => {
  // Databases and Python write offsets as `+00` and `+0000`, too.
  const [, date, time = "00:00", hours, minutes = "00"] = iso.exec(text) ?? []
  const zone = hours === undefined ? "Z" : `${hours}:${minutes}`
  return date === undefined ? Number.NaN : Date.parse(`${date}T${time}${zone}`)
}
