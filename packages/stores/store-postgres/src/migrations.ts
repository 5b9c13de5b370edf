/** The tables of a schema, and the steps by which they come to be. */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import { batchIdOf, type Database, integer, type Run } from "@memfold/store-sql"
import { Effect } from "effect"
import { quoted } from "./dialect.js"

/**
 * - `sessions`: one row for each session, with its owner, its title, and the version of its last event. Each append changes the
 *   row; the fill factor leaves room for that in its page. Names are ordered by their bytes
 * - `types`: the names of event types; a row of `events` has the number. No foreign key leads there: each append would
 *   lock the few rows that all others lock as well
 * - `events`: the log. One number is session and version, which keeps the rows of a session together in one index. The first
 *   event of each batch has its `batch_id`, and a `batch_hash` that finds it
 * - `projections`: the projection rows, except the kinds `summary` and `description`, which other programs can read
 * - `summaries`: the rows of kind `summary`
 * - `log` and `compressed_summaries`: views for people. They show a role what the role may see in the tables
 */
const first = (s: string): ReadonlyArray<string> => [
  `CREATE TABLE ${s}.sessions (
     id BIGINT GENERATED ALWAYS AS IDENTITY (MAXVALUE 2147483647) PRIMARY KEY,
     last_version BIGINT NOT NULL DEFAULT 0,
     created_at BIGINT NOT NULL,
     described BOOLEAN NOT NULL DEFAULT FALSE,
     name TEXT COLLATE "C" NOT NULL UNIQUE,
     owner TEXT COLLATE "C",
     title TEXT
   ) WITH (fillfactor = 70)`,
  `CREATE INDEX sessions_by_owner ON ${s}.sessions (owner) WHERE owner IS NOT NULL`,
  `CREATE TABLE ${s}.types (
     id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name TEXT COLLATE "C" NOT NULL UNIQUE
   )`,
  `CREATE TABLE ${s}.events (
     id BIGINT PRIMARY KEY,
     time BIGINT NOT NULL,
     checksum BIGINT,
     type INTEGER NOT NULL,
     schema_version INTEGER NOT NULL,
     batch_position INTEGER NOT NULL,
     batch_hash INTEGER,
     batch_id TEXT COLLATE "C",
     data TEXT NOT NULL
   )`,
  `CREATE INDEX events_by_batch ON ${s}.events ((id >> 32), batch_hash) WHERE batch_hash IS NOT NULL`,
  `CREATE FUNCTION ${s}.delete_events_of_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     DELETE FROM ${s}.events WHERE id > OLD.id << 32 AND id < OLD.id + 1 << 32;
     RETURN OLD;
   END $$`,
  // Before the row goes: a policy of the events may ask for it.
  `CREATE TRIGGER events_of_deleted_session BEFORE DELETE ON ${s}.sessions
     FOR EACH ROW EXECUTE FUNCTION ${s}.delete_events_of_session()`,
  `CREATE TABLE ${s}.projections (
     session BIGINT NOT NULL REFERENCES ${s}.sessions (id) ON DELETE CASCADE,
     kind TEXT COLLATE "C" NOT NULL,
     key TEXT COLLATE "C" NOT NULL,
     data TEXT NOT NULL,
     mark TEXT COLLATE "C",
     PRIMARY KEY (session, kind, key)
   )`,
  `CREATE UNIQUE INDEX projections_one_mark ON ${s}.projections (session, kind, mark) WHERE mark IS NOT NULL`,
  `CREATE TABLE ${s}.summaries (
     summary_id TEXT COLLATE "C" NOT NULL,
     thread_id TEXT COLLATE "C" NOT NULL,
     summary_text TEXT NOT NULL,
     compact_up_to_index BIGINT NOT NULL,
     compacted_at BIGINT NOT NULL,
     is_split_turn BOOLEAN NOT NULL DEFAULT FALSE,
     split_turn_prefix TEXT,
     is_active BOOLEAN NOT NULL DEFAULT TRUE,
     created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
     status TEXT NOT NULL,
     superseded_by TEXT,
     session BIGINT NOT NULL REFERENCES ${s}.sessions (id) ON DELETE CASCADE,
     version BIGINT NOT NULL,
     time BIGINT NOT NULL,
     tokens BIGINT NOT NULL,
     PRIMARY KEY (session, summary_id),
     CHECK (is_active = (status = 'active'))
   )`,
  `CREATE UNIQUE INDEX summaries_one_active ON ${s}.summaries (session) WHERE is_active`,
  `CREATE INDEX summaries_by_thread ON ${s}.summaries (thread_id, is_active, created_at)`,
  `CREATE VIEW ${s}.log WITH (security_invoker = true) AS
     SELECT sessions.name AS session, events.id & 4294967295 AS version, types.name AS type,
       to_timestamp(events.time / 1000.0) AS time,
       ${batchIdOf("events").replace("FROM events", `FROM ${s}.events`)} AS batch_id, events.data
     FROM ${s}.events JOIN ${s}.sessions ON sessions.id = events.id >> 32 JOIN ${s}.types ON types.id = events.type`,
  `CREATE VIEW ${s}.compressed_summaries WITH (security_invoker = true) AS
     SELECT summary_id AS id, thread_id AS chat_id, status, to_timestamp(time / 1000.0) AS compressed_at,
       summary_text AS summary,
       (SELECT coalesce(jsonb_agg(position), '[]')
        FROM generate_series(0, least(compact_up_to_index, compacted_at) - 1) AS position) AS message_ids,
       superseded_by, tokens, version
     FROM ${s}.summaries`,
]

