/**
 * The summary rows in a store, compared with the log that they are derived from. Other programs read the rows, and
 * anybody can change them. The log is the truth: rows that differ from it are written again.
 */
import { Effect, Either, Option, Stream } from "effect"
import type {
  LogError,
  LogPosition,
  LogRecord,
  Service as EventLog,
  SummaryRow,
  VersionConflict,
} from "../log/EventLog.js"
import { decode } from "../event/EventCodec.js"
import { readEvents } from "./replay.js"
import type { SessionState } from "./SessionState.js"
import { activeRow, allRows, type History, historyOf } from "./summaries.js"

type Log = Pick<EventLog, "read" | "version" | "summaries" | "replaceSummaries">

/** A problem of the rows: the version of the row, and the problem in words, without any text of a summary. */
export interface RowProblem {
  readonly version: number
  readonly detail: string
}

/** The rows as the log has them at a place, and the problems of the stored ones. */
export interface Comparison {
  readonly at: LogPosition
  readonly rows: ReadonlyArray<SummaryRow>
  readonly problems: ReadonlyArray<RowProblem>
}

/** A field as every store keeps it: half a surrogate pair has no UTF-8. */
const stored = (value: string | number | null): string | number | null =>
  typeof value === "string" ? value.toWellFormed() : value

/** The fields of a row, each with its name in messages. */
const fields: ReadonlyArray<readonly [field: keyof SummaryRow, name: string]> = [
  ["id", "id"],
  ["status", "status"],
  ["supersededBy", "successor"],
  ["coveredTo", "coverage"],
  ["total", "number of messages"],
  ["text", "text"],
  ["turnPrefix", "split turn"],
  ["tokens", "tokens"],
  ["time", "time"],
]

const differing = (one: SummaryRow, other: SummaryRow): ReadonlyArray<string> =>
  fields.flatMap(([field, name]) => (stored(one[field]) === stored(other[field]) ? [] : [name]))

/** The problems of stored rows. */
export const rowProblems = (
  found: ReadonlyArray<SummaryRow>,
  expected: ReadonlyArray<SummaryRow>,
): ReadonlyArray<RowProblem> => {
  const here = new Map(found.map((row) => [row.version, row]))
  const known = new Set(expected.map(({ version }) => version))
  return [
    ...expected.flatMap((row) => {
      const { version } = row
      const one = here.get(version)
      if (one === undefined) return [{ version, detail: "the summary row of this event is missing" }]
      const names = differing(one, row)
      if (names.length === 0) return []
      return [
        { version, detail: `the summary row of this event differs from the log in its ${names.join(", ")}` },
      ]
    }),
    ...found.flatMap(({ version }) =>
      known.has(version)
        ? []
        : [{ version, detail: "there is a summary row, but the log has no summary here" }],
    ),
  ].toSorted((one, other) => one.version - other.version)
}

/** How often to read again if others write to the session meanwhile. */
const attempts = 5

/** The place of the last record up to a version; `null` if there is no record with that version. */
const placeOf = (log: Log, session: string, version: number): Effect.Effect<LogPosition | null, LogError> =>
  log
    .read(session, { fromVersion: version, toVersion: version })
    .pipe(
      Stream.runHead,
      Effect.map(Option.match({ onNone: () => null, onSome: ({ batchId }) => ({ version, batchId }) })),
    )

/**
 * Compares the stored rows of a session with its log. `null` if they cannot be compared: the session does not exist, an
 * event of it is missing or damaged, or others write to it all the time.
 */
export const compareRows = (log: Log, session: string): Effect.Effect<Comparison | null, LogError> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const version = yield* log.version(session)
      const at = version === 0 ? null : yield* placeOf(log, session, version)
      if (at === null) return null
      const found = yield* Effect.either(log.summaries(session))
      const history = yield* historyOf(session, (to = version) =>
        readEvents(log, session, { toVersion: to }),
      ).pipe(Effect.catchTag("DamagedEvent", () => Effect.succeed(null)))
      if (history === null || history.version !== version) return null
      if ((yield* log.version(session)) !== version) continue
      const { rows } = allRows(history)
      const problems = Either.match(found, {
        onLeft: ({ reason }) => [{ version, detail: `the summary rows cannot be used: ${reason}` }],
        onRight: (stored) => rowProblems(stored, rows),
      })
      return { at, rows, problems }
    }
    return null
  })

/** Writes the rows of a session again, if they differ from the log. Returns whether they did. */
export const mendRows = (log: Log, session: string): Effect.Effect<boolean, LogError> =>
  Effect.gen(function* () {
    const compared = yield* compareRows(log, session)
    if (compared === null || compared.problems.length === 0) return false
    yield* log.replaceSummaries(session, compared.rows, compared.at)
    return true
  }).pipe(
    Effect.retry({
      times: attempts,
      while: ({ _tag }: LogError | VersionConflict) => _tag === "VersionConflict",
    }),
    // Whoever writes to the session all the time has its rows checked at another time.
    Effect.catchTag("VersionConflict", () => Effect.succeed(false)),
  )

/** Rebuilds rows for a reader, who gets an answer whether that works or not. */
const rebuilt = (session: string, mended: Effect.Effect<boolean, LogError>): Effect.Effect<void> =>
  mended.pipe(
    Effect.flatMap((done) =>
      done ? Effect.logWarning("the summary rows differed from the log, and were rebuilt") : Effect.void,
    ),
    Effect.catchAll(({ reason }) =>
      Effect.annotateLogs(Effect.logWarning("summary rows could not be checked"), { reason }),
    ),
    Effect.annotateLogs({ session }),
  )

/** Compares stored rows, and rebuilds them if they differ or cannot be read. It never fails. */
const check = (
  log: Log,
  session: string,
  found: Effect.Effect<ReadonlyArray<SummaryRow>, LogError>,
  expected: ReadonlyArray<SummaryRow>,
): Effect.Effect<void> =>
  Effect.either(found).pipe(
    Effect.map((rows) => Either.isLeft(rows) || rowProblems(rows.right, expected).length > 0),
    Effect.flatMap((wrong) => (wrong ? rebuilt(session, mendRows(log, session)) : Effect.void)),
  )

/** Checks the row of the active summary when a session is opened. All rows would be too many. */
export const checkActiveRow = (log: Log, state: SessionState): Effect.Effect<void> =>
  state.version === 0
    ? Effect.void
    : check(log, state.session, log.summaries(state.session, { activeOnly: true }), activeRow(state).rows)

/** Checks all rows, when the whole log has been read anyway. */
export const checkRows = (log: Log, session: string, history: History): Effect.Effect<void> =>
  check(log, session, log.summaries(session), allRows(history).rows)

/** Whether a record is the commit of the summary that a snapshot's state shows, readable and with the same id. */
export const isCommitOf = ({ summary }: SessionState, record: LogRecord): boolean =>
  Either.match(decode(record), {
    onLeft: () => false,
    onRight: ({ event }) => event._tag === "SummaryCommitted" && event.summary === summary?.id,
  })
