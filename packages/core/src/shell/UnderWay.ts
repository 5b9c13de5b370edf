/** The writes that are under way when a memory is closed: they finish before its store is closed. */
import { Deferred, Effect, FiberId, type Scope } from "effect"

export interface UnderWay {
  /** Has an operation finish before the memory is closed. */
  readonly finished: <A, E, R>(operation: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Returns when the memory begins to close. */
  readonly closing: Effect.Effect<void>
}

/** Counts from none. When the scope closes, it waits for the operations under way; this is the first thing to happen then. */
export const make: Effect.Effect<UnderWay, never, Scope.Scope> = Effect.gen(function* () {
  let count = 0
  let isClosing = false
  const closing = yield* Deferred.make<void>()
  const ended = Deferred.unsafeMake<void>(FiberId.none)
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      isClosing = true
      const others = count === 0 ? Effect.void : Deferred.await(ended)
      return Effect.zipRight(Deferred.succeed(closing, undefined), others)
    }),
  )
  const leave = Effect.suspend(() =>
    --count === 0 && isClosing ? Deferred.succeed(ended, undefined) : Effect.void,
  )
  return {
    finished: (operation) =>
      Effect.acquireUseRelease(
        Effect.sync(() => void count++),
        () => operation,
        () => leave,
      ),
    // Whoever races with it may be in an uninterruptible region, and would wait for it for ever.
    closing: Effect.interruptible(Deferred.await(closing)),
  }
})
