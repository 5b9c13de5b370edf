/** The tables of a file. A new file gets all of them in one transaction. */

/** The `application_id` of memfold's files ("mfld"). The files of other programs are never written to. */
export const applicationId = 0x6d66_6c64

/** The `user_version` of the tables below. Files with another one are refused. */
export const schemaVersion = 5

/** The condition that a row of `events` belongs to a row of `sessions`, which SQLite looks up as one range. */
export const ofSession = (events = "events"): string =>
  `${events}.id > sessions.id << 32 AND ${events}.id < sessions.id + 1 << 32`

/** The batch id of a row of `events`, which its batch has once: on its first event. */
export const batchIdOf = (events = "events"): string =>
  `coalesce(${events}.batch_id, (SELECT batch_id FROM events AS first WHERE first.id = ${events}.id - ${events}.batch_position))`

/** The last event of the session with a name: the number of the session, its version and its batch id. */
export const lastEvent = `SELECT session, version, ${batchIdOf()} AS batch_id FROM sessions JOIN events ON ${ofSession()}
  WHERE sessions.name = ? ORDER BY events.id DESC LIMIT 1`

/**
 * - `sessions`: one row for each session, with its owner, its title, how often its records were rewritten, and the version of
 *   its last event: a log that has lost its end is found when it is read
 * - `types`: the names of event types; a row of `events` has the number. 1 takes no byte in a row, so the type that is
 *   stored first, as a rule that of messages, is the cheapest
 * - `events`: the log. One number is session and version: the rows are in the order of the log, and need no index beside
 *   the table. `session` and `version` are parts of it; look rows up by `id` (see {@link ofSession}). The first event of
 *   each batch has its `batch_id`, and a `batch_hash` that finds it; `batch_position` says how far behind the first an event is
 * - `snapshots`: the newest cached fold of each session
 * - `summaries`: the summary rows that came with appends. The key is the event that committed the summary. A summary id is
 *   unique within its session, because copies of a session share their summary ids
 * - `full_text_parts` and `full_text_buckets`: the full-text index of each session that was searched, see `fullText.ts`. The
 *   key of a bucket is the number of its part and its own: the buckets of a part are one range
 * - `unfinished_rewrites`: the batches that erased text which may still be in the write-ahead log
 * - `log` and `compressed_summaries`: views for people with a `sqlite3` shell
 */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE sessions (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL,
     owner TEXT,
     title TEXT,
     rewrites INTEGER NOT NULL DEFAULT 0,
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
  `CREATE TRIGGER events_of_deleted_session AFTER DELETE ON sessions BEGIN
     DELETE FROM events WHERE id > OLD.id << 32 AND id < OLD.id + 1 << 32;
   END`,
  `CREATE INDEX events_by_batch ON events (session, batch_hash) WHERE batch_hash IS NOT NULL`,
  `CREATE TABLE snapshots (
     session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
     fold INTEGER NOT NULL,
     version INTEGER NOT NULL,
     batch_id TEXT NOT NULL,
     data TEXT NOT NULL
   )`,
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
     PRIMARY KEY (session, version),
     CHECK (is_active = (status = 'active'))
   )`,
  `CREATE UNIQUE INDEX summaries_one_active ON summaries (session) WHERE is_active = 1`,
  `CREATE UNIQUE INDEX summaries_by_id ON summaries (summary_id, session)`,
  `CREATE INDEX summaries_by_thread ON summaries (thread_id, is_active, created_at)`,
  `CREATE INDEX summaries_by_time ON summaries (created_at)`,
  `CREATE TABLE full_text_parts (
     id INTEGER PRIMARY KEY,
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     version INTEGER NOT NULL,
     batch_id TEXT NOT NULL,
     buckets INTEGER NOT NULL,
     head BLOB NOT NULL,
     UNIQUE (session, version)
   )`,
  `CREATE TABLE full_text_buckets (
     id INTEGER PRIMARY KEY,
     data BLOB NOT NULL
   )`,
  `CREATE TRIGGER buckets_of_dropped_part AFTER DELETE ON full_text_parts BEGIN
     DELETE FROM full_text_buckets WHERE id >= OLD.id << 20 AND id < OLD.id + 1 << 20;
   END`,
  `CREATE TABLE unfinished_rewrites (
     session TEXT NOT NULL,
     batch_id TEXT NOT NULL,
     PRIMARY KEY (session, batch_id)
   ) WITHOUT ROWID`,
  `CREATE VIEW log AS
     SELECT sessions.name AS session, version, types.name AS type, datetime(time / 1000, 'unixepoch') AS time,
       ${batchIdOf()} AS batch_id, data
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
