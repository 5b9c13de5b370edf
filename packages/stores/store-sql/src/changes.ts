/**
 * Tells subscribers that a session has changed: at once if this process wrote it or is told that another one has, and otherwise
 * by looking. One look serves all subscribers.
 */
import type { EventLog } from "@memfold/log"
import { Clock, type Duration, Effect, Fiber, Queue, type Scope, Stream } from "effect"
import { type Database, text } from "./Database.js"
import { batchIdOf, sessionsWithLast } from "./queries.js"
import { isListed, keyList } from "./RowTable.js"

const about = { operation: "changes" }

/** How to look for the writes of other processes. */
export interface LookOptions {
  /** How long to wait between two looks; asked before each wait. */
  readonly every: () => Duration.DurationInput
  /** A value that changes with each write of another process, where the database has one: an equal value saves the look. */
  readonly writes?: Effect.Effect<unknown, EventLog.LogError> | undefined
}

/** Those who listen to a session, and its last record when they were told. */
interface Listeners {
  readonly queues: Set<Queue.Queue<void>>
  last: string | undefined
}

export interface Changes {
  /** Emits once at the start, and then when the session may have changed; several changes may be merged into one. */
  readonly of: (session: string) => Stream.Stream<void, EventLog.LogError>
  /** Tells those who listen to a session that it was changed. */
  readonly tell: (session: string) => void
  /** The sessions that somebody listens to. */
  readonly sessions: () => Iterable<string>
}

/** Looks at a database as long as somebody listens; stops with the scope. */
export const changesOf = (
  database: Database,
  { every, writes = Clock.currentTimeNanos }: LookOptions,
): Effect.Effect<Changes, never, Scope.Scope> =>
  Effect.gen(function* () {
    /** The last record of each of some sessions. A session that was deleted has none. */
    const lastRecords = `SELECT sessions.name, last_version || ' ' || ${batchIdOf("last")} AS last
      FROM ${sessionsWithLast} WHERE ${isListed(database.dialect, "sessions.name")}`
    const scope = yield* Effect.scope
    const listening = new Map<string, Listeners>()
    let looking: Fiber.RuntimeFiber<unknown, unknown> | null = null
    let seen: unknown

    const offer = ({ queues }: Listeners) => {
      for (const queue of queues) Queue.unsafeOffer(queue, undefined)
    }

    const look = Effect.gen(function* () {
      const now = yield* writes
      if (now === seen) return
      const rows = yield* database.query(about, lastRecords, [keyList([...listening.keys()])])
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
        if (looking === null) seen = yield* writes
        Queue.unsafeOffer(queue, undefined)
        // A look that fails is repeated by the next one; whoever reads the session is told what is wrong.
        looking ??= yield* Effect.ignore(look).pipe(
          Effect.zipRight(Effect.suspend(() => Effect.sleep(every()))),
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
      sessions: () => listening.keys(),
    }
  })
