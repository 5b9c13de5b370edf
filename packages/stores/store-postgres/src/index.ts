/**
 * `@memfold/store-postgres`: the event log in PostgreSQL, shared by any number of processes on any number of machines. A
 * compare-and-swap on a session's version decides which writer wins.
 */
import { EventLog } from "@memfold/log"
import { database, type DatabaseOptions, type Dialect, logOf, refusingWrites } from "@memfold/store-sql"
import { Effect, Layer, type Scope } from "effect"
import * as Changes from "./changes.js"
import { clientOf, configOf, connect, nameOf, retrying, useOf } from "./connect.js"
import { postgres } from "./dialect.js"
import { hasPolicies, migrate } from "./migrations.js"
import { type Options, parse } from "./Options.js"
import { reasonOf } from "./reasons.js"
import { sameDatabase } from "./sameDatabase.js"
import { within } from "./within.js"

export * from "./embedded.js"
export type { EmbeddedClient } from "./connectEmbedded.js"
export { migrations } from "./migrations.js"
export type { Options } from "./Options.js"
export { tenants } from "./tenants.js"

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
    const { url, schema } = yield* parse(options)
    const { readonly = false, create = true, notifications = true } = options
    const { retryFor = "15 seconds", connections = 10 } = options
    const config = url === null ? null : configOf(url, options)
    const name = config === null ? "the given connection" : nameOf(config)
    const reason = reasonOf(name)
    const using =
      config === null
        ? Effect.map(
            options.pool === undefined ? Effect.succeed(options.client!) : clientOf(options.pool),
            useOf,
          )
        : connect(config, connections)
    const use = yield* Effect.mapError(
      using,
      ({ cause }) => new EventLog.LogError({ operation: "open", reason: reason(cause), cause }),
    )
    const again = retrying(retryFor)
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
    return {
      ...logOf(opened, { onWritten: changes.tell, types }),
      changes: changes.of,
      within: within({ dialect, reasonOf: reason, types }),
    }
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
