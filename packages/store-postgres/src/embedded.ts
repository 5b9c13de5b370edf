/** The log in PGlite: PostgreSQL in WebAssembly, within the process and without a server. */
import type { PGlite } from "@electric-sql/pglite"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { changesOf, database, inTurn, logOf } from "@memfold/store-sql"
import { Effect, Layer, type Scope, Stream } from "effect"
import { parsers, withoutData } from "./connect.js"
import { postgres } from "./dialect.js"
import { migrate } from "./migrations.js"
import { reasonOf } from "./reasons.js"

/** Where an embedded log is. */
export interface EmbeddedOptions {
  /**
   * A folder that PGlite keeps, for one process at a time; or a PGlite that is open, which stays open. Without either, the log ends
   * with the scope.
   */
  readonly database?: string | PGlite
  /** The schema of the tables; `memfold` by default. */
  readonly schema?: string
}

const failed = (cause: unknown) =>
  new EventLog.LogError({
    operation: "open",
    reason: `PGlite cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}; check that @electric-sql/pglite is installed and that the folder can be written`,
    cause,
  })

const open = (folder: string | undefined): Effect.Effect<PGlite, EventLog.LogError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const { PGlite } = await import("@electric-sql/pglite")
        return PGlite.create(folder === undefined ? {} : { dataDir: folder })
      },
      catch: failed,
    }),
    (pglite) => Effect.promise(() => pglite.close()),
  )

const boolean = 16

/** Values that PostgreSQL reads from text, and PGlite takes in another form alone. */
const serializers = { [boolean]: (value: unknown) => (Number(value) === 1 ? "t" : "f") }

/** The connection of Effect SQL to a PGlite: what the log uses of it. */
const connectionTo = (pglite: PGlite): Connection => {
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
  const execute: Connection["execute"] = (sql, parameters) => rows(sql, parameters, "object")
  return {
    execute,
    executeRaw: (sql, parameters) => execute(sql, parameters, undefined),
    executeValues: (sql, parameters) =>
      Effect.map(rows(sql, parameters, "array"), (lists) => lists as ReadonlyArray<ReadonlyArray<unknown>>),
    executeUnprepared: (sql, parameters) => execute(sql, parameters, undefined),
    executeStream: (sql, parameters) => Stream.fromIterableEffect(execute(sql, parameters, undefined)),
  }
}

/**
 * Opens the event log in PGlite: for tests and trials, and for programs without a server. The tables and the SQL are those of a
 * server.
 *
 * Fails with a `LogError` if the package `@electric-sql/pglite` is not installed, or the folder cannot be opened.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import * as PostgresEventLog from "@memfold/store-postgres"
 * import { SlidingWindow } from "@memfold/strategy-sliding-window"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * export const live = Memory.layer({ strategy: SlidingWindow() }).pipe(
 *   Layer.provide(PostgresEventLog.layerEmbedded()),
 *   Layer.provide(ExtractiveSummarizer.layer()),
 * )
 * ```
 */
export const makeEmbedded = ({ database: given, schema = "memfold" }: EmbeddedOptions = {}): Effect.Effect<
  EventLog.Service,
  EventLog.LogError,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const pglite = given === undefined || typeof given === "string" ? yield* open(given) : given
    const use = yield* inTurn(connectionTo(pglite))
    const dialect = { ...postgres(schema), startsSessions: true }
    const opened = database(use, { dialect, reasonOf: reasonOf("PGlite") })
    yield* migrate(opened, { schema, name: "PGlite", create: true })
    // All who write are in this process, and may have logs of their own.
    const changes = yield* changesOf(opened, { every: () => "100 millis" })
    return { ...logOf(opened, { onWritten: changes.tell }), changes: changes.of }
  })

/** Provides the event log in PGlite; see {@link makeEmbedded}. */
export const layerEmbedded = (options?: EmbeddedOptions): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, makeEmbedded(options))
