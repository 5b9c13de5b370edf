/**
 * One SQLite file: checks whose it is, creates its tables, and writes in transactions that take the write lock at
 * their start. Appends that wait at the same time share a transaction (group commit).
 */
import { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/core"
import { Duration, Effect, Exit, Schedule, type Scope } from "effect"
import { closeSync, existsSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { connect } from "./driver.js"
import { named } from "./named.js"
import { integer, type Row, type Run, type RunNow } from "./Row.js"
import { applicationId, schemaVersion, statements } from "./schema.js"
import * as Writer from "./Writer.js"
import { isBusy } from "./Writer.js"

/** How a file is opened. */
export interface Options {
  /** The path of the database file, or `:memory:` for a database that ends with the process. */
  readonly filename: string
  /** Whether to create a file that does not exist; `true` by default. */
  readonly create?: boolean
  /** Opens the file to read it; every write fails. `false` by default. */
  readonly readonly?: boolean
  /**
   * How durable an append is when it returns. `full` (default): it survives a power cut. `normal`: it survives a killed
   * process, but a power cut can lose the last appends, newest first; faster, because it does not wait for the disk.
   * With either, the file stays valid and no log gets a gap.
   */
  readonly synchronous?: "full" | "normal"
  /** How long a writer waits for the lock of another one; 30 seconds by default. */
  readonly busyTimeout?: Duration.DurationInput
  /**
   * Where memories over this file keep the full-text index of recall: `store` (default): in the file, where the next
   * process finds it; `process`: in the process. What the file has is not dropped by that: see `dropFullTextIndex`.
   */
  readonly fullTextIndex?: "store" | "process"
}

/** The operation that a write belongs to, and its session, if it is of one: errors name both. */
export interface About {
  readonly operation: string
  readonly session?: string | undefined
}

/** How a write is run. */
export interface WriteOptions<A> {
  /**
   * Does the work of the body in the usual case, without the cost of an effect. It is tried first; when it changes nothing, it
   * returns `null`, and the body runs. It throws what SQLite throws.
   */
  readonly atOnce?: ((run: RunNow) => A | null) | undefined
  /**
   * Whether the body may be asynchronous: then it has a transaction of its own, and all other writes of the process wait for
   * it. `false` by default.
   */
  readonly pauses?: boolean
  /** Is called when it is written, before its writer is answered. */
  readonly onWritten?: () => void
}

/** An open file. */
export interface Database {
  /** Runs one statement outside a transaction. */
  readonly query: (
    operation: string,
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<Row>, EventLog.LogError>
  /** The same for a statement that is only run so; its rows are lists of their columns. */
  readonly lists: (
    operation: string,
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, EventLog.LogError>
  /**
   * Runs the statements of `body` in one transaction. Writes that wait at the same time share a transaction and its
   * wait for the disk (group commit); if a statement fails, the transaction is rolled back and each write is run again
   * alone. A body that fails with an error of its own must do so before its first write.
   */
  readonly write: <A, E>(
    about: About,
    body: (run: Run, now: RunNow) => Effect.Effect<A, E | SqlError>,
    options?: WriteOptions<A>,
  ) => Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError>
  /**
   * Moves the write-ahead log into the file and empties it, if no other connection uses it at this moment; otherwise
   * `false`. It does not wait.
   */
  readonly checkpoint: (operation: string) => Effect.Effect<boolean, EventLog.LogError>
  /** Copies the database, page by page, to a file that does not exist. */
  readonly copy: (to: string) => Effect.Effect<void, EventLog.LogError>
}

const causeOf = (error: unknown): { readonly code?: unknown; readonly message?: unknown } =>
  typeof error === "object" && error !== null ? error : {}

/** SQLite's result codes in words: the problem and what to do. */
const reasons: ReadonlyArray<readonly [prefix: string, reason: (file: string, message: string) => string]> = [
  ["SQLITE_BUSY", (file) => `${file} is locked by another process; try again when that one is done`],
  ["SQLITE_LOCKED", (file) => `${file} is locked by another process; try again when that one is done`],
  ["SQLITE_READONLY", (file) => `${file} is read-only; make it and its folder writable`],
  ["SQLITE_FULL", (file) => `the disk is full at ${file}; make room and try again`],
  ["SQLITE_NOTADB", (file) => `${file} is not a SQLite database`],
  ["SQLITE_CORRUPT", (file) => `${file} is damaged; restore it from a backup, or try sqlite3's .recover`],
  ["SQLITE_CANTOPEN", (file) => `${file} cannot be opened; check that its folder exists and is writable`],
  ["SQLITE_IOERR", (file) => `the disk failed at ${file}`],
  // The other unique columns are only written under the lock, after a look.
  [
    "SQLITE_CONSTRAINT_UNIQUE",
    (file, message) =>
      `the change would leave two ${message.includes("summary_id") ? "summaries with one id" : "active summaries"} in ${file}; nothing was written`,
  ],
]

/** The driver's native part cannot be loaded, which has nothing to do with the file. */
const driverReasons: ReadonlyArray<readonly [problem: RegExp, reason: string]> = [
  [
    /^Could not locate the bindings file/,
    "the native part of better-sqlite3 was not built when it was installed. Run `npm rebuild better-sqlite3`; with pnpm, allow the build first: `pnpm approve-builds`, or add better-sqlite3 to `allowBuilds` in pnpm-workspace.yaml and run `pnpm rebuild better-sqlite3`",
  ],
  [
    /NODE_MODULE_VERSION|ERR_DLOPEN_FAILED|invalid ELF header|not a valid Win32 application/,
    "better-sqlite3 was built for another Node or another system. Run `npm rebuild better-sqlite3`, or `pnpm rebuild better-sqlite3`",
  ],
]

/** The typed error for what SQLite threw. */
const failure = (file: string, operation: string, error: unknown): EventLog.LogError => {
  const cause = error instanceof SqlError ? causeOf(error.cause) : causeOf(error)
  const code = typeof cause.code === "string" ? cause.code : ""
  const driver = driverReasons.find(([problem]) => problem.test(String(cause.message)))
  if (driver !== undefined) return new EventLog.LogError({ operation, reason: driver[1], cause: error })
  const known = reasons.find(([prefix]) => code.startsWith(prefix))
  const message = typeof cause.message === "string" ? cause.message : "SQLite gave no reason"
  return new EventLog.LogError({
    operation,
    reason: known === undefined ? `${message} (${file})` : known[1](file, message),
    cause: error,
  })
}

/** Whether a checkpoint has moved all of the write-ahead log. */
const isComplete = ([row]: ReadonlyArray<Row>): boolean => row === undefined || integer(row, "busy") === 0

/** A problem found before SQLite opens the file. */
const refused = (file: string, problem: string) =>
  new EventLog.LogError({ operation: "open", reason: `${file} ${problem}` })

/**
 * Creates an empty file that only its owner can read and write. SQLite gives its companions (`-wal`, `-shm`) the same
 * permissions. Whatever goes wrong, SQLite will report when it opens the file.
 */
export const createPrivate = (filename: string): void => {
  try {
    closeSync(openSync(filename, "wx", 0o600))
  } catch {
    // Another process created it meanwhile, or nobody can.
  }
}

/** Checks the file before SQLite opens it, because SQLite would create or change it. */
const checkFile = ({ filename, create = true, readonly = false }: Options) =>
  Effect.suspend(() => {
    if (filename === ":memory:") return Effect.void
    // The driver would open a temporary database, which ends with the process.
    if (filename.trim() === "") return refused("an empty filename", "names no file")
    if (filename.includes("\0")) return refused("a filename with a NUL character", "names no file")
    if (!existsSync(filename)) {
      if (!create || readonly) return refused(filename, "does not exist")
      if (!existsSync(dirname(filename)))
        return refused(filename, "is in a folder that does not exist; create the folder")
      createPrivate(filename)
      return Effect.void
    }
    const stat = statSync(filename)
    if (!stat.isFile()) return refused(filename, "is not a file")
    // Root may write to any file. A file without write permission is refused for root as well.
    if (!readonly && (stat.mode & 0o222) === 0) return refused(filename, "is read-only; make it writable")
    return Effect.void
  })

/** Checks that the file is empty, or memfold's with the tables of this version; returns whether it is empty. */
const checkOwner = (file: string, run: Run) =>
  Effect.gen(function* () {
    const number = (rows: ReadonlyArray<Row>, name: string) => Number(rows[0]?.[name])
    const owner = number(yield* run("PRAGMA application_id"), "application_id")
    const tables = number(yield* run("SELECT count(*) AS n FROM sqlite_master"), "n")
    if (owner !== applicationId && (owner !== 0 || tables > 0)) {
      return yield* refused(file, "is a database of another program; choose another file")
    }
    if (tables === 0) return true
    const version = number(yield* run("PRAGMA user_version"), "user_version")
    if (version !== schemaVersion) {
      const advice = version > schemaVersion ? "update memfold" : "start a new file"
      return yield* refused(
        file,
        `has schema ${version}, this memfold knows schema ${schemaVersion}; ${advice}`,
      )
    }
    return false
  })

/** Retries until a time limit. SQLite's own waiting blocks the thread, and it does not wait everywhere. */
const waitingForLock =
  (millis: number) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.retry(effect, {
      while: isBusy,
      schedule: Schedule.jittered(Schedule.spaced("5 millis")).pipe(Schedule.upTo(millis)),
    })

/** Opens a database file, and creates its tables if it is new. It is closed with the scope. */
export const open = (options: Options): Effect.Effect<Database, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const { filename: file, readonly = false, synchronous = "full" } = options
    yield* checkFile(options)
    const driver = yield* connect(file, { readonly }).pipe(
      Effect.mapError((error) => failure(file, "open", error)),
    )
    const { run } = driver
    const busy = Math.min(Math.round(Duration.toMillis(options.busyTimeout ?? "30 seconds")), 2 ** 31 - 1)

    const failing =
      (operation: string) =>
      <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
        Effect.mapError(effect, (error) =>
          error instanceof SqlError ? failure(file, operation, error) : (error as Exclude<E, SqlError>),
        )

    const writer = Writer.make(driver, busy)
    yield* Effect.addFinalizer(() => Effect.sync(writer.release))

    const patient =
      <A>(statement: (sql: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<A, SqlError>) =>
      (operation: string, sql: string, parameters: ReadonlyArray<unknown>) => {
        const asked = statement(sql, parameters)
        return asked.pipe(
          Effect.catchIf(isBusy, () => waitingForLock(busy)(asked)),
          failing(operation),
        )
      }

    const database: Database = {
      query: patient(run),
      lists: patient(driver.lists),
      checkpoint: (operation) =>
        Effect.suspend(() =>
          writer.holds()
            ? Effect.succeed(false)
            : Effect.map(run("PRAGMA wal_checkpoint(TRUNCATE)"), isComplete),
        ).pipe(
          Effect.catchIf(isBusy, () => Effect.succeed(false)),
          failing(operation),
        ),
      write: <A, E>(
        { operation, session }: About,
        body: (run: Run, now: RunNow) => Effect.Effect<A, E | SqlError>,
        { atOnce, pauses = false, onWritten }: WriteOptions<A> = {},
      ) =>
        // SQLite would fail at the first statement that writes; `body` reads first.
        readonly
          ? failure(file, operation, { code: "SQLITE_READONLY" }).pipe(named(session))
          : Effect.suspend((): Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError> => {
              const work = { session, body, atOnce, pauses }
              const answerOf = (exit: Exit.Exit<unknown, unknown>) => {
                const own = exit as Exit.Exit<A, E | SqlError>
                if (Exit.isFailure(own)) return own.pipe(failing(operation), named(session))
                onWritten?.()
                return Exit.succeed(own.value)
              }
              const written = writer.writeAtOnce(work)
              if (written !== null) return answerOf(written)
              return Effect.uninterruptible(
                Effect.async((answer) => writer.write({ ...work, answer: (exit) => answer(answerOf(exit)) })),
              )
            }),
      copy: (to) =>
        Effect.suspend(() =>
          // A copy would have what a transaction has written so far.
          writer.holds() ? Effect.zipRight(Effect.sleep("10 millis"), database.copy(to)) : driver.backup(to),
        ).pipe(
          Effect.mapError((error) =>
            error instanceof EventLog.LogError ? error : failure(to, "backup", error),
          ),
        ),
    }

    const isNew = yield* Effect.gen(function* () {
      // SQLite would block the thread while it waits.
      yield* run("PRAGMA busy_timeout = 0")
      // Checked within a transaction, because another process may be creating the tables right now.
      const isNew = yield* run("BEGIN").pipe(
        Effect.zipRight(checkOwner(file, run)),
        Effect.ensuring(Effect.ignore(run("ROLLBACK"))),
        waitingForLock(busy),
      )
      if (readonly && isNew) return yield* refused(file, "is empty; open it for writing once")
      yield* run("PRAGMA foreign_keys = ON")
      yield* run(`PRAGMA synchronous = ${synchronous}`)
      if (!readonly) {
        yield* run("PRAGMA journal_mode = WAL").pipe(waitingForLock(busy))
        // Overwrites deleted data with zeros, or a redacted message would stay on a free page.
        yield* run("PRAGMA secure_delete = ON")
      }
      return isNew
    }).pipe(failing("open"))

    if (isNew) {
      yield* database.write({ operation: "create" }, (run) =>
        Effect.gen(function* () {
          // Checked again under the lock: another process may have created the tables in the meantime.
          if (!(yield* checkOwner(file, run))) return
          yield* Effect.forEach(statements, (statement) => run(statement), { discard: true })
          yield* run(`PRAGMA application_id = ${applicationId}`)
          yield* run(`PRAGMA user_version = ${schemaVersion}`)
        }),
      )
    }
    return database
  })
