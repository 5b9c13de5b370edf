/** The driver better-sqlite3, through the client of Effect SQL. */
import * as Reactivity from "@effect/experimental/Reactivity"
import type { SqliteClient } from "@effect/sql-sqlite-node/SqliteClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { inTurn, type Use } from "@memfold/store-sql"
import { Cause, Effect } from "effect"
import type { Driver } from "./Driver.js"

/**
 * Prepares a statement that failed to be prepared anew each time. The client keeps that failure for minutes, and it can be that
 * another process had the lock for a moment. What the driver throws at that is a defect of the client.
 */
const preparingAgain = (connection: Connection): Connection => {
  const unprepared: Connection["executeUnprepared"] = (sql, parameters, transform) =>
    Effect.catchAllDefect(
      Effect.suspend(() => connection.executeUnprepared(sql, parameters, transform)),
      (cause) => new SqlError({ cause, message: "Failed to prepare a statement" }),
    )
  const isOfPreparing = ({ message }: SqlError) => message.startsWith("Failed to prepare")
  return {
    ...connection,
    execute: (sql, parameters, transform) =>
      Effect.catchIf(connection.execute(sql, parameters, transform), isOfPreparing, () =>
        unprepared(sql, parameters, transform),
      ),
    executeValues: (sql, parameters) =>
      Effect.catchIf(connection.executeValues(sql, parameters), isOfPreparing, () =>
        Effect.map(unprepared(sql, parameters, undefined), (rows) =>
          rows.map((row: object): ReadonlyArray<unknown> => Object.values(row)),
        ),
      ),
  }
}

/** Gives the only connection of a client to one fiber after the other. The client does as well, in more steps. */
const oneByOne = (client: SqliteClient): Effect.Effect<Use, SqlError> =>
  Effect.flatMap(Effect.scoped(client.reserve), (connection) => inTurn(preparingAgain(connection)))

/**
 * Loads better-sqlite3. Fails if it is not installed, or its native part is not built for this Node: the driver looks for that when
 * it opens its first database, so one in memory is opened.
 *
 * The client loads its driver when it is imported: it is imported here, so that a program that opens no file does not load it.
 */
export const betterSqlite: Effect.Effect<Driver, unknown> = Effect.tryPromise({
  try: () => import("@effect/sql-sqlite-node/SqliteClient"),
  catch: (error) => error,
}).pipe(
  Effect.map(
    ({ make }): Driver =>
      ({ filename, readonly = false }) =>
        // With its own WAL mode, the client would change the journal mode before the file is checked.
        make({ filename, readonly, disableWAL: true }).pipe(
          Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make),
          Effect.flatMap((client) => Effect.map(oneByOne(client), (use) => ({ use, backup: client.backup }))),
          Effect.catchAllCause((cause) => Effect.fail(Cause.squash(cause))),
        ),
  ),
  Effect.tap((driver) => Effect.scoped(driver({ filename: ":memory:" }))),
)
