/**
 * `@memfold/store-redis`: the event log in Redis. One server, a master behind sentinels, or a cluster, shared by any
 * number of processes on any number of machines.
 */
import { EventLog } from "@memfold/core"
import { Chunk, Context, Duration, Effect, Layer, Option, type Scope, Stream } from "effect"
import type { Changes } from "./changes.js"
import { listen } from "./changes.js"
import { open } from "./Connection.js"
import type { Durability } from "./durability.js"
import { look } from "./durability.js"
import { forget } from "./forget.js"
import { fromStored, keysOf, toStored } from "./keys.js"
import { type Options, targetOf } from "./Options.js"
import * as Scripts from "./scripts.js"
import { sessions } from "./sessions.js"
import * as Summaries from "./summaries.js"

export type { Changes } from "./changes.js"
export type { Durability } from "./durability.js"
export { keysOf, type SessionKeys } from "./keys.js"
export type { Address, Level, Options, Sentinel, WaitReplicas } from "./Options.js"

/** The event log in Redis, and what it can do beyond the port. */
export interface RedisEventLog extends EventLog.Service {
  /** What an acknowledgement meant by the servers' settings when the log was opened. */
  readonly durability: Durability
  /**
   * Tells at once that a session was written to, by whatever process, and once when it begins to listen. Several
   * writes may be told as one.
   */
  readonly changes: Changes
}

/** The event log in Redis, for those who need to know that it is one. */
export class RedisStore extends Context.Tag("@memfold/store-redis/RedisStore")<RedisStore, RedisEventLog>() {}

/** How many records one read takes from the server at a time. */
const pageSize = 256

/** So often a batch is worked out anew when others write to the session meanwhile. */
const mostPreparations = 100

const toRecord = (
  session: string,
  [id, fields]: readonly [string, ReadonlyArray<string>],
): EventLog.LogRecord => {
  const found: Record<string, string> = {}
  for (let at = 0; at < fields.length; at += 2) found[fields[at] ?? ""] = fields[at + 1] ?? ""
  const { t = "", v, a, c = "", k, d = "" } = found
  return {
    session,
    seq: Number.parseInt(id, 10),
    commit: fromStored(c),
    at: Number(a),
    type: fromStored(t),
    version: Number(v),
    data: fromStored(d),
    ...(k === undefined ? {} : { checksum: Number(k) }),
  }
}

/**
 * An event log in Redis. It is connected at once, and disconnected with the scope.
 *
 * Fails with a `LogError` that says why, if no server answers within `retryFor`, the user may not use it, or its
 * settings guarantee less than `require`.
 */
