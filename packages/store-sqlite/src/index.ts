/**
 * `@memfold/store-sqlite`: the event log in a SQLite file. Durable at every acknowledgement, and safe for many
 * processes on one file by compare-and-swap.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import type { Scope } from "effect"
import type { Options } from "./Database.js"
import { open } from "./Database.js"
import { commitHash } from "./commitHash.js"
import { integer, recordOf, type Run, text } from "./Row.js"
import * as Summaries from "./summaries.js"

export type { Options } from "./Database.js"
export * from "./maintenance.js"

/** How many records one read takes from the file at a time. */
const pageSize = 512

/** Says in a store's error which session it was about; other errors say so themselves. */
const named =
  (session: string) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.mapError(effect, (error) =>
      error instanceof EventLog.LogError ? Object.assign(error, { session }) : error,
    )

type Records = Parameters<EventLog.Service["append"]>[1]

/**
 * What nearly every append comes to: messages, to a session that is as it was expected, by a commit that is new. It
 * takes one statement to find out and to say so; `null` when it is anything else, and nothing has been written then.
 */
const advanced = (
  run: Run,
  session: string,
  records: Records,
  { expected, after, commit }: EventLog.AppendOptions,
  hash: number,
): Effect.Effect<number | null, SqlError> =>
  run(
    `UPDATE sessions SET version = version + ?, updated_at = ?, messages = messages + ?, projected = projected + ?
     WHERE name = ? AND version = ? AND projected = version
       AND (? IS NULL OR ? = (
         SELECT commit_id FROM events WHERE session = sessions.id AND seq = sessions.version))
       AND NOT EXISTS (
         SELECT 1 FROM events INDEXED BY events_by_commit
         WHERE session = sessions.id AND commit_hash = ? AND commit_id = ?)
     RETURNING id`,
    [
      records.length,
      records[records.length - 1]?.at ?? 0,
      records.length,
      records.length,
      session,
      expected,
      after ?? null,
      after ?? null,
      hash,
      commit,
    ],
  ).pipe(Effect.map(([row]) => (row === undefined ? null : integer(row, "id"))))

/**
 * The same for one message: a single statement that is its own transaction, since the row in `sessions` follows by
 * itself. `null` when there is more to it.
 */
const single = (
  run: Run,
  session: string,
  { at, version, data, checksum }: EventLog.NewRecord,
  { expected, after, commit }: EventLog.AppendOptions,
  hash: number,
): Effect.Effect<EventLog.Appended | null, SqlError> =>
  run(
    `INSERT INTO events (session, seq, commit_id, commit_hash, at, version, data, checksum)
     SELECT id, version + 1, ?, ?, ?, ?, ?, ? FROM sessions
     WHERE name = ? AND version = ? AND projected = version
       AND (? IS NULL OR ? = (
         SELECT commit_id FROM events WHERE session = sessions.id AND seq = sessions.version))
       AND NOT EXISTS (
         SELECT 1 FROM events INDEXED BY events_by_commit
         WHERE session = sessions.id AND commit_hash = ? AND commit_id = ?)
     RETURNING seq`,
    [
      commit,
      hash,
      at,
      version,
      data,
      checksum ?? null,
      session,
      expected,
      after ?? null,
      after ?? null,
      hash,
      commit,
    ],
  ).pipe(
    Effect.map(([row]) =>
      row === undefined ? null : { from: expected + 1, version: expected + 1, duplicate: false },
    ),
  )

