import { Deferred, Effect, Fiber } from "effect"

/**
 * Runs two effects at once. The first to end decides, whether it succeeds or fails, and the other one is interrupted.
 *
 * `Effect.raceFirst` of Effect 3.22 makes its fibers in one step and starts them in the next. If an interruption comes between
 * the two, it waits for ever for fibers that never start. Here, a fiber starts in the step that makes it.
 */
export const raceFirst = <A, E, R, A2, E2, R2>(
  self: Effect.Effect<A, E, R>,
  that: Effect.Effect<A2, E2, R2>,
): Effect.Effect<A | A2, E | E2, R | R2> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<A | A2, E | E2>()
      const one = yield* Effect.fork(Effect.intoDeferred(restore(self), ended))
      const other = yield* Effect.fork(Effect.intoDeferred(restore(that), ended))
      return yield* Effect.ensuring(restore(Deferred.await(ended)), Fiber.interruptAll([one, other]))
    }),
  )