export const make = (options: Options): Effect.Effect<RedisEventLog, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const target = yield* targetOf(options)
    const connection = yield* open(target, options)
    const durability = yield* look(connection, target, options.waitReplicas)
    const changes = yield* listen(connection, target)
    // In a cluster a message stays on the servers that have the session; others need not hear of it.
    const publish = target.mode === "cluster" ? "SPUBLISH" : "PUBLISH"
    const replicas =
      options.waitReplicas === undefined
        ? undefined
        : { count: options.waitReplicas.count, millis: Duration.toMillis(options.waitReplicas.timeout) }

    const failure = (operation: string, session: string, reason: string) =>
      new EventLog.LogError({ operation, session, reason })

    /** What the server knows of a session's summaries; `null` of one that has not the expected version. */
    const stored = (operation: string, session: string, expected: number) => {
      const { meta, summary } = keysOf(target.prefix, session)
      // Whatever is written between the two is noticed by the script.
      return connection
        .ask({ operation, session }, (client) => Promise.all([client.hgetall(meta), client.hgetall(summary)]))
        .pipe(
          Effect.map(([meta, summary]): Summaries.Stored | null =>
            Number(meta["version"] ?? 0) !== expected
              ? null
              : {
                  commit: meta["commit"] ?? "",
                  running: meta["running"] ?? "",
                  pruning: meta["pruning"] === "1",
                  messages: Number(meta["messages"] ?? 0),
                  summary,
                },
          ),
        )
    }

    /** What a batch does to the summaries, and the commit of the log that this was worked out on. */
    const prepare = (
      operation: string,
      session: string,
      rewritten: ReadonlyArray<EventLog.Rewritten>,
      records: ReadonlyArray<EventLog.NewRecord>,
      { expected, commit }: EventLog.AppendOptions,
    ) =>
      Effect.gen(function* () {
        const now = yield* stored(operation, session, expected)
        if (now === null) return null
        const following =
          rewritten.length === 0
            ? Summaries.follow(now, records, { session, version: expected, commit })
            : null
        if (following !== null) return { changes: following, on: now.commit }
        const others = new Map(rewritten.map((one) => [one.seq, one]))
        const added = records.map((record, at) => ({ ...record, session, commit, seq: expected + 1 + at }))
        const before = read(session, { to: expected }).pipe(
          Stream.map(({ checksum: _checksum, ...record }): EventLog.LogRecord => {
            const other = others.get(record.seq)
            if (other === undefined)
              return _checksum === undefined ? record : { ...record, checksum: _checksum }
            const { seq: _seq, ...change } = other
            return { ...record, ...change }
          }),
        )
        const changes = yield* Summaries.rebuild(Stream.concat(before, Stream.fromIterable(added)))
        return { changes, on: now.commit }
      })

    const write = (
      operation: "append" | "rewrite",
      session: string,
      rewritten: ReadonlyArray<EventLog.Rewritten>,
      records: Parameters<EventLog.Service["append"]>[1],
      options: EventLog.AppendOptions,
    ): Effect.Effect<EventLog.Appended, EventLog.VersionConflict | EventLog.LogError> => {
      const { expected, after, commit } = options
      const keys = keysOf(target.prefix, session)
      const concerns = rewritten.length > 0 || Summaries.concern(records)
      const attempt = (
        left: number,
      ): Effect.Effect<EventLog.Appended, EventLog.VersionConflict | EventLog.LogError> =>
        Effect.gen(function* () {
          const prepared = concerns ? yield* prepare(operation, session, rewritten, records, options) : null
          const messages = prepared?.changes.messages ?? Summaries.messagesOf(records)
          const [answer, reached] = yield* connection.run(
            { operation, session },
            Scripts.write,
            [keys.log, keys.meta, keys.commits, keys.sessions, keys.snapshot, keys.summary, keys.draft],
            [
              toStored(session),
              toStored(commit),
              String(expected),
              after === undefined ? "" : `=${toStored(after)}`,
              String(records.length),
              String(messages),
              String(rewritten.length),
              concerns ? JSON.stringify(prepared?.changes.list ?? []) : "",
              prepared === null ? "" : `=${prepared.on}`,
              prepared?.changes.projection == null ? "" : JSON.stringify(prepared.changes.projection),
              publish,
              replicas === undefined ? "0" : "1",
              ...rewritten.flatMap(({ seq, checksum, data }) => [
                String(seq),
                checksum === undefined ? "" : String(checksum),
                toStored(data),
              ]),
              ...records.flatMap(({ at, type, version, checksum, data }) => [
                String(at),
                toStored(type),
                String(version),
                checksum === undefined ? "" : String(checksum),
                toStored(data),
              ]),
            ],
            replicas,
          )
          const [said, first, second] = answer as ReadonlyArray<string>
          switch (said) {
            case "appended":
            case "duplicate":
              if (replicas !== undefined && reached < replicas.count) {
                return yield* failure(
                  operation,
                  session,
                  `the master has it, but only ${reached} of ${replicas.count} replicas had it within ${replicas.millis} ms; do it again with the same commit id, and look after the replicas`,
                )
              }
              return { from: Number(first), version: Number(second), duplicate: said === "duplicate" }
            case "conflict":
              return yield* new EventLog.VersionConflict({ session, expected, actual: Number(first) })
            case "second":
              return yield* failure(
                operation,
                session,
                `the batch would make a second summary active beside "${fromStored(first ?? "")}"; supersede or invalidate that one in the same batch`,
              )
            case "unprepared":
              if (left > 0) return yield* attempt(left - 1)
              return yield* failure(operation, session, "others write to it all the time; try again")
            default:
              return yield* failure(
                operation,
                session,
                `its keys do not belong together: ${first} records at version ${second}; somebody else has changed them, so restore them from a backup`,
              )
          }
        })
      return attempt(mostPreparations)
    }

    const page = (session: string, from: number, to: number, reverse: boolean) => {
      const { log } = keysOf(target.prefix, session)
      const first = from <= 1 ? "-" : `${from}-0`
      const last = to === Number.MAX_SAFE_INTEGER ? "+" : `${to}-0`
      return connection
        .ask({ operation: "read", session }, (client) =>
          reverse
            ? client.xrevrange(log, last, first, "COUNT", pageSize)
            : client.xrange(log, first, last, "COUNT", pageSize),
        )
        .pipe(Effect.map((entries) => entries.map((entry) => toRecord(session, entry))))
    }

    const read: EventLog.Service["read"] = (
      session,
      { from = 1, to = Number.MAX_SAFE_INTEGER, reverse = false } = {},
    ) =>
      Stream.paginateChunkEffect({ from, to }, (range) =>
        (range.to < 1 || range.from > range.to
          ? Effect.succeed([])
          : page(session, range.from, range.to, reverse)
        ).pipe(
          Effect.map((records) => {
            const last = records.at(-1)
            const next =
              last === undefined || records.length < pageSize
                ? Option.none()
                : Option.some(reverse ? { ...range, to: last.seq - 1 } : { ...range, from: last.seq + 1 })
            return [Chunk.unsafeFromArray(records), next] as const
          }),
        ),
      )

    const log: RedisEventLog = {
      durability,
      changes,
      append: (session, records, options) => write("append", session, [], records, options),
      rewrite: (session, rewritten, records, options) =>
        write("rewrite", session, rewritten, records, options).pipe(
          Effect.zipLeft(
            rewritten.length === 0
              ? Effect.void
              : forget(connection, session, keysOf(target.prefix, session).log),
          ),
        ),
      read,
      version: (session) =>
        connection
          .ask({ operation: "version", session }, (client) =>
            client.hget(keysOf(target.prefix, session).meta, "version"),
          )
          .pipe(Effect.map((version) => Number(version ?? 0))),
      saveSnapshot: (session, { fold, version, commit, data }) => {
        const { meta, snapshot } = keysOf(target.prefix, session)
        return connection
          .run(
            { operation: "saveSnapshot", session },
            Scripts.saveSnapshot,
            [meta, snapshot],
            [String(fold), String(version), toStored(commit), toStored(data)],
          )
          .pipe(Effect.asVoid)
      },
      loadSnapshot: (session) =>
        connection
          .ask({ operation: "loadSnapshot", session }, (client) =>
            client.hgetall(keysOf(target.prefix, session).snapshot),
          )
          .pipe(
            Effect.map(({ fold, version, commit, data }) =>
              fold === undefined || commit === undefined || data === undefined
                ? Option.none()
                : Option.some({
                    fold: Number(fold),
                    version: Number(version),
                    commit: fromStored(commit),
                    data: fromStored(data),
                  }),
            ),
          ),
      sessions: sessions(connection, target.prefix),
      delete: (session) => {
        const { log, meta, commits, sessions, snapshot, summary } = keysOf(target.prefix, session)
        return connection
          .run(
            { operation: "delete", session },
            Scripts.remove,
            [log, meta, commits, sessions, snapshot, summary],
            [toStored(session), publish],
          )
          .pipe(Effect.map(([removed]) => removed === 1))
      },
    }
    return log
  })

/**
 * Provides the event log in Redis, as any event log and as the one it is.
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
