/**
 * One SQLite file: opened, recognized as memfold's, brought to the newest schema, and written to in transactions
 * that take the write lock at their start.
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
import { hashCommits } from "./commitHash.js"
import { applicationId, migrations } from "./schema.js"
import { catchUp } from "./summaries.js"

/** How a file is opened. */
export interface Options {
  /** The path of the database file; `:memory:` for one that dies with the process. */
  readonly filename: string
  /** Whether to create a file that does not exist; `true` by default. */
  readonly create?: boolean
  /** Open for looking only: nothing is written, not even a newer schema. */
  readonly readonly?: boolean
  /**
   * What a finished append has survived. `full` (default): a power cut. `normal`: a killed process, but a power
   * cut can take the last appends with it, newest first; faster, because the disk is not waited for. Either way the
   * file stays sound, and no log gets a hole.
   */
  readonly synchronous?: "full" | "normal"
  /** How long a writer waits for another one's lock; 30 seconds by default. */
  readonly busyTimeout?: Duration.DurationInput
}

export interface Database {
  /** How many steps of the schema the file has taken; one that is opened for looking may lack some. */
  readonly schema: number
  readonly query: (
    operation: string,
    sql: string,
    parameters: ReadonlyArray<unknown>,
  ) => Effect.Effect<ReadonlyArray<Row>, EventLog.LogError>
  /**
   * Runs statements as one: all of them are committed or none. What waits to be written at the same time shares one
   * transaction and one wait for the disk, and is no concern of each other: what fails is undone alone. A body that
   * fails by itself, and not because SQLite does, has to do so before it writes. `atOnce` is one statement that may do
   * all of it; where it does nothing, and answers with `null`, the body is run.
   */
  readonly write: <A, E>(
    operation: string,
    body: (run: Run) => Effect.Effect<A, E | SqlError>,
    atOnce?: (run: Run) => Effect.Effect<A | null, SqlError>,
  ) => Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError>
  /** Copies the database, page by page, to a file that does not exist. */
  readonly copy: (to: string) => Effect.Effect<void, EventLog.LogError>
}

/** Something that waits to be written. */
interface Waiting {
  readonly body: (run: Run) => Effect.Effect<unknown, unknown>
  readonly atOnce: ((run: Run) => Effect.Effect<unknown, unknown>) | undefined
  readonly answer: (exit: Exit.Exit<unknown, unknown>) => void
}

const causeOf = (error: unknown): { readonly code?: unknown; readonly message?: unknown } =>
  typeof error === "object" && error !== null ? error : {}

/** SQLite's result codes in words: what is wrong, and what to do. */
const reasons: ReadonlyArray<readonly [prefix: string, reason: (file: string) => string]> = [
  ["SQLITE_BUSY", (file) => `${file} is locked by another process; try again when that one is done`],
  ["SQLITE_LOCKED", (file) => `${file} is locked by another process; try again when that one is done`],
  ["SQLITE_READONLY", (file) => `${file} is read-only; make it and its folder writable`],
  ["SQLITE_FULL", (file) => `the disk is full at ${file}; make room and try again`],
  ["SQLITE_NOTADB", (file) => `${file} is not a SQLite database`],
  ["SQLITE_CORRUPT", (file) => `${file} is damaged; restore it from a backup, or try sqlite3's .recover`],
  ["SQLITE_CANTOPEN", (file) => `${file} cannot be opened; check that its folder exists and is writable`],
  ["SQLITE_IOERR", (file) => `the disk failed at ${file}`],
]

/** The typed error for whatever SQLite threw. */
const failure = (file: string, operation: string, error: unknown): EventLog.LogError => {
  const cause = error instanceof SqlError ? causeOf(error.cause) : causeOf(error)
  const code = typeof cause.code === "string" ? cause.code : ""
  const known = reasons.find(([prefix]) => code.startsWith(prefix))
  const said = typeof cause.message === "string" ? cause.message : "SQLite gave no reason"
  return new EventLog.LogError({
    operation,
    reason: known === undefined ? `${said} (${file})` : known[1](file),
    cause: error,
  })
}

/** A problem that is found before SQLite is asked. */
const refused = (file: string, problem: string) =>
  new EventLog.LogError({ operation: "open", reason: `${file} ${problem}` })

