/** One writer at a time in each session, within a process, in the order in which they came. */
import { Deferred, Effect, FiberId } from "effect"

/**
 * Makes the queues of all sessions. A writer that is interrupted while it waits gives up its place. A write that has begun is
 * finished, even if its caller is interrupted: nobody would know whether an interrupted append was stored.
 */
export const makeTurns = () => {
  /** The end of the newest place of each session: what the next one waits for. */
  const newest = new Map<string, Deferred.Deferred<void>>()
  return <A, E>(session: string, write: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const before = newest.get(session)
        const ended = Deferred.unsafeMake<void>(FiberId.none)
        newest.set(session, ended)
        const leave = Effect.suspend(() => {
          if (newest.get(session) === ended) newest.delete(session)
          return Deferred.succeed(ended, undefined)
        })
        const written = Effect.ensuring(write, leave)
        if (before === undefined) return written
        return restore(Deferred.await(before)).pipe(
          // The next place must not begin before the place in front has ended.
          Effect.onInterrupt(() => Effect.forkDaemon(Effect.zipRight(Deferred.await(before), leave))),
          Effect.zipRight(written),
        )
      }),
    )
}
