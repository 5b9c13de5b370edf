/**
 * `@memfold/store-sqlite`: the event log in a SQLite file. Appends are durable when they return, and many processes can
 * use one file: a compare-and-swap on a session's version decides which writer wins.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import type { Scope } from "effect"
import { batchHash } from "./batchHash.js"
import * as Changes from "./changes.js"
import type { Options } from "./Database.js"
import { open } from "./Database.js"
import { dropRewritten, fullText } from "./fullText.js"
import { attempt } from "./driver.js"
import { named } from "./named.js"
import { integer, type Run, type RunNow, text } from "./Row.js"
import { integrity } from "./integrity.js"
import * as Owned from "./owned.js"
import { replacing } from "./replacing.js"
import { batchIdOf, lastEvent, ofSession } from "./schema.js"
import * as Summaries from "./summaries.js"
import * as Unfinished from "./unfinished.js"

export type { Options } from "./Database.js"
export * from "./maintenance.js"

type Records = Parameters<EventLog.Service["append"]>[1]

/** The largest version that the number of a row has room for. */
const mostVersions = 0xffff_ffff

/** How many rows one query reads. */
const pageSize = 512

/** The record of a row of `events`, whose columns are in the order of `read`. */
const recordOf = (
  session: string,
  [version, batchId, time, type, schemaVersion, data, checksum]: ReadonlyArray<unknown>,
): EventLog.LogRecord => {
  const record = {
    session,
    version: Number(version),
    batchId: String(batchId),
    time: Number(time),
    type: String(type),
    schemaVersion: Number(schemaVersion),
    data: String(data),
  }
  return checksum === null ? record : Object.assign(record, { checksum: Number(checksum) })
}

/** Finds a batch of a session by its id. */
const batchOf = `SELECT version FROM events INDEXED BY events_by_batch
  WHERE session = sessions.id AND batch_hash = ? AND batch_id = ?`

/** The hash by which a batch is found at any version; `null` for one that is looked for in its place alone. */
const hashOf = ({ batchId, retried }: EventLog.AppendOptions): number | null =>
  retried === "in-place" ? null : batchHash(batchId)

