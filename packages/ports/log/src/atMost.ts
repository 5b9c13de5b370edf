/** Work of which only so much is done at a time. */
import { Deferred, Effect, FiberId } from "effect"

/** Does work when there is a place for it. */
export type InPlace = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Makes a function that does at most `count` works at a time, in the order of the calls. A place that gets free is handed to the first who
 * waits: the semaphore of Effect wakes all who wait, and thousands of them then hold the event loop.
 */
export const atMost = (count: number): InPlace => {
  let free = count
  const waiting = new Set<Deferred.Deferred<void>>()

  const leave = Effect.suspend(() => {
    for (const first of waiting) {
      waiting.delete(first)
      return Deferred.succeed(first, undefined)
    }
    free++
    return Effect.void
  })

  return (work) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const inPlace = Effect.ensuring(restore(work), leave)
        if (free > 0) {
          free--
          return inPlace
        }
        const place = Deferred.unsafeMake<void>(FiberId.none)
        waiting.add(place)
        // Whoever is interrupted while he waits may have been handed a place already.
        const giveUp = Effect.suspend(() => (waiting.delete(place) ? Effect.void : leave))
        return Effect.zipRight(
          Effect.onInterrupt(restore(Deferred.await(place)), () => giveUp),
          inPlace,
        )
      }),
    )
}
