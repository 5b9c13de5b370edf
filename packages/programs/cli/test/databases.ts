/** SQLite files of memfold, opened with the driver alone. */
import { createRequire } from "node:module"

interface Database {
  exec(sql: string): void
  prepare(sql: string): { get(): unknown }
  close(): void
}

/** Uses a database behind the program's back. */
export const withDatabase = <A>(path: string, use: (database: Database) => A): A => {
  const storePackage = createRequire(import.meta.url).resolve("@memfold/store-sqlite/package.json")
  const client = createRequire(storePackage).resolve("@effect/sql-sqlite-node")
  const Driver = createRequire(client)("better-sqlite3") as new (file: string) => Database
  const database = new Driver(path)
  try {
    return use(database)
  } finally {
    database.close()
  }
}

/** Changes a database behind the program's back. */
export const tamper = (path: string, sql: string): void =>
  withDatabase(path, (database) => database.exec(sql))