const insertEvent = `INSERT INTO events
    (id, batch_id, batch_hash, batch_position, time, type, schema_version, data, checksum)
  VALUES ((? << 32) | ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Finds a batch of a session that can only be at a version. */
const batchInPlace = `SELECT version FROM events WHERE id = sessions.id << 32 | ? AND batch_id = ?`

/** The values of a row for {@link insertEvent}: the record at a position of a batch. */
const valuesOf = (
  { id, fromVersion, batchId, hash }: Place,
  position: number,
  type: number | undefined,
  record: EventLog.NewRecord,
): ReadonlyArray<unknown> => [
  id,
  fromVersion + position,
  position === 0 ? batchId : null,
  position === 0 ? hash : null,
  position,
  record.time,
  type,
  record.schemaVersion,
  record.data,
  record.checksum ?? null,
]

/** The number of a type, which is stored if it is new. */
const typeId = (run: Run, type: string): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const [known] = yield* run("SELECT id FROM types WHERE name = ?", [type])
    const [row = {}] =
      known === undefined ? yield* run("INSERT INTO types (name) VALUES (?) RETURNING id", [type]) : [known]
    return integer(row, "id")
  })

/** Where a batch goes: into the session with this number, from this version on. With a hash, its id finds it anywhere. */
interface Place {
  readonly id: number
  readonly fromVersion: number
  readonly batchId: string
  readonly hash: number | null
}

/** A batch of more records pauses after each so many of them: other work of the process goes on. */
const mostAtOnce = 500

const pauses = (records: Records): boolean => records.length > mostAtOnce

/** Inserts the records of a batch one after the other. */
const insertRecords = (run: Run, place: Place, records: Records) =>
  Effect.gen(function* () {
    const types = new Map<string, number>()
    for (const { type } of records) {
      if (!types.has(type)) types.set(type, yield* typeId(run, type))
    }
    for (const [position, record] of records.entries()) {
      yield* run(insertEvent, valuesOf(place, position, types.get(record.type), record))
      if (pauses(records) && position % mostAtOnce === mostAtOnce - 1) yield* Effect.sleep(0)
    }
  })

const placeAsExpected = `SELECT sessions.id, types.id AS type
  FROM sessions JOIN events AS last ON last.id = sessions.id << 32 | sessions.last_version
    JOIN types ON types.name = ?
  WHERE sessions.name = ? AND sessions.last_version = ? AND ${batchIdOf("last")} = coalesce(?, ${batchIdOf("last")})`

const newPlaceAsExpected = `${placeAsExpected} AND NOT EXISTS (${batchOf})`

const moveTo = "UPDATE sessions SET last_version = ? WHERE id = ?"

/** Changes what is derived from the log of a session, as an append says. */
const changeDerived = (
  run: RunNow,
  session: Summaries.Session,
  { description, summaries }: EventLog.AppendOptions,
): void => {
  if (description !== undefined) Owned.describe(run, session.id, description)
  if (summaries !== undefined) Summaries.change(run, session, summaries)
}

/**
 * Appends a batch to a session that is as expected, which is the usual case. `null` if nothing was written: the session or
 * a type is new, the version is another one, or the batch was appended before.
 */
const appendAsExpected = (
  run: RunNow,
  session: string,
  records: Records,
  hash: number | null,
  options: EventLog.AppendOptions,
): EventLog.AppendResult | null => {
  const { expectedVersion, lastBatchId, batchId } = options
  const [{ type: first }] = records
  const expected = [first, session, expectedVersion, lastBatchId ?? null]
  const [row] =
    hash === null ? run(placeAsExpected, expected) : run(newPlaceAsExpected, [...expected, hash, batchId])
  if (row === undefined) return null
  const id = integer(row, "id")
  const types = new Map([[first, integer(row, "type")]])
  for (const { type } of records) {
    if (types.has(type)) continue
    const [known] = run("SELECT id FROM types WHERE name = ?", [type])
    if (known === undefined) return null
    types.set(type, integer(known, "id"))
  }
  const place = { id, fromVersion: expectedVersion + 1, batchId, hash }
  for (const [position, record] of records.entries())
    run(insertEvent, valuesOf(place, position, types.get(record.type), record))
  const version = expectedVersion + records.length
  run(moveTo, [version, id])
  changeDerived(run, { id, name: session }, options)
  return { fromVersion: place.fromVersion, version, duplicate: false }
}

/** Replaces the data of records; the snapshot, the summary rows and the index, which come from the old data, go. */
const rewriteRecords = (run: Run, id: number, rewritten: ReadonlyArray<EventLog.RewrittenRecord>) =>
  Effect.gen(function* () {
    for (const { version, schemaVersion, data, checksum } of rewritten) {
      yield* run("UPDATE events SET schema_version = ?, data = ?, checksum = ? WHERE id = ? << 32 | ?", [
        schemaVersion,
        data,
        checksum ?? null,
        id,
        version,
      ])
    }
    yield* run("DELETE FROM snapshots WHERE session = ?", [id])
    yield* run("DELETE FROM summaries WHERE session = ?", [id])
    yield* dropRewritten(
      run,
      id,
      rewritten.map(({ version }) => version),
    )
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
    if (options.readonly !== true && options.filename !== ":memory:") yield* Unfinished.finishing(database)

    const changes = yield* Changes.make(database)
    const write = (
      operation: "append" | "rewrite",
      session: string,
      rewritten: ReadonlyArray<EventLog.RewrittenRecord>,
      records: Records,
      appendOptions: EventLog.AppendOptions,
    ) => {
      const { expectedVersion, lastBatchId, batchId } = appendOptions
      const hash = hashOf(appendOptions)
      const general = (run: Run, now: RunNow) =>
        Effect.gen(function* () {
          const [known] = yield* run(
            `SELECT sessions.id, last_version, last.version, ${batchIdOf("last")} AS batch_id, (${hash === null ? batchInPlace : batchOf}) AS applied
             FROM sessions LEFT JOIN events AS last ON ${ofSession("last")}
             WHERE sessions.name = ? ORDER BY last.id DESC LIMIT 1`,
            [hash ?? expectedVersion + 1, batchId, session],
          )
          const actual = known === undefined ? 0 : integer(known, "last_version")
          if (known !== undefined && known["version"] !== known["last_version"]) {
            const reason = `the log ends at event ${String(known["version"] ?? 0)}, while the session is at version ${actual}; restore the log from a backup`
            return yield* new EventLog.LogError({ operation, session, reason })
          }
          if (known !== undefined && known["applied"] !== null) {
            const fromVersion = integer(known, "applied")
            const [next] = yield* run(
              `SELECT version FROM events WHERE id > ? << 32 | ? AND id < ? + 1 << 32 AND batch_position = 0
               ORDER BY id LIMIT 1`,
              [known["id"], fromVersion, known["id"]],
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
          yield* insertRecords(run, { id, fromVersion: actual + 1, batchId, hash }, records)
          yield* run(moveTo, [actual + records.length, id])
          if (rewritten.length > 0) {
            yield* rewriteRecords(run, id, rewritten)
            yield* Unfinished.begin(run, session, batchId)
          }
          yield* attempt(() => changeDerived(now, { id, name: session }, appendOptions))
          return { fromVersion: actual + 1, version: actual + records.length, duplicate: false }
        })
      return database.write<EventLog.AppendResult, EventLog.VersionConflict | EventLog.LogError>(
        { operation, session },
        general,
        {
          pauses: pauses(records),
          atOnce:
            rewritten.length > 0 || pauses(records)
              ? undefined
              : (run) => appendAsExpected(run, session, records, hash, appendOptions),
          onWritten: () => changes.tell(session),
        },
      )
    }

    const replaceAt = replacing(database)

    const service: EventLog.Service = {
      append: (session, records, appendOptions) => write("append", session, [], records, appendOptions),
      rewrite: (session, rewritten, records, appendOptions) =>
        write("rewrite", session, rewritten, records, appendOptions),
      finishRewrites: (session) =>
        Unfinished.finish(database, session, options.busyTimeout ?? "30 seconds").pipe(named(session)),
      read: (session, readOptions) =>
        EventLog.readInPages(readOptions, pageSize, ({ fromVersion, toVersion, reverse }) =>
          database
            .lists(
              "read",
              `SELECT version, ${batchIdOf()}, time, types.name, schema_version, data, checksum
               FROM sessions
                 JOIN events ON events.id BETWEEN sessions.id << 32 | ? AND sessions.id << 32 | ?
                 LEFT JOIN types ON types.id = events.type
               WHERE sessions.name = ? ORDER BY events.id ${reverse ? "DESC" : "ASC"} LIMIT ${pageSize}`,
              [fromVersion, Math.max(Math.min(toVersion, mostVersions), 0), session],
            )
            .pipe(
              Effect.map((rows) => rows.map((row) => recordOf(session, row))),
              named(session),
            ),
        ),
      integrity: integrity(database),
      ...(options.fullTextIndex === "process" ? {} : { fullText: fullText(database) }),
      head: (session) =>
        database.query("head", lastEvent, [session]).pipe(
          Effect.map(([row]) =>
            row === undefined ? null : { version: integer(row, "version"), batchId: text(row, "batch_id") },
          ),
          named(session),
        ),
      version: (session) =>
        database
          .query("version", "SELECT last_version AS version FROM sessions WHERE name = ?", [session])
          .pipe(
            Effect.map(([row]) => (row === undefined ? 0 : integer(row, "version"))),
            named(session),
          ),
      saveSnapshot: (session, { foldVersion, version, batchId, data }) =>
        database
          .write({ operation: "saveSnapshot", session }, (run) =>
            run(
              `INSERT OR REPLACE INTO snapshots (session, fold, version, batch_id, data)
               SELECT session, ?, version, batch_id, ? FROM (${lastEvent}) WHERE version = ? AND batch_id = ?`,
              [foldVersion, data, session, version, batchId],
            ),
          )
          .pipe(Effect.asVoid),
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
      summaries: (session, summariesOptions) =>
        Summaries.read(database, session, summariesOptions).pipe(named(session)),
      replaceSummaries: (session, rows, at) =>
        replaceAt("replaceSummaries", session, at, (run, id) =>
          Summaries.change(run, { id, name: session }, { replace: true, rows }),
        ),
      owned: (owner, ownedOptions) => Owned.owned(database, owner, ownedOptions),
      description: (session) => Owned.description(database, session).pipe(named(session)),
      replaceDescription: (session, description, at) =>
        replaceAt("replaceDescription", session, at, (run, id) => Owned.describe(run, id, description)),
      sessions: Stream.paginateChunkEffect("", (after) =>
        database
          .query(
            "sessions",
            `SELECT name, last_version AS version, created_at, coalesce(time, created_at) AS updated_at, owner, title
             FROM sessions LEFT JOIN events ON events.id = sessions.id << 32 | last_version
             WHERE name > ? ORDER BY name LIMIT ${pageSize}`,
            [after],
          )
          .pipe(
            Effect.map((rows) => {
              const page = rows.map(Owned.infoOf)
              const last = page.length < pageSize ? undefined : page.at(-1)?.session
              return [Chunk.unsafeFromArray(page), Option.fromNullable(last)] as const
            }),
          ),
      ),
      delete: (session) =>
        database
          .write(
            { operation: "delete", session },
            (run) => run("DELETE FROM sessions WHERE name = ? RETURNING id", [session]),
            { onWritten: () => changes.tell(session) },
          )
          .pipe(Effect.map((rows) => rows.length > 0)),
      changes: changes.of,
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
