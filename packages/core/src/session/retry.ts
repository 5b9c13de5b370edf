/** Trying again what has failed. */
import { Effect, Schedule } from "effect"

/**
 * Retries an effect whose first run has failed. To follow a schedule costs more than most effects that need no retry, so it
 * begins with the first failure.
 */
export const retryAfter = <A, E>(
  failure: E,
  effect: Effect.Effect<A, E>,
  options: {
    readonly while: (error: E) => boolean
    readonly schedule: Schedule.Schedule<unknown, unknown>
    readonly times: number
  },
): Effect.Effect<A, E> => {
  let isFirst = true
  return Effect.retry(
    Effect.suspend(() => {
      if (!isFirst) return effect
      isFirst = false
      return Effect.fail(failure)
    }),
    options,
  )
}

const transientDelay = Schedule.jittered(Schedule.exponential("50 millis"))

/**
 * Tries an operation on a store, and up to three times more if it fails, because many failures are transient. A write
 * keeps its batch id: if the first attempt was written and only its answer was lost, the retry writes nothing.
 */
export const retryTransient = <A, E extends { readonly _tag: string }>(
  ask: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.catchAll(ask, (error) =>
    error._tag === "LogError"
      ? retryAfter(error, ask, {
          times: 3,
          while: (again) => again._tag === "LogError",
          schedule: transientDelay,
        })
      : Effect.fail(error),
  )
