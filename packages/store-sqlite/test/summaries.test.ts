/** The table `summaries` and the view `compressed_summaries`, as other programs read them with SQL. */
import type { EventLog } from "@memfold/core"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { openDriver, withDriver } from "@memfold/harness/sqlite"
import {
  folder,
  integrity,
  records,
  summariesOf,
  type Summary,
  summary,
  summaryRows,
  versionOf,
  withLog,
} from "./support.js"

const newFile = () => join(folder(), "chats.db")

/** Appends one record to a session for each change of its summary rows. */
const appendChanges = (
  log: EventLog.Service,
  session: string,
  ...changes: ReadonlyArray<EventLog.ProjectionChange>
) =>
  Effect.forEach(changes, (change, expectedVersion) =>
    log.append(session, records(1), {
      expectedVersion,
      batchId: `c${expectedVersion}`,
      projections: [change],
    }),
  )

const add = (...rows: ReadonlyArray<Summary>) => summaryRows(rows)

const superseded = (version: number, changes: Partial<Summary> = {}) =>
  summary(version, { status: "superseded", supersededBy: `s${version + 1}`, ...changes })

const query = (file: string, sql: string, ...parameters: ReadonlyArray<unknown>) =>
  withDriver(file, (driver) => driver.prepare(sql).all(...parameters))

/** A file with three summaries of one session, each superseding the one before, and one empty summary of another. */
const written = async () => {
  const file = newFile()
  await withLog({ filename: file }, (log) =>
    Effect.gen(function* () {
      yield* appendChanges(
        log,
        "chat-1",
        add(summary(1, { coveredTo: 2, total: 6 })),
        add(superseded(1, { coveredTo: 2, total: 6 }), summary(2, { coveredTo: 4, total: 6 })),
        add(
          superseded(2, { coveredTo: 4, total: 6 }),
          summary(3, { coveredTo: 5, total: 6, turnPrefix: "a poem" }),
        ),
      )
      yield* appendChanges(log, "chat-2", add(summary(1, { text: "", coveredTo: 0 })))
    }),
  )
  return file
}

