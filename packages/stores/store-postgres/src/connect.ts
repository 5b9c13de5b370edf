/** Connects to a server through the client of Effect SQL, and tries again what fails for a moment. */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { EventLog, tellIfSlow } from "@memfold/log"
import { connectionOf, type DatabaseOptions, failedStatement, type Use } from "@memfold/store-sql"
import { Clock, Duration, Effect, Schedule, type Scope } from "effect"
import {
  Client,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
  Pool,
  type QueryConfig,
  type QueryResult,
  types as defaults,
} from "pg"
import { isTransient } from "./dialect.js"
import type { Options } from "./Options.js"
import { reasonOf } from "./reasons.js"

/** The numbers of PostgreSQL's types whose values are read in another way than the driver's. */
const int8 = 20
const timestamptz = 1184

/** Whole numbers come as numbers: all are far below 2^53. Dates stay text: they are compared with dates of the server. */
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === int8 ? Number : oid === timestamptz ? String : defaults.getTypeParser(oid, format),
}

/** {@link types} by their numbers, for PGlite. */
export const parsers = { [int8]: Number, [timestamptz]: String }

/** How each connection of a process is made. It contains a secret: never print it. */
export const configOf = (
  url: string,
  { tls, timeout = "30 seconds" }: Pick<Options, "tls" | "timeout">,
): ClientConfig => ({
  connectionString: url,
  ...(tls === undefined ? {} : { ssl: tls }),
  application_name: "memfold",
  connectionTimeoutMillis: Duration.toMillis(timeout),
  query_timeout: Duration.toMillis(timeout),
  keepAlive: true,
})

/** The name of a server and its database for errors, without secrets. */
export const nameOf = (config: ClientConfig): string => {
  const { host, port, database = "" } = new Client(config)
  return host.startsWith("/") ? `${database} at ${host}` : `postgres://${host}:${port}/${database}`
}

/** The waits before another try: 5 milliseconds, twice as long each time, up to half a second, with jitter. */
const backoff = Schedule.jittered(
  Schedule.union(Schedule.exponential("5 millis"), Schedule.spaced("500 millis")),
)

/** Real time, also where a test has a clock of its own: a server does not know that clock. */
const realTime = Clock.make()

const isPassing = (error: unknown): boolean => error instanceof SqlError && isTransient(error.cause)

/**
 * Makes a function that runs a statement or a transaction, and tries again what fails for a moment.
 *
 * @param name - of the server, for the log
 */
export const retrying = (
  name: string,
  retryFor: Duration.DurationInput,
): NonNullable<DatabaseOptions["writing"]> => {
  const schedule = tellIfSlow(name)(Schedule.upTo(backoff, retryFor))
  return (work) => Effect.withClock(Effect.retry(work, { while: isPassing, schedule }), realTime)
}

/** What an error of the server quotes of the data. */
const quoting = ["detail", "where", "internalQuery", "query", "params", "queryOptions"] as const

/** Why a statement failed, without what the error quotes: errors contain no messages. */
export const failedWithoutData = (cause: unknown): SqlError => {
  if (cause instanceof Error) for (const field of quoting) Reflect.deleteProperty(cause, field)
  return failedStatement(cause)
}

/**
 * The connection of Effect SQL to a client of `pg`: what the log uses of it. The client may be the application's own, with
 * readers of types of its own, so each statement brings {@link types}. Nothing is interrupted: the client of Effect SQL interrupts
 * a statement by the process id of its connection, which behind a pooler is another one's.
 */
export const connectionTo = (client: ClientBase): Connection => {
  const rows = (text: string, values: ReadonlyArray<unknown>, rowMode?: "array") =>
    Effect.tryPromise({
      try: async () => {
        const given = values.length === 0 ? {} : { values: [...values] }
        const result: QueryResult | ReadonlyArray<QueryResult> = await client.query({
          text,
          types,
          ...given,
          ...(rowMode === undefined ? {} : { rowMode }),
        } as QueryConfig)
        // Several statements without parameters have a result each.
        return Array.isArray(result) ? [] : (result as QueryResult).rows
      },
      catch: failedWithoutData,
    })
  return connectionOf({
    rows: (sql, parameters = []) => rows(sql, parameters),
    lists: (sql, parameters) => rows(sql, parameters, "array"),
  })
}

