/** Reads the times of older programs, and sorts by them. */
import { Either } from "effect"
import { readTime } from "../transcript/time.js"

export { timeAllowed } from "../transcript/time.js"

/** Smaller numbers are seconds. As milliseconds they would be before 1973; as seconds they reach to the year 5138. */
const firstMillis = 1e11

/**
 * Milliseconds since the epoch, as a whole number; `null` if the time is missing; a `Left` without a reason if it is
 * invalid.
 */
export const readOldTime = (value: unknown): Either.Either<number | null, void> => {
  if (value === undefined || value === null || value === "") return Either.right(null)
  const numeric = typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
  if (typeof numeric === "number" && Math.abs(numeric) < firstMillis)
    return Either.right(Math.trunc(numeric * 1_000))
  return Either.map(readTime(numeric), Math.trunc)
}

/** Fills in missing times: from the element before, else from the element after, else `otherwise`. */
export const filled = (
  times: ReadonlyArray<number | null | undefined>,
  otherwise: number,
): ReadonlyArray<number> => {
  let last = times.find((time) => typeof time === "number") ?? otherwise
  return times.map((time) => (last = time ?? last))
}

/** Sorts by time. An element without a time stays after the element before it. */
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
