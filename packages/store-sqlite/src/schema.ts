/** The tables of a file. A new file gets all of them in one transaction. */

/** The `application_id` of memfold's files ("mfld"). The files of other programs are never written to. */
export const applicationId = 0x6d66_6c64

/** The `user_version` of the tables below. Files with another one are refused. */
export const schemaVersion = 1

/**
 * - `sessions`: one row for each session
 * - `types`: the names of event types; a row of `events` has the number. 1 takes no byte in a row, so the type that is
 *   stored first, as a rule that of messages, is the cheapest
 * - `events`: the log. `batch_hash` is set on the first event of each batch, and finds a batch by its id
 * - `snapshots`: the newest cached fold of each session
 * - `summaries`: the summary rows that came with appends. The key is the event that committed the summary, because
 *   copies of a session share their summary ids
 * - `log` and `compressed_summaries`: views for people with a `sqlite3` shell
 */
export const statements: ReadonlyArray<string> = [
  `CREATE TABLE sessions (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL
   )`,
  `CREATE TABLE types (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE
   )`,
  `CREATE TABLE events (
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     version INTEGER NOT NULL,
     batch_id TEXT NOT NULL,
     batch_hash INTEGER,
     time INTEGER NOT NULL,
     type INTEGER NOT NULL REFERENCES types (id),
     schema_version INTEGER NOT NULL,
     data TEXT NOT NULL,
     checksum INTEGER,
     PRIMARY KEY (session, version)
   )`,
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
  `CREATE INDEX summaries_by_thread ON summaries (thread_id, is_active, created_at)`,
  `CREATE INDEX summaries_by_time ON summaries (created_at)`,
  `CREATE VIEW log AS
     SELECT sessions.name AS session, version, types.name AS type, datetime(time / 1000, 'unixepoch') AS time,
       batch_id, data
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
