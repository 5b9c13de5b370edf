/** Opens a SQLite file through the client of Effect SQL, and creates its tables if it is new. */
import { SqlError } from "@effect/sql/SqlError"
import { EventLog } from "@memfold/log"
import { type Database, database, isLocked, refusingWrites, sqlite } from "@memfold/store-sql"
import { Duration, Effect, type Scope } from "effect"
import { applicationId, checkFile, checkOwner, refused, schemaVersion } from "./checks.js"
import { driver } from "./connect.js"
import { definitions, isMissing, restore } from "./derived.js"
import type { Options } from "./Options.js"
import { reasonOf } from "./reasons.js"
import { sameFile } from "./sameFile.js"
import { turns } from "./turns.js"
import type { File } from "./File.js"

const isBusy = isLocked(sqlite)

const failed = (operation: string, file: string, cause: unknown) =>
  new EventLog.LogError({ operation, reason: reasonOf(file)(cause), cause })

/** Sets what holds for a connection. SQLite would block the thread while it waits. */
const configure = ({ query }: Database, { readonly = false, synchronous = "full" }: Options) =>
  Effect.forEach(
    [
      "PRAGMA foreign_keys = ON",
      `PRAGMA synchronous = ${synchronous}`,
      // SQLite puts aside what an append selects, text included.
      "PRAGMA temp_store = MEMORY",
      // Overwrites deleted data with zeros, or a redacted message would stay on a free page.
      ...(readonly ? [] : ["PRAGMA journal_mode = WAL", "PRAGMA secure_delete = ON"]),
    ],
    (pragma) => query({ operation: "open" }, pragma),
    { discard: true },
  )

const create = (file: string, { transaction }: Database) =>
  transaction({ operation: "create" }, (run) =>
    Effect.gen(function* () {
      // Checked again under the lock: another process may have created the tables in the meantime.
      const query: Database["query"] = (_about, sql, parameters) => Effect.orDie(run(sql, parameters))
      if (!(yield* checkOwner(file, query, false))) return
      yield* Effect.forEach(definitions, (definition) => run(definition), { discard: true })
      yield* run(`PRAGMA application_id = ${applicationId}`)
      yield* run(`PRAGMA user_version = ${schemaVersion}`)
    }),
  )

/** Reads and writes that make tables again which another program drops while the file is open. */
const restoring = (
  { reading, writing }: ReturnType<typeof turns>,
  restored: Effect.Effect<void, EventLog.LogError>,
) => {
  const around =
    (work: typeof reading): typeof reading =>
    (effect) =>
      Effect.catchIf(
        work(effect),
        (error) => error instanceof SqlError && isMissing(error.cause),
        (error) =>
          Effect.zipRight(
            Effect.mapError(restored, () => error),
            work(effect),
          ),
      )
  return { reading: around(reading), writing: around(writing) }
}

/** Opens a file, which is closed with the scope. */
export const open = (options: Options): Effect.Effect<File, EventLog.LogError, Scope.Scope> =>
  Effect.gen(function* () {
    const { filename: file, readonly = false } = options
    // Before the file is made: without a driver, an empty one would stay behind.
    const connect = yield* Effect.mapError(driver, (cause) => failed("open", file, cause))
    yield* checkFile(options)
    const client = yield* Effect.mapError(connect(options), (cause) => failed("open", file, cause))
    const patience = Math.min(Duration.toMillis(options.busyTimeout ?? "30 seconds"), Number.MAX_SAFE_INTEGER)
    const inTurn = turns(isBusy, patience)
    const moveLog = client.use((connection) =>
      connection.execute("PRAGMA wal_checkpoint(TRUNCATE)", [], undefined),
    )
    const same = sameFile(file, Effect.ignore(moveLog))
    const reading: typeof inTurn.reading = (work) => same(inTurn.reading(work))
    const writing: typeof inTurn.writing = (work) => same(inTurn.writing(work))
    // While it is opened, a write-ahead log at its path may be of another process, which takes it away when it closes.
    const uses = {
      dialect: sqlite,
      reasonOf: reasonOf(file),
      reading: inTurn.reading,
      writing: readonly ? refusingWrites : inTurn.writing,
    }
    const once = database(client.use, uses)
    const { query } = once
    yield* query({ operation: "open" }, "PRAGMA busy_timeout = 0")
    const isNew = yield* checkOwner(file, query, readonly)
    if (readonly && isNew) return yield* refused(file, "is empty; open it for writing once")
    yield* configure(once, options)
    if (isNew) yield* create(file, once)
    else if (!readonly) yield* restore(options, once)
    const opened = database(client.use, {
      ...uses,
      ...(readonly ? { reading } : restoring({ reading, writing }, restore(options, once))),
    })
    const { query: queryOnce } = database(client.use, { ...uses, reading: undefined })
    return {
      ...opened,
      checkpoint: (operation) =>
        queryOnce({ operation }, "PRAGMA wal_checkpoint(TRUNCATE)").pipe(
          Effect.map(([row]) => row === undefined || row["busy"] === 0),
          Effect.catchIf(
            ({ cause }) => isBusy(cause),
            () => Effect.succeed(false),
          ),
        ),
      copy: (to) =>
        client.backup(to).pipe(
          Effect.mapError(({ cause }) => failed("backup", to, cause)),
          Effect.asVoid,
        ),
    }
  })
