import { Clock, Effect, Either, Schema, Stream } from "effect"
import type { CompactionReleased } from "../event/Event.js"
import { type DamagedEvent, decode, encode, type Recorded } from "../event/EventCodec.js"
import type { LogRecord, NewRecord, Service as EventLog } from "../log/EventLog.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import { summaryRows } from "../session/summaries.js"

/** A session cannot be begun as a copy: it is there already, or there is nothing to copy. */
export class CannotFork extends Schema.TaggedError<CannotFork>()("CannotFork", {
  session: Schema.String,
  detail: Schema.String,
}) {
  override get message(): string {
    return `Session "${this.session}" cannot be forked: ${this.detail}`
  }
}

/** The records up to a version, and to the end of the batch that it is in: half of a batch is no state of a session. */
const upTo = (records: ReadonlyArray<LogRecord>, at: number | undefined): ReadonlyArray<LogRecord> => {
  if (at === undefined) return records
  const commit = records.findLast(({ seq }) => seq <= at)?.commit
  return records.filter((record) => record.seq <= at || record.commit === commit)
}

const copyOf = ({ at, type, version, data, checksum }: LogRecord): NewRecord => ({
  at,
  type,
  version,
  data,
  ...(checksum === undefined ? {} : { checksum }),
})

/**
 * What was declared invalid because of a redaction that came after a version: a copy up to there has the summaries as
 * they were left, without their words, and must not go on with them.
 */
const wordless = (records: ReadonlyArray<LogRecord>, to: number): ReadonlyArray<NewRecord> =>
  records.flatMap((record) => {
    if (record.seq <= to || record.type !== "SummaryInvalidated") return []
    const event = Either.getOrNull(decode(record))?.event
    const redacted = event?._tag === "SummaryInvalidated" && event.reason === "redacted" && event.seq <= to
    return redacted ? [copyOf(record)] : []
  })

/** Records as they will be read from a new session. */
const decoded = (
  session: string,
  records: ReadonlyArray<NewRecord>,
  commit: string,
): Stream.Stream<Recorded, DamagedEvent> =>
  Stream.mapEffect(
    Stream.fromIterable(
      records.map((record, position): LogRecord => ({ ...record, session, commit, seq: position + 1 })),
    ),
    decode,
  )

/**
 * Begins another session with the events of this one up to a version, all or nothing. The two go their own ways from
 * there: sequence numbers, times and summaries are the same, a compaction that ran at that point is not.
 */
export const fork = (
  log: EventLog,
  sessions: Sessions,
  session: string,
  { to, at }: { readonly to: string; readonly at: number | undefined },
): Effect.Effect<number, SessionError | CannotFork> =>
  Effect.gen(function* () {
    const all = [...(yield* Stream.runCollect(log.read(session)))]
    const records = upTo(all, at)
    const last = records.at(-1)
    if (last === undefined) return yield* new CannotFork({ session, detail: "it has no events to copy" })
    const { running } = yield* sessions.at(session, last.seq)
    const now = yield* Clock.currentTimeMillis
    const copies = records.map(copyOf)
    const released: ReadonlyArray<NewRecord> =
      running === null
        ? []
        : [
            {
              at: now,
              ...encode({
                _tag: "CompactionReleased",
                compaction: running.compaction,
              } satisfies CompactionReleased),
            },
          ]
    const [first, ...rest] = [...copies, ...wordless(all, last.seq), ...released]
    if (first === undefined) return 0
    const commit = `fork-${last.commit}-${last.seq}`
    const summaries = yield* summaryRows(to, decoded(to, [first, ...rest], commit))
    const { version } = yield* log
      .append(to, [first, ...rest], { expected: 0, commit, summaries })
      .pipe(
        Effect.catchTag("VersionConflict", () =>
          Effect.fail(new CannotFork({ session, detail: `there is a session "${to}" already` })),
        ),
      )
    sessions.announce(to)
    return version
  })
