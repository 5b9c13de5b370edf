/**
 * `@memfold/store-sqlite`: the event log in a SQLite file. Appends are durable when they return, and many processes can
 * use one file: a compare-and-swap on a session's version decides which writer wins.
 */
import { EventLog } from "@memfold/log"
import { changesOf, logOf } from "@memfold/store-sql"
import { Effect, Layer, type Scope } from "effect"
import { open } from "./open.js"
import type { Options } from "./Options.js"
import * as Unfinished from "./unfinished.js"

export { driver } from "./connect.js"
export type { Client, Driver } from "./Driver.js"
export * from "./maintenance.js"
export type { Options, ProjectionsOf } from "./Options.js"

/**
 * Opens the event log of a file, and creates the file if it does not exist. It is closed with the scope.
 *
 * Fails with a `LogError` that says why, if the file is locked, read-only, damaged, of another program, or of another
 * version of memfold. A file that is refused is not changed.
 *
 * @example
 * ```ts
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { Effect } from "effect"
 *
 * const head = Effect.gen(function* () {
 *   const log = yield* SqliteEventLog.make({ filename: ":memory:" })
 *   return yield* log.head("chat-1")
 * })
 * console.log(await Effect.runPromise(Effect.scoped(head)))
 * ```
 */
export const make = (options: Options): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const file = yield* open(options)
    if (options.readonly !== true && options.filename !== ":memory:") yield* Unfinished.finishing(file)
    // A number that SQLite keeps in memory, and that changes with each commit of another connection.
    const writes = file.query({ operation: "changes" }, "PRAGMA data_version")
    const changes = yield* changesOf(file, {
      every: () => "100 millis",
      writes: Effect.map(writes, ([row]) => row?.["data_version"]),
    })
    return {
      ...logOf(file, { rewriting: Unfinished.begin, onWritten: changes.tell }),
      finishRewrites: (session) => Unfinished.finish(file, session, options.busyTimeout ?? "30 seconds"),
      changes: changes.of,
    }
  })

/**
 * Provides the event log of a file; see {@link make}.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { SlidingWindow } from "@memfold/strategy-sliding-window"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * export const live = Memory.layer({ strategy: SlidingWindow() }).pipe(
 *   Layer.provide([SqliteEventLog.layer({ filename: "chats.db" }), ExtractiveSummarizer.layer()]),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, make(options))
