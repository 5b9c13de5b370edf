/** A database that is restored from a backup while a process uses it: what the process knows and has acknowledged is of the other one. */
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import type { Row, Use } from "@memfold/store-sql"
import { Clock, Effect } from "effect"
import { quoted } from "./dialect.js"

/** How long what was seen of a database holds, in milliseconds. */
const holds = 1_000

/** The cluster, the database and the tables that a connection leads to, and the number of the first transaction that is not over. */
const look = `SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
    (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass($1)::oid) AS name,
  pg_snapshot_xmax(pg_current_snapshot())::text AS next`

/** What is wrong when another database answers; `reasonOf` says it in words. */
export const replaced = "MEMFOLD_REPLACED"

const error = (): SqlError =>
  new SqlError({ cause: { code: replaced }, message: "another database is in the place of this one" })

/**
 * Uses a database as long as it is the one that was opened. Once another one has its place, or it has lost an append that was acknowledged
 * here, nothing is read and written any more. It looks once a second at most, and always after a failure: a server that is
 * restored ends its connections.
 *
 * @param use - the connections, which lead to tables that exist
 * @param schema - where the tables are
 */
export const sameDatabase = (use: Use, schema: string): Effect.Effect<Use> =>
  Effect.gen(function* () {
    const table = `${quoted(schema)}.sessions`
    const seen = (connection: Connection) =>
      Effect.map(connection.execute(look, [table], undefined), ([row]) => {
        const { name, next } = row as { readonly name: string; readonly next: string }
        return { name, next: BigInt(next) }
      })
    const opened = yield* Effect.option(use(seen))
    // Not every service that speaks as PostgreSQL lets its users look.
    if (opened._tag === "None") return use
    let [newest, lookedAt, isReplaced] = [0n, Number.NEGATIVE_INFINITY, false]
    const check = (connection: Connection) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (isReplaced || Math.abs(now - lookedAt) < holds) return
        // Of an append that is acknowledged meanwhile, the answer may know nothing.
        const known = newest
        const { name, next } = yield* seen(connection)
        lookedAt = now
        isReplaced ||= name !== opened.value.name || next <= known
      })
    return <A, E>(body: (connection: Connection) => Effect.Effect<A, E>) =>
      use((connection) => {
        let written = 0n
        const execute: Connection["execute"] = (sql, parameters, transform) =>
          Effect.tap(connection.execute(sql, parameters, transform), ([row]) => {
            const { transaction } = (row ?? {}) as Row
            if (typeof transaction === "string") written = BigInt(transaction)
          })
        return Effect.suspend(() => check(connection)).pipe(
          Effect.flatMap((): Effect.Effect<A, E | SqlError> =>
            isReplaced ? Effect.fail(error()) : body({ ...connection, execute }),
          ),
          Effect.tap(() => {
            if (written > newest) newest = written
          }),
          Effect.tapError((failure) =>
            Effect.sync(() => {
              if (failure instanceof SqlError) lookedAt = Number.NEGATIVE_INFINITY
            }),
          ),
        )
      })
  })
