/** Rows as SQLite returns them, and the statements of a transaction that bring them. */
import type { SqlError } from "@effect/sql/SqlError"
import type { EventLog } from "@memfold/core"
import type { Effect } from "effect"

/** A row as SQLite returns it. */
export type Row = Readonly<Record<string, unknown>>

/** Runs one statement of a transaction. */
export type Run = (
  sql: string,
  parameters?: ReadonlyArray<unknown>,
) => Effect.Effect<ReadonlyArray<Row>, SqlError>

export const text = (row: Row, column: string): string => String(row[column])
export const integer = (row: Row, column: string): number => Number(row[column])

/** The record of a row of `events`. */
export const recordOf = (session: string, row: Row): EventLog.LogRecord => ({
  session,
  seq: integer(row, "seq"),
  commit: text(row, "commit_id"),
  at: integer(row, "at"),
  type: text(row, "type"),
  version: integer(row, "version"),
  data: text(row, "data"),
  ...(row["checksum"] === null ? {} : { checksum: integer(row, "checksum") }),
})
