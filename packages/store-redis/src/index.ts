/**
 * `@memfold/store-redis`: the event log in Redis. One server, a master behind sentinels, or a cluster, shared by any
 * number of processes on any number of machines.
 */
import { EventLog } from "@memfold/core"
import { Context, Duration, Effect, Layer, Option, type Scope } from "effect"
import type { Changes } from "./changes.js"
import { listen } from "./changes.js"
import { open } from "./Connection.js"
import type { Durability } from "./durability.js"
import { look } from "./durability.js"
import { keysUnder } from "./keys.js"
import { type Options, targetOf } from "./Options.js"
import * as Scripts from "./scripts.js"
import { description, owned, replaceDescription, toDescribed } from "./owned.js"
import { sessions } from "./sessions.js"
import { fromHead, fromStored, toHeader, toRecord, toStartOfHead, toStored } from "./stored.js"
import * as Summaries from "./summaries.js"
import * as Unfinished from "./unfinished.js"

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

/** How many records one request reads. */
const pageSize = 256

/** How often a deletion looks again at a session that others delete and start again meanwhile. */
const mostLooks = 100

/**
 * An event log in Redis. It connects at once, and disconnects when the scope closes.
 *
 * @param options - where the servers are, and what is required of them
 * @returns the log. It fails with a `LogError` that says why if no server answers within `retryFor`, the user may not use
 * it, or its settings guarantee less than `require`
 *
 * @example
 * ```ts
 * import { make } from "@memfold/store-redis"
 * import { Effect } from "effect"
 *
 * export const program = Effect.scoped(
 *   Effect.flatMap(make({ url: "redis://localhost:6379" }), (log) => log.version("chat-1")),
 * )
 * ```
 */
