/** Which old parts of live sessions move to an archive, and which stay. */
import { Audit, Session } from "@memfold/core"
import { EventLog } from "@memfold/log"
import { Effect, Stream } from "effect"
import type { Archive, ArchiveError } from "./Archive.js"
import { checkMovable, checkWithout } from "./marks.js"
import { type Moved, moveUpTo, notedBy, notReplaced, settle } from "./segments.js"
import { segmentsIn } from "./withSegments.js"

/** How much of a session stays in the store, and how large a segment is: numbers of events. */
export interface SegmentOptions {
  /** How many of the newest events stay in the store; 1,000 by default. */
  readonly keepVersions?: number
  /** How many events a segment has, 1 or more; 500 by default, or fewer with 4 million characters. */
  readonly size?: number
  /** Only say what would be moved; `false` by default. */
  readonly dryRun?: boolean
}

/**
 * Moves the old part of a session to an archive, in whole segments: what is before the newest events, and before what opening the session reads.
 * A session without a snapshot stays, since opening it reads all of its events.
 *
 * @param log - the store itself, without an archive behind it
 *
 * @example
 * ```ts
 * import { archiveSegments, folderArchive } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const moved = Effect.flatMap(EventLog.EventLog, (log) =>
 *   archiveSegments(log, folderArchive("./cold"), "chat-1", { keepVersions: 2_000 }),
 * )
 * ```
 */
export const archiveSegments = (
  log: EventLog.Service,
  archive: Archive,
  session: string,
  { keepVersions = 1_000, size = 500, dryRun = false }: SegmentOptions = {},
): Effect.Effect<Moved, EventLog.LogError | ArchiveError | Session.SessionError> =>
  Effect.gen(function* () {
    yield* checkMovable(log, session)
    const store = EventLog.storedLog(log)
    if (store.replace === undefined) return yield* notReplaced(session)
    const segmented = (yield* segmentsIn(archive))(store)
    const whole = log.over?.(segmented) ?? segmented
    const [snapshot] = yield* whole.projections.get(session, "snapshot")
    if (snapshot === undefined) return { outcome: "none", segments: 0, events: 0, bytes: 0 }
    const { version, summary } = yield* Session.make(whole, { capacity: 1 }).load(session)
    const read = Math.min(
      Number(/"version":(\d+)/.exec(snapshot.data)?.[1] ?? 0),
      summary?.version ?? version,
    )
    const until = Math.min(version - Math.max(keepVersions, 1), read - 1)
    return yield* moveUpTo(store, archive, session, { until, size: Math.max(size, 1), dryRun })
  })

/** What became of the old part of a session; `planned` in a dry run. */
export interface SegmentsRetained extends Omit<Moved, "outcome"> {
  readonly session: string
  readonly outcome: "planned" | "moved" | "active" | "failed"
  /** Why it failed; absent otherwise. */
  readonly reason?: string
}

/**
 * Moves the old parts of all sessions of a store, one session after another, and takes away what killed processes have left. Sessions of
 * which nothing is due are left out, and one that fails does not stop the others. The trail of a session notes what was moved of it, and
 * for whom.
 *
 * @param log - the store itself, without an archive behind it
 *
 * @example
 * ```ts
 * import { folderArchive, retainSegments } from "@memfold/archive"
 * import { EventLog } from "@memfold/core"
 * import { Effect, Stream } from "effect"
 *
 * export const planned = Effect.flatMap(EventLog.EventLog, (log) =>
 *   Stream.runForEach(retainSegments(log, folderArchive("./cold"), { dryRun: true }), ({ session, events }) =>
 *     Effect.log(`${session}: ${events}`),
 *   ),
 * )
 * ```
 */
export const retainSegments = (
  log: EventLog.Service,
  archive: Archive,
  { owner, ...options }: SegmentOptions & { readonly owner?: string | undefined } = {},
): Stream.Stream<SegmentsRetained, EventLog.LogError> =>
  Stream.unwrap(Effect.as(checkWithout(log), EventLog.logs(log, owner))).pipe(
    Stream.mapEffect(({ session }) =>
      Effect.gen(function* () {
        const noted = notedBy(session)
        if (noted !== null && options.dryRun !== true) yield* settle(EventLog.storedLog(log), archive, noted)
        if (EventLog.isReserved(session)) return null
        const { outcome, ...moved } = yield* archiveSegments(log, archive, session, options)
        if (outcome === "none") return null
        if (outcome === "moved" && options.dryRun !== true)
          yield* Audit.note(log, { act: "archive", session, reason: `segments: ${moved.events} events` })
        return { session, ...moved, outcome: options.dryRun === true ? ("planned" as const) : outcome }
      }).pipe(
        Effect.catchAll(({ message }) =>
          Effect.succeed({
            session,
            segments: 0,
            events: 0,
            bytes: 0,
            outcome: "failed" as const,
            reason: message,
          }),
        ),
      ),
    ),
    Stream.filter((one) => one !== null),
  )
