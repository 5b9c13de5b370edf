/** Connects to PGlite in the way of Effect SQL. */
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { connectionOf, type Row, type Use } from "@memfold/store-sql"
import { Effect, Exit, Runtime } from "effect"
import { failedWithoutData, parsers } from "./connect.js"

const boolean = 16

/** Values that PostgreSQL reads from text, and PGlite takes in another form alone. */
const serializers = { [boolean]: (value: unknown) => (Number(value) === 1 ? "t" : "f") }

/** What the log uses of a PGlite, or of its transaction. The package's own types are not named: it need not be installed. */
export interface EmbeddedClient {
  query(
    sql: string,
    parameters?: Array<unknown>,
    options?: object,
  ): Promise<{ readonly rows: ReadonlyArray<unknown> }>
  exec(sql: string, options?: object): Promise<ReadonlyArray<{ readonly rows: ReadonlyArray<unknown> }>>
}

/** A PGlite that is open, in which the application may have tables of its own. */
export interface EmbeddedDatabase extends EmbeddedClient {
  transaction<A>(
    work: (transaction: EmbeddedClient & { rollback(): Promise<void> }) => Promise<A>,
  ): Promise<A>
}

const run = <A>(work: () => Promise<A>): Effect.Effect<A, SqlError> =>
  Effect.tryPromise({ try: work, catch: failedWithoutData })

/** The connection of Effect SQL to a PGlite. */
export const connectionToEmbedded = (pglite: EmbeddedClient): Connection => {
  const rows = (sql: string, parameters: ReadonlyArray<unknown>, rowMode: "object" | "array") =>
    run(async () => {
      // Without parameters, it can be several statements.
      const result =
        parameters.length === 0
          ? (await pglite.exec(sql, { parsers, rowMode })).at(-1)
          : await pglite.query(sql, [...parameters], { parsers, serializers, rowMode })
      return (result?.rows ?? []) as ReadonlyArray<Row>
    })
  return connectionOf({
    rows: (sql, parameters = []) => rows(sql, parameters, "object"),
    lists: (sql, parameters) =>
      Effect.map(
        rows(sql, parameters, "array"),
        (lists) => lists as unknown as ReadonlyArray<ReadonlyArray<unknown>>,
      ),
  })
}

/**
 * Uses the one connection of a PGlite within a transaction of it: all who use it take turns, the application as well, so that nobody writes in
 * the transaction of another. To begin one there changes nothing, and to commit it leaves nothing to commit.
 */
export const useOfEmbedded =
  (pglite: EmbeddedDatabase): Use =>
  (body) =>
    Effect.flatMap(Effect.runtime<never>(), (runtime) =>
      run(() =>
        pglite.transaction(async (transaction) => {
          const exit = await Runtime.runPromiseExit(runtime)(body(connectionToEmbedded(transaction)))
          if (Exit.isFailure(exit)) await transaction.rollback()
          return exit
        }),
      ).pipe(Effect.flatten, Effect.uninterruptible),
    )
