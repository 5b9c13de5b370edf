/**
 * Compares stored projection rows with the log that they follow from, and writes them again. Other programs read the rows, and
 * anybody can change them; the log is the truth.
 */
import { Effect, Either } from "effect"
import type { LogError, LogPosition, ProjectionRow, Service as EventLog } from "@memfold/log/EventLog"
import { warn } from "../observe/logs.js"
import type { Projection, RowProblem } from "../projection/Projection.js"
import { activeRow, summaries, summaryProblems } from "../projection/summaries.js"
import type { SessionState } from "../session/SessionState.js"
import { readEvents, replay } from "./replay.js"

export interface Comparison {
  readonly at: LogPosition
  readonly rows: ReadonlyArray<ProjectionRow>
  readonly problems: ReadonlyArray<RowProblem>
}

/** How often to read again if others write to the session meanwhile. */
const attempts = 5

/**
 * Compares the stored rows of a projection with the log. `null` if they cannot be compared: the session does not exist, an
 * event of it is missing or damaged, or others write to it all the time.
 */
export const compare = <Collected>(
  log: EventLog,
  session: string,
  projection: Projection<Collected>,
): Effect.Effect<Comparison | null, LogError> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const at = yield* log.head(session)
      if (at === null) return null
      const stored = yield* Effect.either(log.projections.get(session, projection.kind))
      const rows = Either.getOrElse(stored, () => [])
      const { version } = at
      const until = Math.min(projection.until?.(rows) ?? version, version)
      const replayed = yield* replay(
        session,
        (to = until) => readEvents(log, session, { toVersion: to }),
        projection,
      ).pipe(Effect.catchTag("DamagedEvent", () => Effect.succeed(null)))
      if (replayed?.state.version !== until) return null
      if ((yield* log.head(session))?.version !== version) continue
      return {
        at,
        rows: projection.rows(replayed.collected),
        problems: Either.match(stored, {
          onLeft: ({ reason }) => [
            { version, detail: `the ${projection.kind} rows cannot be used: ${reason}` },
          ],
          onRight: () => projection.problems(rows, replayed.collected),
        }),
      }
    }
    return null
  })

/** Writes the rows of a projection again, if they differ from the log. Returns whether they did. */
export const mend = <Collected>(
  log: EventLog,
  session: string,
  projection: Projection<Collected>,
): Effect.Effect<boolean, LogError> =>
  Effect.gen(function* () {
    const compared = yield* compare(log, session, projection)
    if (compared === null || compared.problems.length === 0) return false
    yield* log.projections.put(session, compared.at, [
      { kind: projection.kind, replace: true, rows: compared.rows },
    ])
    return true
  }).pipe(
    Effect.retry({ times: attempts, while: ({ _tag }) => _tag === "VersionConflict" }),
    // Whoever writes to the session all the time has its rows checked at another time.
    Effect.catchTag("VersionConflict", () => Effect.succeed(false)),
  )

/** Checks summary rows for a reader, who gets an answer whether they can be written again or not. */
export const mendSummaries = (log: EventLog, session: string): Effect.Effect<void> =>
  mend(log, session, summaries).pipe(
    Effect.flatMap((done) =>
      done ? warn("the summary rows differed from the log, and were rebuilt", { session }) : Effect.void,
    ),
    Effect.catchAll(({ reason }) => warn("summary rows could not be checked", { session, reason })),
  )

/**
 * Checks the row of the active summary when a session is opened. All rows would be too many.
 *
 * @param active - the row, if it was read with the state
 */
export const checkActiveRow = (
  log: EventLog,
  state: SessionState,
  active: ReadonlyArray<ProjectionRow> | null = null,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { session, version } = state
    if (version === 0) return
    const read = log.projections.get(session, summaries.kind, { mark: "active" })
    const found = active ?? (yield* Effect.orElseSucceed(read, () => null))
    if (found === null || summaryProblems(found, activeRow(state)).length > 0)
      yield* mendSummaries(log, session)
  })
