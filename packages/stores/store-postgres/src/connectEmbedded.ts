/** Connects to PGlite in the way of Effect SQL. */
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { connectionOf, inTurn, type Row, type Use } from "@memfold/store-sql"
import { Effect } from "effect"
import { parsers, withoutData } from "./connect.js"

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

/** The connection of Effect SQL to a PGlite. */
export const connectionToEmbedded = (pglite: EmbeddedClient): Connection => {
  const run = <A>(query: () => Promise<A>) =>
    Effect.tryPromise({
      try: query,
      catch: (cause) => {
        withoutData(cause)
        return new SqlError({ cause, message: "Failed to execute statement" })
      },
    })
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

const turns = new WeakMap<EmbeddedClient, Use>()

/** Uses a PGlite, which has one connection: all who use it here take turns, so that nobody writes in the transaction of another. */
export const turnsOf = (pglite: EmbeddedClient): Effect.Effect<Use> =>
  Effect.suspend(() => {
    const known = turns.get(pglite)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.tap(inTurn(connectionToEmbedded(pglite)), (use) =>
      Effect.sync(() => turns.set(pglite, use)),
    )
  })