describe("the table summaries", () => {
  it("begins with the columns that programs with a summary store expect", async () => {
    const file = await written()
    const columns = query(file, "PRAGMA table_info(summaries)").map(({ name, type }) => `${name} ${type}`)
    expect(columns.slice(0, 9)).toEqual([
      "summary_id TEXT",
      "thread_id TEXT",
      "summary_text TEXT",
      "compact_up_to_index INTEGER",
      "compacted_at INTEGER",
      "is_split_turn BOOLEAN",
      "split_turn_prefix TEXT",
      "is_active BOOLEAN",
      "created_at TIMESTAMP",
    ])
  })

  it("has every field of a row", async () => {
    const file = await written()
    expect(query(file, "SELECT * FROM summaries WHERE version > 1 ORDER BY version")).toEqual([
      {
        summary_id: "s2",
        thread_id: "chat-1",
        summary_text: "summary 2",
        compact_up_to_index: 4,
        compacted_at: 6,
        is_split_turn: 0,
        split_turn_prefix: null,
        is_active: 0,
        created_at: "2026-01-31 12:00:02",
        status: "superseded",
        superseded_by: "s3",
        session: 1,
        version: 2,
        time: Date.UTC(2026, 0, 31, 12, 0, 2),
        tokens: 7,
      },
      {
        summary_id: "s3",
        thread_id: "chat-1",
        summary_text: "summary 3",
        compact_up_to_index: 5,
        compacted_at: 6,
        is_split_turn: 1,
        split_turn_prefix: "a poem",
        is_active: 1,
        created_at: "2026-01-31 12:00:03",
        status: "active",
        superseded_by: null,
        session: 1,
        version: 3,
        time: Date.UTC(2026, 0, 31, 12, 0, 3),
        tokens: 7,
      },
    ])
  })

  it("answers the query for the newest summaries", async () => {
    const file = await written()
    expect(
      query(
        file,
        "SELECT summary_id, thread_id, is_split_turn, is_active, created_at FROM summaries ORDER BY created_at DESC LIMIT 2;",
      ),
    ).toEqual([
      {
        summary_id: "s3",
        thread_id: "chat-1",
        is_split_turn: 1,
        is_active: 1,
        created_at: "2026-01-31 12:00:03",
      },
      {
        summary_id: "s2",
        thread_id: "chat-1",
        is_split_turn: 0,
        is_active: 0,
        created_at: "2026-01-31 12:00:02",
      },
    ])
  })

  it("is searched by an index for the active summary of a thread", async () => {
    const file = await written()
    for (const truth of ["1", "TRUE"]) {
      const sql = `SELECT * FROM summaries WHERE thread_id = ? AND is_active = ${truth} ORDER BY created_at DESC`
      expect(query(file, `EXPLAIN QUERY PLAN ${sql}`, "chat-1")).toMatchObject([
        { detail: "SEARCH summaries USING INDEX summaries_by_thread (thread_id=? AND is_active=?)" },
      ])
    }
  })

  it("takes no second active summary of a session, whichever program writes it (L1)", async () => {
    const driver = openDriver(await written())
    expect(() => driver.exec("UPDATE summaries SET is_active = 1, status = 'active'")).toThrow(
      "UNIQUE constraint failed",
    )
    expect(() => driver.exec("UPDATE summaries SET is_active = 1")).toThrow("CHECK constraint failed")
  })

  it("a change that leaves two active summaries is an error of that append alone, in words (L1)", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendChanges(log, "one", add(summary(1)))
        const [refused, fine] = yield* Effect.all(
          [
            log.append("one", records(1), {
              expectedVersion: 1,
              batchId: "c1",
              projections: [add(summary(2))],
            }),
            log.append("two", records(1), {
              expectedVersion: 0,
              batchId: "c1",
              projections: [add(summary(1))],
            }),
          ].map(Effect.either),
          { concurrency: "unbounded" },
        )
        expect(refused).toMatchObject({
          left: {
            _tag: "LogError",
            session: "one",
            reason: `the change would leave two active summaries in ${file}; nothing was written`,
          },
        })
        expect(fine).toMatchObject({ right: { fromVersion: 1, version: 1 } })
        expect(yield* versionOf(log, "one")).toBe(1)
        expect(yield* summariesOf(log, "one")).toEqual([summary(1)])
        // The active row may come before the row that it supersedes.
        const swap = add(summary(2), superseded(1))
        yield* log.append("one", records(1), { expectedVersion: 1, batchId: "c1", projections: [swap] })
        expect(yield* summariesOf(log, "one")).toEqual([superseded(1), summary(2)])
      }),
    )
    expect(integrity(file)).toBe("ok")
  })

  it("keeps equal ids and versions of two sessions apart", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendChanges(log, "copy", add(summary(1, { text: "of the copy" })))
        yield* appendChanges(log, "original", add(summary(1)), summaryRows([summary(2)], { replace: true }))
        yield* log.delete("original")
        expect(yield* summariesOf(log, "original")).toEqual([])
      }),
    )
    expect(query(file, "SELECT summary_id, thread_id, summary_text FROM summaries")).toEqual([
      { summary_id: "s1", thread_id: "copy", summary_text: "of the copy" },
    ])
  })

  it("has well-formed text, because other programs read it", async () => {
    const file = newFile()
    const half = "half a \ud83d"
    await withLog({ filename: file }, (log) =>
      appendChanges(log, "one", add(summary(1, { text: half, turnPrefix: half }))),
    )
    expect(
      query(file, "SELECT hex(summary_text) AS text, hex(split_turn_prefix) AS prefix FROM summaries"),
    ).toEqual([
      {
        text: Buffer.from("half a \ufffd").toString("hex").toUpperCase(),
        prefix: Buffer.from("half a \ufffd").toString("hex").toUpperCase(),
      },
    ])
  })

  it("has no date for a time that SQLite does not know", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) => appendChanges(log, "one", add(summary(1, { time: 8.64e15 }))))
    expect(query(file, "SELECT created_at, time FROM summaries")).toEqual([
      { created_at: null, time: 8.64e15 },
    ])
    expect(query(file, "SELECT compressed_at FROM compressed_summaries")).toEqual([{ compressed_at: null }])
  })
})

