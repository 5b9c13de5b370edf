/** Trying again what has failed. */
import { Effect, Schedule } from "effect"

interface Options<E> {
  readonly while: (error: E) => boolean
  readonly schedule: Schedule.Schedule<unknown, unknown>
  readonly times: number
}

/** Retries an effect whose first run has failed. */
export const retryAfter = <A, E>(
  failure: E,
  effect: Effect.Effect<A, E>,
  options: Options<E>,
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

/**
 * Runs an effect, and again while it fails. To follow a schedule costs more than most effects that need no retry, so it
 * begins with the first failure.
 */
export const retry = <A, E>(effect: Effect.Effect<A, E>, options: Options<E>): Effect.Effect<A, E> =>
  Effect.catchAll(effect, (failure) =>
    options.times > 0 && options.while(failure) ? retryAfter(failure, effect, options) : Effect.fail(failure),
  )

const transientDelay = Schedule.jittered(Schedule.exponential("50 millis"))

/**
 * Tries an operation on a store, and up to three times more if it fails, because many failures are transient. A write
 * keeps its batch id: if the first attempt was written and only its answer was lost, the retry writes nothing.
 */
export const retryTransient = <A, E extends { readonly _tag: string }>(
  ask: Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  retry(ask, { times: 3, while: ({ _tag }) => _tag === "LogError", schedule: transientDelay })
