/** Looks after a file: reports its size, makes it smaller, and copies it while it is in use. */
import { EventLog } from "@memfold/log"
import { integer, text } from "@memfold/store-sql"
import { Duration, Effect, type Scope } from "effect"
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { createPrivate, schemaVersion } from "./checks.js"
import type { File } from "./File.js"
import { lackedBy } from "./derived.js"
import { open } from "./open.js"
import type { Options } from "./Options.js"

/** The file, and how long to wait for the lock of another process; 30 seconds by default. */
export type FileOptions = Pick<Options, "filename" | "busyTimeout" | "projectionsOf">

/** A name with a count and the bytes it takes. */
export interface Amount {
  readonly name: string
  readonly count: number
  readonly bytes: number
}

/** How large a file is, and what takes the room. All sizes are in bytes. */
export interface SizeReport {
  /** The database file, and its write-ahead log: the newest appends are only there. */
  readonly file: number
  readonly wal: number
  /** Empty pages; {@link vacuum} gives back at least these. */
  readonly free: number
  readonly sessions: number
  readonly events: number
  readonly summaries: number
  /** Tables and indexes with their rows and pages, the largest first. */
  readonly tables: ReadonlyArray<Amount>
  /** Events by type, with the bytes of their data, the largest first. */
  readonly types: ReadonlyArray<Amount>
}

/** The size of a file before and after {@link vacuum}, in bytes. */
export interface Vacuumed {
  readonly before: number
  readonly after: number
}

/** The progress of a {@link backup}, in bytes. */
export interface BackupProgress {
  readonly copied: number
  readonly total: number
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Opens a file that exists. `:memory:` is an error. */
const existing = (
  options: FileOptions,
  { readonly }: { readonly readonly: boolean },
): Effect.Effect<File, EventLog.LogError, Scope.Scope> =>
  options.filename === ":memory:"
    ? new EventLog.LogError({ operation: "open", reason: "a database in memory has no file" })
    : open({ ...options, readonly, create: false })

/**
 * Reports how large a file is, and what takes the room. Reads every page once; others can write meanwhile.
 *
 * Fails with a `LogError` if the file cannot be opened or read.
 *
 * @example
 * ```ts
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { Effect } from "effect"
 *
 * const report = await Effect.runPromise(SqliteEventLog.size({ filename: "chats.db" }))
 * console.log(report.file / report.events, "bytes for each event")
 * ```
 */
export const size = (options: FileOptions): Effect.Effect<SizeReport, EventLog.LogError> =>
  Effect.gen(function* () {
    const { query } = yield* existing(options, { readonly: true })
    const ask = (sql: string) => query({ operation: "size" }, sql)
    const number = (sql: string) => Effect.map(ask(sql), ([row]) => Number(Object.values(row ?? {})[0] ?? 0))
    const amounts = (sql: string) =>
      Effect.map(ask(sql), (rows) =>
        rows.map((row): Amount => ({
          name: text(row, "name"),
          count: integer(row, "count"),
          bytes: integer(row, "bytes"),
        })),
      )
    const pageSize = yield* number("PRAGMA page_size")
    const tables = yield* amounts(
      // Inner pages have cells as well, but no rows.
      `SELECT name, sum(CASE pagetype WHEN 'leaf' THEN ncell ELSE 0 END) AS count, sum(pgsize) AS bytes
       FROM dbstat GROUP BY name ORDER BY bytes DESC, name`,
    )
    const types = yield* amounts(
      `SELECT name, count(*) AS count, sum(octet_length(data)) AS bytes
       FROM events JOIN types ON types.id = events.type GROUP BY types.id ORDER BY bytes DESC, name`,
    )
    return {
      file: bytesOf(options.filename),
      wal: bytesOf(`${options.filename}-wal`),
      free: pageSize * (yield* number("PRAGMA freelist_count")),
      sessions: yield* number("SELECT count(*) FROM sessions"),
      events: types.reduce((sum, { count }) => sum + count, 0),
      summaries: yield* number("SELECT count(*) FROM summaries"),
      tables,
      types,
    }
  }).pipe(Effect.scoped)

/**
 * Rewrites the file without its empty pages, and so gives the room of deleted sessions back. Others can read meanwhile;
 * writers wait. Needs as much free disk space as the file has.
 *
 * Fails with a `LogError` if another process keeps the file locked for longer than `busyTimeout`.
 */
export const vacuum = (options: FileOptions): Effect.Effect<Vacuumed, EventLog.LogError> =>
  Effect.gen(function* () {
    const { query } = yield* existing(options, { readonly: false })
    const all = () => bytesOf(options.filename) + bytesOf(`${options.filename}-wal`)
    const before = all()
    yield* query({ operation: "vacuum" }, "VACUUM")
    yield* query({ operation: "vacuum" }, "PRAGMA wal_checkpoint(TRUNCATE)")
    return { before, after: all() }
  }).pipe(Effect.scoped)

/** Waits until a file or folder is on the disk. */
const synced = (path: string): void => {
  const handle = openSync(path, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Copies a file while others read and write. The copy has the state at the start of the backup. It is written to
 * `TO.part`, checked, and then renamed to `to`, which must not exist. The write-ahead log of the file grows meanwhile.
 *
 * `onProgress` is called about every 50 ms. Fails with a `LogError` that names the file with the problem.
 *
 * @example
 * ```ts
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { Effect } from "effect"
 *
 * await Effect.runPromise(SqliteEventLog.backup({ filename: "chats.db", to: "chats-monday.db" }))
 * ```
 */
export const backup = ({
  to,
  onProgress = () => {},
  ...options
}: FileOptions & {
  readonly to: string
  readonly onProgress?: (progress: BackupProgress) => void
}): Effect.Effect<BackupProgress, EventLog.LogError> =>
  Effect.gen(function* () {
    const about = { operation: "backup" }
    const failed = (reason: string, cause?: unknown) =>
      new EventLog.LogError({ ...about, reason, ...(cause === undefined ? {} : { cause }) })
    if (existsSync(to)) return yield* failed(`${to} exists already; choose another name`)
    if (!existsSync(dirname(to)))
      return yield* failed(`${to} is in a folder that does not exist; create the folder`)
    const { query, copy } = yield* existing(options, { readonly: true })
    const part = `${to}.part`
    const remove = Effect.sync(() => {
      for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(part + end, { force: true })
    })
    yield* remove
    yield* Effect.addFinalizer(() => remove)
    // In a read transaction the connection sees one state of the file. Without it, each write of another process would
    // restart the copy.
    yield* query(about, "BEGIN")
    const [row] = yield* query(
      about,
      "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size, (SELECT count(*) FROM sessions)",
    )
    const total = integer(row ?? {}, "bytes")
    const look = Effect.sync(() => onProgress({ copied: Math.min(bytesOf(part), total), total }))
    createPrivate(part)
    yield* copy(part).pipe(
      Effect.raceFirst(Effect.forever(Effect.zipRight(look, Effect.sleep(Duration.millis(50))))),
    )
    yield* query(about, "COMMIT")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { query } = yield* open({ filename: part, create: false })
        const [check] = yield* query(about, "PRAGMA quick_check(1)")
        if (Object.values(check ?? {})[0] !== "ok") {
          return yield* failed(`the copy of ${options.filename} is damaged; the file itself may be`)
        }
        yield* query(about, "PRAGMA journal_mode = DELETE")
      }),
    )
    yield* Effect.try({
      try: () => {
        synced(part)
        renameSync(part, to)
        synced(dirname(to))
      },
      catch: (cause) => failed(`${to} cannot be written`, cause),
    })
    const done = { copied: bytesOf(to), total: bytesOf(to) }
    onProgress(done)
    return done
  }).pipe(Effect.scoped)

