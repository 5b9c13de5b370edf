/** The connection to a file through better-sqlite3, which is synchronous. */
import { SqlError } from "@effect/sql/SqlError"
import type Sqlite from "better-sqlite3"
import { Effect, type Scope } from "effect"
import { createRequire } from "node:module"
import type { Row, Run, RunNow } from "./Row.js"

/** The error of an effect for what better-sqlite3 threw. */
export const sqlError = (cause: unknown): SqlError =>
  new SqlError({ cause, message: "Failed to run a statement" })

/** Runs statements at once, as an effect that fails with what better-sqlite3 throws. */
export const attempt = <A>(work: () => A): Effect.Effect<A, SqlError> =>
  Effect.try({ try: work, catch: sqlError })

/** An open connection. */
export interface Driver {
  readonly run: Run
  /** Runs a statement outside an effect. */
  readonly now: RunNow
  /** Runs a statement whose rows are lists of their columns: many of them are read faster so. */
  readonly lists: (
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
  /** Copies the database, page by page. */
  readonly backup: (to: string) => Effect.Effect<void, unknown>
}

let loaded: typeof Sqlite | undefined

/**
 * Loads better-sqlite3 when a file is opened. It is a CommonJS module, and Node takes twice as long to `import` one as to
 * `require` it. Where it cannot be required from here, as in a program bundled to CommonJS, it is imported.
 */
const load: Effect.Effect<typeof Sqlite, unknown> = Effect.suspend(() => {
  try {
    loaded ??= createRequire(import.meta.url)("better-sqlite3") as typeof Sqlite
    return Effect.succeed(loaded)
  } catch {
    return Effect.tryPromise({
      try: async () => (loaded = (await import("better-sqlite3")).default),
      catch: (error) => error,
    })
  }
})

/** Opens a file, which is closed with the scope. Fails with what better-sqlite3 throws. */
export const connect = (
  filename: string,
  options: { readonly readonly: boolean },
): Effect.Effect<Driver, unknown, Scope.Scope> =>
  Effect.flatMap(load, (Sqlite) =>
    Effect.acquireRelease(
      Effect.try({ try: () => new Sqlite(filename, options), catch: (error) => error }),
      (database) => Effect.sync(() => database.close()),
    ),
  ).pipe(
    Effect.map((database) => {
      /** Statements are prepared once. There are as many as places in the code that run one. */
      const prepared = new Map<string, Sqlite.Statement>()
      const statementOf = (sql: string, inLists = false): Sqlite.Statement => {
        const known = prepared.get(sql)
        if (known !== undefined) return known
        const statement = database.prepare(sql)
        if (inLists) statement.raw(true)
        prepared.set(sql, statement)
        return statement
      }
      const now: RunNow = (sql, parameters = []) => {
        const statement = statementOf(sql)
        if (statement.reader) return statement.all(...parameters) as ReadonlyArray<Row>
        statement.run(...parameters)
        return []
      }
      return {
        now,
        lists: (sql, parameters) =>
          attempt(() => statementOf(sql, true).all(...parameters) as ReadonlyArray<ReadonlyArray<unknown>>),
        run: (sql, parameters) => attempt(() => now(sql, parameters)),
        backup: (to) => Effect.tryPromise({ try: () => database.backup(to), catch: (error) => error }),
      }
    }),
  )
