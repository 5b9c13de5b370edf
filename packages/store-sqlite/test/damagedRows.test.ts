/** Rows of the table `summaries` that another program has changed with SQL: found by verify, mended by repair. */
import { EventLog, Memory, Repair, Verify } from "@memfold/core"
import { Effect, Layer } from "effect"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { make } from "../src/index.js"
import { withDriver } from "@memfold/harness/sqlite"
import { integrity, withLog } from "./support.js"

const opened = (file: string) => Layer.scoped(EventLog.EventLog, make({ filename: file }))
const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const place = mkdtempSync(join(tmpdir(), "memfold-rows-"))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const original = join(place, "original.db")
let copies = 0
const copyOf = () => {
  const file = join(place, `${++copies}.db`)
  copyFileSync(original, file)
  return file
}

const rowsOf = (file: string) =>
  withDriver(file, (driver) => driver.prepare("SELECT * FROM summaries ORDER BY thread_id, version").all())

beforeAll(() =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    for (const session of ["one", "two"]) {
      yield* memory.append(session, said(6))
      yield* memory.compact(session, { which: "due" })
      yield* memory.append(session, said(4, 6))
      yield* memory.compact(session, { which: "due" })
    }
  }).pipe(
    Effect.provide(Layer.provide(Memory.layer(manual).pipe(Layer.provide(echoing)), opened(original))),
    Effect.scoped,
    Effect.runPromise,
  ),
)

const active = "thread_id = 'one' AND is_active = 1"
const old = "thread_id = 'one' AND is_active = 0"

/** Changes that any program with SQLite can make. */
const changes: ReadonlyArray<readonly [what: string, sql: string, sessions: ReadonlyArray<string>]> = [
  ["summary_id", `UPDATE summaries SET summary_id = 'SECRET' WHERE ${old}`, ["one"]],
  ["thread_id", `UPDATE summaries SET thread_id = 'SECRET' WHERE ${active}`, ["one"]],
  ["summary_text", `UPDATE summaries SET summary_text = 'SECRET' WHERE ${active}`, ["one"]],
  ["a summary_text that is no text", `UPDATE summaries SET summary_text = x'00ff' WHERE ${old}`, ["one"]],
  ["compact_up_to_index", `UPDATE summaries SET compact_up_to_index = 1 WHERE ${active}`, ["one"]],
  ["a number that is none", `UPDATE summaries SET compact_up_to_index = 'SECRET' WHERE ${old}`, ["one"]],
  ["compacted_at", `UPDATE summaries SET compacted_at = 99 WHERE ${old}`, ["one"]],
  ["is_split_turn", `UPDATE summaries SET is_split_turn = 1 WHERE ${active}`, ["one"]],
  ["split_turn_prefix", `UPDATE summaries SET split_turn_prefix = 'SECRET' WHERE ${old}`, ["one"]],
  ["is_active", `UPDATE summaries SET is_active = 0, status = 'superseded' WHERE ${active}`, ["one"]],
  ["created_at", `UPDATE summaries SET created_at = '1999-01-01' WHERE ${active}`, ["one"]],
  ["status", `UPDATE summaries SET status = 'invalid' WHERE ${old}`, ["one"]],
  ["a status that is none", `UPDATE summaries SET status = 'SECRET' WHERE ${old}`, ["one"]],
  ["superseded_by", `UPDATE summaries SET superseded_by = NULL WHERE ${old}`, ["one"]],
  ["version", `UPDATE summaries SET version = 77 WHERE ${active}`, ["one"]],
  ["time", `UPDATE summaries SET time = time + 1 WHERE ${active}`, ["one"]],
  ["tokens", `UPDATE summaries SET tokens = tokens + 1 WHERE ${active}`, ["one"]],
  ["a deleted row", `DELETE FROM summaries WHERE ${old}`, ["one"]],
  ["no rows", "DELETE FROM summaries", ["one", "two"]],
  [
    "an added row",
    `INSERT INTO summaries SELECT 'SECRET', thread_id, summary_text, compact_up_to_index, compacted_at, is_split_turn,
       split_turn_prefix, is_active, created_at, status, superseded_by, session, 99, time, tokens
     FROM summaries WHERE ${old}`,
    ["one"],
  ],
  [
    "the rows of two sessions swapped",
    "UPDATE summaries SET session = -session; UPDATE summaries SET session = 3 + session, thread_id = CASE thread_id WHEN 'one' THEN 'two' ELSE 'one' END",
    ["one", "two"],
  ],
  ["the session of a row", `UPDATE summaries SET session = 2, version = 99 WHERE ${old}`, ["one", "two"]],
  [
    "the versions of two rows swapped",
    `UPDATE summaries SET version = -version WHERE thread_id = 'one';
     UPDATE summaries SET version = (SELECT -other.version FROM summaries AS other
       WHERE other.thread_id = 'one' AND other.is_active <> summaries.is_active AND other.version < 0)
     WHERE ${active};
     UPDATE summaries SET version = (SELECT sum(version) FROM events JOIN types ON types.id = type
       WHERE session = 1 AND name = 'SummaryCommitted') - (SELECT version FROM summaries WHERE ${active})
     WHERE ${old}`,
    ["one"],
  ],
]

