/** How the projection rows of a kind are stored. */
import type { SqlError } from "@effect/sql/SqlError"
import type { EventLog } from "@memfold/log"
import type { Effect } from "effect"
import type { Database, Run } from "./Database.js"
import type { Dialect } from "./Dialect.js"

/** A session by its number and its name. */
export interface Session {
  readonly id: number
  readonly name: string
}

/** The rows of a kind. */
export interface RowTable {
  readonly get: (
    database: Database,
    session: string,
    filter: EventLog.RowFilter | undefined,
  ) => Effect.Effect<ReadonlyArray<EventLog.ProjectionRow>, EventLog.LogError>
  /** Drops the rows with some keys, or all rows, of a session or of all sessions. */
  readonly drop: (
    dialect: Dialect,
    run: Run,
    session?: Session,
    keys?: ReadonlyArray<string>,
  ) => Effect.Effect<unknown, SqlError>
  /** Adds rows whose keys the session does not have. */
  readonly add: (
    dialect: Dialect,
    run: Run,
    session: Session,
    rows: ReadonlyArray<EventLog.ProjectionRow>,
  ) => Effect.Effect<unknown, SqlError>
}

/** The keys of a filter as a parameter. */
export const keyList = (keys: ReadonlyArray<string>): string => JSON.stringify(keys.map((key) => [key]))

/** The condition that a column is one of the keys in a parameter. */
export const isListed = (dialect: Dialect, column: string): string =>
  `${column} IN (SELECT value ->> 0 FROM ${dialect.elements})`

/** A filter as a condition behind others, with its parameters: on the column of the keys, or in the words for a mark. */
export const filtered = (
  dialect: Dialect,
  filter: EventLog.RowFilter | undefined,
  column: string,
  hasMark: string,
): readonly [condition: string, parameters: ReadonlyArray<string>] => {
  if (filter === undefined) return ["", []]
  return "keys" in filter
    ? [`AND ${isListed(dialect, column)}`, [keyList(filter.keys)]]
    : [`AND ${hasMark}`, [filter.mark]]
}
