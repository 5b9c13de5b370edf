/** Uses a libSQL database through its client. */
import { type Client, createClient, type InValue, type ResultSet, type Transaction } from "@libsql/client/web"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import { connectionOf, trying, type Use } from "@memfold/store-sql"
import { Effect, type Scope } from "effect"
import { dialect } from "./dialect.js"
import type { Options } from "./Options.js"
import { reasonOf } from "./reasons.js"

/** The client sends every number as one with a fraction, which SQLite takes for no limit and no id. */
const parameter = (value: unknown): InValue =>
  typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : (value as InValue)

/** What runs statements: the client, or a transaction of it. */
type Executor = Pick<Client, "execute"> | Pick<Transaction, "execute">

/** Rows as objects, with the names of their columns. */
const objects = ({ columns, rows }: ResultSet): ReadonlyArray<Record<string, unknown>> =>
  rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])))

/**
 * A connection of Effect SQL for one use. A transaction of the client is a stream of its own: the statements that begin and end one
 * become calls of the client, and those between go to the transaction.
 */
const connectionTo = (client: Client): Connection & { readonly end: Effect.Effect<void> } => {
  let transaction: Transaction | null = null
  const ended = async (how: "commit" | "rollback"): Promise<void> => {
    const open = transaction
    transaction = null
    try {
      await open?.[how]()
    } finally {
      open?.close()
    }
  }
  const run = (sql: string, parameters: ReadonlyArray<unknown>): Effect.Effect<ResultSet | null, SqlError> =>
    trying(async () => {
      if (sql === dialect.begin) {
        transaction = await client.transaction("write")
        return null
      }
      if (sql === "COMMIT" || sql === "ROLLBACK") {
        await ended(sql === "COMMIT" ? "commit" : "rollback")
        return null
      }
      const executor: Executor = transaction ?? client
      return executor.execute({ sql, args: parameters.map(parameter) })
    })
  return {
    ...connectionOf({
      rows: (sql, parameters = []) =>
        Effect.map(run(sql, parameters), (result) => (result === null ? [] : objects(result))),
      lists: (sql, parameters) =>
        Effect.map(run(sql, parameters), (result) =>
          (result?.rows ?? []).map((row) => Array.from(row as ArrayLike<unknown>)),
        ),
    }),
    end: Effect.promise(() => ended("rollback").catch(() => undefined)),
  }
}

/** Opens a database until the scope ends. */
export const connect = ({ url, authToken }: Options): Effect.Effect<Use, EventLog.LogError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.try({
        try: () => createClient({ url, ...(authToken === undefined ? {} : { authToken }) }),
        catch: (cause) => new EventLog.LogError({ operation: "open", reason: reasonOf(url)(cause), cause }),
      }),
      (client) => Effect.sync(() => client.close()),
    ),
    (client): Use =>
      (body) =>
        Effect.acquireUseRelease(
          Effect.sync(() => connectionTo(client)),
          body,
          ({ end }) => end,
        ),
  )
