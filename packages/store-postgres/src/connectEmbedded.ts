/** Connects to PGlite in the way of Effect SQL. */
import type { PGlite } from "@electric-sql/pglite"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { connectionOf, type Row } from "@memfold/store-sql"
import { Effect } from "effect"
import { parsers, withoutData } from "./connect.js"

const boolean = 16

/** Values that PostgreSQL reads from text, and PGlite takes in another form alone. */
const serializers = { [boolean]: (value: unknown) => (Number(value) === 1 ? "t" : "f") }

/** The connection of Effect SQL to a PGlite: what the log uses of it. */
export const connectionToEmbedded = (pglite: Pick<PGlite, "exec" | "query">): Connection => {
  const run = <A>(query: () => Promise<A>) =>
    Effect.tryPromise({
      try: query,
      catch: (cause) => {
        withoutData(cause)
        return new SqlError({ cause, message: "Failed to execute statement" })
      },
    })
  const rows = (sql: string, parameters: ReadonlyArray<unknown>, rowMode: "object" | "array") =>
    run(async () =>
      parameters.length === 0
        ? // Several statements, if need be.
          ((await pglite.exec(sql, { parsers, rowMode })).at(-1)?.rows ?? [])
        : (await pglite.query(sql, [...parameters], { parsers, serializers, rowMode })).rows,
    )
  return connectionOf({
    rows: (sql, parameters = []) =>
      Effect.map(rows(sql, parameters, "object"), (objects) => objects as ReadonlyArray<Row>),
    lists: (sql, parameters) =>
      Effect.map(rows(sql, parameters, "array"), (lists) => lists as ReadonlyArray<ReadonlyArray<unknown>>),
  })
}
