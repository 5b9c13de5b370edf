/**
 * What an operator does with a file: how large it is and why, making it smaller, and copying it while it is in use.
 */
import { EventLog } from "@memfold/core"
import { Duration, Effect, type Scope } from "effect"
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { type Database, open, type Options } from "./Database.js"
import { integer, text } from "./Row.js"

/** The file that is meant, and how long another process's lock is waited for; 30 seconds by default. */
export type FileOptions = Pick<Options, "filename" | "busyTimeout">

/** How much there is of something, and the bytes it takes. */
export interface Amount {
  readonly name: string
  readonly count: number
  readonly bytes: number
}

/** How large a file is, and what it is made of. All sizes are in bytes. */
export interface SizeReport {
  /** The database file itself, and what has not come to it yet: the write-ahead log. */
  readonly file: number
  readonly wal: number
  /** What {@link vacuum} would give back at least: pages that nothing is on. */
  readonly free: number
  readonly sessions: number
  readonly events: number
  readonly messages: number
  readonly summaries: number
  /** Tables and indexes with their rows and pages, the largest first. */
  readonly tables: ReadonlyArray<Amount>
  /** Events by type, with the bytes of their data, the largest first. */
  readonly types: ReadonlyArray<Amount>
}

/** What {@link vacuum} has done to the file, in bytes. */
export interface Vacuumed {
  readonly before: number
  readonly after: number
}

/** How far a {@link backup} is, in bytes. */
export interface BackupProgress {
  readonly copied: number
  readonly total: number
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** A file as it is: `:memory:` has none, and nothing is created here. */
const existing = (
  options: FileOptions,
  { readonly }: { readonly readonly: boolean },
): Effect.Effect<Database, EventLog.LogError, Scope.Scope> =>
  options.filename === ":memory:"
    ? new EventLog.LogError({ operation: "open", reason: "a database in memory has no file" })
    : open({ ...options, readonly, create: false })

/**
 * How large a file is, and what takes the room. It reads every page once, and keeps nobody from writing.
 *
 * @example
 * ```ts
 * import * as SqliteEventLog from "@memfold/store-sqlite"
 * import { Effect } from "effect"
 *
 * const report = await Effect.runPromise(SqliteEventLog.size({ filename: "chats.db" }))
 * console.log(report.file / report.messages, "bytes a message")
 * ```
 */
export const size = (options: FileOptions): Effect.Effect<SizeReport, EventLog.LogError> =>
  Effect.gen(function* () {
    const { query } = yield* existing(options, { readonly: true })
    const ask = (sql: string) => query("size", sql, [])
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
      `SELECT type AS name, count(*) AS count, sum(octet_length(data)) AS bytes
       FROM events GROUP BY type ORDER BY bytes DESC, name`,
    )
    return {
      file: bytesOf(options.filename),
      wal: bytesOf(`${options.filename}-wal`),
      free: pageSize * (yield* number("PRAGMA freelist_count")),
      sessions: yield* number("SELECT count(*) FROM sessions"),
      events: types.reduce((sum, { count }) => sum + count, 0),
      messages: types.find(({ name }) => name === "MessageAppended")?.count ?? 0,
      summaries: types.find(({ name }) => name === "SummaryCommitted")?.count ?? 0,
      tables,
      types,
    }
  }).pipe(Effect.scoped)

/**
 * Writes the file anew without what was deleted, and gives the room back. Others can read meanwhile, and wait to
 * write; it takes as much room again while it is at work. Fails with a `LogError` if somebody keeps the file locked.
 */
export const vacuum = (options: FileOptions): Effect.Effect<Vacuumed, EventLog.LogError> =>
  Effect.gen(function* () {
    const { query } = yield* existing(options, { readonly: false })
    const all = () => bytesOf(options.filename) + bytesOf(`${options.filename}-wal`)
    const before = all()
    yield* query("vacuum", "VACUUM", [])
    yield* query("vacuum", "PRAGMA wal_checkpoint(TRUNCATE)", [])
    return { before, after: all() }
  }).pipe(Effect.scoped)

/** Waits until the disk has it. */
const synced = (path: string): void => {
  const handle = openSync(path, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Copies a file to another one, while others read and write: the copy is the log as it was when it began. It is
 * written beside `to` first, checked, and has its name only once it is whole; what is there already is never
 * overwritten. Meanwhile the write-ahead log of the file keeps growing.
 *
 * `onProgress` is told now and then how far it is. Fails with a `LogError` that says which file is at fault.
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
    const failed = (reason: string, cause?: unknown) =>
      new EventLog.LogError({ operation: "backup", reason, ...(cause === undefined ? {} : { cause }) })
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
    // A connection that reads has one view of the file: without it, each write of another process would make the copy
    // begin again.
    yield* query("backup", "BEGIN", [])
    const [row] = yield* query(
      "backup",
      "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size, (SELECT count(*) FROM sessions)",
      [],
    )
    const total = integer(row ?? {}, "bytes")
    const look = Effect.sync(() => onProgress({ copied: Math.min(bytesOf(part), total), total }))
    yield* copy(part).pipe(
      Effect.raceFirst(Effect.forever(Effect.zipRight(look, Effect.sleep(Duration.millis(50))))),
    )
    yield* query("backup", "COMMIT", [])
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { query } = yield* open({ filename: part, create: false })
        const [check] = yield* query("backup", "PRAGMA quick_check(1)", [])
        if (Object.values(check ?? {})[0] !== "ok") {
          return yield* failed(`the copy of ${options.filename} is damaged; the file itself may be`)
        }
        yield* query("backup", "PRAGMA journal_mode = DELETE", [])
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
