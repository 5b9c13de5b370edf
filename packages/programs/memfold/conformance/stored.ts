/** What the tests of designs 3 and 4 share: files that are opened again, and messages of known sizes. */
import { EventLog, Message } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect, Layer } from "effect"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"
import { programAt } from "@memfold/harness/program"
import { withDriver } from "@memfold/harness/sqlite"
import type { PromiseMemory } from "../src/index.js"

/** Paths of files in a folder that is gone after the tests of a file: new ones, and copies of others. */
export const files = () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-conformance-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let count = 0
  const fresh = (extension = "db") => join(folder, `${++count}.${extension}`)
  const copyOf = (file: string) => {
    const copy = fresh()
    copyFileSync(file, copy)
    return copy
  }
  return { folder, fresh, copyOf }
}

/** A row as any program with SQLite reads it. */
export type Row = Readonly<Record<string, unknown>>

/** What SQL finds in a file. */
export const rows = (file: string, sql: string, ...parameters: ReadonlyArray<unknown>): ReadonlyArray<Row> =>
  withDriver(file, (driver) => driver.prepare(sql).all(...parameters))

/** Changes a file behind memfold's back. */
export const change = (file: string, sql: string): void => withDriver(file, (driver) => driver.exec(sql))

/** Uses a memory, and closes it. */
export const using = async <Memory extends Pick<PromiseMemory<never>, "close">, A>(
  memory: Memory,
  use: (memory: Memory) => Promise<A>,
): Promise<A> => {
  try {
    return await use(memory)
  } finally {
    await memory.close()
  }
}

/** Appends messages, each by itself. */
export const each = async (
  memory: Pick<PromiseMemory<"memfold">, "append">,
  session: string,
  messages: ReadonlyArray<Message.Message>,
): Promise<void> => {
  for (const message of messages) await memory.append(session, message)
}

/** The texts of messages. */
export const textsOf = ({ messages }: { readonly messages: ReadonlyArray<Message.Message> }) =>
  messages.map((message) => Message.text(message))

/** What {@link spied} sees: reads of the log, the records they brought, looks at the newest position, and tries to commit a summary. */
export interface StoreUse {
  reads: number
  records: number
  heads: number
  saves: number
}

/**
 * The log of a file, whose reads and whose tries to commit a summary are counted. `before` is told of each of them
 * before it is made.
 */
export const spied = (
  file: string,
  before: (operation: "read" | "save", seen: StoreUse) => void = () => {},
  options: Partial<SqliteEventLog.Options> = {},
) => {
  const seen: StoreUse = { reads: 0, records: 0, heads: 0, saves: 0 }
  const tell = (operation: "read" | "save") =>
    Effect.sync(() => {
      if (operation === "read") seen.reads++
      else seen.saves++
      before(operation, seen)
    })
  const watch = (log: EventLog.Service): EventLog.Service => ({
    ...log,
    read: (session, page) =>
      Effect.zipRight(
        tell("read"),
        Effect.tap(log.read(session, page), (records) => Effect.sync(() => (seen.records += records.length))),
      ),
    head: (session) => {
      seen.heads++
      return log.head(session)
    },
    append: (session, records, how) =>
      records.some(({ type }) => type === "SummaryCommitted")
        ? Effect.zipRight(tell("save"), log.append(session, records, how))
        : log.append(session, records, how),
  })
  const store = Layer.scoped(
    EventLog.EventLog,
    Effect.map(SqliteEventLog.make({ filename: file, ...options }), watch),
  )
  return { seen, store }
}

/** Makes each summary's commit fail as on a full disk, until {@link makeRoom}. */
export const fillDisk = (file: string): void =>
  change(
    file,
    `CREATE TRIGGER disk_full BEFORE INSERT ON events
     WHEN NEW.type = (SELECT id FROM types WHERE name = 'SummaryCommitted')
     BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
  )

export const makeRoom = (file: string): void => change(file, "DROP TRIGGER disk_full")

/** Makes a file's events unreadable, until {@link giveEvents}. */
export const takeEvents = (file: string): void =>
  change(file, "ALTER TABLE events RENAME COLUMN data TO taken")

export const giveEvents = (file: string): void =>
  change(file, "ALTER TABLE events RENAME COLUMN taken TO data")

/** What is left of a file's own means against damage: the checksums of events, and snapshots with the state. */
export type Left = "all" | "checksums" | "nothing"

/** Every state that a damaged file can be in. */
export const everyLeft: ReadonlyArray<Left> = ["all", "checksums", "nothing"]

/**
 * Damages every stored summary of a file by hand: the data of its event, set to what an SQL expression gives, and nothing
 * else. `left` says what the file keeps besides: without checksums, the damage is found by what the data say; without
 * snapshots, the log is read from its start.
 */
export const damage = (file: string, data: string, left: Left = "checksums"): void => {
  const committed = "type = (SELECT id FROM types WHERE name = 'SummaryCommitted')"
  if (left !== "all") change(file, "DELETE FROM projections WHERE kind = 'snapshot'")
  if (left === "nothing") change(file, `UPDATE events SET checksum = NULL WHERE ${committed}`)
  change(file, `UPDATE events SET data = ${data} WHERE ${committed}`)
}

const program = fileURLToPath(new URL("../bin/memfold.js", import.meta.url))

/** Runs the command line, as a process of its own. */
export const memfold = programAt(program, process.cwd())

/** Makes something once, when it is first asked for. */
export const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}
