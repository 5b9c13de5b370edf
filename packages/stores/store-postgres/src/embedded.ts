/** The log in PGlite: PostgreSQL in WebAssembly, within the process and without a server. */
import type * as Pglite from "@electric-sql/pglite"
import { EventLog } from "@memfold/log"
import { changesOf, database, type Dialect, logOf } from "@memfold/store-sql"
import { Effect, Layer, type Scope } from "effect"
import { type EmbeddedDatabase, useOfEmbedded } from "./connectEmbedded.js"
import { postgres } from "./dialect.js"
import { migrate } from "./migrations.js"
import { reasonOf } from "./reasons.js"
import { within } from "./within.js"

/** Where an embedded log is. */
export interface EmbeddedOptions {
  /**
   * A folder that PGlite keeps, for one process at a time; or a PGlite that is open, which stays open and which the application may use as well. Without either, the log ends
   * with the scope.
   */
  readonly database?: string | EmbeddedDatabase
  /** The schema of the tables; `memfold` by default. */
  readonly schema?: string
}

/** Imports a package that only some install: a bundler cannot see its name, and so does not look for it. */
const optional = <Package>(name: string): Promise<Package> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ name)

const failed = (cause: unknown) =>
  new EventLog.LogError({
    operation: "open",
    reason: `PGlite cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}; check that @electric-sql/pglite is installed and that the folder can be written`,
    cause,
  })

const open = (folder: string | undefined): Effect.Effect<EmbeddedDatabase, EventLog.LogError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const { PGlite } = await optional<typeof Pglite>("@electric-sql/pglite")
        return PGlite.create(folder === undefined ? {} : { dataDir: folder })
      },
      catch: failed,
    }),
    (pglite) => Effect.promise(() => pglite.close()),
  )

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
    const use = useOfEmbedded(pglite)
    const dialect = { ...postgres(schema), start: { by: "append" } } satisfies Dialect
    const opened = database(use, { dialect, reasonOf: reasonOf("PGlite") })
    yield* migrate(opened, { schema, name: "PGlite", create: true })
    // All who write are in this process, and may have logs of their own.
    const changes = yield* changesOf(opened, { every: () => "100 millis" })
    const types = new Set<string>()
    return {
      ...logOf(opened, { onWritten: changes.tell, types }),
      changes: changes.of,
      within: within({ dialect, reasonOf: reasonOf("PGlite"), types }),
    }
  })

/** Provides the event log in PGlite; see {@link makeEmbedded}. */
export const layerEmbedded = (options?: EmbeddedOptions): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, makeEmbedded(options))
