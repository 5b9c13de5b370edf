/** The dialect of PostgreSQL: the names of tables in their schema, the statement of appends, and the codes of errors. */
import { batchIdOf, type Dialect, type FeedQuery, numbered, typeNumber } from "@memfold/store-sql"

/** A name as SQL has it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The tables of a log, where a statement names them: a column is named by its table alone. */
const table = /\b(FROM|JOIN|INTO|UPDATE)(\s+)(sessions|types|events|projections|summaries|migrations|feed)\b/g

/** The number of a transaction in the feed: what was restored from a dump into another server is behind what it had. */
const fed = "CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + feed.shift"

/**
 * Events are in the order of the transactions that have written them. A reader sees nothing of a transaction as long as an older one is
 * under way, which may still write: so nothing ever comes in front of what was read. A transaction that began before another one, and
 * appends to the same session behind it, takes the number of that one.
 */
const feed: FeedQuery = {
  from: "events JOIN sessions ON sessions.id = events.id >> 32",
  position: ["events.fed", "events.id"],
  behind: `(events.fed, events.id) > (CAST(? AS BIGINT), CAST(? AS BIGINT)) AND events.fed <
    (SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + feed.shift FROM feed LIMIT 1)`,
  stamp: { set: `fed = greatest(fed, (SELECT ${fed} FROM feed LIMIT 1))`, column: "fed" },
}

/**
 * Appends batches, and starts the sessions of those whose expected version is 0. Writers of a session meet at its row: the later one waits, and then compares the version again. A statement
 * locks the rows of its sessions in the order of their names, so that two statements never wait for each other.
 *
 * The answer has the number of the transaction: a database that was restored may not have it (`sameDatabase.ts`).
 *
 * The limits tell the planner how many rows there are; it would expect hundreds, and read a whole table for them, or compile the plan.
 */
const append = `WITH batch AS MATERIALIZED (
    SELECT value ->> 0 AS session, CAST(value ->> 1 AS BIGINT) AS version, value ->> 2 AS last_batch_id, value ->> 3 AS batch_id,
      CAST(value ->> 4 AS INTEGER) AS batch_hash, value -> 5 AS records
    FROM jsonb_array_elements($1::jsonb) ORDER BY session LIMIT jsonb_array_length($1::jsonb)
  ), now AS MATERIALIZED (
    SELECT ${fed} AS fed FROM feed LIMIT 1
  ), target AS MATERIALIZED (
    SELECT locked.id, batch.* FROM batch CROSS JOIN LATERAL (
      SELECT sessions.id FROM sessions WHERE sessions.name = batch.session AND sessions.last_version = batch.version
      FOR NO KEY UPDATE) AS locked
    WHERE EXISTS (
        SELECT 1 FROM events AS last WHERE last.id = locked.id << 32 | batch.version
          AND (batch.last_batch_id IS NULL OR batch.last_batch_id = ${batchIdOf("last")}))
      AND (batch.batch_hash IS NULL OR NOT EXISTS (
        SELECT 1 FROM events
        WHERE events.id >> 32 = locked.id AND events.batch_hash = batch.batch_hash AND events.batch_id = batch.batch_id))
  ), moved AS (
    UPDATE sessions SET last_version = target.version + jsonb_array_length(target.records),
      fed = greatest(sessions.fed, now.fed)
    FROM target CROSS JOIN now WHERE sessions.id = target.id
    RETURNING target.*, sessions.fed
  ), started AS (
    INSERT INTO sessions (name, created_at, last_version, fed)
    SELECT session, CAST(records -> 0 ->> 0 AS BIGINT), jsonb_array_length(records), now.fed
    FROM batch CROSS JOIN now WHERE version = 0 AND last_batch_id IS NULL
    ON CONFLICT DO NOTHING RETURNING id, name, fed
  ), appended AS (
    SELECT * FROM moved UNION ALL SELECT started.id, batch.*, started.fed FROM started JOIN batch ON batch.session = started.name
  ), added AS (
    INSERT INTO events (id, batch_id, batch_hash, batch_position, time, type, schema_version, data, checksum, fed)
    SELECT appended.id << 32 | appended.version + position, CASE position WHEN 1 THEN appended.batch_id END,
      CASE position WHEN 1 THEN appended.batch_hash END, position - 1, CAST(record ->> 0 AS BIGINT), ${typeNumber("record ->> 1")},
      CAST(record ->> 2 AS INTEGER), record ->> 3, CAST(record ->> 4 AS BIGINT),
      appended.fed
    FROM appended CROSS JOIN jsonb_array_elements(appended.records) WITH ORDINALITY AS listed (record, position)
  )
  SELECT session AS appended, CAST(pg_current_xact_id() AS TEXT) AS transaction FROM appended`

/** The code of an error: of the server, five characters, or of the connection. */
export const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

/**
 * Codes of what another try may not meet again: a serialization failure or a deadlock (40), a server that starts, stops or has no
 * connection left (53300, 57P), a lock that was not free in time (55P03), and connections that are lost or refused.
 */
const transient =
  /^(40001|40P01|53300|55P03|57P0[1-5]|08\w{3}|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/

/** What the driver says of a connection without a code. */
const lost =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout)/

/** Whether another try may do what this one did not. */
export const isTransient = (cause: unknown): boolean =>
  transient.test(codeOf(cause)) || (cause instanceof Error && lost.test(cause.message))

/** PostgreSQL, with the tables in a schema. */
export const postgres = (schema: string): Dialect => ({
  statement: (sql) =>
    numbered(sql.replace(table, (_, word, space, name) => `${word}${space}${quoted(schema)}.${name}`)),
  begin: "BEGIN ISOLATION LEVEL READ COMMITTED",
  lock: "SELECT 1 FROM sessions WHERE name = ? FOR NO KEY UPDATE",
  tables: [],
  append,
  feed,
  sessionOf: (events) => `${events}.id >> 32`,
  elements:
    "(SELECT position - 1 AS key, value FROM jsonb_array_elements(CAST(? AS JSONB)) WITH ORDINALITY AS one (value, position)) AS elements",
  isLateral: true,
  list: "json_build_array",
  date: (time) => `to_timestamp(CAST(${time} AS BIGINT) / 1000.0)`,
  isBusy: isTransient,
  isDuplicate: (cause) => codeOf(cause) === "23505",
  // An index has no entry of such a length.
  isTooLong: (cause) => codeOf(cause) === "54000",
})
