/**
 * `@memfold/store-libsql`: the event log in libSQL, on Turso or on a server of your own. A compare-and-swap on a session's version
 * decides which writer wins.
 */
import { EventLog } from "@memfold/log"
import {
  changesOf,
  createTables,
  database,
  isLocked,
  remoteLogOf,
  refusingWrites,
  tryingAgain,
} from "@memfold/store-sql"
import { Effect, Layer, type Scope } from "effect"
import { connect } from "./connect.js"
import { dialect } from "./dialect.js"
import type { Options } from "./Options.js"
import { nameOf, reasonOf } from "./reasons.js"

export type { Options } from "./Options.js"

const refused = (url: string, problem: string) =>
  new EventLog.LogError({ operation: "open", reason: `${nameOf(url)} ${problem}` })

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
    const again = tryingAgain(isLocked(dialect), { total: options.busyTimeout ?? 30_000 })
    const { url, create = true, readonly = false } = options
    const opened = database(use, {
      dialect,
      reasonOf: reasonOf(url),
      reading: again,
      writing: readonly ? refusingWrites : again,
    })
    yield* createTables(opened, { name: nameOf(url), create: create && !readonly, readonly })
    const changes = yield* changesOf(opened, { every: () => "250 millis" })
    return { ...remoteLogOf(opened, { onWritten: changes.tell }), changes: changes.of }
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
