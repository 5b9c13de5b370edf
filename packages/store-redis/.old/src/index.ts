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
import { keysUnder } from "./keys.js"
import { type Options, targetOf } from "./Options.js"
import * as Scripts from "./scripts.js"
import { sessions } from "./sessions.js"
import { fromStored, toHead, toHeader, toRecord, toStored } from "./stored.js"
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

/** So often a request is worked out anew when others write to the session meanwhile. */
const mostPreparations = 100

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
    const keysOf = keysUnder(target.prefix)
    const durability = yield* look(connection, target, options.waitReplicas)
    const changes = yield* listen(connection, target)
    // In a cluster a message stays on the servers that have the session; others need not hear of it.
    const scripts = Scripts.make(target.mode === "cluster" ? "SPUBLISH" : "PUBLISH")
    const replicas =
      options.waitReplicas === undefined
        ? undefined
        : { count: options.waitReplicas.count, millis: Duration.toMillis(options.waitReplicas.timeout) }

    const failure = (operation: string, session: string, reason: string) =>
      new EventLog.LogError({ operation, session, reason })

    /** What the server knows of a session's summaries; `null` of one that has not the expected version. */
    const stored = (operation: string, session: string, expected: number) => {
      const { meta, summary } = keysOf(session)
      // Whatever is written between the two is noticed by the script.
      return connection
        .ask({ operation, session }, (client) =>
          Promise.all([client.hmget(meta, "head", "running", "pruning"), client.hgetall(summary)]),
        )
        .pipe(
          Effect.map(([[head, running, pruning], summary]): Summaries.Stored | null => {
            const { version, commit, messages } = toHead(head ?? "")
            return version !== expected
              ? null
              : { commit, running: running ?? "", pruning: pruning === "1", messages, summary }
          }),
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

    /** What a script said of a batch, in the words of the port. */
    const told = (
      operation: string,
      session: string,
      count: number,
      { expected }: EventLog.AppendOptions,
      [answer, reached]: readonly [answer: unknown, replicas: number],
    ): Effect.Effect<EventLog.Appended, EventLog.VersionConflict | EventLog.LogError> => {
      // The most frequent answer is the shortest.
      const [said, first, second, third] = answer === 1 ? ["appended"] : (answer as ReadonlyArray<string>)
      const had = third === "full" ? 0 : reached
      switch (said) {
        case "appended":
        case "duplicate":
          return replicas !== undefined && had < replicas.count
            ? failure(
                operation,
                session,
                `the master has it, but only ${had} of ${replicas.count} replicas had it within ${replicas.millis} ms; do it again with the same commit id, and look after the replicas`,
              )
            : Effect.succeed(
                said === "appended"
                  ? { from: expected + 1, version: expected + count, duplicate: false }
                  : { from: Number(first), version: Number(second), duplicate: true },
              )
        case "conflict":
          return new EventLog.VersionConflict({ session, expected, actual: Number(first) })
        case "second":
          return failure(
            operation,
            session,
            `the batch would make a second summary active beside "${fromStored(first ?? "")}"; supersede or invalidate that one in the same batch`,
          )
        case "unprepared":
          return failure(operation, session, "others write to it all the time; try again")
        default:
          return failure(
            operation,
            session,
            `its keys do not belong together: ${first} records at version ${second}; somebody else has changed them, so restore them from a backup`,
          )
      }
    }

    /** What the scripts are told of every batch. */
    const batch = (
      messages: number,
      { expected, after, commit }: EventLog.AppendOptions,
    ): ReadonlyArray<string> => [
      toStored(commit),
      String(expected),
      after === undefined ? "" : `=${toStored(after)}`,
      String(messages),
    ]

    /** The records of a batch. */
    const entries = (records: ReadonlyArray<EventLog.NewRecord>): ReadonlyArray<string> =>
      records.flatMap((record) => [toHeader(record), toStored(record.data)])

    /** A batch that has to do with summaries, or with what was written before. */
    const write = (
      operation: "append" | "rewrite",
      session: string,
      rewritten: ReadonlyArray<EventLog.Rewritten>,
      records: ReadonlyArray<EventLog.NewRecord>,
      options: EventLog.AppendOptions,
    ) => {
      const { log, meta, sessions, snapshot, summary, draft } = keysOf(session)
      return Effect.gen(function* () {
        for (let left = mostPreparations; ; left--) {
          const prepared = yield* prepare(operation, session, rewritten, records, options)
          const { list, messages, projection } = prepared?.changes ?? Summaries.nothing
          const answer = yield* connection.run(
            { operation, session },
            scripts.write,
            [log, meta, sessions, snapshot, summary, draft],
            [
              ...batch(messages, options),
              prepared === null ? "" : `=${prepared.on}`,
              JSON.stringify(list),
              projection === null ? "" : JSON.stringify(projection),
              String(rewritten.length),
              ...rewritten.flatMap(({ seq, checksum, data }) => [
                String(seq),
                String(checksum ?? "-"),
                toStored(data),
              ]),
              ...entries(records),
            ],
            replicas,
          )
          if (left > 0 && Array.isArray(answer[0]) && answer[0][0] === "unprepared") continue
          return yield* told(operation, session, records.length, options, answer)
        }
      })
    }

    const append: EventLog.Service["append"] = (session, records, options) => {
      if (Summaries.concern(records)) return write("append", session, [], records, options)
      const { log, meta, sessions } = keysOf(session)
      return Effect.flatMap(
        connection.run(
          { operation: "append", session },
          scripts.append,
          // A session is put on the list with its first batch.
          options.expected === 0 ? [log, meta, sessions] : [log, meta],
          [...batch(Summaries.messagesOf(records), options), ...entries(records)],
          replicas,
        ),
        (answer) => told("append", session, records.length, options, answer),
      )
    }

    const page = (session: string, from: number, to: number, reverse: boolean) => {
      const { log } = keysOf(session)
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
      append,
      rewrite: (session, rewritten, records, options) =>
        write("rewrite", session, rewritten, records, options).pipe(
          Effect.zipLeft(
            rewritten.length === 0 ? Effect.void : forget(connection, session, keysOf(session).log),
          ),
        ),
      read,
      version: (session) =>
        connection
          .ask({ operation: "version", session }, (client) => client.hget(keysOf(session).meta, "head"))
          .pipe(Effect.map((head) => toHead(head ?? "").version)),
      saveSnapshot: (session, { fold, version, commit, data }) => {
        const { meta, snapshot } = keysOf(session)
        return connection
          .run(
            { operation: "saveSnapshot", session },
            scripts.saveSnapshot,
            [meta, snapshot],
            [String(fold), String(version), toStored(commit), toStored(data)],
          )
          .pipe(Effect.asVoid)
      },
      loadSnapshot: (session) =>
        connection
          .ask({ operation: "loadSnapshot", session }, (client) => client.hgetall(keysOf(session).snapshot))
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
        const { log, meta, sessions, snapshot, summary } = keysOf(session)
        const about = { operation: "delete", session }
        return Effect.gen(function* () {
          for (let left = mostPreparations; ; left--) {
            const head = yield* connection.ask(about, (client) => client.hget(meta, "head"))
            const [removed] = yield* connection.run(
              about,
              scripts.remove,
              [log, meta, sessions, snapshot, summary],
              [toStored(session), head ?? "", head === null ? "" : toHead(head).commit],
            )
            if (removed !== -1) return removed === 1
            if (left === 0) {
              return yield* failure("delete", session, "others begin it anew all the time; try again")
            }
          }
        })
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
