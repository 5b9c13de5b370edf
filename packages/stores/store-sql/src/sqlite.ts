/** The dialect of SQLite, for SQLite itself and for databases that have its SQL. */
import type { Dialect } from "./Dialect.js"
import { batchIdOf, typeNumber } from "./queries.js"

/**
 * The order of all events, from the first reader of the feed on: triggers keep it, whichever memfold writes. Positions are never used
 * again, and those of a deleted session go with it.
 */
export const feedTables: ReadonlyArray<string> = [
  `CREATE TABLE feed (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     event INTEGER NOT NULL UNIQUE
   )`,
  `CREATE TRIGGER feed_of_events AFTER INSERT ON events BEGIN
     INSERT INTO feed (event) VALUES (NEW.id);
   END`,
  `CREATE TRIGGER feed_of_deleted_session AFTER DELETE ON sessions BEGIN
     DELETE FROM feed WHERE event > OLD.id << 32 AND event < OLD.id + 1 << 32;
   END`,
]

/**
 * Enters the events that are there when the feed begins. Positions begin with the microseconds since the epoch, far behind those of a feed
 * that was dropped: who has read that one reads all events again, and misses none.
 */
export const fillFeed = `INSERT INTO feed (position, event)
  SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 + row_number() OVER (ORDER BY id), id FROM events`

/**
 * - `sessions`: one row for each session, with its owner, its title, whether it was described, and the version of its last
 *   event: a log that has lost its end is found when it is read
 * - `types`: the names of event types; a row of `events` has the number. 1 takes no byte in a row, so the type that is
 *   stored first is the cheapest: as a rule, `MessageAppended`
 * - `events`: the log. One number is session and version: the rows are in the order of the log, and need no index beside
 *   the table. `session` and `version` are parts of it; look rows up by `id` (see `ofSession`). The first event of
 *   each batch has its `batch_id`, and a `batch_hash` that finds it; `batch_position` says how far behind the first an event is
 * - `projections`: the projection rows, except the kinds `summary` and `description`, which other programs can read
 * - `summaries`: the rows of kind `summary`. A fork gives its summaries ids of their own; the ids of imported summaries are
 *   unique within their session
 * - `log` and `compressed_summaries`: views for people with a `sqlite3` shell
 */
const tables: ReadonlyArray<string> = [
  `CREATE TABLE sessions (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL,
     described BOOLEAN NOT NULL DEFAULT FALSE,
     owner TEXT,
     title TEXT,
     last_version INTEGER NOT NULL DEFAULT 0
   )`,
  `CREATE INDEX sessions_by_owner ON sessions (owner) WHERE owner IS NOT NULL`,
  `CREATE TABLE types (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE
   )`,
  `CREATE TABLE events (
     id INTEGER PRIMARY KEY,
     session INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL,
     version INTEGER GENERATED ALWAYS AS (id & 0xffffffff) VIRTUAL,
     batch_id TEXT,
     batch_hash INTEGER,
     batch_position INTEGER NOT NULL,
     time INTEGER NOT NULL,
     type INTEGER NOT NULL REFERENCES types (id),
     schema_version INTEGER NOT NULL,
     data TEXT NOT NULL,
     checksum INTEGER
   )`,
  `CREATE TRIGGER last_version_of_session AFTER INSERT ON events BEGIN
     UPDATE sessions SET last_version = NEW.id & 0xffffffff WHERE id = NEW.id >> 32;
   END`,
  `CREATE TRIGGER events_of_deleted_session AFTER DELETE ON sessions BEGIN
     DELETE FROM events WHERE id > OLD.id << 32 AND id < OLD.id + 1 << 32;
   END`,
  `CREATE INDEX events_by_batch ON events (session, batch_hash) WHERE batch_hash IS NOT NULL`,
  `CREATE TABLE projections (
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     data TEXT NOT NULL,
     mark TEXT,
     PRIMARY KEY (session, kind, key)
   )`,
  `CREATE UNIQUE INDEX projections_one_mark ON projections (session, kind, mark) WHERE mark IS NOT NULL`,
  `CREATE TABLE summaries (
     summary_id TEXT NOT NULL,
     thread_id TEXT NOT NULL,
     summary_text TEXT NOT NULL,
     compact_up_to_index INTEGER NOT NULL,
     compacted_at INTEGER NOT NULL,
     is_split_turn BOOLEAN DEFAULT FALSE,
     split_turn_prefix TEXT,
     is_active BOOLEAN DEFAULT TRUE,
     created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
     status TEXT NOT NULL,
     superseded_by TEXT,
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     version INTEGER NOT NULL,
     time INTEGER NOT NULL,
     tokens INTEGER NOT NULL,
     PRIMARY KEY (session, summary_id),
     CHECK (is_active = (status = 'active'))
   )`,
  `CREATE UNIQUE INDEX summaries_one_active ON summaries (session) WHERE is_active = TRUE`,
  `CREATE INDEX summaries_by_id ON summaries (summary_id)`,
  `CREATE INDEX summaries_by_thread ON summaries (thread_id, is_active, created_at)`,
  `CREATE INDEX summaries_by_time ON summaries (created_at)`,
  `CREATE VIEW log AS
     SELECT sessions.name AS session, version, types.name AS type, datetime(time / 1000, 'unixepoch') AS time,
       ${batchIdOf("events")} AS batch_id, data
     FROM events JOIN sessions ON sessions.id = events.session JOIN types ON types.id = events.type
     ORDER BY sessions.name, version`,
  // `message_ids` are the keys of a JSON array with as many zeros: a recursive query takes ten times as long. An
  // invalid summary may claim to cover more messages than there were.
  `CREATE VIEW compressed_summaries AS
     SELECT summary_id AS id, thread_id AS chat_id, status,
       strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS compressed_at,
       summary_text AS summary,
       (SELECT json_group_array(key) FROM json_each(
         '[' || substr(replace(hex(zeroblob(min(compact_up_to_index, compacted_at))), '00', ',0'), 2) || ']'
       )) AS message_ids,
       superseded_by, tokens, version
     FROM summaries`,
]

