/** One writer at a time in each session, within a process, in the order in which they came. */
import { Deferred, Effect, FiberId } from "effect"

export type InTurn = <A, E>(session: string, write: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** A place in the queue of a session: what it waits for, and what the next place waits for. */
interface Turn {
  readonly before: Deferred.Deferred<void> | undefined
  readonly ended: Deferred.Deferred<void>
}

/**
 * Makes the queues of all sessions. A writer that is interrupted while it waits gives up its place. A write that has begun is
 * finished, even if its caller is interrupted: nobody would know whether an interrupted append was stored.
 */
export const makeTurns = (): InTurn => {
  const newest = new Map<string, Deferred.Deferred<void>>()

  const enter = (session: string): Turn => {
    const turn = { before: newest.get(session), ended: Deferred.unsafeMake<void>(FiberId.none) }
    newest.set(session, turn.ended)
    return turn
  }

  const leave = (session: string, { ended }: Turn): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (newest.get(session) === ended) newest.delete(session)
      return Deferred.succeed(ended, undefined)
    })

  return (session, write) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const turn = enter(session)
        const { before } = turn
        const written = Effect.ensuring(write, leave(session, turn))
        if (before === undefined) return written
        return restore(Deferred.await(before)).pipe(
          // The next place must not begin before the place in front has ended.
          Effect.onInterrupt(() =>
            Effect.forkDaemon(Effect.zipRight(Deferred.await(before), leave(session, turn))),
          ),
          Effect.zipRight(written),
        )
      }),
    )
}
