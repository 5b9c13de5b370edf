/** The vectors of recall in PostgreSQL, with its extension `vector` (pgvector), for all processes of an application. */
import type { SqlError } from "@effect/sql/SqlError"
import { EventLog, VectorIndex } from "@memfold/log"
import { atMost } from "@memfold/log/atMost"
import { type Database, database, type Row, type Run, text } from "@memfold/store-sql"
import { Effect, Layer, Scope, Stream } from "effect"
import { configOf, connecting, retrying } from "./connect.js"
import { type EmbeddedDatabase, useOfEmbedded } from "./connectEmbedded.js"
import { codeOf, postgres, quoted } from "./dialect.js"
import { createSchema } from "./migrations.js"
import { checkedSchema, type Options, parse } from "./Options.js"
import { reasonOf } from "./reasons.js"

/** Where the vectors are: in a server, or in a PGlite. */
export interface VectorOptions extends Pick<
  Options,
  "url" | "pool" | "client" | "schema" | "tls" | "connections" | "timeout" | "retryFor"
> {
  /** A PGlite that is open, with its extension `vector`, in place of a server; it stays open. */
  readonly database?: EmbeddedDatabase
}

interface Place extends VectorIndex.Extent {
  readonly id: number
}

/** An open database with the tables, and the names of what statements use there. */
interface Opened {
  readonly database: Database
  readonly places: string
  readonly pieces: string
  /** The type of vectors, and the operator of their cosine distance: the extension can be in any schema. */
  readonly vector: string
  readonly distance: string
}

/**
 * - `vector_places`: how far the vectors of each session reach
 * - `vector_pieces`: the vectors. All vectors of a session are compared with a query, so the primary key is the only index
 */
const tables = (s: string, vector: string): string =>
  `CREATE TABLE ${s}.vector_places (
     id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name TEXT COLLATE "C" NOT NULL UNIQUE,
     space TEXT NOT NULL,
     version BIGINT NOT NULL,
     event TEXT NOT NULL
   );
   CREATE TABLE ${s}.vector_pieces (
     session BIGINT NOT NULL REFERENCES ${s}.vector_places (id) ON DELETE CASCADE,
     version BIGINT NOT NULL,
     message BIGINT NOT NULL,
     digest BIGINT NOT NULL,
     piece_offset BIGINT NOT NULL,
     embedding ${vector} NOT NULL,
     PRIMARY KEY (session, version, piece_offset)
   )`

const noExtension = (name: string): string =>
  `${name} has no extension "vector": install pgvector on the server (Debian: postgresql-17-pgvector), and let an administrator run CREATE EXTENSION vector`

/** Makes the extension and the tables, if they are not there: one process at a time. */
const prepare = (
  opened: Database,
  schema: string,
  name: string,
): Effect.Effect<Opened, EventLog.LogError> => {
  const about = { operation: "open" }
  const s = quoted(schema)
  const extension = `SELECT nspname AS name FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'`
  const there = `SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relname = 'vector_pieces'`
  const opening = opened.transaction(about, (run) =>
    Effect.gen(function* () {
      yield* run("SELECT pg_advisory_xact_lock(hashtextextended('memfold vectors ' || ?, 0))", [schema])
      if ((yield* run(extension)).length === 0) yield* run("CREATE EXTENSION vector")
      const [found = {}] = yield* run(extension)
      const of = quoted(text(found, "name"))
      if ((yield* run(there, [schema])).length === 0) {
        yield* createSchema(run, schema)
        yield* run(tables(s, `${of}.vector`))
      }
      return {
        database: opened,
        places: `${s}.vector_places`,
        pieces: `${s}.vector_pieces`,
        vector: `${of}.vector`,
        distance: `OPERATOR(${of}.<=>)`,
      }
    }),
  )
  return Effect.mapError(opening, (error) => {
    // The server has no file of the extension, or knows no extension of this name.
    const code = codeOf((error.cause as SqlError | undefined)?.cause)
    return /^(58P01|0A000|22023)$/.test(code)
      ? new EventLog.LogError({ operation: "open", reason: noExtension(name), cause: error.cause })
      : error
  })
}