describe("a change by another program is found by verify and mended by repair:", () => {
  it("nothing, and nothing is found", () =>
    withLog({ filename: copyOf() }, (log) =>
      Effect.gen(function* () {
        for (const session of ["one", "two"]) expect(yield* Verify.session(log, session)).toEqual([])
      }),
    ))

  for (const [what, sql, sessions] of changes) {
    it(what, async () => {
      const file = copyOf()
      const before = rowsOf(file)
      withDriver(file, (driver) => driver.exec(`PRAGMA foreign_keys = OFF; ${sql}`))
      expect(rowsOf(file)).not.toEqual(before)
      await withLog({ filename: file }, (log) =>
        Effect.gen(function* () {
          for (const session of ["one", "two"]) {
            const found = yield* Verify.session(log, session)
            expect([...new Set(found.map(({ rule }) => rule))]).toEqual(
              sessions.includes(session) ? ["summaries"] : [],
            )
            expect(JSON.stringify(found)).not.toContain("SECRET")
          }
          for (const session of ["one", "two"]) {
            expect((yield* Repair.repair(log, session)).left).toEqual([])
          }
          for (const session of ["one", "two"]) expect(yield* Verify.session(log, session)).toEqual([])
        }),
      )
      expect(rowsOf(file)).toEqual(before)
      expect(integrity(file)).toBe("ok")
    })
  }
})

it("rows that stand in the way of a compaction are written again when the session is opened", async () => {
  const file = copyOf()
  withDriver(file, (driver) =>
    driver.exec(`UPDATE summaries SET version = 99, summary_id = 'SECRET' WHERE ${active}`),
  )
  await Effect.gen(function* () {
    const memory = yield* Memory.Memory
    yield* memory.append("one", said(4, 10))
    expect(yield* memory.compact("one", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
    const log = yield* EventLog.EventLog
    expect(yield* Verify.session(log, "one")).toEqual([])
  }).pipe(
    Effect.provide(Layer.provideMerge(Memory.layer(manual).pipe(Layer.provide(echoing)), opened(file))),
    Effect.scoped,
    Effect.runPromise,
  )
})

it("a summary_id is unique in its session, whichever program writes it", () => {
  const file = copyOf()
  const [first] = rowsOf(file) as ReadonlyArray<{ readonly summary_id: string }>
  withDriver(file, (driver) =>
    expect(() =>
      driver.exec(`UPDATE summaries SET summary_id = '${first?.summary_id}' WHERE thread_id = 'one'`),
    ).toThrow("UNIQUE constraint failed: summaries.session, summaries.summary_id"),
  )
})
