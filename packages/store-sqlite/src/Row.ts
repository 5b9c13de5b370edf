/** Rows as SQLite returns them, and the functions that run a statement. */
import type { SqlError } from "@effect/sql/SqlError"
import type { Effect } from "effect"

/** A row as SQLite returns it. */
export type Row = Readonly<Record<string, unknown>>

/** Runs one statement of a transaction. */
export type Run = (
  sql: string,
  parameters?: ReadonlyArray<unknown>,
) => Effect.Effect<ReadonlyArray<Row>, SqlError>

/** Runs one statement at once, and throws what SQLite throws. */
export type RunNow = (sql: string, parameters?: ReadonlyArray<unknown>) => ReadonlyArray<Row>

export const text = (row: Row, column: string): string => String(row[column])
export const integer = (row: Row, column: string): number => Number(row[column])
export const textOrNull = (row: Row, column: string): string | null =>
  row[column] === null ? null : text(row, column)
