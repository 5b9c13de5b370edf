-- memfold: tables of the event log, in the schema memfold.

CREATE SCHEMA IF NOT EXISTS "memfold";

CREATE TABLE "memfold".migrations (version INTEGER PRIMARY KEY, applied_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP);

CREATE TABLE "memfold".sessions (
     id BIGINT GENERATED ALWAYS AS IDENTITY (MAXVALUE 2147483647) PRIMARY KEY,
     last_version BIGINT NOT NULL DEFAULT 0,
     created_at BIGINT NOT NULL,
     described BOOLEAN NOT NULL DEFAULT FALSE,
     name TEXT COLLATE "C" NOT NULL UNIQUE,
     owner TEXT COLLATE "C",
     title TEXT
   ) WITH (fillfactor = 70);

CREATE INDEX sessions_by_owner ON "memfold".sessions (owner) WHERE owner IS NOT NULL;

CREATE TABLE "memfold".types (
     id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name TEXT COLLATE "C" NOT NULL UNIQUE
   );

CREATE TABLE "memfold".events (
     id BIGINT PRIMARY KEY,
     time BIGINT NOT NULL,
     checksum BIGINT,
     type INTEGER NOT NULL,
     schema_version INTEGER NOT NULL,
     batch_position INTEGER NOT NULL,
     batch_hash INTEGER,
     batch_id TEXT COLLATE "C",
     data TEXT NOT NULL
   );

CREATE INDEX events_by_batch ON "memfold".events ((id >> 32), batch_hash) WHERE batch_hash IS NOT NULL;

CREATE FUNCTION "memfold".delete_events_of_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
     DELETE FROM "memfold".events WHERE id > OLD.id << 32 AND id < OLD.id + 1 << 32;
     RETURN OLD;
   END $$;

CREATE TRIGGER events_of_deleted_session BEFORE DELETE ON "memfold".sessions
     FOR EACH ROW EXECUTE FUNCTION "memfold".delete_events_of_session();

CREATE TABLE "memfold".projections (
     session BIGINT NOT NULL REFERENCES "memfold".sessions (id) ON DELETE CASCADE,
     kind TEXT COLLATE "C" NOT NULL,
     key TEXT COLLATE "C" NOT NULL,
     data TEXT NOT NULL,
     mark TEXT COLLATE "C",
     PRIMARY KEY (session, kind, key)
   );

CREATE UNIQUE INDEX projections_one_mark ON "memfold".projections (session, kind, mark) WHERE mark IS NOT NULL;

CREATE TABLE "memfold".summaries (
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
     session BIGINT NOT NULL REFERENCES "memfold".sessions (id) ON DELETE CASCADE,
     version BIGINT NOT NULL,
     time BIGINT NOT NULL,
     tokens BIGINT NOT NULL,
     PRIMARY KEY (session, summary_id),
     CHECK (is_active = (status = 'active'))
   );

CREATE UNIQUE INDEX summaries_one_active ON "memfold".summaries (session) WHERE is_active;

CREATE INDEX summaries_by_thread ON "memfold".summaries (thread_id, is_active, created_at);

CREATE VIEW "memfold".log WITH (security_invoker = true) AS
     SELECT sessions.name AS session, events.id & 4294967295 AS version, types.name AS type,
       to_timestamp(events.time / 1000.0) AS time,
       coalesce(events.batch_id, (SELECT batch_id FROM "memfold".events AS first WHERE first.id = events.id - events.batch_position)) AS batch_id, events.data
     FROM "memfold".events JOIN "memfold".sessions ON sessions.id = events.id >> 32 JOIN "memfold".types ON types.id = events.type;

CREATE VIEW "memfold".compressed_summaries WITH (security_invoker = true) AS
     SELECT summary_id AS id, thread_id AS chat_id, status, to_timestamp(time / 1000.0) AS compressed_at,
       summary_text AS summary,
       (SELECT coalesce(jsonb_agg(position), '[]')
        FROM generate_series(0, least(compact_up_to_index, compacted_at) - 1) AS position) AS message_ids,
       superseded_by, tokens, version
     FROM "memfold".summaries;

INSERT INTO "memfold".migrations (version) VALUES (1);