/** Looks at the file itself, so that opening neither creates nor changes what must not be. */
const checkFile = ({ filename, create = true, readonly = false }: Options) =>
  Effect.suspend(() => {
    if (filename === ":memory:") return Effect.void
    // The driver would take it for a temporary database, which is gone with the process.
    if (filename.trim() === "") return refused("an empty filename", "names no file")
    if (!existsSync(filename)) {
      if (!create || readonly) return refused(filename, "does not exist")
      if (existsSync(dirname(filename))) return Effect.void
      return refused(filename, "is in a folder that does not exist; create the folder")
    }
    const stat = statSync(filename)
    if (!stat.isFile()) return refused(filename, "is not a file")
    // Root may write to anything; a file that nobody was meant to write to is left alone all the same.
    if (!readonly && (stat.mode & 0o222) === 0) return refused(filename, "is read-only; make it writable")
    return Effect.void
  })

/** Recognizes the file: memfold's at a schema this version knows, or a new, empty one. */
const checkOwner = (file: string, run: Run) =>
  Effect.gen(function* () {
    const number = (rows: ReadonlyArray<Row>, name: string) => Number(rows[0]?.[name])
    const owner = number(yield* run("PRAGMA application_id"), "application_id")
    const tables = number(yield* run("SELECT count(*) AS n FROM sqlite_master"), "n")
    if (owner !== applicationId && (owner !== 0 || tables > 0)) {
      return yield* refused(file, "is a database of another program; choose another file")
    }
    const version = number(yield* run("PRAGMA user_version"), "user_version")
    if (version > migrations.length) {
      const known = `has schema ${version}, this memfold knows schemas up to ${migrations.length}`
      return yield* refused(file, `${known}; update memfold`)
    }
    return version
  })

/** For what SQLite refuses at once where it could wait: two processes that switch a new file to WAL together. */
const waitingForLock =
  (millis: number) =>
  <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.retry(effect, {
      while: ({ cause }) => String(causeOf(cause).code).startsWith("SQLITE_BUSY"),
      schedule: Schedule.jittered(Schedule.spaced("5 millis")).pipe(Schedule.upTo(millis)),
    })

/** So many milliseconds of appending, and timers and sockets have their turn. */
const longestRun = 2

