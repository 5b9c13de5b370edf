/**
 * One SQLite file: checks whose it is, creates its tables, and writes in transactions that take the write lock at
 * their start. Appends that wait at the same time share a transaction (group commit).
 */
import type { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql-sqlite-node/SqliteClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Reactivity from "@effect/experimental/Reactivity"
import { EventLog } from "@memfold/core"
import { Cause, Duration, Effect, Exit, Schedule, type Scope } from "effect"
import { existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type { Row, Run } from "./Row.js"
import { applicationId, schemaVersion, statements } from "./schema.js"

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
}

/** An open file. */
export interface Database {
  /** Runs one statement outside a transaction. */
  readonly query: (
    operation: string,
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<Row>, EventLog.LogError>
  /**
   * Runs the statements of `body` in one transaction. Writes that wait at the same time share a transaction and its
   * wait for the disk (group commit); if a statement fails, the transaction is rolled back and each write is run again
   * alone. A body that fails with an error of its own must do so before its first write.
   *
   * `atOnce` is a single statement that can do all of the work of `body`. It is tried first; when it changes nothing,
   * it returns `null`, and `body` runs.
   */
  readonly write: <A, E>(
    operation: string,
    body: (run: Run) => Effect.Effect<A, E | SqlError>,
    atOnce?: (run: Run) => Effect.Effect<A | null, SqlError>,
  ) => Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError>
  /** Copies the database, page by page, to a file that does not exist. */
  readonly copy: (to: string) => Effect.Effect<void, EventLog.LogError>
}

/** A write that waits for the next transaction. */
interface Waiting {
  readonly body: (run: Run) => Effect.Effect<unknown, unknown>
  readonly atOnce: ((run: Run) => Effect.Effect<unknown, unknown>) | undefined
  readonly answer: (exit: Exit.Exit<unknown, unknown>) => void
}

const causeOf = (error: unknown): { readonly code?: unknown; readonly message?: unknown } =>
  typeof error === "object" && error !== null ? error : {}

/** SQLite's result codes in words: the problem and what to do. */
const reasons: ReadonlyArray<readonly [prefix: string, reason: (file: string) => string]> = [
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
    (file) => `the change would leave two active summaries in ${file}; nothing was written`,
  ],
]

/** The typed error for what SQLite threw. */
const failure = (file: string, operation: string, error: unknown): EventLog.LogError => {
  const cause = error instanceof SqlError ? causeOf(error.cause) : causeOf(error)
  const code = typeof cause.code === "string" ? cause.code : ""
  const known = reasons.find(([prefix]) => code.startsWith(prefix))
  const message = typeof cause.message === "string" ? cause.message : "SQLite gave no reason"
  return new EventLog.LogError({
    operation,
    reason: known === undefined ? `${message} (${file})` : known[1](file),
    cause: error,
  })
}

/** A problem found before SQLite opens the file. */
const refused = (file: string, problem: string) =>
  new EventLog.LogError({ operation: "open", reason: `${file} ${problem}` })

/** Checks the file before SQLite opens it, because SQLite would create or change it. */
const checkFile = ({ filename, create = true, readonly = false }: Options) =>
  Effect.suspend(() => {
    if (filename === ":memory:") return Effect.void
    // The driver would open a temporary database, which ends with the process.
    if (filename.trim() === "") return refused("an empty filename", "names no file")
    if (!existsSync(filename)) {
      if (!create || readonly) return refused(filename, "does not exist")
      if (existsSync(dirname(filename))) return Effect.void
      return refused(filename, "is in a folder that does not exist; create the folder")
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

/** Retries until a time limit: SQLite does not wait for the lock when two processes switch a new file to WAL. */
const waitingForLock =
  (millis: number) =>
  <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.retry(effect, {
      while: ({ cause }) => String(causeOf(cause).code).startsWith("SQLITE_BUSY"),
      schedule: Schedule.jittered(Schedule.spaced("5 millis")).pipe(Schedule.upTo(millis)),
    })

/** After this many milliseconds of appends in a row, timers and sockets get a turn. */
const longestRun = 2

/** Opens a database file, and creates its tables if it is new. It is closed with the scope. */
export const open = (options: Options): Effect.Effect<Database, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const { filename: file, readonly = false, synchronous = "full" } = options
    yield* checkFile(options)
    // The client would switch any file to WAL while opening it. The file must be checked first.
    const client: SqliteClient.SqliteClient = yield* SqlClient.make({
      filename: file,
      readonly,
      disableWAL: true,
    }).pipe(
      Effect.provide(Reactivity.layer),
      Effect.catchAllDefect((defect) => Effect.fail(failure(file, "open", defect))),
    )
    const busy = Math.min(Math.round(Duration.toMillis(options.busyTimeout ?? "30 seconds")), 2 ** 31 - 1)

    const failing =
      (operation: string) =>
      <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
        Effect.mapError(effect, (error) =>
          error instanceof SqlError ? failure(file, operation, error) : (error as Exclude<E, SqlError>),
        )

    // There is one connection, and its driver is synchronous, so the connection is never busy.
    const connection: Connection = yield* Effect.scoped(client.reserve).pipe(failing("open"))

    const run: Run = (sql, parameters = []) =>
      Effect.catchAllCause(connection.execute(sql, parameters, undefined), (cause) =>
        // The client caches for minutes that a statement could not be prepared. It is prepared again here, since the
        // problem may be gone.
        Cause.isFailType(cause) && !cause.error.message.startsWith("Failed to prepare")
          ? Effect.failCause(cause)
          : // Running a statement fails with an error, but preparing one throws a defect.
            Effect.suspend(() => connection.executeUnprepared(sql, parameters, undefined)).pipe(
              Effect.catchAllDefect((cause) => new SqlError({ cause, message: "Failed to run a statement" })),
            ),
      )

    /** Runs the body of a transaction that has begun, then commits it, or rolls it back if it fails. */
    const ended = <A, E>(body: Effect.Effect<A, E>) =>
      body.pipe(
        Effect.tap(() => run("COMMIT")),
        Effect.tapErrorCause(() => Effect.ignore(run("ROLLBACK"))),
      )

    const orElse = (atOnce: Waiting["atOnce"], body: Effect.Effect<unknown, unknown>) =>
      atOnce === undefined
        ? body
        : Effect.flatMap(atOnce(run), (done) => (done === null ? body : Effect.succeed(done)))

    // A single statement is a transaction by itself, and takes the write lock at its start.
    const alone = ({ body, atOnce }: Waiting) =>
      Effect.exit(orElse(atOnce, Effect.zipRight(run("BEGIN IMMEDIATE"), ended(body(run)))))

    /** Whether the transaction can go on: the body succeeded, or failed with an error of its own and wrote nothing. */
    const canGoOn = (exit: Exit.Exit<unknown, unknown>): boolean =>
      Exit.isSuccess(exit) || (Cause.isFailType(exit.cause) && !(exit.cause.error instanceof SqlError))

    /** Group commit: one transaction for all. If SQLite fails at any of them, each is run again alone. */
    const together = (group: ReadonlyArray<Waiting>) =>
      Effect.gen(function* () {
        const begun = yield* Effect.exit(run("BEGIN IMMEDIATE"))
        // The lock was not free in time. Nothing was written.
        if (Exit.isFailure(begun)) return group.map(() => begun)
        const all = yield* Effect.forEach(group, ({ body, atOnce }) =>
          Effect.flatMap(
            Effect.exit(orElse(atOnce, body(run))),
            (exit): Effect.Effect<Exit.Exit<unknown, unknown>, unknown> =>
              canGoOn(exit)
                ? Effect.succeed(exit)
                : Effect.failCause(Exit.isFailure(exit) ? exit.cause : Cause.empty),
          ),
        ).pipe(ended, Effect.exit)
        return Exit.isSuccess(all) ? all.value : yield* Effect.forEach(group, alone)
      })

    let waiting: Array<Waiting> = []
    /** When the current run of appends began, without a turn for timers and sockets; 0 between runs. */
    let busySince = 0

    /**
     * Waits for other writers before the next flush, so that they share its transaction: until sockets have had their
     * turn, or, within a run of appends, until the other fibers have.
     */
    const schedule = () => {
      if (busySince > 0 && performance.now() - busySince < longestRun) queueMicrotask(flush)
      else setImmediate(flush)
    }

    /** Writes everything that waits, and answers each writer. */
    const flush = () => {
      const group = waiting
      waiting = []
      if (busySince === 0) {
        busySince = performance.now()
        // The tick comes after all microtasks, so after every append that follows directly.
        queueMicrotask(() =>
          process.nextTick(() => {
            busySince = 0
          }),
        )
      }
      const [only] = group
      // Synchronous, because no other fiber may run in between: if it wrote through a second connection of this
      // process, it would block the thread while it waits for the lock of this very transaction.
      const done = Effect.runSyncExit(
        only !== undefined && group.length === 1
          ? Effect.map(alone(only), (exit) => [exit])
          : together(group),
      )
      for (const [position, { answer }] of group.entries()) {
        answer(Exit.flatMap(done, (exits) => exits[position] ?? Exit.void))
      }
    }

    const database: Database = {
      query: (operation, sql, parameters) => failing(operation)(run(sql, parameters)),
      write: <A, E>(
        operation: string,
        body: (run: Run) => Effect.Effect<A, E | SqlError>,
        atOnce?: (run: Run) => Effect.Effect<A | null, SqlError>,
      ) =>
        // SQLite would fail at the first statement that writes; `body` reads first.
        readonly
          ? failure(file, operation, { code: "SQLITE_READONLY" })
          : Effect.async<A, E | SqlError>((answer) => {
              if (waiting.length === 0) schedule()
              waiting.push({ body, atOnce, answer: answer as Waiting["answer"] })
            }).pipe(Effect.uninterruptible, failing(operation)),
      copy: (to) =>
        Effect.mapError(Effect.asVoid(client.backup(to)), (error) => failure(to, "backup", error)),
    }

    const isNew = yield* Effect.gen(function* () {
      yield* run(`PRAGMA busy_timeout = ${busy}`)
      // Checked within a transaction, because another process may be creating the tables right now.
      yield* run("BEGIN")
      const isNew = yield* checkOwner(file, run).pipe(Effect.ensuring(Effect.ignore(run("ROLLBACK"))))
      if (readonly && isNew) return yield* refused(file, "is empty; open it for writing once")
      yield* run("PRAGMA foreign_keys = ON")
      yield* run(`PRAGMA synchronous = ${synchronous}`)
      if (!readonly) {
        yield* run("PRAGMA journal_mode = WAL").pipe(waitingForLock(busy))
        // Appends write the same pages again and again. A larger write-ahead log (16 MB) copies them to the file less
        // often.
        yield* run("PRAGMA wal_autocheckpoint = 4000")
        // Overwrites deleted data with zeros, or a redacted message would stay on a free page.
        yield* run("PRAGMA secure_delete = ON")
      }
      return isNew
    }).pipe(failing("open"))

    if (isNew) {
      yield* database.write("create", (run) =>
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
