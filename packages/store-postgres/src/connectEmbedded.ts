/** Connects to PGlite in the way of Effect SQL. */
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { Effect, Stream } from "effect"
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
  type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>
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
      return (result?.rows ?? []) as Rows
    })
  const execute: Connection["execute"] = (sql, parameters) => rows(sql, parameters, "object")
  return {
    execute,
    executeRaw: (sql, parameters) => execute(sql, parameters, undefined),
    executeValues: (sql, parameters) =>
      Effect.map(
        rows(sql, parameters, "array"),
        (lists) => lists as unknown as ReadonlyArray<ReadonlyArray<unknown>>,
      ),
    executeUnprepared: (sql, parameters) => execute(sql, parameters, undefined),
    executeStream: (sql, parameters) => Stream.fromIterableEffect(execute(sql, parameters, undefined)),
  }
}
