/**
 * Appends and rewrites. A usual append is one statement, shared with the appends of other sessions that wait at the same time: it
 * compares the versions and inserts the records. Everything else takes a transaction.
 */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import { Array, Effect } from "effect"
import { batchHash } from "./batchHash.js"
import * as Batcher from "./batcher.js"
import { type Database, integer, isRefused, lockSession, type Row, type Run, textOrNull } from "./Database.js"
import type { Dialect } from "./Dialect.js"
import { change, dropDerived, sessionAt } from "./projections.js"
import { batchIdOf, mostVersions, ofSession, typeNumber, versionOf } from "./queries.js"
import { isListed, keyList } from "./RowTable.js"

type Records = Parameters<EventLog.Service["append"]>[1]

/** A batch to append, and the records to replace before, if it is of a rewrite. */
interface Batch {
  readonly session: string
  readonly records: Records
  readonly options: EventLog.AppendOptions
  readonly rewritten?: ReadonlyArray<EventLog.RewrittenRecord> | undefined
}

/** What a store does beside the log when it writes. */
export interface WritingOptions {
  /** Runs in the transaction of each rewrite. */
  readonly rewriting?:
    | ((run: Run, session: string, batchId: string) => Effect.Effect<unknown, SqlError>)
    | undefined
  /** Is called when a session has been written to, before its writer is answered. */
  readonly onWritten?: ((session: string) => void) | undefined
  /** The event types that are known to be stored; more are added. Empty by default. */
  readonly types?: Set<string> | undefined
}

/** The most records and characters of one statement: it keeps the event loop for a few milliseconds. */
const most = { records: 500, characters: 1_000_000 }

/** The type of a record as a row has it. */
const typeOf = ({ type }: EventLog.NewRecord): string => type.toWellFormed()

/** What is no text, against the type, is refused by the database. */
const charactersOf = (records: ReadonlyArray<EventLog.NewRecord>): number =>
  records.reduce((sum, { data }) => sum + String(data).length, 0)

/** The hash by which a batch is found at any version; `null` for a batch that is looked for in its place alone. */
const hashOf = ({ batchId, retried }: EventLog.AppendOptions): number | null =>
  retried === "in-place" ? null : batchHash(batchId)

/** Whether a batch can share the statement of appends: only records are to be written, to a session that exists if need be. */
const isUsual = ({ start }: Dialect, { records, options, rewritten }: Batch): boolean =>
  (start?.by === "append" || start?.by === "statement" || options.expectedVersion > 0) &&
  (options.projections === undefined || options.projections.length === 0) &&
  rewritten === undefined &&
  records.length <= most.records &&
  charactersOf(records) <= most.characters

/**
 * The names of event types that the database has. They are stored before the append that needs them. Statements look the numbers
 * of types up: a database that was restored from a backup, or a standby that took over, can have other numbers.
 */
const storedTypes = ({ dialect, query, statement }: Database, known = new Set<string>()) => {
  /** Stores names; returns whether the database missed any. */
  const store = (names: ReadonlyArray<string>): Effect.Effect<boolean, EventLog.LogError | SqlError> =>
    Effect.gen(function* () {
      // Looked for first: an insert takes a number even if it finds the type there.
      const rows = yield* query(
        { operation: "append" },
        `SELECT name FROM types WHERE ${isListed(dialect, "name")}`,
        [keyList(names)],
      )
      const stored = new Set(rows.map((row) => row["name"]))
      const missing = names.filter((name) => !stored.has(name))
      if (missing.length > 0)
        yield* statement(
          `INSERT INTO types (name) SELECT value ->> 0 FROM ${dialect.elements} WHERE TRUE ON CONFLICT DO NOTHING`,
          [keyList(missing)],
        )
      for (const name of names) known.add(name)
      return missing.length > 0
    })
  const typesOf = (records: Records) => [...new Set(records.map(typeOf))]
  return {
    /** Stores the types of records that are not known to be stored. */
    store: (records: Records): Effect.Effect<unknown, EventLog.LogError | SqlError> => {
      const isUnknown = (record: EventLog.NewRecord) => !known.has(typeOf(record))
      return records.some(isUnknown) ? store(typesOf(records)) : Effect.void
    },
    /** Stores the types of records that the database has lost since; returns whether there were any. */
    storeLost: (records: Records) => store(typesOf(records)),
  }
}