/**
 * The feed: `fed` is the number of the transaction that has written an event, and of the one that has written to a session last. What
 * was there before has 0, and is first. The default is for an older memfold that goes on writing. The table `feed` has what is added to the
 * numbers of the server's transactions (see {@link keepAhead}).
 */
const second = (s: string): ReadonlyArray<string> => [
  `CREATE TABLE ${s}.feed (shift BIGINT NOT NULL)`,
  `INSERT INTO ${s}.feed (shift) VALUES (0)`,
  `CREATE FUNCTION ${s}.feed_number() RETURNS BIGINT LANGUAGE SQL AS
     $$ SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + shift FROM ${s}.feed LIMIT 1 $$`,
  `ALTER TABLE ${s}.sessions ADD COLUMN fed BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE ${s}.events ADD COLUMN fed BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE ${s}.events ALTER COLUMN fed SET DEFAULT ${s}.feed_number()`,
  `CREATE INDEX events_by_feed ON ${s}.events (fed, id)`,
]

/** The steps to the present tables. A step that was published stays as it is; a change is a further step. */
const steps: ReadonlyArray<(schema: string) => ReadonlyArray<string>> = [first, second]

const creating = (s: string): string => `CREATE SCHEMA IF NOT EXISTS ${s}`

/** Creates a schema, unless it is there: PostgreSQL asks for the right to create one before it looks. */
export const createSchema = (run: Run, schema: string): Effect.Effect<void, SqlError> =>
  Effect.gen(function* () {
    const found = yield* run("SELECT 1 FROM pg_namespace WHERE nspname = ?", [schema])
    if (found.length === 0) yield* run(creating(quoted(schema)))
  })

/** The statements that bring the tables of a schema from a version to the present one. */
const tablesFrom = (s: string, from: number): ReadonlyArray<string> => [
  ...(from > 0
    ? []
    : [
        `CREATE TABLE ${s}.migrations (version INTEGER PRIMARY KEY, applied_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP)`,
      ]),
  ...steps
    .slice(from)
    .flatMap((step, index) => [
      ...step(s),
      `INSERT INTO ${s}.migrations (version) VALUES (${from + index + 1})`,
    ]),
]

/**
 * The statements that bring a schema from a version to the present one, for those who run migrations themselves.
 *
 * @param schema - the name of the schema; `memfold` by default
 * @param from - the version that the schema has; 0 without tables, which is the default
 *
 * @example
 * ```ts
 * import { migrations } from "@memfold/store-postgres"
 *
 * console.log(migrations({ schema: "support" }).join(";\n\n"))
 * ```
 */
export const migrations = ({
  schema = "memfold",
  from = 0,
}: { readonly schema?: string; readonly from?: number } = {}): ReadonlyArray<string> => {
  const s = quoted(schema)
  return from > 0 ? tablesFrom(s, from) : [creating(s), ...tablesFrom(s, from)]
}

const refused = (name: string, problem: string) =>
  new EventLog.LogError({ operation: "open", reason: `${name} ${problem}` })

