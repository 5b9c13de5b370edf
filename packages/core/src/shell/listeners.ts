/** Tells subscribers of this process that a session may have changed: by its own writes, and by what the store reports. */
import { type Duration, Effect, Queue, type Scope, Stream } from "effect"
import type { Service as EventLog } from "@memfold/log/EventLog"

export const makeListeners = (log: Pick<EventLog, "changes">) => {
  const queues = new Map<string, Set<Queue.Queue<void>>>()

  const listen = (session: string) =>
    Effect.acquireRelease(
      Effect.map(Queue.sliding<void>(1), (queue) => {
        queues.set(session, (queues.get(session) ?? new Set()).add(queue))
        return queue
      }),
      (queue) =>
        Effect.suspend(() => {
          const others = queues.get(session)
          others?.delete(queue)
          if (others?.size === 0) queues.delete(session)
          return Queue.shutdown(queue)
        }),
    )

  return {
    tell: (session: string): void => {
      for (const queue of queues.get(session) ?? []) Queue.unsafeOffer(queue, undefined)
    },
    /** Emits when a session may have changed; once for several changes that come together. It ends with the scope. */
    changes: (
      session: string,
      pollInterval: Duration.DurationInput,
    ): Effect.Effect<Stream.Stream<void>, never, Scope.Scope> =>
      Effect.map(listen(session), (queue) => {
        const ticks = Stream.tick(pollInterval)
        // If the store stops reporting changes, subscribers poll, as they do with other stores.
        const elsewhere =
          log.changes === undefined ? ticks : Stream.catchAll(log.changes(session), () => ticks)
        return Stream.merge(Stream.fromQueue(queue), elsewhere)
      }),
  }
}
