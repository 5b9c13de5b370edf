/** Connects to a server through the client of Effect SQL, and tries again what fails for a moment. */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { type DatabaseOptions, type Use } from "@memfold/store-sql"
import { Clock, Duration, Effect, Schedule, type Scope } from "effect"
import {
  Client,
  type ClientConfig,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  types as defaults,
} from "pg"
import { isTransient } from "./dialect.js"
import type { Options } from "./Options.js"

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
export const configOf = (url: string, { tls, timeout = "30 seconds" }: Options): ClientConfig => ({
  connectionString: url,
  ...(tls === undefined ? {} : { ssl: tls }),
  application_name: "memfold",
  connectionTimeoutMillis: Duration.toMillis(timeout),
  query_timeout: Duration.toMillis(timeout),
  keepAlive: true,
  types,
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

/** Makes a function that runs a statement or a transaction, and tries again what fails for a moment. */
export const retrying = (retryFor: Duration.DurationInput): NonNullable<DatabaseOptions["writing"]> => {
  const schedule = Schedule.upTo(backoff, retryFor)
  return (work) => Effect.withClock(Effect.retry(work, { while: isPassing, schedule }), realTime)
}

/** What an error of the server quotes of the data. */
const quoting = ["detail", "where", "internalQuery", "query", "params", "queryOptions"] as const

/** Removes what an error quotes: errors contain no messages. */
export const withoutData = (cause: unknown): void => {
  if (cause instanceof Error) for (const field of quoting) Reflect.deleteProperty(cause, field)
}

/**
 * What is to be done with an error before it is passed on. A connection that did not answer in time is closed: it would keep the
 * next statement waiting as well.
 */
const failed = (connection: Connection, error: unknown) =>
  Effect.sync(() => {
    if (!(error instanceof SqlError) || !(error.cause instanceof Error)) return
    withoutData(error.cause)
    if (error.cause.message === "Query read timeout")
      void (connection as { readonly pg?: PoolClient & { end: () => Promise<void> } }).pg
        ?.end()
        .catch(() => undefined)
  })

/** Ends all connections; those that do not answer are left alone after a second. */
const close = (pool: Pool): Promise<void> =>
  Promise.race([pool.end(), new Promise<void>((resolve) => void setTimeout(resolve, 1_000).unref())])

/**
 * Uses the connections of a server, which are closed with the scope. None is made yet.
 *
 * The client interrupts a statement by the process id of its connection, which behind a pooler is another one's; and it loses
 * a connection that is interrupted while it is made. So nothing is interrupted.
 */
export const connect = (
  config: ClientConfig,
  { connections = 10 }: Options,
): Effect.Effect<Use, SqlError, Scope.Scope> =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new Pool({ ...config, max: connections, allowExitOnIdle: true })),
      (pool) => Effect.promise(() => close(pool)),
    )
    // An idle connection that is lost is replaced when the next one is needed.
    pool.on("error", () => {})
    const client = yield* Effect.provideServiceEffect(
      PgClient.fromPool({ acquire: Effect.succeed(pool) }),
      Reactivity.Reactivity,
      Reactivity.make,
    )
    return (body) =>
      Effect.uninterruptible(
        Effect.scoped(
          Effect.flatMap(client.reserve, (connection) =>
            Effect.tapError(body(connection), (error) => failed(connection, error)),
          ),
        ),
      )
  })