/**
 * Drops the full-text indexes of all sessions. The next search of a session builds its index again. {@link vacuum} gives the
 * room back. Returns how many sessions had one.
 *
 * Fails with a `LogError` if the file cannot be opened, or another process keeps it locked for longer than `busyTimeout`.
 *
 * @example
 * ```ts
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { Effect } from "effect"
 *
 * const { sessions } = await Effect.runPromise(SqliteEventLog.dropFullTextIndex({ filename: "chats.db" }))
 * console.log(sessions, "sessions had an index")
 * ```
 */
export const dropFullTextIndex = (
  options: FileOptions,
): Effect.Effect<{ readonly sessions: number }, EventLog.LogError> =>
  Effect.gen(function* () {
    const { transaction } = yield* existing(options, { readonly: false })
    return yield* transaction({ operation: "dropFullTextIndex" }, (run) =>
      Effect.gen(function* () {
        const ofIndex = "FROM projections WHERE kind IN ('index', 'index-terms')"
        const [row = {}] = yield* run(`SELECT count(DISTINCT session) AS sessions ${ofIndex}`)
        yield* run(`DELETE ${ofIndex}`)
        return { sessions: integer(row, "sessions") }
      }),
    )
  }).pipe(Effect.scoped)

/** The most problems that SQLite lists. */
const mostProblems = 20

const firstLine = (statement: string): string => statement.split("\n", 1)[0] ?? ""

/**
 * Checks the pages, the indexes and the definitions of the tables, and returns what is wrong, in words: an empty list if nothing
 * is. It reads the whole file; others can write meanwhile. `memfold verify` checks the logs themselves.
 *
 * Fails with a `LogError` if the file cannot be opened or read.
 *
 * @example
 * ```ts
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { Effect } from "effect"
 *
 * const problems = await Effect.runPromise(SqliteEventLog.integrity({ filename: "chats.db" }))
 * console.log(problems.length === 0 ? "the file is whole" : problems.join("\n"))
 * ```
 */
export const integrity = (options: FileOptions): Effect.Effect<ReadonlyArray<string>, EventLog.LogError> =>
  Effect.gen(function* () {
    const { query } = yield* existing(options, { readonly: true })
    const about = { operation: "integrity" }
    const checked = yield* query(about, `PRAGMA integrity_check(${mostProblems})`)
    const problems = checked
      .flatMap((row) => String(Object.values(row)[0]).split("\n"))
      .filter((line) => line !== "ok" && !line.startsWith("***"))
    const defined = yield* query(about, "SELECT name, type, sql FROM sqlite_master")
    // One changed letter can give a column another meaning, which SQLite takes as it is: rows are then found no more.
    // A file of another version has other ones.
    const [version = {}] = yield* query(about, "PRAGMA user_version")
    const isOwn = Number(version["user_version"]) === schemaVersion
    const changed = isOwn ? lackedBy(defined) : []
    return [...problems, ...changed.map(({ definition }) => `its definitions lack: ${firstLine(definition)}`)]
  }).pipe(Effect.scoped)
