/** The reference: what a program would write with better-sqlite3 alone, with the same durability. */
import Sqlite from "better-sqlite3"
import type { Turn } from "./conversation.js"

/** A message as the reference reads it. */
export interface BareMessage {
  readonly role: string
  readonly content: string
}

/** A file with one table of messages. */
export interface Bare {
  /** Writes both rows of a turn in one transaction. */
  readonly append: (session: string, turn: Turn) => void
  /** The newest messages of a session, oldest first. */
  readonly context: (session: string, messages: number) => ReadonlyArray<BareMessage>
  readonly close: () => void
}

/** Opens a file, and creates its table if it is new. */
export const openBare = (filename: string): Bare => {
  const database = new Sqlite(filename)
  database.pragma("journal_mode = WAL")
  database.pragma("synchronous = FULL")
  database.exec(
    `CREATE TABLE IF NOT EXISTS messages (
       session TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, at INTEGER NOT NULL,
       PRIMARY KEY (session, seq))`,
  )
  const newest = database.prepare("SELECT max(seq) AS seq FROM messages WHERE session = ?")
  const insert = database.prepare("INSERT INTO messages VALUES (?, ?, ?, ?, ?)")
  const select = database.prepare(
    "SELECT role, content FROM messages WHERE session = ? ORDER BY seq DESC LIMIT ?",
  )
  const next = new Map<string, number>()
  const append = database.transaction((session: string, { user, assistant }: Turn) => {
    const seq =
      next.get(session) ?? Number((newest.get(session) as { readonly seq: number | null }).seq ?? 0) + 1
    const now = Date.now()
    insert.run(session, seq, "user", user, now)
    insert.run(session, seq + 1, "assistant", assistant, now)
    next.set(session, seq + 2)
  })
  return {
    append,
    context: (session, messages) => (select.all(session, messages) as Array<BareMessage>).toReversed(),
    close: () => database.close(),
  }
}
