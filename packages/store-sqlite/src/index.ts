/**
 * `@memfold/store-sqlite`: the event log in a SQLite file. Appends are durable when they return, and many processes can
 * use one file: a compare-and-swap on a session's version decides which writer wins.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import type { Scope } from "effect"
import { batchHash } from "./batchHash.js"
import type { Options } from "./Database.js"
import { open } from "./Database.js"
import { integer, type Row, type Run, text, textOrNull } from "./Row.js"

export type { Options } from "./Database.js"
export * from "./maintenance.js"

type Records = Parameters<EventLog.Service["append"]>[1]

/** How many rows one query reads. */
const pageSize = 512

/** Adds the session to the errors of the store. */
const named =
  (session: string) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.mapError(effect, (error) =>
      error instanceof EventLog.LogError ? Object.assign(error, { session }) : error,
    )

/** Reads pages of rows, one after the other; `next` gives the place after the last row of a full page. */
const paged = <Place, A>(
  start: Place,
  page: (place: Place) => Effect.Effect<ReadonlyArray<A>, EventLog.LogError>,
  next: (place: Place, last: A) => Place,
): Stream.Stream<A, EventLog.LogError> =>
  Stream.paginateChunkEffect(start, (place) =>
    Effect.map(page(place), (rows) => {
      const last = rows.length < pageSize ? undefined : rows.at(-1)
      const after = last === undefined ? Option.none() : Option.some(next(place, last))
      return [Chunk.unsafeFromArray(rows), after] as const
    }),
  )

/** The record of a row of `events`. */
const recordOf = (session: string, row: Row): EventLog.LogRecord => ({
  session,
  version: integer(row, "version"),
  batchId: text(row, "batch_id"),
  time: integer(row, "time"),
  type: text(row, "type"),
  schemaVersion: integer(row, "schema_version"),
  data: text(row, "data"),
  ...(row["checksum"] === null ? {} : { checksum: integer(row, "checksum") }),
})

/** The summary of a row of `summaries`. */
const summaryOf = (row: Row): EventLog.SummaryRow => ({
  version: integer(row, "version"),
  id: text(row, "summary_id"),
  status: text(row, "status") as EventLog.SummaryStatus,
  supersededBy: textOrNull(row, "superseded_by"),
  coveredTo: integer(row, "compact_up_to_index"),
  total: integer(row, "compacted_at"),
  text: text(row, "summary_text"),
  turnPrefix: textOrNull(row, "split_turn_prefix"),
  tokens: integer(row, "tokens"),
  time: integer(row, "time"),
})

/** Finds a batch of a session by its id. */
const batchOf = `SELECT version FROM events INDEXED BY events_by_batch
  WHERE session = sessions.id AND batch_hash = ? AND batch_id = ?`

/** The number of a type, which is stored if it is new. */
const typeId = (run: Run, type: string): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const [known] = yield* run("SELECT id FROM types WHERE name = ?", [type])
    const [row = {}] =
      known === undefined ? yield* run("INSERT INTO types (name) VALUES (?) RETURNING id", [type]) : [known]
    return integer(row, "id")
  })

/** Where records go: after the first `version` ones of a session. The first one gets the hash of the batch. */
interface Place {
  readonly id: number
  readonly version: number
  readonly batchId: string
  readonly hash: number | null
}

