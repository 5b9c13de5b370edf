/**
 * The tables, step by step. A database says in `user_version` how many steps it has taken; each step runs once,
 * in one transaction, and is never edited afterwards.
 */

/** Marks a file as memfold's, so that no other program's database is ever written to: "mfld". */
export const applicationId = 0x6d66_6c64

/**
 * - `sessions`: one row a session, with its version, which is what writers compare and swap
 * - `events`: the log; `(session, seq)` cannot hold two events
 * - `snapshots`: disposable folds, the newest of each session
 * - `log`: the events with the names of their sessions, for people with a `sqlite3` shell
 */
const first = [
  `CREATE TABLE sessions (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     version INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL
   )`,
  `CREATE TABLE events (
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     seq INTEGER NOT NULL,
     commit_id TEXT NOT NULL,
     at INTEGER NOT NULL,
     type TEXT NOT NULL,
     version INTEGER NOT NULL,
     data TEXT NOT NULL,
     PRIMARY KEY (session, seq)
   )`,
  `CREATE INDEX events_by_commit ON events (session, commit_id, seq)`,
  `CREATE TABLE snapshots (
     session INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
     fold INTEGER NOT NULL,
     version INTEGER NOT NULL,
     data TEXT NOT NULL
   )`,
  `CREATE VIEW log AS
     SELECT sessions.name AS session, seq, type, datetime(at / 1000, 'unixepoch') AS time, data
     FROM events JOIN sessions ON sessions.id = events.session
     ORDER BY sessions.name, seq`,
]

/**
 * - `summaries`: every summary and what has become of it. Its first columns are those of reference design 3; the key
 *   is the place of the commit in the log, since logs that were imported twice have the same ids twice
 * - `compressed_summaries`: the same as reference design 4 names it
 * - `snapshots` get the commit of the last record in them; those from before are made anew
 * - `events` gets the checksum of each record; those from before have none
 * - `sessions` gets what the next summary depends on, and the version up to which `summaries` follows the log: where
 *   that is not the session's version, its rows are made anew (see `summaries.ts`)
 */
const second = [
  `ALTER TABLE events ADD COLUMN checksum INTEGER`,
  `DELETE FROM snapshots`,
  `ALTER TABLE snapshots ADD COLUMN commit_id TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE sessions ADD COLUMN running TEXT`,
  `ALTER TABLE sessions ADD COLUMN pruning BOOLEAN NOT NULL DEFAULT FALSE`,
  `ALTER TABLE sessions ADD COLUMN messages INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE sessions ADD COLUMN projected INTEGER NOT NULL DEFAULT 0`,
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
     seq INTEGER NOT NULL,
     at INTEGER NOT NULL,
     tokens INTEGER NOT NULL,
     segments TEXT,
     PRIMARY KEY (session, seq),
     CHECK (is_active = (status = 'active'))
   )`,
  `CREATE UNIQUE INDEX summaries_one_active ON summaries (session) WHERE is_active = 1`,
  `CREATE INDEX summaries_by_thread ON summaries (thread_id, is_active, created_at)`,
  `CREATE INDEX summaries_by_time ON summaries (created_at)`,
  // The indices of the messages are written out by the thousand, since a long session has many summaries of many
  // messages. Nothing is covered beyond the messages there were, whatever an unusable summary says.
  `CREATE VIEW compressed_summaries AS
     SELECT summary_id AS id, thread_id AS chat_id, status,
       strftime('%Y-%m-%d %H:%M:%f', at / 1000.0, 'unixepoch') AS compressed_at,
       summary_text AS summary,
       (WITH RECURSIVE
          covered (messages) AS (SELECT min(compact_up_to_index, compacted_at)),
          numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999),
          thousands (k) AS (
            SELECT 0 UNION ALL SELECT k + 1 FROM thousands, covered WHERE (k + 1) * 1000 < messages)
        SELECT '[' || coalesce(group_concat(
          CASE WHEN k > 0 AND (k + 1) * 1000 <= messages
            THEN replace((SELECT group_concat(printf('#%03d', n)) FROM numbers), '#', k)
            ELSE (SELECT group_concat(k * 1000 + n) FROM numbers WHERE k * 1000 + n < messages)
          END), '') || ']'
        FROM thousands, covered) AS message_ids,
       superseded_by, tokens
     FROM summaries`,
]

/** Every step there has been; a new one goes at the end. */
export const migrations: ReadonlyArray<ReadonlyArray<string>> = [first, second]
