/** The SQLite of the runtime, `node:sqlite`: in Node from 22.16, and in Bun and Deno. */
import { SqlError } from "@effect/sql/SqlError"
import { connectionOf, failedStatement, inTurn, type Row } from "@memfold/store-sql"
import { Effect } from "effect"
import type { Driver } from "./Driver.js"

/** As much of `node:sqlite` as is used. The types of Node 20 lack it. */
interface Statement {
  readonly all: (...parameters: ReadonlyArray<unknown>) => ReadonlyArray<Row>
}
interface Database {
  readonly prepare: (sql: string) => Statement
  readonly close: () => void
}
interface Module {
  readonly DatabaseSync: new (file: string, options: { readonly readOnly: boolean }) => Database
  /** Node has it since 22.16; with an older one, files could not be copied while they are in use. */
  readonly backup?: (database: Database, to: string) => Promise<unknown>
}

/** SQLite's names of its errors, by the lower eight bits of their numbers. */
const errors: ReadonlyMap<number, string> = new Map([
  [5, "SQLITE_BUSY"],
  [6, "SQLITE_LOCKED"],
  [8, "SQLITE_READONLY"],
  [10, "SQLITE_IOERR"],
  [11, "SQLITE_CORRUPT"],
  [13, "SQLITE_FULL"],
  [14, "SQLITE_CANTOPEN"],
  [26, "SQLITE_NOTADB"],
])

/** A unique column has two rows with one value; a primary key as well. */
const uniqueConstraint = 2067

/** Gives an error SQLite's name, as the other driver does. */
const named = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { errcode } = error as { readonly errcode?: unknown }
  if (typeof errcode !== "number") return error
  const name = errcode === uniqueConstraint ? "SQLITE_CONSTRAINT_UNIQUE" : errors.get(errcode & 0xff)
  return Object.assign(error, { code: name ?? `SQLITE_ERROR_${errcode}` })
}

const trying = <A>(work: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({ try: work, catch: (error) => failedStatement(named(error)) })

/** Runs the statements of a database. Each is prepared once: the store has some dozens. */
const runsOf = (database: Database) => {
  const prepared = new Map<string, Statement>()
  const statement = (sql: string): Statement => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const made = database.prepare(sql)
    prepared.set(sql, made)
    return made
  }
  return {
    rows: (sql: string, parameters: ReadonlyArray<unknown> = []) =>
      trying(() => statement(sql).all(...parameters)),
    // No statement of the store has two columns with one name.
    lists: (sql: string, parameters: ReadonlyArray<unknown>) =>
      trying(() =>
        statement(sql)
          .all(...parameters)
          .map((row) => Object.values(row)),
      ),
  }
}

/** The driver of a runtime that has one; `undefined` in others. */
export const builtIn = (): Driver | undefined => {
  const sqlite = process.getBuiltinModule?.("node:sqlite") as Module | undefined
  if (sqlite?.backup === undefined) return undefined
  const { DatabaseSync, backup } = sqlite
  return ({ filename, readonly = false }) =>
    Effect.gen(function* () {
      const database = yield* Effect.acquireRelease(
        Effect.try({ try: () => new DatabaseSync(filename, { readOnly: readonly }), catch: named }),
        (opened) => Effect.sync(() => opened.close()),
      )
      return {
        use: yield* inTurn(connectionOf(runsOf(database))),
        backup: (to) =>
          Effect.tryPromise({
            try: () => backup(database, to),
            catch: (error) => new SqlError({ cause: named(error), message: "Failed to copy the database" }),
          }),
      }
    })
}
