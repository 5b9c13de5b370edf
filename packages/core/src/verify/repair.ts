/**
 * Repairs a stored session as far as possible without losing data: damaged summaries are declared invalid and written
 * again by the next compaction, messages that cannot be read are set aside, wrong snapshots and summary rows are replaced, a wrong full-text index and wrong
 * vectors are dropped, and expired locks are released. The text of a message that is set aside is lost: the log has the only copy.
 * Its damaged record stays, and a backup of the log may have it whole.
 */
import { Clock, Effect, Either, Stream } from "effect"
import { invalidateDamaged, releaseRunning } from "../engine/compaction.js"
import type { Event } from "../event/Event.js"
import type { LogError, Service as EventLog } from "@memfold/log/EventLog"
import { isFromWrongClock } from "../shell/Leases.js"
import { snapshot } from "../projection/Snapshot.js"
import { make, type Sessions } from "../shell/Sessions.js"
import { mend } from "../shell/projectionCheck.js"
import type { Rule } from "./eventProblems.js"
import { type Finding, projections, session as verify, type VerifyOptions } from "./Verify.js"

/** The result of a repair. */
export interface Repair {
  readonly session: string
  /** The repairs, one sentence each. */
  readonly mended: ReadonlyArray<string>
  /** The findings that could not be repaired. */
  readonly left: ReadonlyArray<Finding>
}

/** The versions of messages that cannot be read and were not set aside, also of messages that summaries cover. */
const unreadableIn = (sessions: Sessions, session: string) =>
  sessions.events(session).pipe(
    Stream.runFold(new Set<number>(), (found, { event, version }) => {
      if (event._tag === "DamagedMessage") found.add(version)
      if (event._tag === "MessageSetAside") found.delete(event.version)
      return found
    }),
  )

/** Declares damaged summaries invalid, sets messages aside, and releases an expired lock. Returns the repairs in words. */
const repairLog = (sessions: Sessions, session: string) =>
  Effect.gen(function* () {
    const unreadable = [...(yield* unreadableIn(sessions, session))]
    const now = yield* Clock.currentTimeMillis
    const { answer } = yield* sessions.transact(session, ({ damaged, running }) => {
      const isOver = running !== null && (running.leaseUntil <= now || isFromWrongClock(running, now))
      const released = isOver ? releaseRunning({ running }) : []
      const events: ReadonlyArray<Event> = [
        ...released,
        ...invalidateDamaged({ damaged }),
        ...unreadable.map((version) => ({ _tag: "MessageSetAside" as const, version })),
      ]
      const done = [
        ...released.map(() => "released the lock of a compaction whose lease is over"),
        ...damaged.map(
          ({ version }) =>
            `declared the damaged summary of event ${version} invalid; the next compaction writes a new one`,
        ),
        ...unreadable.map(
          (version) =>
            `set the message of event ${version} aside, which cannot be read; the session goes on without it`,
        ),
      ]
      return { events, answer: done }
    })
    return answer
  })

/** The log without its snapshots: a snapshot that was taken before damage would hide it. */
const withoutSnapshots = (log: EventLog): EventLog => ({
  ...log,
  projections: {
    ...log.projections,
    get: (session, kind, filter) =>
      kind === snapshot.kind ? Effect.succeed([]) : log.projections.get(session, kind, filter),
  },
})

/** What a repair of the rows of each rule says. */
const mendedRows: Readonly<Partial<Record<Rule, string>>> = {
  snapshot: "replaced the snapshot",
  summaries: "wrote the summary rows again",
  description: "listed the session with its owner and title again",
  index: "dropped the full-text index; the next search builds it again",
}

/** Writes the projection rows again that differ from the log. Returns the repairs in words. */
const repairRows = (log: EventLog, session: string, findings: ReadonlyArray<Finding>) =>
  Effect.map(
    Effect.forEach(
      projections.filter(({ rule }) => findings.some((finding) => finding.rule === rule)),
      ({ rule, projection }) =>
        Effect.map(mend(log, session, projection), (done) => (done ? [mendedRows[rule] ?? rule] : [])),
    ),
    (lists) => lists.flat(),
  )

/**
 * Repairs a session, and verifies it afterwards. It appends events and never changes stored ones. If the session cannot
 * be folded at all, nothing is repaired.
 *
 * Fails with a `LogError` if the store cannot be read or written.
 *
 * @param log - The store.
 * @param session - The id of the session.
 * @param options - What to repair besides the log.
 *
 * @example
 * ```ts
 * import { EventLog, Repair } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const repaired = Effect.gen(function* () {
 *   const log = yield* EventLog.EventLog
 *   const { mended, left } = yield* Repair.repair(log, "chat-1")
 *   console.log(mended, left)
 * })
 * ```
 */
export const repair = (
  log: EventLog,
  session: string,
  options: VerifyOptions = {},
): Effect.Effect<Repair, LogError> =>
  Effect.gen(function* () {
    const found = yield* verify(log, session, options)
    const mended = yield* Effect.either(
      Effect.gen(function* () {
        // First of all: rows that are damaged can stand in the way of an append.
        const rows = yield* repairRows(log, session, found)
        const { vectorIndex } = options
        const forgotten =
          vectorIndex !== undefined &&
          found.some(({ rule }) => rule === "vectors") &&
          // An index that cannot be written is among the findings that are left.
          (yield* Effect.isSuccess(vectorIndex.forget(session)))
        return [
          ...rows,
          ...(forgotten ? ["dropped the vectors; the next search makes them again"] : []),
          ...(yield* repairLog(make(withoutSnapshots(log)), session)),
        ]
      }),
    )
    if (Either.isLeft(mended) && mended.left._tag === "LogError") return yield* mended.left
    return {
      session,
      mended: Either.getOrElse(mended, () => []),
      left: yield* verify(log, session, options),
    }
  })
