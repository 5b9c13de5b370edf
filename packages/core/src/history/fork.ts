import { Clock, Effect, Either, Option, Schema, Stream } from "effect"
import { releaseRunning } from "../engine/compaction.js"
import { breathing, inSteps, mapped } from "@memfold/log/breathe"
import {
  DamagedEvent,
  decode,
  encodeBatch,
  movedTo,
  type RecordedEvent,
  timedNow,
} from "../event/EventCodec.js"
import {
  type LogError,
  type LogRecord,
  type NewRecord,
  notArchived,
  ownersNamed,
  type Service as EventLog,
} from "@memfold/log/EventLog"
import { records, storedLog } from "@memfold/log/pages"
import type { Description } from "@memfold/log/Projections"
import { describe } from "../session/description.js"
import type { SessionError, Sessions } from "../shell/Sessions.js"
import { derivedId } from "../shell/id.js"
import { projectionsOf } from "../shell/replay.js"

/** A session cannot be forked: it has no events to copy, or the target session exists already. */
export class CannotFork extends Schema.TaggedError<CannotFork>()("CannotFork", {
  session: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}" cannot be forked: ${this.detail}`
  }
}

/** The records up to a version, and the rest of its batch: a session is never in the middle of a batch. */
const upTo = (records: ReadonlyArray<LogRecord>, at: number | undefined): ReadonlyArray<LogRecord> => {
  if (at === undefined) return records
  const batchId = records.findLast(({ version }) => version <= at)?.batchId
  return records.filter((record) => record.version <= at || record.batchId === batchId)
}

/**
 * The invalidations that later redactions added for summaries up to a version. A copy up to that version contains the
 * redacted summaries, which have lost their text, so it must contain their invalidations too.
 */
const laterInvalidations = (records: ReadonlyArray<LogRecord>, to: number): ReadonlyArray<LogRecord> =>
  records.filter((record) => {
    if (record.version <= to || record.type !== "SummaryInvalidated") return false
    const event = Either.getOrNull(decode(record))?.event
    return event?._tag === "SummaryInvalidated" && event.reason === "redacted" && event.version <= to
  })

/** The records as records of another session, from its first version on. A summary id names one summary in all sessions. */
const copiesOf = (
  records: ReadonlyArray<LogRecord>,
  session: string,
  batchId: string,
): Effect.Effect<ReadonlyArray<NewRecord>> =>
  inSteps(() =>
    mapped(records, (record, at) =>
      movedTo(record, { session, version: at + 1, batchId }, (summary) => derivedId(summary, session)),
    ),
  )

/** The owners that a session has had, besides the one that it has. */
const earlierOwners = (records: ReadonlyArray<LogRecord>, { owner }: Description): ReadonlySet<string> =>
  new Set(ownersNamed(records).filter((one): one is string => one !== null && one !== owner))

/** Decodes records as they will be read from the new session. */
const decoded = (
  session: string,
  records: ReadonlyArray<NewRecord>,
  batchId: string,
): Stream.Stream<RecordedEvent, DamagedEvent> =>
  Stream.mapEffect(Stream.zipWithIndex(breathing(Stream.fromIterable(records))), ([record, at]) =>
    decode({ ...record, session, batchId, version: at + 1 }),
  )

/** All records of a session. Stores read pages at once, and a long log has many of them: other work runs in between. */
const readAll = (log: EventLog, session: string): Effect.Effect<ReadonlyArray<LogRecord>, LogError> =>
  Effect.map(Stream.runCollect(breathing(records(log, session))), (records) => [...records])

/** Whether a session was redacted after a version. What was read since then may be old in one part and new in another. */
const redactedAfter = (log: EventLog, session: string, version: number): Effect.Effect<boolean, LogError> =>
  records(log, session, { fromVersion: version + 1 }).pipe(
    Stream.filter(({ type }) => type === "MessageRedacted"),
    Stream.runHead,
    Effect.map(Option.isSome),
  )

export interface ForkRequest {
  readonly to: string
  readonly atVersion: number | undefined
  /** Is run before the copy is there, with the owners whose words it has and to whom it does not belong. */
  readonly ofOthers: (owners: ReadonlySet<string>) => Effect.Effect<void, LogError>
}

/**
 * Starts another session with the events of this one up to a version, in one atomic append. Versions, times and
 * summaries are equal in both, but the copies of summaries have ids of their own. A compaction that was running at that version is released in the copy. Returns the
 * version of the copy. A redaction that comes in between is in the copy, too: all is read again.
 */
export const fork = (
  log: EventLog,
  sessions: Sessions,
  session: string,
  { to, atVersion, ofOthers }: ForkRequest,
): Effect.Effect<number, SessionError | CannotFork> =>
  Effect.gen(function* () {
    const before = (yield* log.head(session))?.version ?? 0
    const all = yield* readAll(log, session)
    const missing = all.findIndex(({ version }, at) => version !== at + 1)
    // The copies are numbered anew: a hole would close, and the copy look complete.
    if (missing !== -1)
      return yield* new DamagedEvent({
        session,
        version: missing + 1,
        detail: "it is missing; restore the log from a backup",
      })
    const copied = upTo(all, atVersion)
    const last = copied.at(-1)
    if (last === undefined) return yield* new CannotFork({ session, detail: "it has no events to copy" })
    const { running, ...then } = yield* sessions.stateAt(session, last.version)
    // The copy belongs to the owner of now: what the session was called at a version is history.
    const { description } = yield* sessions.load(session)
    const described = describe(then.description, description)
    const now = yield* Clock.currentTimeMillis
    const batchId = `fork-${last.batchId}-${last.version}`
    const copies = yield* copiesOf([...copied, ...laterInvalidations(all, last.version)], to, batchId)
    const released = releaseRunning({ running })
    const added = yield* timedNow(now, [...released, ...described])
    const [first, ...rest] = [
      ...copies,
      ...encodeBatch({ session: to, version: copies.length }, batchId, added),
    ]
    if (first === undefined) return 0
    const projections = yield* projectionsOf(to, decoded(to, [first, ...rest], batchId))
    if (yield* redactedAfter(log, session, before))
      return yield* fork(log, sessions, session, { to, atVersion, ofOthers })
    yield* notArchived(log, to)
    const exists = new CannotFork({ session, detail: `session "${to}" exists already` })
    const others = earlierOwners(copied, description)
    // Nobody is named for a session of somebody else.
    if (others.size > 0 && (yield* storedLog(log).head(to)) !== null) return yield* exists
    yield* ofOthers(others)
    const { version } = yield* log
      .append(to, [first, ...rest], {
        expectedVersion: 0,
        batchId,
        projections,
      })
      .pipe(Effect.catchTag("VersionConflict", () => exists))
    sessions.notifyChange(to)
    return version
  })
