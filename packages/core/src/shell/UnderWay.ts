/** The appends that are under way when a memory is closed: they finish before its store is closed. */
import { Deferred, Effect, FiberId, type Scope } from "effect"
import type { Restore } from "./Turns.js"

/** Counts the operations under way. */
export interface UnderWay {
  /** Has an operation finish before the memory is closed. It can be interrupted only in what it runs with `restore`. */
  readonly finished: <A, E, R>(
    operation: (restore: Restore) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>
  /** Returns when the memory begins to close. */
  readonly closing: Effect.Effect<void>
}

/** Counts from none. When the scope closes, it waits for the operations under way; this is the first thing to happen then. */
export const make: Effect.Effect<UnderWay, never, Scope.Scope> = Effect.gen(function* () {
  let count = 0
  let ended: Deferred.Deferred<void> | null = null
  const closing = yield* Deferred.make<void>()
  const leave = () => {
    if (--count === 0 && ended !== null) Deferred.unsafeDone(ended, Effect.void)
  }
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      Deferred.unsafeDone(closing, Effect.void)
      if (count === 0) return Effect.void
      ended = Deferred.unsafeMake<void>(FiberId.none)
      return Deferred.await(ended)
    }),
  )
  return {
    finished: (operation) =>
      Effect.uninterruptibleMask((restore) => {
        count++
        return Effect.matchCauseEffect(operation(restore), {
          onFailure: (cause) => {
            leave()
            return Effect.failCause(cause)
          },
          onSuccess: (answer) => {
            leave()
            return Effect.succeed(answer)
          },
        })
      }),
    // Whoever races with it may be in an uninterruptible region, and would wait for it for ever.
    closing: Effect.interruptible(Deferred.await(closing)),
  }
})
