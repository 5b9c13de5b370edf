/** Checks of a file before it is used: a file that is refused is not changed. */
import { EventLog } from "@memfold/log"
import type { Database } from "@memfold/store-sql"
import { Effect } from "effect"
import { closeSync, existsSync, lstatSync, openSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type { Options } from "./Options.js"

/** The `application_id` of memfold's files ("mfld"). The files of other programs are never written to. */
export const applicationId = 0x6d66_6c64

/** The `user_version` of the present tables. Files with another one can only be read: what is read stands in all versions. */
export const schemaVersion = 6

/** A problem that is found when a file is opened. */
export const refused = (file: string, problem: string) =>
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

const isLink = (filename: string): boolean => {
  try {
    return lstatSync(filename).isSymbolicLink()
  } catch {
    return false
  }
}

/** Checks the file before SQLite opens it, because SQLite would create or change it. */
export const checkFile = ({ filename, create = true, readonly = false }: Options) =>
  Effect.suspend(() => {
    if (filename === ":memory:") return Effect.void
    // The driver would open a temporary database, which ends with the process.
    if (filename.trim() === "") return refused("an empty filename", "names no file")
    if (filename.includes("\0")) return refused("a filename with a NUL character", "names no file")
    if (!existsSync(filename)) {
      if (!create || readonly) return refused(filename, "does not exist")
      if (!existsSync(dirname(filename)))
        return refused(filename, "is in a folder that does not exist; create the folder")
      // SQLite would create the file that the link names, for others to read.
      if (isLink(filename))
        return refused(
          filename,
          "is a link to a file that does not exist; create that file, or remove the link",
        )
      createPrivate(filename)
      return Effect.void
    }
    const stat = statSync(filename)
    if (!stat.isFile()) return refused(filename, "is not a file")
    // Root may write to any file. A file without write permission is refused for root as well.
    if (!readonly && (stat.mode & 0o222) === 0) return refused(filename, "is read-only; make it writable")
    return Effect.void
  })

/** Checks that the file is empty, or memfold's with tables that this version may use; returns whether it is empty. */
export const checkOwner = (
  file: string,
  query: Database["query"],
  readonly: boolean,
): Effect.Effect<boolean, EventLog.LogError> =>
  Effect.gen(function* () {
    // One statement sees one state: another process may be creating the tables right now.
    const [row = {}] = yield* query(
      { operation: "open" },
      `SELECT application_id AS owner, user_version AS version, (SELECT count(*) FROM sqlite_master) AS tables
       FROM pragma_application_id, pragma_user_version`,
    )
    const [owner, version, tables] = [Number(row["owner"]), Number(row["version"]), Number(row["tables"])]
    if (owner !== applicationId && (owner !== 0 || tables > 0))
      return yield* refused(file, "is a database of another program; choose another file")
    if (tables === 0) return true
    if (version !== schemaVersion && !readonly) {
      const advice =
        version > schemaVersion
          ? "update memfold, or read it with memfold export"
          : "start a new file, and import into it what memfold export reads of this one"
      return yield* refused(
        file,
        `has schema ${version}, this memfold knows schema ${schemaVersion}; ${advice}`,
      )
    }
    return false
  })
