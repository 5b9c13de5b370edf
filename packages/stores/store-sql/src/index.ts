/**
 * `@memfold/store-sql`: the event log in a SQL database, over a client of Effect SQL. A {@link Dialect} has what differs between
 * databases. `@memfold/store-sqlite` is this log in a SQLite file; use that package for SQLite.
 */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import { appending, type WritingOptions } from "./append.js"
import type { Database, Run } from "./Database.js"
import { batchIdOf } from "./queries.js"
import { projections } from "./projections.js"
import { opening, reads } from "./reads.js"

export type { WritingOptions } from "./append.js"
export * from "./changes.js"
export * from "./connection.js"
export * from "./createTables.js"
export * from "./Database.js"
export * from "./Dialect.js"
export { batchHash } from "./batchHash.js"
export * from "./pause.js"
export { batchIdOf, sessionsWithLast, typeNumber } from "./queries.js"
export * from "./sqlite.js"

/** Deletes a session: one statement, with which goes what belongs to it. Where a rewrite is noted, a deletion is. */
const deleting = (
  { failing, statement, transaction }: Database,
  { rewriting }: WritingOptions,
  session: string,
  remove: (run: Run) => ReturnType<Run>,
) => {
  const about = { operation: "delete", session }
  if (rewriting === undefined) return failing(about)(remove(statement))
  return transaction(about, (run) =>
    Effect.tap(remove(run), (rows) => (rows.length > 0 ? rewriting(run, session, "deleted") : Effect.void)),
  )
}

/** Makes the log of a database that has the tables of its dialect. */
export const logOf = (database: Database, options: WritingOptions = {}): EventLog.Service => ({
  ...appending(database, options),
  ...reads(database),
  delete: (session, at) =>
    Effect.map(
      deleting(database, options, session, (run) =>
        at === undefined
          ? run("DELETE FROM sessions WHERE name = ? RETURNING id", [session])
          : run(
              `DELETE FROM sessions WHERE name = ? AND last_version = ? AND coalesce((SELECT ${batchIdOf("last")}
                 FROM events AS last WHERE last.id = sessions.id << 32 | last_version), '') = ? RETURNING id`,
              [session, at.version, at.batchId],
            ),
      ),
      (rows) => {
        if (rows.length > 0) options.onWritten?.(session)
        return rows.length > 0
      },
    ),
  projections: projections(database),
})

/**
 * {@link logOf} for a database on a server, which opens a session by one request. In a database that runs in this process, that statement takes
 * longer than the four that it stands for.
 */
export const remoteLogOf = (database: Database, options: WritingOptions = {}): EventLog.Service =>
  EventLog.withOpening(logOf(database, options), opening(database))
