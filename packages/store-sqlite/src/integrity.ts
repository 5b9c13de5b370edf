/** What is wrong with a file beside its records. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import type { Database } from "./Database.js"
import { statements } from "./schema.js"

/** The most problems that SQLite lists. */
const most = 20

/** Checks the pages, the indexes and the definitions of the tables. It reads the whole file. */
export const integrity = (database: Database): Effect.Effect<ReadonlyArray<string>, EventLog.LogError> =>
  Effect.gen(function* () {
    const checked = yield* database.query("integrity", `PRAGMA integrity_check(${most})`, [])
    const problems = checked
      .flatMap((row) => String(Object.values(row)[0]).split("\n"))
      .filter((line) => line !== "ok" && !line.startsWith("***"))
    const defined = yield* database.query("integrity", "SELECT sql FROM sqlite_master", [])
    const definitions = new Set(defined.map((row) => row["sql"]))
    // One changed letter can give a column another meaning, which SQLite takes as it is: rows are then found no more.
    const changed = statements.filter((statement) => !definitions.has(statement))
    return [...problems, ...changed.map((statement) => `its definitions lack: ${firstLine(statement)}`)]
  })

const firstLine = (statement: string): string => statement.split("\n", 1)[0] ?? ""