/** A session that exists is left as it is: its version is not 0, and nothing is appended to it. */
const startSessions = `INSERT INTO sessions (name, created_at)
  SELECT value ->> 0, value ->> 5 ->> 0 ->> 0 FROM json_each(?)
  WHERE value ->> 1 = 0 AND value ->> 2 IS NULL
  ON CONFLICT DO NOTHING`

/**
 * A session that was started a moment ago has no last event.
 *
 * `CROSS JOIN` keeps the order of the tables: a few batches are looked up in large tables. SQLite collects what it selects
 * before it inserts the first row, because there is a trigger: the trigger does not change what is selected.
 */
const append = `WITH batch AS MATERIALIZED (
    SELECT value ->> 0 AS session, value ->> 1 AS version, value ->> 2 AS last_batch_id, value ->> 3 AS batch_id,
      value ->> 4 AS batch_hash, value ->> 5 AS records
    FROM json_each(?)
  )
  INSERT INTO events (id, batch_id, batch_hash, batch_position, time, type, schema_version, data, checksum)
  SELECT sessions.id << 32 | batch.version + 1 + record.key,
    CASE record.key WHEN 0 THEN batch.batch_id END, CASE record.key WHEN 0 THEN batch.batch_hash END, record.key,
    record.value ->> 0, ${typeNumber("record.value ->> 1")}, record.value ->> 2, record.value ->> 3, record.value ->> 4
  FROM batch
    CROSS JOIN sessions ON sessions.name = batch.session AND sessions.last_version = batch.version
    LEFT JOIN events AS last ON last.id = sessions.id << 32 | sessions.last_version
    CROSS JOIN json_each(batch.records) AS record
  WHERE (last.id IS NOT NULL OR batch.version = 0)
    AND (batch.last_batch_id IS NULL OR batch.last_batch_id = ${batchIdOf("last")})
    AND (batch.batch_hash IS NULL OR NOT EXISTS (
    SELECT 1 FROM events INDEXED BY events_by_batch
    WHERE session = sessions.id AND batch_hash = batch.batch_hash AND batch_id = batch.batch_id))
  RETURNING CASE batch_position WHEN 0 THEN (SELECT name FROM sessions WHERE sessions.id = events.id >> 32) END AS appended`

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

/** SQLite, and databases that have its SQL and its result codes. */
export const sqlite: Dialect = {
  begin: "BEGIN IMMEDIATE",
  tables,
  start: { by: "statement", statement: startSessions },
  append,
  feed: {
    from: "feed CROSS JOIN events ON events.id = feed.event CROSS JOIN sessions ON sessions.id = events.id >> 32",
    position: ["feed.position"],
    behind: "feed.position > ?",
    begin: [...feedTables, fillFeed],
  },
  sessionOf: (events) => `${events}.session`,
  elements: "json_each(?)",
  list: "json_array",
  date: (time) => `datetime(CAST(${time} AS INTEGER) / 1000, 'unixepoch')`,
  isBusy: (cause) => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(cause)),
  isDuplicate: (cause) => codeOf(cause) === "SQLITE_CONSTRAINT_UNIQUE",
  isTooLong: (cause) => codeOf(cause) === "SQLITE_TOOBIG",
}
