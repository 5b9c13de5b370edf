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

/**
 * Less on the disk for every message, and a name for every commit that is found by a number.
 *
 * - `events` keeps no type for a message, which nearly all are; whoever reads sees it all the same. `commit_hash` is
 *   what a retried append is looked up by, on the first event of each batch (see `commitHash.ts`); those from before
 *   get theirs after these statements. A message that goes behind a session's last event takes its row in `sessions`
 *   along, so that one statement appends it. A memfold of an older schema that still has the file open can go on
 *   reading, and is told at its next append that it cannot
 * - `summaries` gets what a summary took over from the one before it: the text of a superseded one is then its own
 *   part, since a session in blocks would have each block as often as there are blocks after it. The view
 *   `compressed_summaries` has each text as a whole, from the data of commits in `committed`, and the place of each
 *   commit in the log
 */
const third = [
  `DROP VIEW log`,
  `CREATE TABLE events_anew (
     session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     seq INTEGER NOT NULL,
     commit_id TEXT NOT NULL,
     commit_hash INTEGER,
     at INTEGER NOT NULL,
     other_type TEXT,
     type TEXT GENERATED ALWAYS AS (coalesce(other_type, 'MessageAppended')) VIRTUAL,
     version INTEGER NOT NULL,
     data TEXT NOT NULL,
     checksum INTEGER,
     PRIMARY KEY (session, seq)
   )`,
  `INSERT INTO events_anew (session, seq, commit_id, at, other_type, version, data, checksum)
     SELECT session, seq, commit_id, at, nullif(type, 'MessageAppended'), version, data, checksum
     FROM events ORDER BY rowid`,
  `DROP TABLE events`,
  `ALTER TABLE events_anew RENAME TO events`,
  `CREATE INDEX events_by_commit ON events (session, commit_hash) WHERE commit_hash IS NOT NULL`,
  `CREATE TRIGGER messages_count AFTER INSERT ON events WHEN new.other_type IS NULL BEGIN
     UPDATE sessions SET version = new.seq, updated_at = new.at, messages = messages + 1,
       projected = CASE projected WHEN version THEN new.seq ELSE projected END
     WHERE id = new.session AND version < new.seq;
   END`,
  `CREATE VIEW log AS
     SELECT sessions.name AS session, seq, type, datetime(at / 1000, 'unixepoch') AS time, data
     FROM events JOIN sessions ON sessions.id = events.session
     ORDER BY sessions.name, seq`,
  `ALTER TABLE summaries ADD COLUMN carried INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE summaries ADD COLUMN builds_on INTEGER`,
  `UPDATE sessions SET projected = -1 WHERE id IN (SELECT session FROM summaries)`,
  `DROP VIEW compressed_summaries`,
  `CREATE VIEW committed AS
     SELECT session, seq, CASE WHEN json_valid(data) THEN data ELSE '{}' END AS data
     FROM events WHERE type = 'SummaryCommitted'`,
  // The parts of a text stand in the events that wrote them: `start` and `stop` say which of its parts each one
  // gives. For `message_ids` see the step before.
  `CREATE VIEW compressed_summaries AS
     SELECT summary_id AS id, thread_id AS chat_id, status,
       strftime('%Y-%m-%d %H:%M:%f', at / 1000.0, 'unixepoch') AS compressed_at,
       CASE WHEN status <> 'superseded' OR carried = 0 THEN summary_text ELSE (
         WITH RECURSIVE
           chain (seq, builds_on, start, stop) AS (
             SELECT whole.seq, whole.builds_on, whole.carried, 1e15
             UNION ALL
             SELECT part.seq, part.builds_on, part.carried, min(chain.start, chain.stop)
             FROM chain JOIN summaries AS part ON part.session = whole.session AND part.seq = chain.builds_on
             WHERE chain.start > 0),
           parts (position, kind, text) AS (
             SELECT chain.start + piece.key, json_extract(piece.value, '$.kind'), json_extract(piece.value, '$.text')
             FROM chain JOIN committed ON committed.session = whole.session AND committed.seq = chain.seq,
               json_each(committed.data, '$.segments') AS piece
             WHERE chain.start + piece.key < chain.stop
             ORDER BY 1),
           written (data) AS (
             SELECT committed.data FROM committed
             WHERE committed.session = whole.session AND committed.seq = whole.seq)
         SELECT
           coalesce((SELECT group_concat(CASE
               WHEN position = 0 THEN ''
               WHEN kind = 'turn-prefix' THEN json_extract(data, '$.wording.beforeTurnPrefix')
               ELSE json_extract(data, '$.wording.between')
             END || text, '') FROM parts), '')
           || coalesce(char(10, 10) || '<read-files>' || char(10) || (
             SELECT group_concat(value, char(10)) FROM json_each(data, '$.files.read')
           ) || char(10) || '</read-files>', '')
           || coalesce(char(10, 10) || '<modified-files>' || char(10) || (
             SELECT group_concat(value, char(10)) FROM json_each(data, '$.files.modified')
           ) || char(10) || '</modified-files>', '')
         FROM written
       ) END AS summary,
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
       superseded_by, tokens, seq
     FROM summaries AS whole`,
]

/** Every step there has been; a new one goes at the end. */
export const migrations: ReadonlyArray<ReadonlyArray<string>> = [first, second, third]
