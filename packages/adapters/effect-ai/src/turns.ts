/** Turns of a session, one after the other within a process: an answer is stored before the next request is asked. */
import { Effect, type Scope } from "effect"

interface Queue {
  readonly semaphore: Effect.Semaphore
  /** How many hold it or wait for it. */
  users: number
}

const queues = new WeakMap<object, Map<string, Queue>>()

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Waits for the turn, and returns how to end it. */
const begin = (memory: object, session: string, restore: Restore): Effect.Effect<Effect.Effect<void>> =>
  Effect.suspend(() => {
    const sessions = queues.get(memory) ?? new Map<string, Queue>()
    queues.set(memory, sessions)
    const queue = sessions.get(session) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
    sessions.set(session, queue)
    queue.users++
    // The last one leaves nothing behind.
    const leave = Effect.sync(() => {
      if (--queue.users === 0) sessions.delete(session)
    })
    return restore(queue.semaphore.take(1)).pipe(
      Effect.onInterrupt(() => leave),
      Effect.as(Effect.zipRight(leave, queue.semaphore.release(1))),
    )
  })

/** Runs an effect as one turn of a session of a memory. */
export const inTurn =
  (memory: object, session: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(begin(memory, session, restore), (end) => Effect.ensuring(restore(effect), end)),
    )

/** Begins a turn that ends with the scope. */
export const turnInScope = (memory: object, session: string): Effect.Effect<void, never, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(begin(memory, session, restore), (end) => Effect.addFinalizer(() => end)),
  )
