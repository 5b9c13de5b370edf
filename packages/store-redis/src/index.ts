/**
 * `@memfold/store-redis`: the event log in Redis. One server, a master behind sentinels, or a cluster, shared by any
 * number of processes on any number of machines.
 */
import { EventLog } from "@memfold/log"
import { Context, Effect, Layer, type Scope } from "effect"
import { type Changes, listen } from "./changes.js"
import { open } from "./Connection.js"
import { type Durability, look } from "./durability.js"
import { feeding } from "./feed.js"
import { openForm } from "./form.js"
import { keysUnder } from "./keys.js"
import { type Options, targetOf } from "./Options.js"
import { readHead, readOpened, readPage } from "./read.js"
import { remove } from "./remove.js"
import { projections } from "./rows.js"
import * as Scripts from "./scripts.js"
import { listSessions } from "./sessions.js"
import * as Unfinished from "./unfinished.js"
import { append, rewrite } from "./write.js"

export type { Changes } from "./changes.js"
export type { Durability } from "./durability.js"
export { keysOf, type SessionKeys } from "./keys.js"
export type { Address, Level, Options, Sentinel, WaitReplicas } from "./Options.js"

/** The event log in Redis, with what it offers beyond the port. */
export interface RedisEventLog extends EventLog.Service {
  /** What an acknowledged append survives, by the servers' settings when the log was opened. */
  readonly durability: Durability
  /** Emits at once when any process has written to a session, and once when listening starts. Writes may be merged. */
  readonly changes: Changes
}

/** The event log in Redis, for programs that use its `durability` or rely on `changes`. */
export class RedisStore extends Context.Tag("@memfold/store-redis/RedisStore")<RedisStore, RedisEventLog>() {}

/**
 * An event log in Redis. It connects at once, and disconnects when the scope closes.
 *
 * @param options - where the servers are, and what is required of them
 * @returns the log. It fails with a `LogError` that says why if no server answers within `retryFor`, the user may not use
 * it, its settings guarantee less than `require`, or a newer memfold has written there
 *
 * @example
 * ```ts
 * import { make } from "@memfold/store-redis"
 * import { Effect } from "effect"
 *
 * export const program = Effect.scoped(
 *   Effect.flatMap(make({ url: "redis://localhost:6379" }), (log) => log.head("chat-1")),
 * )
 * ```
 */
export const make = (options: Options): Effect.Effect<RedisEventLog, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const target = yield* targetOf(options)
    const connection = yield* open(target, options)
    const guard = yield* openForm(connection, target, options.readonly ?? false)
    const keysOf = keysUnder(target.prefix)
    const durability = yield* look(connection, target, options.waitReplicas)
    const changes = yield* listen(connection, target)
    const scripts = Scripts.make(target.mode === "cluster" ? "SPUBLISH" : "PUBLISH")
    const rows = projections(connection, keysOf, target.prefix, scripts)
    const writing = { connection, keysOf, scripts, waitReplicas: options.waitReplicas }
    const log = {
      durability,
      changes,
      append: (session, ...given) =>
        guard({ operation: "append", session }, append(writing)(session, ...given)),
      rewrite: (session, ...given) =>
        guard({ operation: "rewrite", session }, rewrite(writing)(session, ...given)),
      ...(options.readonly === true
        ? {}
        : { finishRewrites: yield* Unfinished.make(connection, target.prefix, scripts.finished) }),
      read: (session, page) => readPage(connection, scripts.page, keysOf(session), session, page),
      head: (session) => readHead(connection, keysOf(session), session),
      list: listSessions(connection, target.prefix),
      ...feeding(connection, target, options.readonly === true ? null : scripts.enter),
      delete: (session, at) =>
        guard(
          { operation: "delete", session },
          remove(connection, keysOf(session), scripts.remove, { session, at }),
        ),
      projections: {
        get: rows.get,
        put: (session, ...given) =>
          guard({ operation: "projections.put", session }, rows.put(session, ...given)),
        drop: (...given) => guard({ operation: "projections.drop" }, rows.drop(...given)),
      },
    } satisfies RedisEventLog
    return EventLog.withOpening(log, (session, limit) =>
      readOpened(connection, scripts.open, keysOf(session), session, limit),
    )
  })

/**
 * Provides the event log in Redis, as `EventLog` and as `RedisStore`.
 *
 * @param options - as for {@link make}, which also describes the errors
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import * as RedisEventLog from "@memfold/store-redis"
 * import { SlidingWindow } from "@memfold/strategy-sliding-window"
 * import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
 * import { Layer } from "effect"
 *
 * export const live = Memory.layer({ strategy: SlidingWindow() }).pipe(
 *   Layer.provide(RedisEventLog.layer({ url: "redis://localhost:6379", require: "everysec" })),
 *   Layer.provide(ExtractiveSummarizer.layer()),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<EventLog.EventLog | RedisStore, EventLog.LogError> =>
  Layer.scopedContext(
    Effect.map(make(options), (log) =>
      Context.make(EventLog.EventLog, log as EventLog.Service).pipe(Context.add(RedisStore, log)),
    ),
  )