const open = (options: VectorOptions): Effect.Effect<Opened, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    if (options.database !== undefined) {
      const schema = yield* checkedSchema(options.schema ?? "memfold")
      const opening = { dialect: postgres(schema), reasonOf: reasonOf("PGlite") }
      return yield* prepare(database(useOfEmbedded(options.database), opening), schema, "PGlite")
    }
    const { url, schema } = yield* parse(options)
    const { use, name } = yield* connecting(url === null ? null : configOf(url, options), options)
    const again = retrying(name, options.retryFor ?? "15 seconds")
    const opening = { dialect: postgres(schema), reasonOf: reasonOf(name), reading: again, writing: again }
    return yield* prepare(database(use, opening), schema, name)
  })

const placeOf = (row: Row | undefined): Place | null =>
  row === undefined
    ? null
    : {
        id: Number(row["id"]),
        space: text(row, "space"),
        version: Number(row["version"]),
        event: text(row, "event"),
      }

const vectorText = (vector: Float32Array): string => `[${vector.join()}]`

/** Writes a change in a transaction: a writer of a session waits at its row for the one before. */
const write =
  ({ places, pieces, vector }: Opened, session: string, change: VectorIndex.Change) =>
  (run: Run): Effect.Effect<boolean, SqlError> =>
    Effect.gen(function* () {
      const { expected, place, anew, forget, entries } = change
      const [row] = yield* run(`SELECT id, space, version, event FROM ${places} WHERE name = ? FOR UPDATE`, [
        session,
      ])
      const known = placeOf(row)
      if (!VectorIndex.isSameExtent(known, expected)) return false
      const values = [place.space, place.version, place.event, session]
      const [written] = yield* known === null
        ? run(
            `INSERT INTO ${places} (space, version, event, name) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
            values,
          )
        : run(`UPDATE ${places} SET space = ?, version = ?, event = ? WHERE name = ? RETURNING id`, values)
      // Another process has begun with the session meanwhile.
      if (written === undefined) return false
      const id = written["id"]
      if (known !== null && (anew || known.space !== place.space))
        yield* run(`DELETE FROM ${pieces} WHERE session = ?`, [id])
      const old = [...forget, ...entries.map(({ version }) => version)]
      if (old.length > 0)
        yield* run(
          `DELETE FROM ${pieces} WHERE session = ? AND version IN
             (SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST(? AS JSONB)))`,
          [id, JSON.stringify(old)],
        )
      const added = entries.flatMap(({ version, index, digest, pieces }) =>
        pieces.map(({ offset, vector }) => [version, index, digest, offset, vectorText(vector)]),
      )
      if (added.length > 0)
        yield* run(
          `INSERT INTO ${pieces} (session, version, message, digest, piece_offset, embedding)
           SELECT CAST(? AS BIGINT), CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT),
             CAST(value ->> 3 AS BIGINT), CAST(value ->> 4 AS ${vector})
           FROM jsonb_array_elements(CAST(? AS JSONB))`,
          [id, JSON.stringify(added)],
        )
      return true
    })

/** The nearest pieces: those with as many numbers as the query alone can be compared with it. */
const nearest = ({ places, pieces, vector, distance }: Opened): string =>
  `WITH compared AS MATERIALIZED (
     SELECT message, version, piece_offset, embedding FROM ${pieces}
     WHERE session = (SELECT id FROM ${places} WHERE name = ? AND space = ?) AND message < ?
   ), query AS (SELECT CAST(? AS ${vector}) AS embedding)
   SELECT message, compared.version, piece_offset, compared.embedding ${distance} query.embedding AS distance
   FROM compared CROSS JOIN query ORDER BY distance, message DESC, piece_offset LIMIT ?`

/** How each operation is done with an open database. */
const operations = (
  use: <A>(
    operation: VectorIndex.VectorIndexError["operation"],
    session: string,
    body: (opened: Opened, about: { readonly operation: string }) => Effect.Effect<A, EventLog.LogError>,
  ) => Effect.Effect<A, VectorIndex.VectorIndexError>,
): VectorIndex.Service => {
  const extent = ({ space, version, event }: Place): VectorIndex.Extent => ({ space, version, event })
  const find = ({ database, places }: Opened, about: { readonly operation: string }, session: string) =>
    Effect.map(
      database.query(about, `SELECT id, space, version, event FROM ${places} WHERE name = ?`, [session]),
      ([row]) => placeOf(row),
    )
  return {
    place: (session) =>
      use("load", session, (opened, about) =>
        Effect.map(find(opened, about, session), (place) => (place === null ? null : extent(place))),
      ),
    write: (session, change) =>
      use("write", session, (opened, about) =>
        opened.database.transaction(about, write(opened, session, change)),
      ),
    nearest: (session, { space, vector, before, limit }) =>
      use("nearest", session, (opened, about) =>
        Effect.map(
          opened.database.query(about, nearest(opened), [session, space, before, vectorText(vector), limit]),
          (rows) =>
            rows.map((row) => ({
              index: Number(row["message"]),
              version: Number(row["version"]),
              offset: Number(row["piece_offset"]),
              similarity: 1 - Number(row["distance"]),
            })),
        ),
      ),
    forget: (session, version) =>
      use("forget", session, ({ database, places, pieces }, about) => {
        const [sql, values] =
          version === undefined
            ? [`DELETE FROM ${places} WHERE name = ?`, [session]]
            : [
                `DELETE FROM ${pieces} WHERE session = (SELECT id FROM ${places} WHERE name = ?) AND version = ?`,
                [session, version],
              ]
        return Effect.asVoid(database.failing(about)(database.statement(sql, values)))
      }),
    load: (session) =>
      use("load", session, (opened, about) =>
        Effect.gen(function* () {
          const place = yield* find(opened, about, session)
          if (place === null) return null
          const rows = yield* opened.database.query(
            about,
            `SELECT DISTINCT message, version, digest FROM ${opened.pieces} WHERE session = ? ORDER BY version`,
            [place.id],
          )
          const entries = rows.map((row) => ({
            index: Number(row["message"]),
            version: Number(row["version"]),
            digest: Number(row["digest"]),
          }))
          return { place: extent(place), entries }
        }),
      ),
    sessions: Stream.unwrap(
      Effect.map(
        use("list", "", ({ database, places }, about) =>
          database.query(about, `SELECT name FROM ${places} ORDER BY name`),
        ),
        (rows) => Stream.fromIterable(rows.map((row) => text(row, "name"))),
      ),
    ),
  }
}

/**
 * Makes a vector index in PostgreSQL, in two tables of their own. The first operation connects, and makes the extension and the tables
 * if they are not there; if that fails, so does the operation, and the next one tries again. The connections are closed with the scope.
 *
 * @param options - the server, as for the log, or a PGlite
 */
export const makeVectors = (options: VectorOptions): Effect.Effect<VectorIndex.Service, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const oneAtATime = atMost(1)
    let opened: Opened | null = null
    const opening = oneAtATime(
      Effect.suspend(() =>
        opened === null
          ? Effect.tap(Scope.extend(open(options), scope), (made) => Effect.sync(() => void (opened = made)))
          : Effect.succeed(opened),
      ),
    )
    return operations((operation, session, body) =>
      Effect.mapError(
        Effect.flatMap(opening, (made) => body(made, { operation })),
        ({ reason }) => new VectorIndex.VectorIndexError({ session, operation, detail: reason }),
      ),
    )
  })

/**
 * Provides the vectors of recall in PostgreSQL; see {@link makeVectors}.
 *
 * @example
 * ```ts
 * import { layerVectors } from "@memfold/store-postgres"
 *
 * export const vectors = layerVectors({ url: "postgres://localhost/chats" })
 * ```
 */
export const layerVectors = (options: VectorOptions): Layer.Layer<VectorIndex.VectorIndex> =>
  Layer.scoped(VectorIndex.VectorIndex, makeVectors(options))
