-- memfold: tables of the event log, in the schema memfold.

CREATE TABLE "memfold".feed (shift BIGINT NOT NULL);

INSERT INTO "memfold".feed (shift) VALUES (0);

CREATE FUNCTION "memfold".feed_number() RETURNS BIGINT LANGUAGE SQL AS
     $$ SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + shift FROM "memfold".feed LIMIT 1 $$;

ALTER TABLE "memfold".sessions ADD COLUMN fed BIGINT NOT NULL DEFAULT 0;

ALTER TABLE "memfold".events ADD COLUMN fed BIGINT NOT NULL DEFAULT 0;

ALTER TABLE "memfold".events ALTER COLUMN fed SET DEFAULT "memfold".feed_number();

CREATE INDEX events_by_feed ON "memfold".events (fed, id);

INSERT INTO "memfold".migrations (version) VALUES (2);
