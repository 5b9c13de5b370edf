/**
 * The event log in D1. D1 has no transactions that wait for their program: it runs a list of statements, all or none. So a transaction
 * of the log reads at once, gathers what it writes, and sends that in one list behind a guard for each read: if an answer would be
 * another one by then, the list fails as a whole, and the transaction is made again.
 */
import type { Connection } from "@effect/sql/SqlConnection"
import { EventLog } from "@memfold/log"
import {
  changesOf,
  connectionOf,
  createTables,
  database,
  isLocked,
  remoteLogOf,
  type Row,
  trying,
  tryingAgain,
  type Use,
} from "@memfold/store-sql"
import { Effect, Layer, type Scope } from "effect"
import { d1Dialect, guard, reasonOf } from "./dialect.js"

/** A prepared statement of D1: as much as the log uses of it. */
export interface D1Statement {
  bind(...values: Array<unknown>): D1Statement
  all<A = Record<string, unknown>>(): Promise<{ results: Array<A> }>
  raw<A = Array<unknown>>(): Promise<Array<A>>
}

/** A D1 database, as a Worker has it in its environment: as much as the log uses of it. */
export interface D1<Statement extends D1Statement = D1Statement> {
  prepare(sql: string): Statement
  batch(statements: Array<Statement>): Promise<unknown>
}

/** How the log in D1 is opened. */
export interface D1Options {
  /** The database, from the environment of the Worker. */
  readonly database: D1
  /** Creates the tables if there are none; `true` by default. */
  readonly create?: boolean
  /** How long a transaction is made again while others are faster, in milliseconds; 30 seconds by default. */
  readonly busyTimeout?: number
}

type Bound = readonly [sql: string, parameters: ReadonlyArray<unknown>]

/** The guard that a read has the same answer: as many rows, and each of them. */
const guardOf = ([sql, parameters]: Bound, rows: ReadonlyArray<Row>): Bound => {
  const from = `FROM (${sql})`
  const conditions: Array<string> = [`(SELECT count(*) ${from}) = ${rows.length}`]
  const values: Array<unknown> = [...parameters]
  for (const row of rows) {
    const columns = Object.entries(row)
    conditions.push(
      `EXISTS (SELECT 1 ${from} WHERE ${columns.map(([name]) => `"${name}" IS ?`).join(" AND ")})`,
    )
    values.push(...parameters, ...columns.map(([, value]) => value))
  }
  return [guard(conditions.join(" AND ")), values]
}

const connectionTo = (d1: D1): Connection => {
  /** What a transaction has read and is to write; `null` outside of one. */
  let gathered: { readonly guards: Array<Bound>; readonly writes: Array<Bound> } | null = null

  const bound = ([sql, parameters]: Bound): D1Statement => d1.prepare(sql).bind(...parameters)

  const run = async (statement: Bound): Promise<ReadonlyArray<Row>> => {
    const [sql] = statement
    if (sql === d1Dialect.begin) {
      gathered = { guards: [], writes: [] }
      return []
    }
    if (sql === "ROLLBACK" || sql === "COMMIT") {
      const { guards, writes } = gathered ?? { guards: [], writes: [] }
      gathered = null
      if (sql === "COMMIT" && writes.length > 0) await d1.batch([...guards, ...writes].map(bound))
      return []
    }
    if (gathered !== null && !sql.startsWith("SELECT")) {
      gathered.writes.push(statement)
      return []
    }
    const { results } = await bound(statement).all()
    // What reads no table has the answer of its time.
    if (/\bFROM\b/.test(sql)) gathered?.guards.push(guardOf(statement, results))
    return results
  }
  return connectionOf({
    rows: (sql, parameters = []) => trying(() => run([sql, parameters])),
    lists: (sql, parameters) => trying(() => bound([sql, parameters]).raw()),
  })
}

/**
 * Opens the event log in a D1 database, and creates its tables if there are none.
 *
 * Fails with a `LogError` that says why, if the database cannot be reached, or has tables of another program or of another version of
 * memfold.
 *
 * @example
 * ```ts
 * import { type D1, makeD1 } from "@memfold/store-cloudflare"
 * import { Effect } from "effect"
 *
 * export const head = (database: D1) =>
 *   Effect.scoped(Effect.flatMap(makeD1({ database }), (log) => log.head("chat-1")))
 * ```
 */
export const makeD1 = ({
  database: d1,
  create = true,
  busyTimeout = 30_000,
}: D1Options): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const use: Use = (body) => Effect.suspend(() => body(connectionTo(d1)))
    const again = tryingAgain(isLocked(d1Dialect), { total: busyTimeout })
    const opened = database(use, {
      dialect: d1Dialect,
      reasonOf: reasonOf("D1"),
      reading: again,
      writing: again,
    })
    yield* createTables(opened, { name: "D1", create })
    const changes = yield* changesOf(opened, { every: () => "250 millis" })
    return { ...remoteLogOf(opened, { onWritten: changes.tell }), changes: changes.of }
  })

/**
 * Provides the event log in a D1 database; see {@link makeD1}.
 *
 * @example
 * ```ts
 * import { type D1, layerD1 } from "@memfold/store-cloudflare"
 * import { createMemory } from "memfold"
 *
 * interface Env {
 *   readonly DB: D1
 * }
 *
 * export default {
 *   async fetch(request: Request, env: Env): Promise<Response> {
 *     const memory = createMemory({ store: layerD1({ database: env.DB }) })
 *     try {
 *       await memory.append("chat-1", { role: "user", content: await request.text() })
 *       return Response.json((await memory.context("chat-1")).messages)
 *     } finally {
 *       await memory.close()
 *     }
 *   },
 * }
 * ```
 */
export const layerD1 = (options: D1Options): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, makeD1(options))
