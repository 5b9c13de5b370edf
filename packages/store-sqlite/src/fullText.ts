/**
 * Full-text indexes in the file: two tables that are written when a session is searched. The engine knows what is in a
 * part; this module keeps the parts of each session, and drops them when what they were made from changes.
 */
import type { EventLog, FullTextIndex } from "@memfold/core"
import { Effect } from "effect"
import type { Database } from "./Database.js"
import { named } from "./named.js"
import { integer, type Run } from "./Row.js"
import { batchIdOf } from "./schema.js"

/** The bits of a bucket's number in the key of its row. The trigger `buckets_of_dropped_part` has the same. */
const bucketBits = 20

/**
 * The session, its parts, and the buckets that are asked for, told apart by the first column. One statement sees one state
 * of the file: another process may replace parts at any moment.
 */
const load = `WITH asked AS MATERIALIZED (SELECT id, rewrites FROM sessions WHERE name = ?)
SELECT 'session', rewrites, (SELECT max(events.id) & 0xffffffff FROM events
    WHERE events.id > asked.id << 32 AND events.id < asked.id + 1 << 32), NULL, NULL, NULL
  FROM asked
UNION ALL
SELECT 'part', parts.id, parts.version, parts.batch_id, parts.buckets, parts.head
  FROM asked CROSS JOIN full_text_parts AS parts ON parts.session = asked.id
UNION ALL
SELECT 'bucket', parts.id, buckets.id & ${2 ** bucketBits - 1}, NULL, NULL, buckets.data
  FROM asked CROSS JOIN full_text_parts AS parts ON parts.session = asked.id
    CROSS JOIN json_each(?) AS hashes
    CROSS JOIN full_text_buckets AS buckets
      ON buckets.id = (parts.id << ${bucketBits} | hashes.value % parts.buckets)`

/** The place of a session where a part may go, if all is as it was when the part was made. */
const place = `SELECT sessions.id FROM sessions JOIN events ON events.id = sessions.id << 32 | ?
  WHERE sessions.name = ? AND ${batchIdOf()} = ? AND sessions.rewrites = ?
    AND ? = (SELECT coalesce(max(version), 0) FROM full_text_parts WHERE session = sessions.id)`

/** A blob of a row. What another program put there instead is none, and has no checksum. */
const blob = (value: unknown): Uint8Array => (value instanceof Uint8Array ? value : new Uint8Array())

/**
 * Drops the parts of a session that have one of these records or come after it, in the transaction that rewrites them. There
 * are as many as the session has messages, if each one is bound to what was erased.
 */
export const dropRewritten = (run: Run, id: number, versions: ReadonlyArray<number>) => {
  const first = versions.reduce((least, version) => Math.min(least, version), Number.MAX_SAFE_INTEGER)
  return Effect.zipRight(
    run("DELETE FROM full_text_parts WHERE session = ? AND version >= ?", [id, first]),
    run("UPDATE sessions SET rewrites = rewrites + 1 WHERE id = ?", [id]),
  )
}

/** The stored index of the rows of {@link load}; `null` if there is no session. */
const storedIndex = (rows: ReadonlyArray<ReadonlyArray<unknown>>): FullTextIndex.StoredIndex | null => {
  let session: Pick<FullTextIndex.StoredIndex, "version" | "rewrites"> | null = null
  const parts = new Map<unknown, FullTextIndex.FoundPart & { readonly found: Map<number, Uint8Array> }>()
  for (const [kind, one, number, batchId, buckets, data] of rows) {
    if (kind === "session") session = { version: Number(number), rewrites: Number(one) }
    else if (kind === "bucket") parts.get(one)?.found.set(Number(number), blob(data))
    else {
      const part = { version: Number(number), batchId: String(batchId), buckets: Number(buckets) }
      parts.set(one, { ...part, head: blob(data), found: new Map() })
    }
  }
  if (session === null) return null
  return { ...session, parts: [...parts.values()].toSorted((a, b) => a.version - b.version) }
}

/** The full-text indexes of a file. */
export const fullText = ({
  lists,
  query,
  write,
}: Database): FullTextIndex.FullTextStore<EventLog.LogError> => ({
  load: (session, hashes) =>
    Effect.map(lists("fullText.load", load, [session, JSON.stringify(hashes)]), storedIndex).pipe(
      named(session),
    ),
  buckets: (session, version) =>
    query(
      "fullText.buckets",
      `SELECT parts.id, buckets.data FROM sessions
         JOIN full_text_parts AS parts ON parts.session = sessions.id
         LEFT JOIN full_text_buckets AS buckets
           ON buckets.id BETWEEN parts.id << ${bucketBits} AND (parts.id + 1 << ${bucketBits}) - 1
       WHERE sessions.name = ? AND parts.version = ? ORDER BY buckets.id`,
      [session, version],
    ).pipe(
      Effect.map((rows) =>
        rows.length === 0 ? null : rows.filter(({ data }) => data !== null).map(({ data }) => blob(data)),
      ),
      named(session),
    ),
  write: (session, { rewrites, end, after }, { version, batchId, head, buckets }) =>
    write({ operation: "fullText.write", session }, (run) =>
      Effect.gen(function* () {
        const [known] = yield* run(place, [version, session, batchId, rewrites, end])
        if (known === undefined) return false
        const id = integer(known, "id")
        yield* run("DELETE FROM full_text_parts WHERE session = ? AND version > ?", [id, after])
        const [part = {}] = yield* run(
          `INSERT INTO full_text_parts (session, version, batch_id, buckets, head) VALUES (?, ?, ?, ?, ?)
           RETURNING id`,
          [id, version, batchId, buckets.length, head],
        )
        for (const [bucket, data] of buckets.entries()) {
          yield* run(`INSERT INTO full_text_buckets (id, data) VALUES ((? << ${bucketBits}) + ?, ?)`, [
            integer(part, "id"),
            bucket,
            data,
          ])
        }
        return true
      }),
    ),
  drop: (session) =>
    write({ operation: "fullText.drop", session }, (run) =>
      session === undefined
        ? run("DELETE FROM full_text_parts")
        : run("DELETE FROM full_text_parts WHERE session = (SELECT id FROM sessions WHERE name = ?)", [
            session,
          ]),
    ).pipe(Effect.asVoid),
})
