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

/** Every step there has been; a new one goes at the end. */
export const migrations: ReadonlyArray<ReadonlyArray<string>> = [first]
