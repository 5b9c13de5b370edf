/** SQLite files as older programs left them. */
import { createRequire } from "node:module"

/** The driver that `@effect/sql-sqlite-node` brings along. */
const client = createRequire(import.meta.url).resolve("@effect/sql-sqlite-node")
const Driver = createRequire(client)("better-sqlite3") as new (file: string) => {
  exec(sql: string): void
  prepare(sql: string): { run(...values: ReadonlyArray<unknown>): void }
  close(): void
}

/** The table of reference design 3, word for word. */
export const summariesColumns = `
    summary_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    summary_text TEXT NOT NULL,
    compact_up_to_index INTEGER NOT NULL,
    compacted_at INTEGER NOT NULL,
    is_split_turn BOOLEAN DEFAULT FALSE,
    split_turn_prefix TEXT,
    is_active BOOLEAN DEFAULT TRUE,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP`

/** The tables of reference design 4. */
export const rollingColumns =
  "id TEXT, chat_id TEXT, summary TEXT, status TEXT, compressed_at INTEGER, message_ids TEXT"
export const messagesColumns = "id TEXT, chat_id TEXT, role TEXT, content TEXT, created_at INTEGER"

/** A table's columns as SQL has them, and its rows. */
export interface Table {
  readonly columns: string
  readonly rows?: ReadonlyArray<ReadonlyArray<unknown>>
}

/** Makes a SQLite file with these tables; `pragma` is run first. */
export const database = (path: string, tables: Readonly<Record<string, Table>>, pragma = ""): string => {
  const opened = new Driver(path)
  opened.exec(pragma)
  for (const [table, { columns, rows = [] }] of Object.entries(tables)) {
    opened.exec(`CREATE TABLE ${table} (${columns})`)
    for (const row of rows) {
      opened.prepare(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`).run(...row)
    }
  }
  opened.close()
  return path
}
