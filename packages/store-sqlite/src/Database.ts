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
import { Duration, Effect, Schedule, type Scope } from "effect"
import { existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type { Row, Run } from "./Row.js"
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
   * cut can take the last appends with it; faster, because the disk is not waited for.
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
  /** Runs statements in one transaction, begun as a writer. It commits as a whole or leaves nothing behind. */
  readonly write: <A, E>(
    operation: string,
    body: (run: Run) => Effect.Effect<A, E | SqlError>,
  ) => Effect.Effect<A, Exclude<E, SqlError> | EventLog.LogError>
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

    const on =
      (connection: Connection): Run =>
      (sql, parameters = []) =>
        // Preparing a statement throws where running it fails.
        Effect.suspend(() => connection.execute(sql, parameters, undefined)).pipe(
          // The client remembers for minutes that a statement could not be prepared; by now it may be possible.
          Effect.catchIf(
            ({ message }) => message.startsWith("Failed to prepare"),
            () => Effect.suspend(() => connection.executeUnprepared(sql, parameters, undefined)),
          ),
          Effect.catchAllDefect((cause) => new SqlError({ cause, message: "Failed to run a statement" })),
        )

    const failing =
      (operation: string) =>
      <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>) =>
        Effect.mapError(effect, (error) =>
          error instanceof SqlError ? failure(file, operation, error) : (error as Exclude<E, SqlError>),
        )

    const database: Omit<Database, "schema"> = {
      query: (operation, sql, parameters) =>
        Effect.scoped(Effect.flatMap(client.reserve, (connection) => on(connection)(sql, parameters))).pipe(
          failing(operation),
        ),
      write: (operation, body) =>
        Effect.gen(function* () {
          // SQLite itself says so at the first statement that writes; an older schema would fail before that.
          if (readonly) return yield* failure(file, operation, { code: "SQLITE_READONLY" })
          const run = on(yield* client.reserve)
          yield* run("BEGIN IMMEDIATE")
          return yield* body(run).pipe(
            Effect.tap(() => run("COMMIT")),
            Effect.tapErrorCause(() => Effect.ignore(run("ROLLBACK"))),
          )
        }).pipe(
          // No other fiber runs in the middle of a transaction: if it wrote through a second connection of this
          // process, it would wait with the whole thread for a lock that only this fiber can give back.
          Effect.withMaxOpsBeforeYield(Number.MAX_SAFE_INTEGER),
          Effect.scoped,
          Effect.uninterruptible,
          failing(operation),
        ),
    }

    const version = yield* Effect.gen(function* () {
      const run = on(yield* client.reserve)
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
        // What is overwritten or deleted must not stay behind on a free page (law L15).
        yield* run("PRAGMA secure_delete = ON")
      }
      return version
    }).pipe(Effect.scoped, failing("open"))

    if (!readonly && version < migrations.length) {
      yield* database.write("migrate", (run) =>
        Effect.gen(function* () {
          // Looked at again under the lock: another process may have migrated in the meantime.
          const version = yield* checkOwner(file, run)
          if (version === migrations.length) return
          yield* Effect.forEach(migrations.slice(version).flat(), (statement) => run(statement))
          yield* catchUp(run)
          yield* run(`PRAGMA application_id = ${applicationId}`)
          yield* run(`PRAGMA user_version = ${migrations.length}`)
        }),
      )
    }
    return { ...database, schema: readonly ? version : migrations.length }
  })