/** Checks that the server can keep a log. */
const checkServer = (name: string, query: Database["query"]) =>
  Effect.gen(function* () {
    const [row = {}] = yield* query(
      { operation: "open" },
      `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding`,
    )
    if (integer(row, "version") < 150_000)
      return yield* refused(name, "is older than PostgreSQL 15; update the server")
    if (row["encoding"] !== "UTF8")
      return yield* refused(
        name,
        `has the encoding ${String(row["encoding"])}; create a database with the encoding UTF8`,
      )
  })

/** The version of the tables in a schema; 0 without tables. A schema with the tables of another program is refused. */
const versionIn = (
  schema: string,
  name: string,
  query: Database["query"],
  readonly = false,
): Effect.Effect<number, EventLog.LogError> =>
  Effect.gen(function* () {
    const about = { operation: "open" }
    // Read as rows: `to_regclass` can answer from what its connection knew before another process created the tables.
    const rows = yield* query(
      about,
      `SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
       WHERE nspname = ? AND relname IN ('migrations', 'sessions')`,
      [schema],
    )
    const names = new Set(rows.map((row) => row["name"]))
    if (!names.has("migrations")) {
      return names.has("sessions")
        ? yield* refused(name, `has tables of another program in the schema ${schema}; choose another schema`)
        : 0
    }
    const [applied = {}] = yield* query(about, "SELECT coalesce(max(version), 0) AS version FROM migrations")
    const version = integer(applied, "version")
    return version > steps.length && !readonly
      ? yield* refused(
          name,
          `has version ${version} of the tables in the schema ${schema}, this memfold knows version ${steps.length}; update memfold, or read it with memfold export`,
        )
      : version
  })

/** Checks the tables of a schema, and creates or changes them: one process at a time, all or nothing. */
export const migrate = (
  database: Database,
  {
    schema,
    name,
    create,
    readonly = false,
  }: {
    readonly schema: string
    readonly name: string
    readonly create: boolean
    /** Whether the tables are only read: then those of any version will do. */
    readonly readonly?: boolean
  },
): Effect.Effect<void, EventLog.LogError> =>
  Effect.gen(function* () {
    const { query, transaction } = database
    yield* checkServer(name, query)
    const version = yield* versionIn(schema, name, query, readonly)
    if (readonly && version > 0) return
    if (version === steps.length) return yield* keepAhead(database)
    if (!create)
      return yield* refused(
        name,
        `has no tables of this memfold in the schema ${schema}; open it for writing once`,
      )
    yield* transaction({ operation: "create" }, (run) =>
      Effect.gen(function* () {
        yield* run("SELECT pg_advisory_xact_lock(hashtextextended('memfold ' || ?, 0))", [schema])
        // Looked at again: another process may have done it while this one waited.
        const here: Database["query"] = (_about, sql, parameters) => Effect.orDie(run(sql, parameters))
        const from = yield* versionIn(schema, name, here)
        if (from === 0) yield* createSchema(run, schema)
        if (from < steps.length) yield* run(tablesFrom(quoted(schema), from).join(";\n"))
      }),
    )
  })

/**
 * Keeps the feed going in a database that was restored from a dump: the server counts its transactions anew there, and what it writes has to be
 * behind what was read before.
 */
const keepAhead = ({ query, statement, failing }: Database) =>
  Effect.gen(function* () {
    const about = { operation: "open" }
    const [row] = yield* query(
      about,
      `SELECT (SELECT max(fed) FROM events) >= CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT) + shift AS is_behind
       FROM feed`,
    )
    if (row?.["is_behind"] === true)
      yield* failing(about)(
        statement("UPDATE feed SET shift = greatest(shift, (SELECT max(fed) FROM events))"),
      )
  })

/**
 * Whether row-level security holds for the user. A policy of the events does not see a session that the same statement has
 * started, so such a session takes a transaction.
 */
export const hasPolicies = ({ query }: Database, schema: string): Effect.Effect<boolean, EventLog.LogError> =>
  Effect.map(
    query({ operation: "open" }, "SELECT row_security_active(CAST(? AS regclass)) AS active", [
      `${quoted(schema)}.sessions`,
    ]),
    ([row]) => row?.["active"] === true,
  )
