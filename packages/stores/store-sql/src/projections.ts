/** Projection rows. Two kinds have a form of their own that other programs can read; all others share one table. */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import { Array as Arr, Effect } from "effect"
import { type Database, integer, lockSession, type Row, type Run, text, textOrNull } from "./Database.js"
import { description } from "./description.js"
import type { Dialect } from "./Dialect.js"
import { pause } from "./pause.js"
import { batchIdOf, sessionsWithLast } from "./queries.js"
import { filtered, isListed, keyList, type RowTable, type Session } from "./RowTable.js"
import { summaries } from "./summaries.js"

const rowOf = (row: Row): EventLog.ProjectionRow => {
  const mark = textOrNull(row, "mark")
  return { key: text(row, "key"), data: text(row, "data"), ...(mark === null ? {} : { mark }) }
}

/**
 * So many rows are added by one statement. A part of a full-text index has hundreds of rows, and SQLite holds the event loop for as long
 * as a statement takes.
 */
const rowsPerStatement = 128

/** The rows of any other kind, in the table `projections`. */
const plain = (kind: string): RowTable => ({
  get: ({ dialect, query }, session, filter) => {
    const [condition, parameters] = filtered(dialect, filter, "key", "mark = ?")
    return Effect.map(
      query(
        { operation: "projections.get", session },
        `SELECT key, data, mark FROM sessions JOIN projections ON projections.session = sessions.id
         WHERE sessions.name = ? AND kind = ? ${condition}`,
        [session, kind, ...parameters],
      ),
      (rows) => rows.map(rowOf),
    )
  },
  drop: (dialect, run, session, keys) => {
    if (session === undefined) return run("DELETE FROM projections WHERE kind = ?", [kind])
    return keys === undefined
      ? run("DELETE FROM projections WHERE session = ? AND kind = ?", [session.id, kind])
      : run(`DELETE FROM projections WHERE session = ? AND kind = ? AND ${isListed(dialect, "key")}`, [
          session.id,
          kind,
          keyList(keys),
        ])
  },
  add: (dialect, run, { id }, rows) =>
    Effect.forEach(
      Arr.chunksOf(rows, rowsPerStatement),
      (some, at) =>
        Effect.zipRight(
          at === 0 ? Effect.void : pause(0),
          run(
            `INSERT INTO projections (session, kind, key, data, mark)
             SELECT CAST(? AS BIGINT), ?, value ->> 0, value ->> 1, value ->> 2 FROM ${dialect.elements}`,
            [id, kind, JSON.stringify(some.map(({ key, data, mark = null }) => [key, data, mark]))],
          ),
        ),
      { discard: true },
    ),
})

const tableOf = (kind: string): RowTable =>
  kind === "summary" ? summaries : kind === "description" ? description : plain(kind)

/** Makes changes of the rows of a session. A unique index refuses a second row with one mark. */
export const change = (
  dialect: Dialect,
  run: Run,
  session: Session,
  changes: ReadonlyArray<EventLog.ProjectionChange>,
): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    changes,
    ({ kind, replace = false, drop = [], rows }) =>
      Effect.gen(function* () {
        const table = tableOf(kind)
        const byKey = new Map(rows.map((row) => [row.key, row]))
        const keys = [...drop, ...byKey.keys()]
        // All go before the first is added: in between, two rows of the change could have one mark.
        if (replace) yield* table.drop(dialect, run, session)
        else if (keys.length > 0) yield* table.drop(dialect, run, session, keys)
        if (byKey.size > 0) yield* table.add(dialect, run, session, [...byKey.values()])
      }),
    { discard: true },
  )

/** Drops all rows of a session but its description. */
export const dropDerived = (dialect: Dialect, run: Run, session: Session): Effect.Effect<unknown, SqlError> =>
  Effect.zipRight(
    run("DELETE FROM projections WHERE session = ?", [session.id]),
    summaries.drop(dialect, run, session),
  )

/** Locks a session whose last record is at a position; `null` if there is none, at version 0. */
export const sessionAt = (
  dialect: Dialect,
  run: Run,
  session: string,
  at: EventLog.LogPosition,
): Effect.Effect<Session | null, EventLog.VersionConflict | SqlError> =>
  Effect.gen(function* () {
    yield* lockSession(dialect, run, session)
    const [known] = yield* run(
      `SELECT sessions.id, last_version, ${batchIdOf("last")} AS batch_id FROM ${sessionsWithLast}
       WHERE sessions.name = ?`,
      [session],
    )
    const actualVersion = known === undefined ? 0 : integer(known, "last_version")
    const batchId = known === undefined ? "" : (textOrNull(known, "batch_id") ?? "")
    if (actualVersion !== at.version || batchId !== at.batchId)
      return yield* new EventLog.VersionConflict({ session, expectedVersion: at.version, actualVersion })
    return known === undefined ? null : { id: integer(known, "id"), name: session }
  })

/** The projections of the log of a database. */
export const projections = (database: Database): EventLog.Service["projections"] => {
  const { dialect, transaction } = database
  return {
    get: (session, kind, filter) => tableOf(kind).get(database, session, filter),
    put: (session, at, changes) =>
      transaction({ operation: "projections.put", session }, (run) =>
        Effect.flatMap(sessionAt(dialect, run, session, at), (found) =>
          found === null ? Effect.void : change(dialect, run, found, changes),
        ),
      ),
    drop: (kind, session) =>
      transaction({ operation: "projections.drop", session }, (run) =>
        Effect.gen(function* () {
          if (session === undefined) return yield* tableOf(kind).drop(dialect, run)
          const [known] = yield* run("SELECT id FROM sessions WHERE name = ?", [session])
          if (known === undefined) return
          return yield* tableOf(kind).drop(dialect, run, { id: integer(known, "id"), name: session })
        }),
      ).pipe(Effect.asVoid),
  }
}
