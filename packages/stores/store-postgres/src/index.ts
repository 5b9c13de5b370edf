/**
 * `@memfold/store-postgres`: the event log in PostgreSQL, shared by any number of processes on any number of machines. A
 * compare-and-swap on a session's version decides which writer wins.
 */
import { EventLog } from "@memfold/log"
import { database, type DatabaseOptions, type Dialect, remoteLogOf, refusingWrites } from "@memfold/store-sql"
import { Duration, Effect, Layer, type Scope } from "effect"
import * as Changes from "./changes.js"
import { configOf, connecting, retrying } from "./connect.js"
import { postgres } from "./dialect.js"
import { hasPolicies, migrate } from "./migrations.js"
import { type Options, parse } from "./Options.js"
import { reasonOf } from "./reasons.js"
import { withReplica } from "./replica.js"
import { sameDatabase } from "./sameDatabase.js"
import { within } from "./within.js"

export * from "./embedded.js"
export type { EmbeddedClient, EmbeddedDatabase } from "./connectEmbedded.js"
export { migrations } from "./migrations.js"
export type { Options } from "./Options.js"
export { tenants } from "./tenants.js"
export * from "./vectors.js"

/** A standby that does not answer keeps a read waiting for so long at most. */
const longestWait = Duration.seconds(2)

/**
 * Opens the event log in a schema of a database, and creates the schema and its tables if they do not exist. The
 * connections are closed with the scope.
 *
 * Fails with a `LogError` that says why if no server answers within `retryFor`, the user may not use it, it is too old, or
 * the schema has the tables of another program or of another version of memfold.
 *
 * @example
 * ```ts
 * import { make } from "@memfold/store-postgres"
 * import { Effect } from "effect"
 *
 * export const program = Effect.scoped(
 *   Effect.flatMap(make({ url: "postgres://localhost/chats" }), (log) => log.head("chat-1")),
 * )
 * ```
 */
export const make = (options: Options): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const { url, replica, schema } = yield* parse(options)
    const { readonly = false, create = true, notifications = true } = options
    const { retryFor = "15 seconds", timeout = longestWait } = options
    const config = url === null ? null : configOf(url, options)
    const { use, name } = yield* connecting(config, options)
    const reason = reasonOf(name)
    const again = retrying(name, retryFor)
    const plain = postgres(schema)
    const opening = {
      dialect: plain,
      reasonOf: reason,
      // Who is interrupted does not wait for the answer.
      reading: (read) => Effect.disconnect(again(read)),
      writing: readonly ? refusingWrites : again,
    } satisfies DatabaseOptions
    const checked = database(use, opening)
    yield* migrate(checked, { schema, name, create: create && !readonly, readonly })
    const dialect: Dialect = (yield* hasPolicies(checked, schema))
      ? plain
      : { ...plain, start: { by: "append" } }
    const opened = database(yield* sameDatabase(use, schema), { ...opening, dialect })
    const changes = yield* Changes.make(opened, config, { schema, notifications })
    const types = new Set<string>()
    const log = {
      ...remoteLogOf(opened, { onWritten: changes.tell, types }),
      changes: changes.of,
      within: within({ dialect, reasonOf: reason, types }),
    }
    if (replica === null) return log
    const standby = yield* typeof replica === "string"
      ? connecting(configOf(replica, { ...options, timeout: Duration.min(timeout, longestWait) }), options)
      : connecting(null, { pool: replica })
    return yield* withReplica(log, opened, { ...standby, schema })
  })

/**
 * Provides the event log in PostgreSQL; see {@link make}.
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
 *   Layer.provide(PostgresEventLog.layer({ url: "postgres://localhost/chats", schema: "support" })),
 *   Layer.provide(ExtractiveSummarizer.layer()),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, make(options))
