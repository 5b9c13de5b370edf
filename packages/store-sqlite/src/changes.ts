/**
 * Tells subscribers that a session has changed: at once if this process wrote it, and otherwise by looking. One look
 * serves all subscribers, and while no other process writes it is a single number that SQLite keeps in memory.
 */
import type { EventLog } from "@memfold/core"
import { batchIdOf, type Database, text } from "@memfold/store-sql"
import { Effect, Fiber, Queue, type Scope, Stream } from "effect"

/** How often to look for writes of other processes. */
const lookEvery = "100 millis"

const about = { operation: "changes" }

/** The last record of each of the sessions in a JSON array. A session that was deleted has none. */
const lastRecords = `SELECT sessions.name, last_version || ' ' || ${batchIdOf("last")} AS last
  FROM json_each(?) AS listed JOIN sessions ON sessions.name = listed.value
    LEFT JOIN events AS last ON last.id = sessions.id << 32 | last_version`

/** Those who listen to a session, and its last record when they were told. */
interface Listeners {
  readonly queues: Set<Queue.Queue<void>>
  last: string | undefined
}

export interface Changes {
  /** Emits once at the start, and then when the session may have changed; several changes may be merged into one. */
  readonly of: (session: string) => Stream.Stream<void, EventLog.LogError>
  /** Tells those who listen to a session that this process has changed it. */
  readonly tell: (session: string) => void
}

/** Looks at a file as long as somebody listens; stops with the scope. */
export const make = (database: Database): Effect.Effect<Changes, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const listening = new Map<string, Listeners>()
    let looking: Fiber.RuntimeFiber<unknown, unknown> | null = null
    let seen: unknown

    const offer = ({ queues }: Listeners) => {
      for (const queue of queues) Queue.unsafeOffer(queue, undefined)
    }

    /** A number that changes with each commit of another connection. */
    const commits = Effect.map(database.query(about, "PRAGMA data_version"), ([row]) => row?.["data_version"])

    const look = Effect.gen(function* () {
      const now = yield* commits
      if (now === seen) return
      const rows = yield* database.query(about, lastRecords, [JSON.stringify([...listening.keys()])])
      seen = now
      const last = new Map(rows.map((row) => [text(row, "name"), text(row, "last")]))
      for (const [session, listeners] of listening) {
        if (listeners.last === last.get(session)) continue
        listeners.last = last.get(session)
        offer(listeners)
      }
    })

    const listen = (session: string) =>
      Effect.gen(function* () {
        const queue = yield* Queue.sliding<void>(1)
        const listeners = listening.get(session) ?? { queues: new Set(), last: undefined }
        listeners.queues.add(queue)
        listening.set(session, listeners)
        // What is committed until here is seen by whoever reads once told.
        if (looking === null) seen = yield* commits
        Queue.unsafeOffer(queue, undefined)
        // A look that fails is repeated by the next one; whoever reads the session is told what is wrong.
        looking ??= yield* Effect.ignore(look).pipe(
          Effect.zipRight(Effect.sleep(lookEvery)),
          Effect.forever,
          // Listening begins where it cannot be interrupted, and a fiber would inherit that.
          Effect.interruptible,
          Effect.forkIn(scope),
        )
        return queue
      })

    const leave = (session: string, queue: Queue.Queue<void>) =>
      Effect.suspend(() => {
        const listeners = listening.get(session)
        listeners?.queues.delete(queue)
        if (listeners?.queues.size === 0) listening.delete(session)
        const stopped = listening.size === 0 ? looking : null
        if (stopped !== null) looking = null
        return Effect.zipRight(
          Queue.shutdown(queue),
          stopped === null ? Effect.void : Fiber.interruptFork(stopped),
        )
      })

    return {
      of: (session) =>
        Stream.unwrapScoped(
          Effect.map(
            Effect.acquireRelease(listen(session), (queue) => leave(session, queue)),
            (queue) => Stream.fromQueue(queue),
          ),
        ),
      tell: (session) => {
        const listeners = listening.get(session)
        if (listeners !== undefined) offer(listeners)
      },
    }
  })
