/** Times as older programs wrote them down, and the order that follows from them. */
import { Either } from "effect"
import { readTime, timeAllowed as isoOrMillis } from "../transcript/time.js"

/** What a time in an old state may look like. */
export const timeAllowed = `${isoOrMillis}, or seconds`

/**
 * Numbers below this are seconds: as milliseconds they would lie before 1973, as seconds they reach to
 * 5138.
 */
const firstMillis = 1e11

/**
 * Milliseconds since the epoch, as a whole number; `null` for a time that is missing. Left, without a
 * reason, for what is no time.
 */
export const readOldTime = (value: unknown): Either.Either<number | null, void> => {
  if (value === undefined || value === null || value === "") return Either.right(null)
  const numeric = typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
  const millis = typeof numeric === "number" && Math.abs(numeric) < firstMillis ? numeric * 1_000 : numeric
  return Either.map(readTime(millis), Math.trunc)
}

/**
 * Every time, those that are missing taken from the one before, else from the one after, else from
 * `otherwise`.
 */
export const filled = (
  times: ReadonlyArray<number | null | undefined>,
  otherwise: number,
): ReadonlyArray<number> => {
  let last = times.find((time) => typeof time === "number") ?? otherwise
  return times.map((time) => (last = time ?? last))
}

/** In the order of time. What has no time stays behind what stood before it. */
export const inOrderOfTime = <A>(
  list: ReadonlyArray<A>,
  timeOf: (one: A) => number | null,
): ReadonlyArray<A> => {
  const times = filled(list.map(timeOf), 0)
  return list
    .map((one, position) => ({ one, at: times[position] ?? 0 }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ one }) => one)
}
