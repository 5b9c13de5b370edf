/** Makes a connection of Effect SQL of what runs a statement. */
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Stream } from "effect"
import type { Run } from "./Database.js"

/** What runs a statement: with its rows as objects, or as lists of their columns. */
export interface Runs {
  readonly rows: Run
  readonly lists: (
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
}

/** Why a statement failed, as the error of Effect SQL. */
export const failedStatement = (cause: unknown): SqlError =>
  new SqlError({ cause, message: "Failed to execute statement" })

/** Runs what a driver does for a statement. */
export const trying = <A>(work: () => Promise<A>): Effect.Effect<A, SqlError> =>
  Effect.tryPromise({ try: work, catch: failedStatement })

/** The connection over what runs a statement: as much as the log uses. */
export const connectionOf = ({ rows, lists }: Runs): Connection => {
  const execute: Connection["execute"] = (sql, parameters) => rows(sql, parameters)
  return {
    execute,
    executeRaw: (sql, parameters) => rows(sql, parameters),
    executeValues: lists,
    executeUnprepared: execute,
    executeStream: (sql, parameters) => Stream.fromIterableEffect(execute(sql, parameters, undefined)),
  }
}