/** The client of `pg` behind a connection of `@effect/sql-pg`; `undefined` for another client of Effect SQL. */
export const clientBehind = (connection: Connection): ClientBase | undefined =>
  (connection as { readonly pg?: ClientBase }).pg

/** Closes a connection that did not answer in time: it would keep the next statement waiting as well. */
const closeIfSilent = (client: ClientBase, error: unknown) =>
  Effect.sync(() => {
    if (
      error instanceof SqlError &&
      error.cause instanceof Error &&
      error.cause.message === "Query read timeout"
    )
      void (client as ClientBase & { end: () => Promise<void> }).end().catch(() => undefined)
  })

/** Uses the connections of a client of Effect SQL. */
export const useOf = (client: SqlClient): Use => {
  const reserve = Effect.flatMap(client.reserve, (connection) => {
    const pg = clientBehind(connection)
    const cause = new Error("the client of Effect SQL is not that of @effect/sql-pg")
    return pg === undefined ? Effect.fail(new SqlError({ cause })) : Effect.succeed(pg)
  })
  return (body) =>
    Effect.uninterruptible(
      Effect.scoped(
        Effect.flatMap(reserve, (pg) =>
          Effect.tapError(body(connectionTo(pg)), (error) => closeIfSilent(pg, error)),
        ),
      ),
    )
}

/** What of the application emits errors: its pool, or a connection in its hands. */
interface Emitter {
  readonly listenerCount: (event: "error") => number
  readonly on: (event: "error", listener: () => void) => unknown
}

const unheard = (): void => undefined

/**
 * Listens for the errors of a connection or a pool of the application that nobody listens for: when the server closes one that is
 * idle, the process would end. Whoever waits for an answer is told by that.
 *
 * @returns whether nobody did
 */
export const listening = (emitter: Emitter): Effect.Effect<boolean> =>
  Effect.sync(() => {
    if (emitter.listenerCount("error") > 0) return false
    emitter.on("error", unheard)
    return true
  })

const warning =
  'The pool of the application has no listener for errors, and without the store, the process would end when the server closes an idle connection: add pool.on("error", …)'

/** A client of Effect SQL over a pool, which stays open. */
export const clientOf = (pool: Pool): Effect.Effect<SqlClient, SqlError, Scope.Scope> =>
  Effect.acquireRelease(listening(pool), () => Effect.sync(() => void pool.off("error", unheard))).pipe(
    Effect.tap((isUnheard) => (isUnheard ? Effect.logWarning(warning) : Effect.void)),
    Effect.zipRight(
      Effect.provideServiceEffect(
        PgClient.fromPool({ acquire: Effect.succeed(pool) }),
        Reactivity.Reactivity,
        Reactivity.make,
      ),
    ),
  )

/** Ends all connections; those that do not answer are left alone after a second. */
const close = (pool: Pool): Promise<void> =>
  Promise.race([pool.end(), new Promise<void>((resolve) => void setTimeout(resolve, 1_000).unref())])

/**
 * Uses the connections of a server, which are closed with the scope. None is made yet.
 *
 * The client loses a connection that is interrupted while it is made. So nothing is interrupted.
 */
export const connect = (
  config: ClientConfig,
  connections: number,
): Effect.Effect<Use, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new Pool({ ...config, max: connections, allowExitOnIdle: true })),
      (pool) => Effect.promise(() => close(pool)),
    )
    // An idle connection that is lost is replaced when the next one is needed.
    pool.on("error", () => {})
    return useOf(yield* clientOf(pool))
  })

/** How connections are made: by their configuration, or with a pool or a client that the application has. */
export const connecting = (
  config: ClientConfig | null,
  { pool, client, connections = 10 }: Pick<Options, "pool" | "client" | "connections">,
) => {
  const name = config === null ? "the given connection" : nameOf(config)
  const given = pool === undefined ? Effect.succeed(client!) : clientOf(pool)
  const using = config === null ? Effect.map(given, useOf) : connect(config, connections)
  const made = Effect.mapError(
    using,
    ({ cause }) => new EventLog.LogError({ operation: "open", reason: reasonOf(name)(cause), cause }),
  )
  return Effect.map(made, (use) => ({ use, name }))
}