describe("the view compressed_summaries", () => {
  it("answers the queries for the active summary, for all of them, and for their number", async () => {
    const file = await written()
    const active = `SELECT * FROM compressed_summaries
      WHERE chat_id = ? AND status = 'active'
      ORDER BY compressed_at DESC`
    expect(query(file, active, "chat-1")).toEqual([
      {
        id: "s3",
        chat_id: "chat-1",
        status: "active",
        compressed_at: "2026-01-31 12:00:03.000",
        summary: "summary 3",
        message_ids: "[0,1,2,3,4]",
        superseded_by: null,
        tokens: 7,
        version: 3,
      },
    ])
    const all = `SELECT id, status, compressed_at,
             LENGTH(summary) as summary_length,
             json_array_length(message_ids) as message_count
      FROM compressed_summaries
      WHERE chat_id = ?
      ORDER BY compressed_at ASC;`
    const rows = query(file, all, "chat-1").map(({ compressed_at: _at, ...row }) => row)
    expect(rows).toEqual([
      { id: "s1", status: "superseded", summary_length: 9, message_count: 2 },
      { id: "s2", status: "superseded", summary_length: 9, message_count: 4 },
      { id: "s3", status: "active", summary_length: 9, message_count: 5 },
    ])
    expect(query(file, all, "chat-2")).toMatchObject([
      { id: "s1", status: "active", summary_length: 0, message_count: 0 },
    ])
    const count = `SELECT COUNT(*) as active_count
      FROM compressed_summaries
      WHERE chat_id = ? AND status = 'active';`
    expect(query(file, count, "chat-1")).toEqual([{ active_count: 1 }])
  })

  it("counts out the messages of a summary, but no more than there were", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) => appendChanges(log, "one", add(summary(1))))
    for (const coveredTo of [0, 1, 2, 10, 999, 1_000, 12_345, 1e12]) {
      withDriver(file, (driver) =>
        driver.exec(`UPDATE summaries SET compact_up_to_index = ${coveredTo}, compacted_at = 20000`),
      )
      const [row] = query(file, "SELECT message_ids FROM compressed_summaries")
      const length = Math.min(coveredTo, 20_000)
      expect(row).toEqual({ message_ids: JSON.stringify(Array.from({ length }, (_, n) => n)) })
    }
  })
})

it("the README has each table and view of the file, with its columns", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const named = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)
  const [above = "", below = ""] = readme.split("## The file")
  const rows = [...below.matchAll(/^\| `(\w+)` +\| .*? +\| (.*) \|$/gm)].map(
    ([, table = "", columns = ""]) => [table, columns] as const,
  )
  const [, summaries = ""] = /^\| column .*\n([\s\S]*?)\n\n/m.exec(above) ?? []
  const file = newFile()
  // The feed has its table once somebody reads it.
  await withLog({ filename: file }, (log) => log.feed!({ limit: 1 }))
  const found = query(
    file,
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
  )
  expect(rows.map(([table]) => table).toSorted()).toEqual(found.map(({ name }) => name).toSorted())
  for (const [table, columns] of rows) {
    const own = query(file, `SELECT name FROM pragma_table_xinfo('${table}')`).map(({ name }) => name)
    if (table === "summaries")
      expect(named((summaries.match(/^\| .*? +\|/gm) ?? []).join()).toSorted()).toEqual(own.toSorted())
    else if (columns.trim() !== "see above")
      expect([table, named(columns).toSorted()]).toEqual([table, own.toSorted()])
  }
})