/** Inserts records one after the other. `types` has the numbers of types that are known already. */
const insertRecords = (
  run: Run,
  { id, version, batchId, hash }: Place,
  records: ReadonlyArray<EventLog.NewRecord>,
  types = new Map<string, number>(),
) =>
  Effect.gen(function* () {
    for (const { type } of records) {
      if (!types.has(type)) types.set(type, yield* typeId(run, type))
    }
    yield* Effect.forEach(
      records,
      (record, position) =>
        run(
          `INSERT INTO events (session, version, batch_id, batch_hash, time, type, schema_version, data, checksum)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [
            id,
            version + 1 + position,
            batchId,
            position === 0 ? hash : null,
            record.time,
            types.get(record.type),
            record.schemaVersion,
            record.data,
            record.checksum ?? null,
          ],
        ),
      { discard: true },
    )
  })

/**
 * Appends a batch to a session that is as expected, which is the usual case. Its first statement checks that and inserts
 * the first record; for one record it is all there is, and a transaction by itself. `null` if nothing was written: the
 * session or the type is new, the version is another one, or the batch was appended before.
 */
const appendAsExpected = (
  run: Run,
  session: string,
  [first, ...rest]: Records,
  { expectedVersion, lastBatchId, batchId }: EventLog.AppendOptions,
): Effect.Effect<EventLog.AppendResult | null, SqlError> => {
  const hash = batchHash(batchId)
  const appended = {
    fromVersion: expectedVersion + 1,
    version: expectedVersion + 1 + rest.length,
    duplicate: false,
  }
  return Effect.flatMap(
    run(
      `INSERT INTO events (session, version, batch_id, batch_hash, time, type, schema_version, data, checksum)
       SELECT sessions.id, last.version + 1, ?, ?, ?, types.id, ?, ?, ?
       FROM sessions JOIN events AS last ON last.session = sessions.id JOIN types
       WHERE sessions.name = ? AND last.version = ? AND types.name = ?
         AND last.batch_id = coalesce(?, last.batch_id)
         AND NOT EXISTS (SELECT 1 FROM events WHERE session = sessions.id AND version = last.version + 1)
         AND NOT EXISTS (${batchOf})
       RETURNING session, type`,
      [
        batchId,
        hash,
        first.time,
        first.schemaVersion,
        first.data,
        first.checksum ?? null,
        session,
        expectedVersion,
        first.type,
        lastBatchId ?? null,
        hash,
        batchId,
      ],
    ),
    ([row]) => {
      if (row === undefined) return Effect.succeed(null)
      if (rest.length === 0) return Effect.succeed(appended)
      const place = { id: integer(row, "session"), version: expectedVersion + 1, batchId, hash: null }
      const types = new Map([[first.type, integer(row, "type")]])
      return Effect.as(insertRecords(run, place, rest, types), appended)
    },
  )
}

/** Replaces the data of records; the snapshot and the summary rows, which come from the old data, go. */
const rewriteRecords = (run: Run, id: number, rewritten: ReadonlyArray<EventLog.RewrittenRecord>) =>
  Effect.gen(function* () {
    for (const { version, data, checksum } of rewritten) {
      yield* run("UPDATE events SET data = ?, checksum = ? WHERE session = ? AND version = ?", [
        data,
        checksum ?? null,
        id,
        version,
      ])
    }
    yield* run("DELETE FROM snapshots WHERE session = ?", [id])
    yield* run("DELETE FROM summaries WHERE session = ?", [id])
  })

/** Changes the summary rows of a session. A unique index refuses a second active row. */
const changeSummaries = (
  run: Run,
  { id, name }: { readonly id: number; readonly name: string },
  { replace, rows }: EventLog.SummaryChanges,
) =>
  Effect.gen(function* () {
    if (replace) yield* run("DELETE FROM summaries WHERE session = ?", [id])
    // All are deleted before the first is inserted: in between, two rows of the change could be active.
    for (const { version } of rows) {
      yield* run("DELETE FROM summaries WHERE session = ? AND version = ?", [id, version])
    }
    for (const row of rows) {
      yield* run(
        `INSERT INTO summaries
           (summary_id, thread_id, summary_text, compact_up_to_index, compacted_at, is_split_turn, split_turn_prefix,
            is_active, created_at, status, superseded_by, session, version, time, tokens)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, datetime(CAST(? AS INTEGER) / 1000, 'unixepoch'), ?, ?, ?, ?, ?, ?)`,
        [
          row.id,
          name,
          // Other programs read these columns, and half a surrogate pair is not valid text for them.
          row.text.toWellFormed(),
          row.coveredTo,
          row.total,
          row.turnPrefix === null ? 0 : 1,
          row.turnPrefix?.toWellFormed() ?? null,
          row.status === "active" ? 1 : 0,
          row.time,
          row.status,
          row.supersededBy,
          id,
          row.version,
          row.time,
          row.tokens,
        ],
      )
    }
  })

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
 * const version = Effect.gen(function* () {
 *   const log = yield* SqliteEventLog.make({ filename: ":memory:" })
 *   return yield* log.version("chat-1")
 * })
 * console.log(await Effect.runPromise(Effect.scoped(version)))
 * ```
 */
export const make = (options: Options): Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const database = yield* open(options)

    const write = (
      operation: "append" | "rewrite",
      session: string,
      rewritten: ReadonlyArray<EventLog.RewrittenRecord>,
      records: Records,
      appendOptions: EventLog.AppendOptions,
    ) => {
      const { expectedVersion, lastBatchId, batchId, summaries } = appendOptions
      const hash = batchHash(batchId)
      const general = (run: Run) =>
        Effect.gen(function* () {
          const [known] = yield* run(
            `SELECT sessions.id, last.version, last.batch_id, (${batchOf}) AS applied
             FROM sessions JOIN events AS last ON last.session = sessions.id
             WHERE sessions.name = ? ORDER BY last.version DESC LIMIT 1`,
            [hash, batchId, session],
          )
          const actual = known === undefined ? 0 : integer(known, "version")
          if (known !== undefined && known["applied"] !== null) {
            const fromVersion = integer(known, "applied")
            const [next] = yield* run(
              `SELECT version FROM events WHERE session = ? AND version > ? AND batch_id <> ?
               ORDER BY version LIMIT 1`,
              [known["id"], fromVersion, batchId],
            )
            const version = next === undefined ? actual : integer(next, "version") - 1
            return { fromVersion, version, duplicate: true }
          }
          const anotherLog = lastBatchId !== undefined && known?.["batch_id"] !== lastBatchId
          if (actual !== expectedVersion || anotherLog) {
            return yield* new EventLog.VersionConflict({ session, expectedVersion, actualVersion: actual })
          }
          const [created] =
            known === undefined
              ? yield* run("INSERT INTO sessions (name, created_at) VALUES (?, ?) RETURNING id", [
                  session,
                  records[0].time,
                ])
              : [known]
          const id = integer(created ?? {}, "id")
          yield* insertRecords(run, { id, version: actual, batchId, hash }, records)
          if (rewritten.length > 0) yield* rewriteRecords(run, id, rewritten)
          if (summaries !== undefined) yield* changeSummaries(run, { id, name: session }, summaries)
          return { fromVersion: actual + 1, version: actual + records.length, duplicate: false }
        })
      const asExpected = (run: Run) => appendAsExpected(run, session, records, appendOptions)
      const expectedFirst = (run: Run) =>
        Effect.flatMap(asExpected(run), (done) => (done === null ? general(run) : Effect.succeed(done)))
      const isPlain = rewritten.length === 0 && summaries === undefined
      return database
        .write<EventLog.AppendResult, EventLog.VersionConflict>(
          operation,
          isPlain && records.length > 1 ? expectedFirst : general,
          isPlain && records.length === 1 ? asExpected : undefined,
        )
        .pipe(named(session))
    }

    // The write-ahead log still has the overwritten data, until it is truncated. A reader of it prevents that.
    const truncated = database.query("rewrite", "PRAGMA wal_checkpoint(TRUNCATE)", []).pipe(
      Effect.filterOrFail(
        ([row]) => row === undefined || integer(row, "busy") === 0,
        () =>
          new EventLog.LogError({
            operation: "rewrite",
            reason:
              "the session is rewritten, but another process still reads the old data in the write-ahead log; repeat it when that process is done",
          }),
      ),
    )

    const service: EventLog.Service = {
      append: (session, records, appendOptions) => write("append", session, [], records, appendOptions),
      rewrite: (session, rewritten, records, appendOptions) =>
        write("rewrite", session, rewritten, records, appendOptions).pipe(
          Effect.zipLeft(truncated),
          named(session),
        ),
      read: (session, { fromVersion = 1, toVersion = Number.MAX_SAFE_INTEGER, reverse = false } = {}) =>
        paged(
          { from: fromVersion, to: toVersion },
          (range) =>
            database
              .query(
                "read",
                `SELECT version, batch_id, time, types.name AS type, schema_version, data, checksum
                 FROM sessions JOIN events ON events.session = sessions.id JOIN types ON types.id = events.type
                 WHERE sessions.name = ? AND version BETWEEN ? AND ?
                 ORDER BY version ${reverse ? "DESC" : "ASC"} LIMIT ${pageSize}`,
                [session, range.from, range.to],
              )
              .pipe(
                Effect.map((rows) => rows.map((row) => recordOf(session, row))),
                named(session),
              ),
          (range, { version }) => (reverse ? { ...range, to: version - 1 } : { ...range, from: version + 1 }),
        ),
      version: (session) =>
        database
          .query(
            "version",
            `SELECT (SELECT max(version) FROM events WHERE session = sessions.id) AS version
             FROM sessions WHERE name = ?`,
            [session],
          )
          .pipe(
            Effect.map(([row]) => (row === undefined ? 0 : integer(row, "version"))),
            named(session),
          ),
      saveSnapshot: (session, { foldVersion, version, batchId, data }) =>
        database
          .write("saveSnapshot", (run) =>
            run(
              `INSERT OR REPLACE INTO snapshots (session, fold, version, batch_id, data)
               SELECT session, ?, version, batch_id, ? FROM (
                 SELECT session, version, batch_id FROM sessions JOIN events ON events.session = sessions.id
                 WHERE sessions.name = ? ORDER BY version DESC LIMIT 1
               ) WHERE version = ? AND batch_id = ?`,
              [foldVersion, data, session, version, batchId],
            ),
          )
          .pipe(Effect.asVoid, named(session)),
      loadSnapshot: (session) =>
        database
          .query(
            "loadSnapshot",
            `SELECT fold, version, batch_id, data
             FROM snapshots JOIN sessions ON sessions.id = snapshots.session WHERE sessions.name = ?`,
            [session],
          )
          .pipe(
            Effect.map(([row]) =>
              Option.map(Option.fromNullable(row), (row) => ({
                foldVersion: integer(row, "fold"),
                version: integer(row, "version"),
                batchId: text(row, "batch_id"),
                data: text(row, "data"),
              })),
            ),
            named(session),
          ),
      summaries: (session) =>
        database
          .query(
            "summaries",
            `SELECT summaries.* FROM sessions JOIN summaries ON summaries.session = sessions.id
             WHERE sessions.name = ? ORDER BY version`,
            [session],
          )
          .pipe(
            Effect.map((rows) => rows.map(summaryOf)),
            named(session),
          ),
      sessions: paged(
        "",
        (after) =>
          database
            .query(
              "sessions",
              `SELECT name, version, created_at, time AS updated_at
               FROM sessions JOIN events ON events.session = sessions.id
                 AND version = (SELECT max(version) FROM events WHERE session = sessions.id)
               WHERE name > ? ORDER BY name LIMIT ${pageSize}`,
              [after],
            )
            .pipe(
              Effect.map((rows) =>
                rows.map((row): EventLog.SessionInfo => ({
                  session: text(row, "name"),
                  version: integer(row, "version"),
                  createdTime: integer(row, "created_at"),
                  updatedTime: integer(row, "updated_at"),
                })),
              ),
            ),
        (_after, { session }) => session,
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
 * Provides the event log of a file; see {@link make}.
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
