import { SqlError } from "@effect/sql/SqlError"
import { Effect, Random } from "effect"
import type { Dialect } from "./Dialect.js"

/** A pause in real time, also where a test has a clock of its own: a database does not know that clock. */
export const pause = (millis: number): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** How long to try again, and the bounds of the wait until then, all in milliseconds. */
export interface Patience {
  readonly total: number
  readonly atLeast?: number
  readonly atMost?: number
}

/** Whether an error says that another connection has a lock. */
export const isLocked =
  ({ isBusy }: Dialect) =>
  (error: unknown): boolean =>
    error instanceof SqlError && isBusy(error.cause)

/**
 * Makes a function that runs work, and runs it again as long as another connection has a lock. Time is real time, also where a test
 * has a clock of its own: the other connections do not know that clock.
 *
 * @param isBusy - whether an error says that another connection has a lock
 */
export const tryingAgain = (
  isBusy: (error: unknown) => boolean,
  { total, atLeast = 2, atMost = 20 }: Patience,
): (<A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>) => {
  const again = <A, E>(work: Effect.Effect<A, E>, until: number): Effect.Effect<A, E> =>
    Effect.catchAll(work, (error) =>
      isBusy(error) && performance.now() <= until
        ? Effect.zipRight(Effect.flatMap(Random.nextRange(atLeast, atMost), pause), again(work, until))
        : Effect.fail(error),
    )
  return (work) => Effect.suspend(() => again(work, performance.now() + total))
}
