/** Trying again what has failed. */
import { Duration, Effect, Random, Schedule } from "effect"

const transientDelay = Schedule.jittered(Schedule.exponential("50 millis"))

/** Whether another attempt may succeed. */
const isTransient = (failure: { readonly _tag: string; readonly refused?: unknown }): boolean =>
  failure._tag === "LogError" && failure.refused === undefined

/**
 * Tries an operation on a store, and up to three times more if it fails, because many failures are transient. A write
 * keeps its batch id: if the first attempt was written and only its answer was lost, the retry writes nothing.
 */
export const retryTransient = <A, E extends { readonly _tag: string }>(
  ask: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  // To follow a schedule costs more than most operations, so it begins with the first failure.
  Effect.catchAll(ask, (failure) =>
    !isTransient(failure)
      ? Effect.fail(failure)
      : Effect.sleep("50 millis").pipe(
          Effect.zipRight(
            Effect.retry(ask, {
              times: 2,
              while: isTransient,
              schedule: transientDelay,
            }),
          ),
        ),
  )

/** The longest pause after a conflict, in milliseconds. */
const longestPause = 50

/**
 * The pause before a writer that was not first decides again. Another writer has made progress: the first three attempts come
 * at once. Later ones wait a growing, random time, because many writers compete.
 *
 * @param conflicts - how many conflicts there were in a row, 1 or more
 */
export const conflictPause = (conflicts: number): Effect.Effect<void> =>
  conflicts <= 3
    ? Effect.void
    : Effect.flatMap(Random.nextRange(0.8, 1.2), (jitter) =>
        Effect.sleep(Duration.millis(jitter * Math.min(1.5 ** (conflicts - 4), longestPause))),
      )
