/**
 * Mends what can be mended in a stored session without losing anything: summaries are declared invalid, so that they
 * are written anew, snapshots are made anew, locks of engines that are gone are given back. A damaged message cannot
 * be mended: its words are nowhere else.
 */
import { Clock, Effect, Either, Option, Stream } from "effect"
import type { Event } from "../event/Event.js"
import type { LogError, Service as EventLog } from "../log/EventLog.js"
import { make, type Sessions } from "../session/Sessions.js"
import { foldVersion, take } from "../session/Snapshot.js"
import { type Finding, session as verify } from "./Verify.js"

/** What was done for a session, in words, and what is left as it was found. */
export interface Repair {
  readonly session: string
  readonly mended: ReadonlyArray<string>
  readonly left: ReadonlyArray<Finding>
}

/** Appends what declares damage dealt with; nothing where the session cannot be folded. */
const mendLog = (sessions: Sessions, session: string) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { answer } = yield* sessions.transact(session, ({ damaged, running }) => {
      const abandoned = running !== null && running.leaseUntil <= now ? running : null
      const events: ReadonlyArray<Event> = [
        ...(abandoned === null
          ? []
          : [{ _tag: "CompactionReleased" as const, compaction: abandoned.compaction }]),
        ...damaged.map(({ version, summary }) => ({
          _tag: "SummaryInvalidated" as const,
          version,
          summary,
          reason: "damaged",
        })),
      ]
      const done = [
        ...(abandoned === null ? [] : ["gave back the lock of a compaction that nobody ended"]),
        ...damaged.map(
          ({ version }) => `declared the damaged summary of event ${version} invalid; it is written anew`,
        ),
      ]
      return { events, answer: done }
    })
    return answer
  })

/** Makes the snapshot anew when it is not what the log folds to. */
const mendSnapshot = (log: EventLog, sessions: Sessions, session: string, findings: ReadonlyArray<Finding>) =>
  Effect.gen(function* () {
    const stored = yield* log.loadSnapshot(session)
    const wrong = findings.some(({ rule }) => rule === "snapshot")
    if (Option.isNone(stored) || (!wrong && stored.value.foldVersion === foldVersion)) return []
    const state = yield* sessions.load(session)
    const last = yield* log
      .read(session, { fromVersion: state.version, toVersion: state.version })
      .pipe(Stream.runHead)
    if (Option.isNone(last)) return []
    yield* log.saveSnapshot(session, take(state, last.value.batchId))
    return ["made the snapshot anew"]
  })

/** Repairs one session. */
export const repair = (log: EventLog, session: string): Effect.Effect<Repair, LogError> =>
  Effect.gen(function* () {
    const found = yield* verify(log, session)
    // A snapshot may be older than the damage, and hide it.
    const sessions = make({ ...log, loadSnapshot: () => Effect.succeed(Option.none()) })
    const mended = yield* Effect.either(
      Effect.gen(function* () {
        const inLog = yield* mendLog(sessions, session)
        return [...inLog, ...(yield* mendSnapshot(log, sessions, session, found))]
      }),
    )
    if (Either.isLeft(mended) && mended.left._tag === "LogError") return yield* mended.left
    return {
      session,
      mended: Either.getOrElse(mended, () => []),
      left: yield* verify(log, session),
    }
  })