/** The session that a batch goes to; without an `id`, there is none yet. */
interface Target {
  readonly id?: number
}

const isTarget = (decided: Target | EventLog.AppendResult): decided is Target => !("duplicate" in decided)

/** Decides about a batch: it was appended before, it cannot be appended, or it can go to a place. */
const decide = <E>(
  { sessionOf }: Dialect,
  run: (sql: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, E>,
  operation: string,
  { session, options }: Batch,
): Effect.Effect<Target | EventLog.AppendResult, EventLog.VersionConflict | EventLog.LogError | E> =>
  Effect.gen(function* () {
    const { expectedVersion, lastBatchId, batchId } = options
    const hash = hashOf(options)
    const applied =
      hash === null
        ? "id = sessions.id << 32 | ? AND batch_id = ?"
        : `${sessionOf("events")} = sessions.id AND batch_hash = ? AND batch_id = ?`
    const [known] = yield* run(
      `SELECT sessions.id, last_version,
         (SELECT max(events.id) FROM events WHERE ${ofSession("events")}) & ${mostVersions} AS version,
         (SELECT ${batchIdOf("last")} FROM events AS last WHERE last.id = sessions.id << 32 | last_version) AS batch_id,
         (SELECT ${versionOf("events")} FROM events WHERE ${applied}) AS applied
       FROM sessions WHERE sessions.name = ?`,
      [hash ?? expectedVersion + 1, batchId, session],
    )
    const actualVersion = known === undefined ? 0 : integer(known, "last_version")
    if (known !== undefined && integer(known, "version") !== actualVersion) {
      const reason = `the log ends at event ${integer(known, "version")}, while the session is at version ${actualVersion}; restore the log from a backup`
      return yield* new EventLog.LogError({ operation, session, reason })
    }
    if (known !== undefined && known["applied"] !== null) {
      const fromVersion = integer(known, "applied")
      const [next] = yield* run(
        `SELECT ${versionOf("events")} AS version FROM events
         WHERE id > CAST(? AS BIGINT) << 32 | ? AND id < CAST(? AS BIGINT) + 1 << 32 AND batch_position = 0
         ORDER BY id LIMIT 1`,
        [known["id"], fromVersion, known["id"]],
      )
      return {
        fromVersion,
        version: next === undefined ? actualVersion : integer(next, "version") - 1,
        duplicate: true,
      }
    }
    const isAnotherLog =
      lastBatchId !== undefined && (known === undefined || textOrNull(known, "batch_id") !== lastBatchId)
    if (actualVersion !== expectedVersion || isAnotherLog)
      return yield* new EventLog.VersionConflict({ session, expectedVersion, actualVersion })
    return known === undefined ? {} : { id: integer(known, "id") }
  })

/** The session that a batch can go to, which is started if it does not exist; or the answer about the batch. */
const targetOf = (
  dialect: Dialect,
  run: Run,
  operation: string,
  batch: Batch,
): Effect.Effect<
  Required<Target> | EventLog.AppendResult,
  EventLog.VersionConflict | EventLog.LogError | SqlError
> =>
  Effect.gen(function* () {
    const { session, records } = batch
    yield* lockSession(dialect, run, session)
    const decided = yield* decide(dialect, run, operation, batch)
    if (!isTarget(decided)) return decided
    if (decided.id !== undefined) return { id: decided.id }
    const { start } = dialect
    if (start?.by === "number") {
      const [next = {}] = yield* run(start.next)
      const id = integer(next, "id")
      yield* run("INSERT INTO sessions (id, name, created_at) VALUES (?, ?, ?)", [
        id,
        session,
        records[0].time,
      ])
      return { id }
    }
    const [started] = yield* run(
      "INSERT INTO sessions (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
      [session, records[0].time],
    )
    if (started !== undefined) return { id: integer(started, "id") }
    // Another transaction has started the session since.
    const again = yield* decide(dialect, run, operation, batch)
    return isTarget(again)
      ? yield* new EventLog.VersionConflict({ session, expectedVersion: 0, actualVersion: 0 })
      : again
  })

const listed = (record: EventLog.NewRecord) =>
  [record.time, typeOf(record), record.schemaVersion, record.data, record.checksum ?? null] as const

/** Inserts the records of a batch behind the last version of a session, which moves. */
const insertRecords = (dialect: Dialect, run: Run, id: number, { records, options }: Batch) =>
  Effect.gen(function* () {
    const { expectedVersion, batchId } = options
    const { stamp } = dialect.feed
    const moved = expectedVersion + records.length
    yield* run(
      `UPDATE sessions SET last_version = ?${stamp === undefined ? "" : `, ${stamp.set}`} WHERE id = ?`,
      [moved, id],
    )
    const [column, stamped] =
      stamp === undefined
        ? ["", ""]
        : [
            `, ${stamp.column}`,
            `, (SELECT ${stamp.column} FROM sessions WHERE sessions.id = CAST(? AS BIGINT))`,
          ]
    for (let from = 0; from < records.length; from += most.records) {
      if (from > 0) yield* Batcher.othersFirst
      yield* run(
        `INSERT INTO events (id, batch_id, batch_hash, batch_position, time, type, schema_version, data, checksum${column})
         SELECT CAST(? AS BIGINT) << 32 | ? + key, CASE ? + key WHEN 0 THEN ? END,
           CASE ? + key WHEN 0 THEN CAST(? AS INTEGER) END, ? + key,
           CAST(value ->> 0 AS BIGINT), ${typeNumber("value ->> 1")}, CAST(value ->> 2 AS BIGINT), value ->> 3,
           CAST(value ->> 4 AS BIGINT)${stamped}
         FROM ${dialect.elements}`,
        [
          id,
          expectedVersion + 1 + from,
          from,
          batchId,
          from,
          hashOf(options),
          from,
          ...(stamp === undefined ? [] : [id]),
          JSON.stringify(records.slice(from, from + most.records).map(listed)),
        ],
      )
    }
  })

/** Makes the methods `append` and `rewrite` of the log of a database. */
export const appending = (
  database: Database,
  { rewriting, onWritten = () => {}, types: knownTypes }: WritingOptions,
) => {
  const { dialect, query, statement, statements, transaction, failing } = database
  const types = storedTypes(database, knownTypes)

  const shared = Batcher.make<Batch, boolean, SqlError>({
    keyOf: ({ session }) => session,
    sizeOf: ({ records }) => charactersOf(records) + (records.length * most.characters) / most.records,
    mostSize: most.characters,
    canBeOfOne: ({ cause }) => !dialect.isBusy(cause),
    run: (group) => {
      const batches = group.map(({ session, records, options }) => [
        session.toWellFormed(),
        options.expectedVersion,
        options.lastBatchId ?? null,
        options.batchId,
        hashOf(options),
        records.map(listed),
      ])
      const list = [JSON.stringify(batches)]
      const { start, append } = dialect
      const startsSome =
        start?.by === "statement" && group.some(({ options }) => options.expectedVersion === 0)
      const written = startsSome ? statements([start.statement, append], list) : statement(append, list)
      return Effect.map(written, (rows) => {
        const appended = new Set(rows.map((row) => row["appended"]))
        return group.map(({ session }) => appended.has(session.toWellFormed()))
      })
    },
  })

  /** Replaces the data of records. */
  const replaceRecords = (run: Run, id: number, replaced: ReadonlyArray<EventLog.RewrittenRecord>) =>
    Effect.forEach(
      Array.chop(replaced, (rest) => {
        let characters = 0
        const end = rest.findIndex(({ data }, at) =>
          (characters += data.length) > most.characters ? at > 0 : at === most.records,
        )
        return Array.splitAt(rest, end < 0 ? rest.length : end)
      }),
      (some) =>
        run(
          `UPDATE events SET schema_version = CAST(value ->> 1 AS INTEGER), data = value ->> 2, checksum = CAST(value ->> 3 AS BIGINT)
           FROM ${dialect.elements} WHERE events.id = CAST(? AS BIGINT) << 32 | CAST(value ->> 0 AS BIGINT)`,
          [
            JSON.stringify(
              some.map(({ version, schemaVersion, data, checksum }) => [
                version,
                schemaVersion,
                data,
                checksum ?? null,
              ]),
            ),
            id,
          ],
        ),
      { discard: true },
    )

  const inTransaction = (operation: string, batch: Batch) => {
    const { session, options, rewritten } = batch
    return transaction({ operation, session }, (run) =>
      Effect.gen(function* () {
        const target = yield* targetOf(dialect, run, operation, batch)
        if (!("id" in target)) return target
        const { id } = target
        yield* insertRecords(dialect, run, id, batch)
        if (rewritten !== undefined) {
          yield* replaceRecords(run, id, rewritten)
          // What was derived from the old data goes.
          yield* dropDerived(dialect, run, { id, name: session })
          if (rewriting !== undefined) yield* rewriting(run, session, options.batchId)
        }
        yield* change(dialect, run, { id, name: session }, options.projections ?? [])
        return resultOf(batch)
      }),
    )
  }

  const resultOf = ({ records, options: { expectedVersion } }: Batch): EventLog.AppendResult => ({
    fromVersion: expectedVersion + 1,
    version: expectedVersion + records.length,
    duplicate: false,
  })

  /** Appends a batch that was not appended by the statement: it has no place, or a moment ago it had none. */
  const general = (operation: string, batch: Batch) => {
    const about = { operation, session: batch.session }
    const decided = decide(dialect, (sql, parameters) => query(about, sql, parameters), operation, batch)
    return Effect.flatMap(decided, (decided) =>
      isTarget(decided) ? inTransaction(operation, batch) : Effect.succeed(decided),
    )
  }

  const write = (
    operation: "append" | "rewrite",
    batch: Batch,
  ): Effect.Effect<EventLog.AppendResult, EventLog.VersionConflict | EventLog.LogError> => {
    const about = { operation, session: batch.session }
    const stored = Effect.suspend(() => types.store(batch.records))
    const written = isUsual(dialect, batch)
      ? Effect.flatMap(failing(about)(Effect.zipRight(stored, shared(batch))), (isAppended) =>
          isAppended ? Effect.succeed(resultOf(batch)) : general(operation, batch),
        )
      : Effect.zipRight(failing(about)(stored), inTransaction(operation, batch))
    /** What the database refused is tried once more, if a type was missing there. */
    const withLostTypes = (error: EventLog.LogError) =>
      isRefused(dialect)(error)
        ? Effect.flatMap(
            Effect.orElseSucceed(types.storeLost(batch.records), () => false),
            (wereLost) => (wereLost ? written : error),
          )
        : error
    return written.pipe(
      Effect.catchTag("LogError", withLostTypes),
      Effect.tap(({ duplicate }) => {
        if (!duplicate) onWritten(batch.session)
      }),
    )
  }

  return {
    append: (session, records, options) => write("append", { session, records, options }),
    rewrite: (session, rewritten, records, options) =>
      write("rewrite", { session, records, options, rewritten }),
    replace: (session, replaced, at) =>
      transaction({ operation: "replace", session }, (run) =>
        Effect.flatMap(sessionAt(dialect, run, session, at), (found) =>
          found === null ? Effect.void : replaceRecords(run, found.id, replaced),
        ),
      ),
  } satisfies Pick<EventLog.Service, "append" | "rewrite" | "replace">
}
