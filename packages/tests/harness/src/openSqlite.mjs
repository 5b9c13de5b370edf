/** Opens a file with better-sqlite3, or with the SQLite of the runtime where that one is not built for it. */
import { createRequire } from "node:module"

const builtIn = (file, error) => {
  const sqlite = process.getBuiltinModule("node:sqlite")
  if (sqlite === undefined) throw error
  const database = new sqlite.DatabaseSync(file)
  return {
    prepare: (sql) => database.prepare(sql),
    exec: (sql) => database.exec(sql),
    pragma: (sql, { simple = false } = {}) => {
      const rows = database.prepare(`PRAGMA ${sql}`).all()
      return simple ? Object.values(rows[0] ?? {})[0] : rows
    },
    close: () => database.close(),
  }
}

/** `driver` is the path of better-sqlite3's module. */
export const openSqlite = (driver, file) => {
  try {
    return new (createRequire(import.meta.url)(driver))(file)
  } catch (error) {
    if (error.code !== "ERR_DLOPEN_FAILED") throw error
    return builtIn(file, error)
  }
}
