/** Makes a connection of Effect SQL of what runs a statement. */
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { type Effect, Stream } from "effect"
import type { Run } from "./Database.js"

/** What runs a statement: with its rows as objects, or as lists of their columns. */
export interface Runs {
  readonly rows: Run
  readonly lists: (
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
}

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