/** Opens a database; it is closed with the scope. */
export const open = (options: Options): Effect.Effect<Database, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const { filename: file, readonly = false, synchronous = "full" } = options
    yield* checkFile(options)
    // The client would switch any file to WAL while opening it; that waits until the file is known to be ours.
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

    // There is one connection, and its driver is synchronous: nobody has to wait for it.
    const connection: Connection = yield* Effect.scoped(client.reserve).pipe(failing("open"))

    const run: Run = (sql, parameters = []) =>
      Effect.catchAllCause(connection.execute(sql, parameters, undefined), (cause) =>
        // The client remembers for minutes that a statement could not be prepared; by now it may be possible.
        Cause.isFailType(cause) && !cause.error.message.startsWith("Failed to prepare")
          ? Effect.failCause(cause)
          : // Preparing a statement throws where running it fails.
            Effect.suspend(() => connection.executeUnprepared(sql, parameters, undefined)).pipe(
              Effect.catchAllDefect((cause) => new SqlError({ cause, message: "Failed to run a statement" })),
            ),
      )

    /** Commits what has been begun, or undoes it. */
    const ended = <A, E>(body: Effect.Effect<A, E>) =>
      body.pipe(
        Effect.tap(() => run("COMMIT")),
        Effect.tapErrorCause(() => Effect.ignore(run("ROLLBACK"))),
      )

    const orElse = (atOnce: Waiting["atOnce"], body: Effect.Effect<unknown, unknown>) =>
      atOnce === undefined
        ? body
        : Effect.flatMap(atOnce(run), (done) => (done === null ? body : Effect.succeed(done)))

    // One statement is a transaction by itself, and takes the write lock at its start.
    const alone = ({ body, atOnce }: Waiting) =>
      Effect.exit(orElse(atOnce, Effect.zipRight(run("BEGIN IMMEDIATE"), ended(body(run)))))

    /** What a body failed with that found something else than it expected, and so has written nothing. */
    const found = (exit: Exit.Exit<unknown, unknown>): boolean =>
      Exit.isSuccess(exit) || (Cause.isFailType(exit.cause) && !(exit.cause.error instanceof SqlError))

    /**
     * In one transaction, as long as SQLite does all that it is told. Otherwise each goes alone, so that what fails, or
     * finds no room on the disk, takes nobody with it.
     */
    const together = (group: ReadonlyArray<Waiting>) =>
      Effect.gen(function* () {
        const begun = yield* Effect.exit(run("BEGIN IMMEDIATE"))
        // They have waited for the lock together.
        if (Exit.isFailure(begun)) return group.map(() => begun)
        const all = yield* Effect.forEach(group, ({ body, atOnce }) =>
          Effect.flatMap(
            Effect.exit(orElse(atOnce, body(run))),
            (exit): Effect.Effect<Exit.Exit<unknown, unknown>, unknown> =>
              found(exit)
                ? Effect.succeed(exit)
                : Effect.failCause(Exit.isFailure(exit) ? exit.cause : Cause.empty),
          ),
        ).pipe(ended, Effect.exit)
        return Exit.isSuccess(all) ? all.value : yield* Effect.forEach(group, alone)
      })

    let waiting: Array<Waiting> = []
    /** Since when one append has followed the other without anything else having had its turn; 0 when it has. */
    let busySince = 0

    /**
     * Whoever else is about to write gets to it before the next flush. As a rule that is when sockets have had their
     * turn; an append that follows at once on the one before it does not wait for them, for a while.
     */
    const schedule = () => {
      if (busySince > 0 && performance.now() - busySince < longestRun) queueMicrotask(flush)
      else setImmediate(flush)
    }

    /** Writes what waits, and answers to each what has become of it. */
    const flush = () => {
      const group = waiting
      waiting = []
      if (busySince === 0) {
        busySince = performance.now()
        // A tick comes when all that follows from this has been done.
        queueMicrotask(() =>
          process.nextTick(() => {
            busySince = 0
          }),
        )
      }
      const [only] = group
      // In one go: if another fiber got in between and wrote through a second connection of this process, it would
      // wait with the whole thread for a lock that only this transaction can give back.
      const done = Effect.runSyncExit(
        only !== undefined && group.length === 1
          ? Effect.map(alone(only), (exit) => [exit])
          : together(group),
      )
      for (const [position, { answer }] of group.entries()) {
        answer(Exit.flatMap(done, (exits) => exits[position] ?? Exit.void))
      }
    }

    const database: Omit<Database, "schema"> = {
      query: (operation, sql, parameters) => failing(operation)(run(sql, parameters)),
      write: <A, E>(
        operation: string,
        body: (run: Run) => Effect.Effect<A, E | SqlError>,
        atOnce?: (run: Run) => Effect.Effect<A | null, SqlError>,
      ) =>
        // SQLite itself says so at the first statement that writes; an older schema would fail before that.
        readonly
          ? failure(file, operation, { code: "SQLITE_READONLY" })
          : Effect.async<A, E | SqlError>((answer) => {
              if (waiting.length === 0) schedule()
              waiting.push({ body, atOnce, answer: answer as Waiting["answer"] })
            }).pipe(Effect.uninterruptible, failing(operation)),
      copy: (to) =>
        Effect.mapError(Effect.asVoid(client.backup(to)), (error) => failure(to, "backup", error)),
    }

    const version = yield* Effect.gen(function* () {
      yield* run(`PRAGMA busy_timeout = ${busy}`)
      // Looked at in one transaction: another process may be creating its tables right now.
      yield* run("BEGIN")
      const version = yield* checkOwner(file, run).pipe(Effect.ensuring(Effect.ignore(run("ROLLBACK"))))
      if (readonly && version === 0) {
        return yield* refused(file, "is empty; open it for writing once")
      }
      yield* run("PRAGMA foreign_keys = ON")
      yield* run(`PRAGMA synchronous = ${synchronous}`)
      if (!readonly) {
        yield* run("PRAGMA journal_mode = WAL").pipe(waitingForLock(busy))
        // Appends write the same pages over and over: the fewer times they go from the write-ahead log to the file, the
        // better. So it grows to 16 MB.
        yield* run("PRAGMA wal_autocheckpoint = 4000")
        // What is overwritten or deleted must not stay behind on a free page (law L15).
        yield* run("PRAGMA secure_delete = ON")
      }
      return version
    }).pipe(failing("open"))

    if (!readonly && version < migrations.length) {
      yield* database.write("migrate", (run) =>
        Effect.gen(function* () {
          // Looked at again under the lock: another process may have migrated in the meantime.
          const version = yield* checkOwner(file, run)
          if (version === migrations.length) return
          yield* Effect.forEach(migrations.slice(version).flat(), (statement) => run(statement))
          if (version < 3) yield* hashCommits(run)
          yield* catchUp(run)
          yield* run(`PRAGMA application_id = ${applicationId}`)
          yield* run(`PRAGMA user_version = ${migrations.length}`)
        }),
      )
    }
    return { ...database, schema: readonly ? version : migrations.length }
  })
