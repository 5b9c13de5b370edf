/** Creates the tables in a database that has SQLite's SQL and no place of its own for the version of its tables. */
import { EventLog } from "@memfold/log"
import { Effect } from "effect"
import { type Database, integer } from "./Database.js"

/** The version of the tables. */
const tablesVersion = 1

const about = { operation: "open" }

/** The database by its name, for errors, whether to create tables in it, and whether it is only read. */
export interface CreateTablesOptions {
  readonly name: string
  readonly create: boolean
  readonly readonly?: boolean
}

/**
 * Creates the tables, all or none, if there are none. A table `memfold` has their version. Fails if the database has tables of another
 * program or, unless it is only read, of another version, or none and none are to be created. What is read stands in all versions.
 */
export const createTables = (
  { dialect, query, transaction }: Database,
  { name, create, readonly = false }: CreateTablesOptions,
): Effect.Effect<void, EventLog.LogError> => {
  const refused = (problem: string) =>
    new EventLog.LogError({ operation: "open", reason: `${name} ${problem}` })

  const versionIn = (look: Database["query"]): Effect.Effect<number, EventLog.LogError> =>
    Effect.gen(function* () {
      const rows = yield* look(
        about,
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('memfold', 'sessions') ORDER BY name",
      )
      const names = new Set(rows.map((row) => row["name"]))
      if (!names.has("memfold"))
        return names.has("sessions")
          ? yield* refused("has tables of another program; choose another database")
          : 0
      const [row = {}] = yield* look(about, "SELECT version FROM memfold")
      const version = integer(row, "version")
      return version === tablesVersion || readonly
        ? version
        : yield* refused(
            `has version ${version} of the tables, this memfold knows version ${tablesVersion}; update memfold, or read it with memfold export`,
          )
    })

  return Effect.gen(function* () {
    if ((yield* versionIn(query)) > 0) return
    if (!create) return yield* refused("has no tables of memfold; open it for writing once")
    yield* transaction({ operation: "create" }, (run) =>
      Effect.gen(function* () {
        // Looked at again under the lock: another process may have created them.
        const here: Database["query"] = (_about, sql, parameters) => Effect.orDie(run(sql, parameters))
        if ((yield* versionIn(here)) > 0) return
        for (const definition of dialect.tables) yield* run(definition)
        yield* run("CREATE TABLE memfold (version INTEGER NOT NULL)")
        yield* run("INSERT INTO memfold (version) VALUES (?)", [tablesVersion])
      }),
    )
  })
}
