/** A vector index for memfold's recall, in one SQLite file, with `sqlite-vec`. */
import { VectorIndex } from "@memfold/log"
import type Sqlite from "better-sqlite3"
import { type Duration, Effect, Layer, Schedule, type Scope, Stream } from "effect"
import { isThere, makeVectorTable, openFile, Refused, tableOf } from "./file.js"

/** How the file is used. */
export interface Options {
  /**
   * The path of the file, such as `chats.db-vectors` beside the store `chats.db`; `:memory:` for an index that ends with the
   * process. It is created when vectors are first written, for your user only. Use one file for one store and one embedder.
   */
  readonly filename: string
  /** How long an operation waits for the lock of another process; 5 seconds by default. */
  readonly busyTimeout?: Duration.DurationInput
}

interface SessionRow extends VectorIndex.Extent {
  readonly id: bigint
  readonly dimensions: bigint | null
}

type Operation = VectorIndex.VectorIndexError["operation"]

/** How often a lock is tried. */
const between = "10 millis"

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : ""

const isBusy = (error: unknown): boolean =>
  codeOf(error).startsWith("SQLITE_BUSY") || codeOf(error).startsWith("SQLITE_LOCKED")

/** SQLite's result codes in words: the problem and what to do. Messages of SQLite may have names of sessions in them. */
const detailOf = (error: unknown, filename: string): string => {
  const code = codeOf(error)
  if (error instanceof Refused) return error.message
  if (isBusy(error)) return `${filename} is locked by another process; try again when that one is done`
  if (code.startsWith("SQLITE_NOTADB")) return `${filename} is not a SQLite database; choose another file`
  if (code.startsWith("SQLITE_CORRUPT"))
    return `${filename} is damaged; delete it, and it is made again by the next searches`
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN"))
    return `${filename} cannot be written; make it and its folder writable`
  if (code.startsWith("SQLITE_FULL")) return `the disk is full at ${filename}; make room`
  if (code !== "") return `SQLite failed at ${filename}: ${code}`
  return `sqlite-vec could not be loaded or used (${error instanceof Error ? error.name : typeof error}); it needs better-sqlite3 and one of the platforms of sqlite-vec: Linux, macOS, or Windows on x64`
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const sessionOf = (database: Sqlite.Database, name: string): SessionRow | undefined => {
  const row = database
    .prepare("SELECT id, space, dimensions, version, event FROM sessions WHERE name = ?")
    .safeIntegers()
    .get(name) as (Omit<SessionRow, "version"> & { readonly version: bigint }) | undefined
  return row && { ...row, version: Number(row.version) }
}

/** Deletes pieces of a session with their vectors: all pieces, or the pieces of one message. */
const deletePieces = (database: Sqlite.Database, { id, dimensions }: SessionRow, version?: number): void => {
  const [where, parameters] =
    version === undefined ? ["session = ?", [id]] : ["session = ? AND version = ?", [id, BigInt(version)]]
  const pieces = database.prepare(`SELECT id FROM pieces WHERE ${where}`).pluck().safeIntegers()
  const ids = pieces.all(...parameters)
  if (dimensions !== null && ids.length > 0) {
    const remove = database.prepare(`DELETE FROM ${tableOf(Number(dimensions))} WHERE rowid = ?`)
    for (const one of ids) remove.run(one)
  }
  database.prepare(`DELETE FROM pieces WHERE ${where}`).run(...parameters)
}

const write = (
  database: Sqlite.Database,
  name: string,
  { expected, place, anew, forget, entries }: VectorIndex.Change,
): boolean => {
  const row = sessionOf(database, name)
  if (!VectorIndex.isSameExtent(row ?? null, expected)) return false
  const isNew = anew || row?.space !== place.space
  if (row !== undefined && isNew) deletePieces(database, row)
  const width = entries[0]?.pieces[0]?.vector.length
  const dimensions = width === undefined ? (isNew ? null : (row?.dimensions ?? null)) : BigInt(width)
  const { id } = database
    .prepare(
      `INSERT INTO sessions (name, space, dimensions, version, event) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET space = excluded.space, dimensions = excluded.dimensions,
         version = excluded.version, event = excluded.event
       RETURNING id`,
    )
    .safeIntegers()
    .get(name, place.space, dimensions, BigInt(place.version), place.event) as { readonly id: bigint }
  for (const version of isNew ? [] : forget) deletePieces(database, { ...place, id, dimensions }, version)
  if (width === undefined) return true
  makeVectorTable(database, width)
  const addPiece = database
    .prepare("INSERT INTO pieces (session, version, message, digest, piece_offset) VALUES (?, ?, ?, ?, ?)")
    .safeIntegers()
  const addVector = database.prepare(
    `INSERT INTO ${tableOf(width)} (rowid, session, message, embedding) VALUES (?, ?, ?, ?)`,
  )
  for (const { index, version, digest, pieces } of entries) {
    deletePieces(database, { ...place, id, dimensions }, version)
    for (const { offset, vector } of pieces) {
      const { lastInsertRowid } = addPiece.run(
        id,
        BigInt(version),
        BigInt(index),
        BigInt(digest),
        BigInt(offset),
      )
      addVector.run(lastInsertRowid, id, BigInt(index), bytesOf(vector))
    }
  }
  return true
}

const nearest = (
  database: Sqlite.Database,
  name: string,
  { space, vector, before, limit }: VectorIndex.NearestRequest,
): ReadonlyArray<VectorIndex.Near> => {
  const row = sessionOf(database, name)
  if (row === undefined || row.space !== space || row.dimensions !== BigInt(vector.length)) return []
  // Asked for in a query of its own: otherwise SQLite may join before `vec0` has chosen the nearest.
  const rows = database
    .prepare(
      `WITH near AS MATERIALIZED (SELECT rowid AS id, distance FROM ${tableOf(vector.length)}
         WHERE embedding MATCH ? AND session = ? AND message < ? AND k = ?)
       SELECT message AS "index", version, piece_offset AS "offset", 1 - distance AS similarity
         FROM near JOIN pieces USING (id) WHERE session = ? ORDER BY distance, message DESC, piece_offset`,
    )
    .all(bytesOf(vector), row.id, BigInt(before), BigInt(limit), row.id)
  return rows as ReadonlyArray<VectorIndex.Near>
}

const forget = (database: Sqlite.Database, name: string, version: number | undefined): void => {
  const row = sessionOf(database, name)
  if (row === undefined) return
  deletePieces(database, row, version)
  if (version === undefined) database.prepare("DELETE FROM sessions WHERE id = ?").run(row.id)
}

const load = (database: Sqlite.Database, name: string): VectorIndex.StoredVectors | null => {
  const row = sessionOf(database, name)
  if (row === undefined) return null
  const { space, version, event } = row
  const entries = database
    .prepare(
      `SELECT DISTINCT message AS "index", version, digest FROM pieces WHERE session = ? ORDER BY version`,
    )
    .all(row.id)
  return { place: { space, version, event }, entries: entries as VectorIndex.StoredVectors["entries"] }
}

/**
 * Makes a vector index in a file. The file is opened by the first operation that needs it, and closed with the scope; if that
 * fails, so does the operation, and the next one tries again.
 *
 * @param options - the file, and how long to wait for another process
 */
export const make = ({
  filename,
  busyTimeout = "5 seconds",
}: Options): Effect.Effect<VectorIndex.Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    let opened: Sqlite.Database | null = null
    let isClosed = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        opened?.close()
      }),
    )
    const database = (): Sqlite.Database => {
      if (isClosed) throw new Refused("it was closed")
      return (opened ??= openFile(filename))
    }
    const waiting = Schedule.spaced(between).pipe(Schedule.upTo(busyTimeout))
    const use = <A>(
      operation: Operation,
      session: string,
      nobody: A,
      body: (database: Sqlite.Database) => A,
      { writes = false } = {},
    ): Effect.Effect<A, VectorIndex.VectorIndexError> =>
      Effect.try({
        try: () => {
          if (opened === null && !(writes || isThere(filename))) return nobody
          const file = database()
          const run = file.transaction(() => body(file))
          return writes ? run.immediate() : run()
        },
        catch: (error) => error,
      }).pipe(
        Effect.retry({ schedule: waiting, while: isBusy }),
        Effect.mapError(
          (error) =>
            new VectorIndex.VectorIndexError({ session, operation, detail: detailOf(error, filename) }),
        ),
      )
    return {
      place: (session) =>
        use("load", session, null, (file) => {
          const row = sessionOf(file, session)
          return row === undefined ? null : { space: row.space, version: row.version, event: row.event }
        }),
      write: (session, change) =>
        use("write", session, false, (file) => write(file, session, change), { writes: true }),
      nearest: (session, request) => use("nearest", session, [], (file) => nearest(file, session, request)),
      forget: (session, version) =>
        Effect.suspend(() =>
          opened === null && !isThere(filename)
            ? Effect.void
            : use("forget", session, undefined, (file) => forget(file, session, version), { writes: true }),
        ),
      load: (session) => use("load", session, null, (file) => load(file, session)),
      sessions: Stream.unwrap(
        Effect.map(
          use("list", "", [], (file) => file.prepare("SELECT name FROM sessions").pluck().all()),
          (names) => Stream.fromIterable(names as ReadonlyArray<string>),
        ),
      ),
    }
  })

/**
 * A vector index in a file, as a layer.
 *
 * @param options - the file, and how long to wait for another process
 *
 * @example
 * ```ts
 * import { layer } from "@memfold/sqlite-vec"
 *
 * export const vectors = layer({ filename: "chats.db-vectors" })
 * ```
 */
export const layer = (options: Options): Layer.Layer<VectorIndex.VectorIndex> =>
  Layer.scoped(VectorIndex.VectorIndex, make(options))