/** Puts the records of a batch behind the first `version` ones. */
const insert = (
  run: Run,
  session: number,
  version: number,
  records: Records,
  commit: string,
  hash: number,
): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    records,
    (record, position) =>
      run(
        `INSERT INTO events (session, seq, commit_id, commit_hash, at, other_type, version, data, checksum)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          session,
          version + 1 + position,
          commit,
          position === 0 ? hash : null,
          record.at,
          record.type === Summaries.messageType ? null : record.type,
          record.version,
          record.data,
          record.checksum ?? null,
        ],
      ),
    { discard: true },
  )

/**
 * An event log over a file. It is opened at once and closed with the scope.
 *
 * Fails with a `LogError` that says why, if the file is locked, read-only, damaged, another program's, or of a
 * newer memfold; nothing is changed in it then.
 */
export const make = (options: Options): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const database = yield* open(options)

    const write = (
      operation: "append" | "rewrite",
      session: string,
      rewritten: ReadonlyArray<EventLog.Rewritten>,
      records: Records,
      { expected, after, commit }: EventLog.AppendOptions,
    ) => {
      const hash = commitHash(commit)
      const messages = rewritten.length === 0 && records.every(Summaries.isMessage)
      return database
        .write<EventLog.Appended, EventLog.VersionConflict>(
          operation,
          (run) => {
            const general = Effect.gen(function* () {
              const [known] = yield* run(
                `SELECT id, version, running, pruning, messages, projected,
                 (SELECT commit_id FROM events WHERE session = sessions.id AND seq = sessions.version) AS tip,
                 (SELECT seq FROM events INDEXED BY events_by_commit
                  WHERE session = sessions.id AND commit_hash = ? AND commit_id = ?) AS before
               FROM sessions WHERE name = ?`,
                [hash, commit, session],
              )
              const actual = known === undefined ? 0 : integer(known, "version")
              if (known !== undefined && known["before"] !== null) {
                const from = integer(known, "before")
                // A batch stands together: it ends before the next one.
                const [next] = yield* run(
                  "SELECT seq FROM events WHERE session = ? AND seq > ? AND commit_id <> ? ORDER BY seq LIMIT 1",
                  [known["id"], from, commit],
                )
                return {
                  from,
                  version: next === undefined ? actual : integer(next, "seq") - 1,
                  duplicate: true,
                }
              }
              const replaced = after !== undefined && known?.["tip"] !== after
              if (actual !== expected || replaced) {
                return yield* new EventLog.VersionConflict({ session, expected, actual })
              }
              const version = actual + records.length
              const at = records[records.length - 1]?.at ?? 0
              const { progress, changes } = Summaries.follow(
                known === undefined ? Summaries.start : Summaries.progressOf(known),
                records,
                { session, version: actual, commit },
              )
              const columns = Summaries.columnsOf(progress)
              const id =
                known === undefined
                  ? integer(
                      (yield* run(
                        `INSERT INTO sessions
                         (name, version, created_at, updated_at, running, pruning, messages, projected)
                       VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
                        [session, version, records[0].at, at, ...columns, version],
                      ))[0] ?? {},
                      "id",
                    )
                  : integer(known, "id")
              if (known !== undefined) {
                yield* run(
                  `UPDATE sessions SET
                   version = ?, updated_at = ?, running = ?, pruning = ?, messages = ?, projected = ?
                 WHERE id = ?`,
                  [version, at, ...columns, version, id],
                )
              }
              yield* insert(run, id, actual, records, commit, hash)
              const owner = { id, name: session }
              yield* Effect.forEach(
                rewritten,
                ({ seq, data, checksum }) =>
                  run("UPDATE events SET data = ?, checksum = ? WHERE session = ? AND seq = ?", [
                    data,
                    checksum ?? null,
                    owner.id,
                    seq,
                  ]),
                { discard: true },
              )
              if (rewritten.length > 0) yield* run("DELETE FROM snapshots WHERE session = ?", [owner.id])
              const following =
                rewritten.length === 0 && (known === undefined || integer(known, "projected") === actual)
              if (!following || !(yield* Summaries.apply(run, owner, changes))) {
                yield* Summaries.rebuild(run, owner)
              }
              return { from: actual + 1, version, duplicate: false }
            })
            if (!messages || records.length === 1) return general
            return Effect.flatMap(
              advanced(run, session, records, { expected, after, commit }, hash),
              (id): Effect.Effect<EventLog.Appended, EventLog.VersionConflict | SqlError> =>
                id === null
                  ? general
                  : Effect.as(insert(run, id, expected, records, commit, hash), {
                      from: expected + 1,
                      version: expected + records.length,
                      duplicate: false,
                    }),
            )
          },
          messages && records.length === 1
            ? (run) => single(run, session, records[0], { expected, after, commit }, hash)
            : undefined,
        )
        .pipe(named(session))
    }

    const append: EventLog.Service["append"] = (session, records, options) =>
      write("append", session, [], records, options)

    // What is overwritten must not stay in the write-ahead log either; as long as somebody reads from it, it does.
    const truncated = (session: string) =>
      database.query("rewrite", "PRAGMA wal_checkpoint(TRUNCATE)", []).pipe(
        Effect.filterOrFail(
          ([row]) => row === undefined || integer(row, "busy") === 0,
          () =>
            new EventLog.LogError({
              operation: "rewrite",
              session,
              reason:
                "it is rewritten, but another process still reads the old words in the write-ahead log; do it again when that one is done",
            }),
        ),
      )

    const rewrite: EventLog.Service["rewrite"] = (session, rewritten, records, options) =>
      write("rewrite", session, rewritten, records, options).pipe(
        Effect.zipLeft(truncated(session)),
        named(session),
      )

    const page = (session: string, from: number, to: number, reverse: boolean) =>
      database
        .query(
          "read",
          `SELECT seq, commit_id, at, type, events.version AS version, data,
             ${database.schema < 2 ? "NULL AS checksum" : "checksum"}
           FROM events JOIN sessions ON sessions.id = events.session
           WHERE sessions.name = ? AND seq BETWEEN ? AND ?
           ORDER BY seq ${reverse ? "DESC" : "ASC"} LIMIT ${pageSize}`,
          [session, from, to],
        )
        .pipe(
          Effect.map((rows) => rows.map((row) => recordOf(session, row))),
          named(session),
        )

    const read: EventLog.Service["read"] = (
      session,
      { from = 1, to = Number.MAX_SAFE_INTEGER, reverse = false } = {},
    ) =>
      Stream.paginateChunkEffect({ from, to }, (range) =>
        page(session, range.from, range.to, reverse).pipe(
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

    const sessions: EventLog.Service["sessions"] = Stream.paginateChunkEffect("", (after) =>
      database
        .query(
          "sessions",
          `SELECT name, version, created_at, updated_at FROM sessions WHERE name > ? ORDER BY name LIMIT ${pageSize}`,
          [after],
        )
        .pipe(
          Effect.map((rows) => {
            const list = rows.map((row): EventLog.SessionInfo => ({
              session: text(row, "name"),
              version: integer(row, "version"),
              createdAt: integer(row, "created_at"),
              updatedAt: integer(row, "updated_at"),
            }))
            const last = list.at(-1)
            const next =
              last === undefined || list.length < pageSize ? Option.none() : Option.some(last.session)
            return [Chunk.unsafeFromArray(list), next] as const
          }),
        ),
    )

    const service: EventLog.Service = {
      append,
      rewrite,
      read,
      sessions,
      version: (session) =>
        database.query("version", "SELECT version FROM sessions WHERE name = ?", [session]).pipe(
          Effect.map(([row]) => (row === undefined ? 0 : integer(row, "version"))),
          named(session),
        ),
      saveSnapshot: (session, { fold, version, commit, data }) =>
        database
          .write("saveSnapshot", (run) =>
            run(
              `INSERT OR REPLACE INTO snapshots (session, fold, version, commit_id, data)
               SELECT sessions.id, ?, ?, ?, ? FROM sessions JOIN events ON events.session = sessions.id
               WHERE sessions.name = ? AND sessions.version = ? AND events.seq = ? AND events.commit_id = ?`,
              [fold, version, commit, data, session, version, version, commit],
            ),
          )
          .pipe(Effect.asVoid, named(session)),
      loadSnapshot: (session) =>
        database.schema < 2
          ? Effect.succeed(Option.none())
          : database
              .query(
                "loadSnapshot",
                `SELECT fold, snapshots.version AS version, commit_id, data
                 FROM snapshots JOIN sessions ON sessions.id = snapshots.session WHERE sessions.name = ?`,
                [session],
              )
              .pipe(
                Effect.map(([row]) =>
                  row === undefined
                    ? Option.none()
                    : Option.some({
                        fold: integer(row, "fold"),
                        version: integer(row, "version"),
                        commit: text(row, "commit_id"),
                        data: text(row, "data"),
                      }),
                ),
                named(session),
              ),
      delete: (session) =>
        database
          .write("delete", (run) => run("DELETE FROM sessions WHERE name = ? RETURNING id", [session]))
          .pipe(
            Effect.map((rows) => rows.length > 0),
            named(session),
          ),
    }
    return service
  })

/**
 * Provides the event log of a file.
 *
 * @example
 * ```ts
 * import { Memory } from "@memfold/core"
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { SlidingWindow } from "@memfold/strategy-sliding-window"
 * import { Layer } from "effect"
 *
 * export const live = Memory.layer({ strategy: SlidingWindow() }).pipe(
 *   Layer.provide(SqliteEventLog.layer({ filename: "chats.db" })),
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<EventLog.EventLog, EventLog.LogError> =>
  Layer.scoped(EventLog.EventLog, make(options))
