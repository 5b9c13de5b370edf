/**
 * `@memfold/store-libsql`: the event log in libSQL, on Turso or on a server of your own. A compare-and-swap on a session's version
 * decides which writer wins.
 */
import { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { changesOf, type Database, database, integer, logOf, tryingAgain } from "@memfold/store-sql"
import { Effect, Layer, type Scope } from "effect"
import { connect } from "./connect.js"
import { dialect } from "./dialect.js"
import type { Options } from "./Options.js"
import { nameOf, reasonOf } from "./reasons.js"

export type { Options } from "./Options.js"

/** The version of the tables. */
const tablesVersion = 1

const about = { operation: "open" }

const refused = (url: string, problem: string) =>
  new EventLog.LogError({ operation: "open", reason: `${nameOf(url)} ${problem}` })

/** The version of the tables; 0 without tables. Tables of another program are refused. */
const versionIn = (url: string, query: Database["query"]): Effect.Effect<number, EventLog.LogError> =>
  Effect.gen(function* () {
    const rows = yield* query(
      about,
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('memfold', 'sessions')",
    )
    const names = new Set(rows.map((row) => row["name"]))
    if (!names.has("memfold"))
      return names.has("sessions")
        ? yield* refused(url, "has tables of another program; choose another database")
        : 0
    const [row = {}] = yield* query(about, "SELECT version FROM memfold")
    const version = integer(row, "version")
    return version === tablesVersion
      ? version
      : yield* refused(
          url,
          `has version ${version} of the tables, this memfold knows version ${tablesVersion}; update memfold`,
        )
  })

/** Creates the tables, all or none, if there are none. */
const migrate = ({ query, transaction }: Database, { url, create = true }: Options) =>
  Effect.gen(function* () {
    if ((yield* versionIn(url, query)) > 0) return
    if (!create) return yield* refused(url, "has no tables of memfold; open it for writing once")
    yield* transaction({ operation: "create" }, (run) =>
      Effect.gen(function* () {
        // Looked at again under the lock: another process may have done it.
        const here: Database["query"] = (_about, sql, parameters) => Effect.orDie(run(sql, parameters))
        if ((yield* versionIn(url, here)) > 0) return
        for (const definition of dialect.tables) yield* run(definition)
        yield* run("CREATE TABLE memfold (version INTEGER NOT NULL)")
        yield* run("INSERT INTO memfold (version) VALUES (?)", [tablesVersion])
      }),
    )
  })

/** The bounds of the wait until a lock is tried again, in milliseconds. */
const tryAgain = { atLeast: 2, atMost: 20 }

const isBusy = (error: unknown): boolean => error instanceof SqlError && dialect.isBusy(error.cause)

/**
 * Opens the event log in a libSQL database, and creates its tables if there are none. The database is closed with the scope.
 *
 * Fails with a `LogError` that says why, if the URL names a file, the database cannot be reached, refuses the token, or has the tables of another program
 * or of another version of memfold.
 *
 * @example
 * ```ts
 * import { make } from "@memfold/store-libsql"
 * import { Effect } from "effect"
 *
 * export const program = Effect.scoped(
 *   Effect.flatMap(make({ url: "libsql://chats-ann.turso.io", authToken: "…" }), (log) => log.head("chat-1")),
 * )
 * ```
 */
export const make = (options: Options): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    if (options.url.startsWith("file:"))
      return yield* refused(
        options.url,
        "is a file; open it with @memfold/store-sqlite, which is safe for several processes",
      )
    const use = yield* connect(options)
    const again = tryingAgain(isBusy, { total: options.busyTimeout ?? 30_000, ...tryAgain })
    const opened = database(use, { dialect, reasonOf: reasonOf(options.url), reading: again, writing: again })
    yield* migrate(opened, options)
    const changes = yield* changesOf(opened, { every: () => "250 millis" })
    return { ...logOf(opened, { onWritten: changes.tell }), changes: changes.of }
  })

/**
 * Provides the event log in a libSQL database; see {@link make}.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import * as LibsqlEventLog from "@memfold/store-libsql"
 * import { SlidingWindow } from "@memfold/strategy-sliding-window"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * export const live = Memory.layer({ strategy: SlidingWindow() }).pipe(
 *   Layer.provide([LibsqlEventLog.layer({ url: "libsql://chats-ann.turso.io", authToken: "…" }), ExtractiveSummarizer.layer()]),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, make(options))
