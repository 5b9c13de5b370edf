/** Reads the SQLite files of other programs. They are opened read-only. */
import { SqlError } from "@effect/sql/SqlError"
import { driver } from "@memfold/store-sqlite"
import { Effect } from "effect"
import type { JsonObject } from "../transcript/source.js"
import { chatNames, nameIn } from "./fields.js"
import { ImportError } from "./ImportError.js"

export interface Tables {
  readonly names: ReadonlyArray<string>
  /** The columns of a table; none if there is no such table. */
  readonly columns: (table: string) => Effect.Effect<ReadonlyArray<string>, ImportError>
  /** The distinct values of a column, as text. */
  readonly values: (table: string, column: string) => Effect.Effect<ReadonlyArray<string>, ImportError>
  /** The rows whose column has this value as text, in the order of insertion. */
  readonly rows: (
    table: string,
    column: string,
    value: string,
  ) => Effect.Effect<ReadonlyArray<JsonObject>, ImportError>
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** SQL for a value as text. A whole number stored as a float is written as a whole number. */
const asText = (column: string): string => {
  const name = quoted(column)
  return `CAST(CASE WHEN typeof(${name}) = 'real' THEN CAST(${name} AS INTEGER) ELSE ${name} END AS TEXT)`
}

const codes: ReadonlyArray<readonly [prefix: string, problem: string]> = [
  ["SQLITE_NOTADB", "it is not a SQLite database"],
  ["SQLITE_CORRUPT", "it is damaged; restore it from a backup, or try sqlite3's .recover"],
  ["SQLITE_BUSY", "it is locked by another process; try again when that one is done"],
  ["SQLITE_CANTOPEN", "it cannot be opened; copy it to a folder that can be written to"],
]

const problemOf = (error: unknown): string => {
  const cause = error instanceof SqlError ? error.cause : error
  const { code = "", message = "SQLite gave no reason" } = (cause ?? {}) as Record<string, unknown>
  if (/^Cannot find (?:package|module) 'better-sqlite3'/u.test(String(message)))
    return "SQLite's driver, the package better-sqlite3, is not installed; run npm install better-sqlite3@12"
  const known = codes.find(([prefix]) => String(code).startsWith(prefix))
  return known?.[1] ?? `it cannot be read (${String(message)})`
}

/** Opens a file, reads from it, and closes it in any case. */
export const withTables = <A, E>(
  file: string,
  use: (tables: Tables) => Effect.Effect<A, E>,
): Effect.Effect<A, E | ImportError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const failed = (error: unknown) => Effect.fail(new ImportError({ file, problem: problemOf(error) }))
      const connect = yield* Effect.catchAll(driver, failed)
      const { use: connected } = yield* Effect.catchAll(connect({ filename: file, readonly: true }), failed)
      const query = (sql: string, parameters: ReadonlyArray<unknown> = []) =>
        connected((connection) => connection.execute(sql, parameters, undefined)).pipe(
          Effect.map((rows) => rows as ReadonlyArray<JsonObject>),
          Effect.catchAll(failed),
        )
      const names = (yield* query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")).map(
        ({ name }) => String(name),
      )
      return yield* use({
        names,
        columns: (table) =>
          Effect.map(query(`PRAGMA table_info(${quoted(table)})`), (rows) =>
            rows.map((row) => String(row["name"])),
          ),
        values: (table, column) =>
          Effect.map(
            query(
              `SELECT DISTINCT ${asText(column)} AS value FROM ${quoted(table)}
               WHERE ${quoted(column)} IS NOT NULL ORDER BY 1`,
            ),
            (rows) => rows.map(({ value }) => String(value)),
          ),
        rows: (table, column, value) =>
          query(`SELECT * FROM ${quoted(table)} WHERE ${asText(column)} = ?`, [value]),
      })
    }),
  )

/** The columns of a table. Fails if the table or one of the required columns is missing. */
export const requireColumns = (
  file: string,
  tables: Tables,
  table: string,
  required: ReadonlyArray<ReadonlyArray<string>>,
): Effect.Effect<ReadonlyArray<string>, ImportError> =>
  Effect.gen(function* () {
    if (!tables.names.includes(table)) {
      const has = tables.names.length === 0 ? "it has none" : `it has ${tables.names.slice(0, 8).join(", ")}`
      return yield* new ImportError({ file, problem: `there is no table "${table}"; ${has}` })
    }
    const columns = yield* tables.columns(table)
    const missing = required.find((names) => nameIn(columns, names) === undefined)
    if (missing !== undefined) {
      const problem = `table "${table}" has no column "${missing[0]}"`
      const allowed = missing.length === 1 ? undefined : missing.join(", ")
      return yield* new ImportError({ file, problem, ...(allowed === undefined ? {} : { allowed }) })
    }
    return columns
  })

/** The name of the column with the conversation id. */
export const chatColumn = (columns: ReadonlyArray<string>): string =>
  nameIn(columns, chatNames) ?? chatNames[0]