export const make = (options: Options): Effect.Effect<RedisEventLog, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const target = yield* targetOf(options)
    const connection = yield* open(target, options)
    const keysOf = keysUnder(target.prefix)
    const durability = yield* look(connection, target, options.waitReplicas)
    const changes = yield* listen(connection, target)
    const scripts = Scripts.make(target.mode === "cluster" ? "SPUBLISH" : "PUBLISH")
    const finishRewrites = yield* Unfinished.make(connection, target.prefix, scripts.finished)
    const replicas =
      options.waitReplicas === undefined
        ? undefined
        : { count: options.waitReplicas.count, millis: Duration.toMillis(options.waitReplicas.timeout) }

    const failure = (operation: string, session: string, reason: string) =>
      new EventLog.LogError({ operation, session, reason })

    /** The result of an append, from the answer of its script. */
    const toAppended = (
      operation: string,
      session: string,
      count: number,
      { expectedVersion }: EventLog.AppendOptions,
      answer: unknown,
      reached: number,
    ): Effect.Effect<EventLog.AppendResult, EventLog.VersionConflict | EventLog.LogError> => {
      // The most frequent answer is the shortest.
      const [outcome, first, second, third] = answer === 1 ? ["appended"] : (answer as ReadonlyArray<string>)
      const acknowledged = third === "full" ? 0 : reached
      switch (outcome) {
        case "appended":
        case "duplicate":
          return replicas !== undefined && acknowledged < replicas.count
            ? failure(
                operation,
                session,
                `the master has it, but only ${acknowledged} of ${replicas.count} replicas had it within ${replicas.millis} ms; do it again with the same batch id, and check the replicas`,
              )
            : Effect.succeed(
                outcome === "appended"
                  ? { fromVersion: expectedVersion + 1, version: expectedVersion + count, duplicate: false }
                  : { fromVersion: Number(first), version: Number(second), duplicate: true },
              )
        case "conflict":
          return new EventLog.VersionConflict({ session, expectedVersion, actualVersion: Number(first) })
        case "two active":
          return failure(
            operation,
            session,
            `the change would leave two active summaries, of versions ${first} and ${second}; nothing was written`,
          )
        case "two of one id":
          return failure(
            operation,
            session,
            `the change would leave two summaries with one id, of versions ${first} and ${second}; nothing was written`,
          )
        default:
          return failure(
            operation,
            session,
            `its keys do not belong together: ${first} records at version ${second}; another program has changed them, so restore them from a backup`,
          )
      }
    }

    const write = (
      operation: "append" | "rewrite",
      session: string,
      rewritten: ReadonlyArray<EventLog.RewrittenRecord>,
      records: ReadonlyArray<EventLog.NewRecord>,
      options: EventLog.AppendOptions,
    ) => {
      const { expectedVersion, lastBatchId, batchId, retried, summaries, description: given } = options
      const { log, meta, sessions, summaries: rows, snapshot, draft, unfinished } = keysOf(session)
      const rewrites = rewritten.length > 0
      const more =
        summaries === undefined && given === undefined && !rewrites
          ? []
          : [
              ...toDescribed(given),
              summaries === undefined && !rewrites ? "" : "1",
              rewrites || summaries?.replace === true ? "1" : "",
              String(summaries?.rows.length ?? 0),
              ...(summaries?.rows ?? []).flatMap((row) => [
                String(row.version),
                row.status,
                JSON.stringify(row.id),
                JSON.stringify(row),
              ]),
              ...rewritten.flatMap(({ version, schemaVersion, checksum, data }) => [
                String(version),
                `${schemaVersion} ${checksum ?? "-"}`,
                toStored(data),
              ]),
            ]
      const keys =
        more.length > 0
          ? [log, meta, sessions, rows]
          : expectedVersion === 0
            ? [log, meta, sessions]
            : [log, meta]
      const args = [
        toStored(batchId),
        String(expectedVersion),
        toStartOfHead(expectedVersion, lastBatchId),
        `${toStartOfHead(expectedVersion + records.length, batchId)}${records.at(-1)?.time}`,
        `${retried === "in-place" ? "-" : ""}${6 + more.length}`,
        ...more,
      ]
      for (const record of records) args.push(toHeader(record), toStored(record.data))
      const about = { operation, session }
      const all = rewrites ? [...keys, snapshot, draft, unfinished] : keys
      const toResult = (answer: unknown, reached: number) =>
        toAppended(operation, session, records.length, options, answer, reached)
      return replicas === undefined
        ? Effect.flatMap(connection.run(about, scripts.append, all, args), (answer) => toResult(answer, 0))
        : Effect.flatMap(
            connection.runAndWait(about, scripts.append, all, args, replicas),
            ([answer, reached]) => toResult(answer, reached),
          )
    }

    const readPage = (session: string, { fromVersion: from, toVersion: to, reverse }: EventLog.PageRange) => {
      if (from > to) return Effect.succeed([])
      const { log } = keysOf(session)
      const first = from === 1 ? "-" : `${from}-0`
      const last = to === Number.MAX_SAFE_INTEGER ? "+" : `${to}-0`
      return connection
        .ask({ operation: "read", session }, (client) =>
          reverse
            ? client.xrevrange(log, last, first, "COUNT", pageSize)
            : client.xrange(log, first, last, "COUNT", pageSize),
        )
        .pipe(Effect.map((entries) => entries.map((entry) => toRecord(session, entry))))
    }

    const log: RedisEventLog = {
      durability,
      changes,
      append: (session, records, options) => write("append", session, [], records, options),
      rewrite: (session, rewritten, records, options) =>
        write("rewrite", session, rewritten, records, options),
      finishRewrites,
      read: (session, readOptions) =>
        EventLog.readInPages(readOptions, pageSize, (range) => readPage(session, range)),
      head: (session) =>
        connection
          .ask({ operation: "head", session }, (client) => client.hget(keysOf(session).meta, "head"))
          .pipe(
            Effect.map((head) => {
              if (head === null) return null
              const { version, batchId } = fromHead(head)
              return { version, batchId }
            }),
          ),
      version: (session) =>
        connection
          .ask({ operation: "version", session }, (client) => client.hget(keysOf(session).meta, "head"))
          .pipe(Effect.map((head) => (head === null ? 0 : fromHead(head).version))),
      saveSnapshot: (session, { foldVersion, version, batchId, data }) => {
        const { meta, snapshot } = keysOf(session)
        return connection
          .run(
            { operation: "saveSnapshot", session },
            scripts.saveSnapshot,
            [meta, snapshot],
            [String(foldVersion), String(version), toStored(batchId), toStored(data)],
          )
          .pipe(Effect.asVoid)
      },
      loadSnapshot: (session) =>
        connection
          .ask({ operation: "loadSnapshot", session }, (client) => client.hgetall(keysOf(session).snapshot))
          .pipe(
            Effect.map(({ foldVersion, version, batch, data }) =>
              foldVersion === undefined || batch === undefined || data === undefined
                ? Option.none()
                : Option.some({
                    foldVersion: Number(foldVersion),
                    version: Number(version),
                    batchId: fromStored(batch),
                    data: fromStored(data),
                  }),
            ),
          ),
      summaries: (session, summariesOptions) =>
        Summaries.read(connection, keysOf(session), session, summariesOptions),
      replaceSummaries: (session, rows, at) =>
        Summaries.replaceAll(connection, keysOf(session), session, rows, at),
      owned: owned(connection, target.prefix),
      description: (session) => description(connection, keysOf(session), session),
      replaceDescription: (session, given, at) =>
        replaceDescription(connection, keysOf(session), session, given, at),
      sessions: sessions(connection, target.prefix),
      delete: (session) => {
        const { log, meta, sessions, snapshot, summaries } = keysOf(session)
        const about = { operation: "delete", session }
        const restarted = failure("delete", session, "others start it again all the time; try again")
        return connection
          .ask(about, (client) => client.hget(meta, "head"))
          .pipe(
            Effect.flatMap((head) =>
              connection.run(
                about,
                scripts.remove,
                [log, meta, sessions, snapshot, summaries],
                [toStored(session), head ?? ""],
              ),
            ),
            Effect.filterOrFail(
              (removed) => removed !== -1,
              () => restarted,
            ),
            Effect.retry({ times: mostLooks, while: (error) => error === restarted }),
            Effect.map((removed) => removed === 1),
          )
      },
    }
    return log
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
 * import { Layer } from "effect"
 *
 * export const live = Memory.layer({ strategy: SlidingWindow() }).pipe(
 *   Layer.provide(RedisEventLog.layer({ url: "redis://localhost:6379", require: "everysec" })),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<EventLog.EventLog | RedisStore, EventLog.LogError> =>
  Layer.scopedContext(
    Effect.map(make(options), (log) =>
      Context.make(EventLog.EventLog, log as EventLog.Service).pipe(Context.add(RedisStore, log)),
    ),
  )
