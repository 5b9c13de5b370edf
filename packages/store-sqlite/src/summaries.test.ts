import { CurrentSummarizer, EventCodec, EventLog, Fold, Keep, Memory } from "@memfold/core"
import { Session, Strategy, Summarizer, TokenCounter, Trigger } from "@memfold/core"
import type { Event } from "@memfold/core"
import { Effect, Layer, Logger } from "effect"
import * as fc from "fast-check"
import { join } from "node:path"
import { describe, expect, it, vi } from "vitest"
import { often } from "../../core/test/depth.js"
import { conversation, strategy } from "../../testing/src/arbitrary/index.js"
import { echo, pairs, said } from "../../core/test/engine.js"
import { disorder, recorded } from "../../testing/src/arbitrary/event.js"
import { quarter } from "../../testing/src/fakes/counter.js"
import { appended, committed, failed, started } from "../../testing/src/given/events.js"
import { RollingBuffer } from "../../strategies/rolling-buffer/src/index.js"
import { Rounds } from "../../strategies/rounds/src/index.js"
import { SlidingWindow } from "../../strategies/sliding-window/src/index.js"
import { SplitTurn } from "../../strategies/split-turn/src/index.js"
import { expectFollowed, folder, integrity, openDriver, openingFails } from "../test/support.js"
import { summaryRows, withDriver, withLog } from "../test/support.js"
import { applicationId, migrations } from "./schema.js"

// The properties take a few seconds, and more on a busy machine.
vi.setConfig({ testTimeout: often(300_000, 900_000) })

const newFile = () => join(folder(), "chats.db")

const noon = Date.UTC(2026, 0, 31, 12, 0, 0)

/** An event as a log stores it; one that is unknown or damaged, as another memfold or a bad disk leaves it. */
const record = (event: EventCodec.AnyEvent, at: number): EventLog.NewRecord => {
  if (event._tag === "UnknownEvent") return { ...event, at, data: "{}" }
  if (event._tag === "DamagedSummary") return { type: "SummaryCommitted", version: 1, at, data: "{" }
  return { at, ...EventCodec.encode(event) }
}

/** Appends records to a session in batches of these sizes, over and over. */
const appendAll = (
  log: EventLog.Service,
  session: string,
  records: ReadonlyArray<EventLog.NewRecord>,
  sizes: ReadonlyArray<number> = [1],
) =>
  Effect.gen(function* () {
    let expected = yield* log.version(session)
    for (let done = 0, batch = 0; done < records.length; batch++) {
      const [first, ...rest] = records.slice(done, done + sizes[batch % sizes.length]!)
      const { version } = yield* log.append(session, [first!, ...rest], { expected, commit: `c${expected}` })
      done += version - expected
      expected = version
    }
  })

/** Appends events to a session, the first one at noon and each a second after the one before. */
const appendEvents = (
  log: EventLog.Service,
  session: string,
  ...events: ReadonlyArray<EventCodec.AnyEvent>
) =>
  appendAll(
    log,
    session,
    events.map((event, position) => record(event, noon + position * 1_000)),
  )

/** A compaction up to `to`, from the summary before it if there is one. */
const compaction = (name: number, to: number, options: Partial<Event.SummaryCommitted> = {}) =>
  [
    started(to, { compaction: `k${name}` }),
    committed(to, {
      compaction: `k${name}`,
      summary: `s${name}`,
      segments: [{ kind: "history", from: 0, to, text: `summary ${name}` }],
      ...options,
    }),
  ] as const

const query = (file: string, sql: string, ...parameters: ReadonlyArray<unknown>) =>
  withDriver(file, (driver) => driver.prepare(sql).all(...parameters))

/** A memory on a log, for one program. */
const remembering = <A, E>(
  log: EventLog.Service,
  options: Memory.Options,
  program: (memory: Memory.Service) => Effect.Effect<A, E>,
  summarizer: Summarizer.Service = echo,
) =>
  Effect.flatMap(Memory.make({ compaction: "manual", ...options }), program).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(EventLog.EventLog, log),
        Layer.succeed(CurrentSummarizer, summarizer),
        Layer.succeed(TokenCounter.TokenCounter, quarter),
        Logger.remove(Logger.defaultLogger),
      ),
    ),
    Effect.scoped,
  )

/** A file as schema 1 had it, with the sessions and events of another file. */
const schemaOne = (from: string): string => {
  const file = newFile()
  withDriver(file, (driver) => {
    driver.pragma("journal_mode = WAL")
    for (const statement of migrations[0]!) driver.exec(statement)
    driver.exec(`
      ATTACH '${from}' AS other;
      INSERT INTO sessions SELECT id, name, version, created_at, updated_at FROM other.sessions;
      INSERT INTO events SELECT session, seq, commit_id, at, type, version, data FROM other.events;
      DETACH other`)
    driver.pragma(`application_id = ${applicationId}`)
    driver.pragma("user_version = 1")
  })
  return file
}

describe("the table summaries", () => {
  it("begins with the columns of reference design 3", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) => log.version("chat-1"))
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

  it("has a row for each summary, and the text without its heading", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      appendEvents(
        log,
        "chat-1",
        ...appended(said(6)),
        ...compaction(1, 4),
        ...appended(said(2), { from: 6 }),
        ...compaction(2, 7, {
          carried: 1,
          segments: [{ kind: "turn-prefix", from: 4, to: 7, text: "asked for a poem" }],
          files: { read: ["a.ts"], modified: [] },
          tokens: 21,
        }),
      ),
    )
    expect(summaryRows(file, "chat-1")).toEqual([
      {
        summary_id: "s1",
        thread_id: "chat-1",
        summary_text: "summary 1",
        compact_up_to_index: 4,
        compacted_at: 6,
        is_split_turn: 0,
        split_turn_prefix: null,
        is_active: 0,
        created_at: "2026-01-31 12:00:07",
        status: "superseded",
        superseded_by: "s2",
        seq: 8,
        at: noon + 7_000,
        tokens: 7,
        segments: null,
      },
      {
        summary_id: "s2",
        thread_id: "chat-1",
        summary_text:
          "summary 1\n\n---\n\n**Turn Context (split turn):**\n\nasked for a poem\n\n" +
          "<read-files>\na.ts\n</read-files>",
        compact_up_to_index: 7,
        compacted_at: 8,
        is_split_turn: 1,
        split_turn_prefix: "asked for a poem",
        is_active: 1,
        created_at: "2026-01-31 12:00:11",
        status: "active",
        superseded_by: null,
        seq: 12,
        at: noon + 11_000,
        tokens: 21,
        segments: JSON.stringify([
          { kind: "history", from: 0, to: 4, text: "summary 1" },
          { kind: "turn-prefix", from: 4, to: 7, text: "asked for a poem" },
        ]),
      },
    ])
  })

  it("answers the queries of reference designs 3 and 4", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(
          log,
          "chat-1",
          ...appended(said(6)),
          ...compaction(1, 2),
          ...compaction(2, 4),
          ...compaction(3, 5),
        )
        yield* appendEvents(log, "chat-2", ...appended(said(3)), ...compaction(1, 0, { segments: [] }))
      }),
    )
    expect(
      query(
        file,
        "SELECT summary_id, thread_id, is_split_turn, is_active, created_at FROM summaries ORDER BY created_at DESC LIMIT 5;",
      ),
    ).toEqual([
      {
        summary_id: "s3",
        thread_id: "chat-1",
        is_split_turn: 0,
        is_active: 1,
        created_at: "2026-01-31 12:00:11",
      },
      {
        summary_id: "s2",
        thread_id: "chat-1",
        is_split_turn: 0,
        is_active: 0,
        created_at: "2026-01-31 12:00:09",
      },
      {
        summary_id: "s1",
        thread_id: "chat-1",
        is_split_turn: 0,
        is_active: 0,
        created_at: "2026-01-31 12:00:07",
      },
      {
        summary_id: "s1",
        thread_id: "chat-2",
        is_split_turn: 0,
        is_active: 1,
        created_at: "2026-01-31 12:00:04",
      },
    ])
    const active = `SELECT * FROM compressed_summaries
      WHERE chat_id = ? AND status = 'active'
      ORDER BY compressed_at DESC`
    expect(query(file, active, "chat-1")).toEqual([
      {
        id: "s3",
        chat_id: "chat-1",
        status: "active",
        compressed_at: "2026-01-31 12:00:11.000",
        summary: "summary 3",
        message_ids: "[0,1,2,3,4]",
        superseded_by: null,
        tokens: 7,
        seq: 12,
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

  it("counts out the messages of a summary, however many", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      appendEvents(log, "chat-1", ...appended(said(1)), ...compaction(1, 1)),
    )
    for (const through of [0, 1, 10, 999, 1_000, 1_001, 1_999, 2_000, 2_001, 10_000, 12_345]) {
      withDriver(file, (driver) =>
        driver.exec(`UPDATE summaries SET compact_up_to_index = ${through}, compacted_at = 20000`),
      )
      const [row] = query(file, "SELECT message_ids FROM compressed_summaries")
      expect(row).toEqual({ message_ids: JSON.stringify(Array.from({ length: through }, (_, n) => n)) })
    }
  })

  it("is searched by an index for the active summary of a thread", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) => log.version("chat-1"))
    for (const truth of ["1", "TRUE"]) {
      const sql = `SELECT * FROM summaries WHERE thread_id = ? AND is_active = ${truth} ORDER BY created_at DESC`
      expect(query(file, `EXPLAIN QUERY PLAN ${sql}`, "chat-1")).toMatchObject([
        { detail: "SEARCH summaries USING INDEX summaries_by_thread (thread_id=? AND is_active=?)" },
      ])
    }
  })

  it("takes no second active summary of a session, whoever writes it (L1)", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 2), ...compaction(2, 4)),
    )
    const driver = openDriver(file)
    expect(() => driver.exec("UPDATE summaries SET is_active = 1, status = 'active'")).toThrow(
      "UNIQUE constraint failed",
    )
    expect(() => driver.exec("UPDATE summaries SET is_active = 1")).toThrow("CHECK constraint failed")
  })

  it("keeps the same id of two sessions apart", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "copy", ...appended(said(6)), ...compaction(1, 2))
        yield* appendEvents(log, "original", ...appended(said(6)), ...compaction(1, 4))
        yield* appendEvents(log, "original", ...compaction(1, 5))
        yield* expectFollowed(file, log)
      }),
    )
    expect(
      query(
        file,
        "SELECT summary_id, thread_id, compact_up_to_index, is_active FROM summaries ORDER BY 2, 3",
      ),
    ).toEqual([
      { summary_id: "s1", thread_id: "copy", compact_up_to_index: 2, is_active: 1 },
      { summary_id: "s1", thread_id: "original", compact_up_to_index: 4, is_active: 0 },
      { summary_id: "s1", thread_id: "original", compact_up_to_index: 5, is_active: 1 },
    ])
  })

  it("knows nothing of a commit whose compaction was not the running one (L7)", async () => {
    const file = newFile()
    const [, late] = compaction(1, 2)
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(
          log,
          "taken over",
          ...appended(said(6)),
          started(2),
          started(4, { compaction: "k2" }),
          late,
        )
        yield* appendEvents(log, "failed", ...appended(said(6)), started(2), failed(), late)
        yield* appendEvents(
          log,
          "released",
          ...appended(said(6)),
          started(2),
          { _tag: "CompactionReleased", compaction: "k1" },
          late,
        )
        yield* appendEvents(
          log,
          "cleared",
          ...appended(said(6)),
          started(2),
          { _tag: "SessionCleared" },
          late,
        )
        yield* appendEvents(
          log,
          "pruned alone",
          ...appended(said(6)),
          started(0),
          { _tag: "ToolOutputsPruned", compaction: "k1", outputs: [] },
          late,
        )
        yield* appendEvents(log, "twice", ...appended(said(6)), started(2), late, late)
      }),
    )
    expect(query(file, "SELECT thread_id FROM summaries")).toEqual([{ thread_id: "twice" }])
  })

  it("goes on from a compaction that pruned and then committed", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(
          log,
          "chat-1",
          ...appended(said(6)),
          started(2),
          { _tag: "ToolOutputsPruned", compaction: "k1", outputs: [] },
          committed(2),
        )
        expect(yield* expectFollowed(file, log)).toBe(1)
      }),
    )
  })

  it("has those that cannot be used as invalid, and the one before stays active", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 4))
        // Less than is covered already; more than there is; behind what is not there.
        for (const misfit of [
          compaction(2, 2),
          compaction(3, 1_000_000_000_000),
          compaction(4, 5, { carried: 2 }),
        ]) {
          yield* appendEvents(log, "chat-1", ...misfit)
          yield* expectFollowed(file, log)
        }
      }),
    )
    expect(
      query(
        file,
        `SELECT id, status, json_array_length(message_ids) AS messages FROM compressed_summaries
         WHERE chat_id = ? ORDER BY id`,
        "chat-1",
      ),
    ).toEqual([
      { id: "s1", status: "active", messages: 4 },
      { id: "s2", status: "invalid", messages: 2 },
      { id: "s3", status: "invalid", messages: 6 },
      { id: "s4", status: "invalid", messages: 5 },
    ])
  })

  it("counts no message of a newer memfold, as the fold does", async () => {
    const file = newFile()
    const [message] = appended(said(1))
    const newer = { ...record(message!, noon), version: 99 }
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(3)))
        yield* appendAll(log, "chat-1", [newer])
        yield* appendEvents(log, "chat-1", ...compaction(1, 2))
        expect(summaryRows(file, "chat-1")).toMatchObject([{ summary_id: "s1", compacted_at: 3 }])
        yield* expectFollowed(file, log)
      }),
    )
  })

  it("goes on counting after a clear, from 0", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 4))
        yield* appendEvents(log, "chat-1", { _tag: "SessionCleared" }, ...appended(said(3)))
        yield* appendEvents(log, "chat-1", ...compaction(2, 2))
        yield* expectFollowed(file, log)
      }),
    )
    expect(
      query(file, "SELECT summary_id, status, superseded_by, compacted_at FROM summaries ORDER BY seq"),
    ).toEqual([
      { summary_id: "s1", status: "superseded", superseded_by: null, compacted_at: 6 },
      { summary_id: "s2", status: "active", superseded_by: null, compacted_at: 3 },
    ])
  })

  it("an invalidated summary gives way to the one it had replaced", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 2), ...compaction(2, 4))
        yield* appendEvents(log, "chat-1", {
          _tag: "SummaryInvalidated",
          seq: 10,
          summary: "s2",
          reason: "damaged",
        })
        yield* expectFollowed(file, log)
        // What the one that is back covers can be carried over again.
        yield* appendEvents(
          log,
          "chat-1",
          ...compaction(3, 5, { carried: 1, segments: [{ kind: "block", from: 2, to: 5, text: "more" }] }),
        )
        yield* expectFollowed(file, log)
      }),
    )
    expect(
      query(file, "SELECT summary_id, status, superseded_by, summary_text FROM summaries ORDER BY seq"),
    ).toEqual([
      { summary_id: "s1", status: "superseded", superseded_by: "s3", summary_text: "summary 1" },
      { summary_id: "s2", status: "invalid", superseded_by: null, summary_text: "summary 2" },
      { summary_id: "s3", status: "active", superseded_by: null, summary_text: "summary 1\n\nmore" },
    ])
  })

  it("is right again once a damaged summary has been found, and those that were built on it", async () => {
    const file = newFile()
    const blocks = Strategy.make({
      name: "blocks",
      when: Trigger.backlog({ messages: 4 }),
      keep: Keep.lastMessages(2),
      fold: Fold.blocks,
    })
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* remembering(log, { strategy: blocks }, (memory) =>
          Effect.forEach([0, 6, 10], (from) =>
            Effect.zipRight(memory.append("chat-1", said(from === 0 ? 6 : 4, from)), memory.settle("chat-1")),
          ),
        )
        expect(yield* expectFollowed(file, log)).toBe(3)
        withDriver(file, (driver) =>
          driver.exec(`
            DELETE FROM snapshots;
            UPDATE events SET data = '{"summary"' WHERE seq =
              (SELECT seq FROM events WHERE type = 'SummaryCommitted' ORDER BY seq LIMIT 1 OFFSET 1)`),
        )
        yield* remembering(log, { strategy: blocks }, (memory) =>
          Effect.zipRight(memory.settle("chat-1"), memory.settle("chat-1")),
        )
        expect(yield* expectFollowed(file, log)).toBeGreaterThan(3)
        const statuses = query(file, "SELECT status FROM summaries ORDER BY seq").map(({ status }) => status)
        expect(statuses.slice(0, 4)).toEqual(["superseded", "invalid", "invalid", expect.any(String)])
        expect(statuses.at(-1)).toBe("active")
      }),
    )
  })

  it("has no word of what was rewritten (L15)", async () => {
    const file = newFile()
    const [, forgotten] = compaction(1, 2, {
      segments: [{ kind: "history", from: 0, to: 2, text: "[redacted]" }],
    })
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 2), ...compaction(2, 4))
        yield* log.rewrite(
          "chat-1",
          [{ seq: 8, ...EventCodec.encode(forgotten) }],
          [record({ _tag: "MessageRedacted", seq: 1, rewritten: [8] }, noon)],
          { expected: 10, commit: "redact" },
        )
        yield* expectFollowed(file, log)
      }),
    )
    expect(query(file, "SELECT summary_text FROM summaries ORDER BY seq")).toEqual([
      { summary_text: "[redacted]" },
      { summary_text: "summary 2" },
    ])
  })

  it("is untouched by appends that have no compaction in them", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        withDriver(file, (driver) => driver.exec("DROP VIEW compressed_summaries; DROP TABLE summaries"))
        yield* appendEvents(log, "chat-1", ...appended(said(6)), started(2), failed(), started(4))
        expect(yield* log.version("chat-1")).toBe(9)
      }),
    )
  })

  it("what cannot be decoded, or is another program's, is appended all the same", async () => {
    const file = newFile()
    const odd = [
      { at: 0, type: "CompactionStarted", version: 1, data: "{" },
      { at: 0, type: "CompactionStarted", version: 99, data: "{}" },
      { at: 0, type: "CompactionFailed", version: 0, data: "null" },
      { at: 0, type: "SummaryInvalidated", version: 1, data: '{"seq":-1}' },
      { at: 0, type: "constructor", version: 1, data: "" },
      { at: 8.64e15, type: "SummaryCommitted", version: 1, data: "" },
      { at: -1, type: "SummaryCommitted", version: 2, data: "{}" },
    ]
    await withLog({ filename: file }, (log) => appendAll(log, "chat-1", odd, [1, 3]))
    // A summary that is there but cannot be read is an invalid one, named after its event.
    expect(query(file, "SELECT summary_id, status, created_at FROM summaries")).toEqual([
      { summary_id: "c5.6", status: "invalid", created_at: null },
    ])
    expect(query(file, "SELECT compressed_at, message_ids FROM compressed_summaries")).toEqual([
      { compressed_at: null, message_ids: "[]" },
    ])
  })

  it("a row that somebody else has changed is made anew by the next commit", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 2))
        withDriver(file, (driver) => driver.exec("UPDATE summaries SET segments = 'tidied up'"))
        yield* appendEvents(log, "chat-1", ...compaction(2, 4))
        expect(yield* expectFollowed(file, log)).toBe(2)
      }),
    )
  })

  it("forgets a session that is deleted, and begins anew with its name", async () => {
    const file = newFile()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        yield* appendEvents(log, "chat-1", ...appended(said(6)), ...compaction(1, 2), started(4))
        yield* log.delete("chat-1")
        expect(query(file, "SELECT * FROM summaries")).toEqual([])
        // The compaction that was running is gone with the session, and so are its messages.
        yield* appendEvents(log, "chat-1", ...appended(said(3)), committed(2))
        yield* appendEvents(log, "chat-1", ...compaction(2, 2))
        expect(yield* expectFollowed(file, log)).toBe(1)
      }),
    )
  })
})

describe("the table says what core says of the log", () => {
  /** What happens next in a log; the numbers choose among what is possible there. */
  const happening = fc.record({
    what: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("say", "compact") },
      { weight: 1, arbitrary: fc.constantFrom("start", "commit", "fail", "prune", "clear", "invalidate") },
    ),
    one: fc.nat({ max: 99 }),
    other: fc.nat({ max: 99 }),
  })

  /** A log in which commits can be used, as a rule, and ids come again. */
  const lifelike: typeof disorder = fc.array(happening, { maxLength: 30, size: "max" }).map((happenings) => {
    const events: Array<Event.Event> = []
    const commit = (one: number, other: number, compaction: string): Event.SummaryCommitted => {
      const { total, through, summary } = Session.fold(Session.empty("s"), recorded(events))
      const before = summary?.segments ?? []
      const carried = one % (before.length + 1)
      const to = through + (other % (total - through + 1))
      const kind = other % 3 === 0 ? "turn-prefix" : "block"
      return committed(to, {
        compaction,
        summary: `s${one % 5}`,
        carried,
        segments: [{ kind, from: before[carried - 1]?.to ?? 0, to, text: `${one} ${other} \ud83d` }],
        tokens: other,
      })
    }
    for (const { what, one, other } of happenings) {
      const compaction = `k${one % 2}`
      if (what === "say") events.push(...appended(said(1 + (one % 4))))
      if (what === "start" || what === "compact") {
        events.push(started(other, { compaction, from: other % 4 === 0 ? other : 0 }))
      }
      if (what === "prune") events.push({ _tag: "ToolOutputsPruned", compaction, outputs: [] })
      if (what === "commit" || what === "compact") events.push(commit(one, other, compaction))
      if (what === "fail") events.push(failed({ compaction }))
      if (what === "clear") events.push({ _tag: "SessionCleared" })
      if (what === "invalidate") {
        const commits = recorded(events).filter(({ event }) => event._tag === "SummaryCommitted")
        const seq = commits[other % Math.max(commits.length, 1)]?.seq ?? other
        events.push({ _tag: "SummaryInvalidated", seq, summary: null, reason: "damaged" })
      }
    }
    return recorded(events)
  })

  const logs = fc.record({
    events: fc.oneof(disorder, lifelike),
    sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
    damaged: fc.array(fc.nat({ max: 39 }), { maxLength: 3 }),
  })

  type GivenLog = typeof logs extends fc.Arbitrary<infer Given> ? Given : never

  /** The records of a log; a commit among them may be damaged. */
  const recordsOf = ({ events, damaged }: GivenLog) =>
    events.map(({ event, at }, position) => {
      const whole = record(event, at)
      const broken = whole.type === "SummaryCommitted" && damaged.includes(position)
      return broken ? { ...whole, data: whole.data.slice(1) } : whole
    })

  it("for events in no sensible order, in batches, some of them damaged", async () => {
    const file = newFile()
    await withLog({ filename: file, synchronous: "normal" }, (log) =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(logs, (given) =>
            Effect.gen(function* () {
              yield* log.delete("s")
              yield* appendAll(log, "s", recordsOf(given), given.sizes)
              yield* expectFollowed(file, log)
            }).pipe(Effect.runPromise),
          ),
          { numRuns: often(60, 1_000) },
        ),
      ),
    )
    expect(integrity(file)).toBe("ok")
  })

  it("for what memories write: any strategy, with clears and failures", async () => {
    const file = newFile()
    const runs = fc.record({
      strategy: fc.oneof(
        strategy,
        fc.constantFrom(
          SlidingWindow({ tailKeepSize: 3, compressionWindowSize: 3 }),
          Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }),
          SplitTurn({ contextLimit: 100, compactionThreshold: 0.5 }),
          RollingBuffer({ bufferSize: 2 }),
        ),
      ),
      messages: fc.oneof(conversation, fc.constant(said(64))),
      /** What comes after each four messages. */
      steps: fc.array(
        fc.oneof(
          { weight: 12, arbitrary: fc.constantFrom("settle", "compact") },
          fc.constantFrom("clear", "nothing"),
        ),
        { minLength: 8, maxLength: 16 },
      ),
      /** Whether the first call of the summarizer fails, the second, and so on; then from the start again. */
      failures: fc.constantFrom([false], [false, false, true], [true, false]),
    })
    const unreliable = (failures: ReadonlyArray<boolean>): Summarizer.Service => {
      let calls = 0
      return {
        name: "unreliable",
        summarize: (request) =>
          failures[calls++ % failures.length] === true
            ? new Summarizer.SummarizerError({ session: request.session, reason: "refused", detail: "" })
            : echo.summarize(request),
      }
    }
    let rows = 0
    await withLog({ filename: file, synchronous: "normal" }, (log) =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(runs, ({ strategy, messages, steps, failures }) =>
            Effect.gen(function* () {
              yield* log.delete("s")
              const talk = (memory: Memory.Service) =>
                Effect.forEach(steps, (step, position) =>
                  Effect.gen(function* () {
                    yield* memory.append("s", messages.slice(position * 4, position * 4 + 4))
                    if (step === "settle") yield* memory.settle("s")
                    if (step === "compact") yield* memory.compact("s")
                    if (step === "clear") yield* memory.clear("s")
                  }),
                )
              const options = { strategy, summarizerRetries: 0, backOff: 0 }
              yield* remembering(log, options, talk, unreliable(failures))
              rows += yield* expectFollowed(file, log)
            }).pipe(Effect.runPromise),
          ),
          { numRuns: often(80, 400) },
        ),
      ),
    )
    expect(rows).toBeGreaterThan(50)
  })

  it("for logs whose first half was written in schema 1", async () => {
    const samples = fc.sample(logs, 100)
    const file = newFile()
    const halfOf = (position: number) => Math.floor(recordsOf(samples[position]!).length / 2)
    await withLog({ filename: file, synchronous: "normal" }, (log) =>
      Effect.forEach(samples, (given, position) =>
        appendAll(log, `s${position}`, recordsOf(given).slice(0, halfOf(position)), [7]),
      ),
    )
    const old = schemaOne(file)
    await withLog({ filename: old, synchronous: "normal" }, (log) =>
      Effect.gen(function* () {
        yield* expectFollowed(old, log)
        yield* Effect.forEach(samples, (given, position) =>
          appendAll(log, `s${position}`, recordsOf(given).slice(halfOf(position)), given.sizes),
        )
        expect(yield* expectFollowed(old, log)).toBeGreaterThan(20)
      }),
    )
  })
})

describe("a file of schema 1", () => {
  /** Sessions of several summaries, one of them of more events than are read at a time, one still compacting. */
  const written = async () => {
    const file = newFile()
    await withLog({ filename: file, synchronous: "normal" }, (log) =>
      Effect.gen(function* () {
        yield* remembering(log, { strategy: pairs }, (memory) =>
          Effect.gen(function* () {
            for (const [session, count] of [
              ["long", 1_200],
              ["short", 30],
              ["cleared", 20],
              ["silent", 1],
            ] as const) {
              for (let from = 0; from < count; from += 10) {
                yield* memory.append(session, said(Math.min(10, count - from), from))
                yield* memory.settle(session)
              }
            }
            yield* memory.clear("cleared")
          }),
        )
        yield* appendEvents(log, "compacting", ...appended(said(5)), started(4))
      }),
    )
    return schemaOne(file)
  }
  const pragma = (file: string) =>
    withDriver(file, (driver) => driver.pragma("user_version", { simple: true }))

  it("has its summaries in the table once it is opened, and goes on from there", async () => {
    const file = await written()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(yield* expectFollowed(file, log)).toBeGreaterThan(120)
        yield* appendEvents(log, "compacting", committed(4))
        yield* remembering(log, { strategy: pairs }, (memory) =>
          Effect.zipRight(memory.append("long", said(10, 1_200)), memory.settle("long")),
        )
        yield* expectFollowed(file, log)
      }),
    )
    expect(pragma(file)).toBe(3)
    expect(
      query(file, "SELECT compacted_at, is_active FROM summaries WHERE thread_id = 'compacting'"),
    ).toEqual([{ compacted_at: 5, is_active: 1 }])
    expect(integrity(file)).toBe("ok")
  })

  it("of more sessions than are read at a time has them all brought up to date", async () => {
    const empty = newFile()
    await withLog({ filename: empty }, (log) => log.version("none"))
    const file = schemaOne(empty)
    withDriver(file, (driver) =>
      driver.exec(`
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500)
        INSERT INTO sessions SELECT n, 'chat-' || n, 1, 0, 0 FROM numbers;
        INSERT INTO events SELECT id, 1, 'c', 0, 'MessageAppended', 1, '' FROM sessions`),
    )
    await withLog({ filename: file }, (log) => log.version("none"))
    expect(query(file, "SELECT messages, projected, count(*) AS n FROM sessions GROUP BY 1, 2")).toEqual([
      { messages: 1, projected: 1, n: 1_500 },
    ])
  })

  it.each([
    ["the last of the statements", "CREATE TABLE compressed_summaries (mine)"],
    [
      "filling the table",
      "CREATE TRIGGER mine BEFORE UPDATE ON sessions BEGIN SELECT RAISE (ABORT, 'mine'); END",
    ],
  ])("stays what it is when %s fails", async (_what, sql) => {
    const file = await written()
    withDriver(file, (driver) => driver.exec(sql))
    const error = await openingFails({ filename: file })
    expect(error.operation).toBe("migrate")
    expect(pragma(file)).toBe(1)
    expect(query(file, "SELECT name FROM sqlite_master WHERE name LIKE 'summaries%'")).toEqual([])
    expect(query(file, "PRAGMA table_info(sessions)")).toHaveLength(5)
  })

  it("opened for looking only is read as it is", async () => {
    const file = await written()
    await withLog({ filename: file, readonly: true }, (log) =>
      Effect.gen(function* () {
        yield* remembering(log, { strategy: pairs }, (memory) =>
          Effect.gen(function* () {
            expect((yield* memory.summaries("short")).length).toBeGreaterThan(2)
            expect((yield* memory.context("short")).messages.length).toBeGreaterThan(1)
          }),
        )
        const message = record(appended(said(1))[0]!, noon)
        const error = yield* Effect.flip(log.append("short", [message], { expected: 1, commit: "c" }))
        expect(error.message).toContain("is read-only")
      }),
    )
    expect(pragma(file)).toBe(1)
  })

  it("that an older memfold still has open: it can read, and is told that it cannot append", async () => {
    const file = await written()
    // The older one's connection, with the statements it reads and appends with.
    const older = openDriver(file)
    const read = () =>
      older
        .prepare(
          `SELECT seq, commit_id, at, type, events.version AS version, data
           FROM events JOIN sessions ON sessions.id = events.session
           WHERE sessions.name = ? AND seq BETWEEN ? AND ? ORDER BY seq`,
        )
        .all("compacting", 1, 100)
    const before = read()
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(read()).toEqual(before)
        const insert =
          "INSERT INTO events (session, seq, commit_id, at, type, version, data) VALUES (?, ?, ?, ?, ?, ?, ?)"
        expect(() => older.prepare(insert)).toThrow('cannot INSERT into generated column "type"')
        yield* appendEvents(log, "compacting", committed(4))
        expect(read()).toHaveLength(before.length + 1)
        yield* expectFollowed(file, log)
      }),
    )
  })
})

describe("a file of schema 2", () => {
  it("keeps every event and every text, and finds its commits again", async () => {
    const newer = newFile()
    const file = newFile()
    withDriver(file, (driver) => {
      driver.pragma("journal_mode = WAL")
      for (const statement of migrations.slice(0, 2).flat()) driver.exec(statement)
      driver.pragma(`application_id = ${applicationId}`)
      driver.pragma("user_version = 2")
    })
    const columns = "session, seq, commit_id, at, type, version, data, checksum"
    await withLog({ filename: newer }, (log) =>
      remembering(log, { strategy: Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }) }, (memory) =>
        Effect.forEach(Array.from({ length: 30 }), (_, turn) =>
          Effect.zipRight(
            memory.append("chat-1", said(2, turn * 2), { commit: `turn-${turn}` }),
            memory.settle("chat-1"),
          ),
        ),
      ),
    )
    withDriver(file, (driver) =>
      driver.exec(`
        ATTACH '${newer}' AS other;
        INSERT INTO sessions SELECT * FROM other.sessions;
        INSERT INTO events (${columns}) SELECT ${columns} FROM other.events;
        INSERT INTO summaries SELECT summary_id, thread_id, 'old ' || seq, compact_up_to_index, compacted_at,
          is_split_turn, split_turn_prefix, is_active, created_at, status, superseded_by, session, seq, at, tokens,
          segments FROM other.summaries;
        DETACH other`),
    )
    const before = query(file, `SELECT ${columns} FROM events ORDER BY seq`)
    expect(before.length).toBeGreaterThan(100)
    await withLog({ filename: file }, (log) =>
      Effect.gen(function* () {
        expect(query(file, `SELECT ${columns} FROM events ORDER BY seq`)).toEqual(before)
        expect(query(file, "SELECT * FROM events")).toEqual(query(newer, "SELECT * FROM events"))
        expect(query(file, "SELECT * FROM summaries")).toEqual(query(newer, "SELECT * FROM summaries"))
        expect(yield* expectFollowed(file, log)).toBeGreaterThan(10)
        const again = yield* remembering(log, { strategy: pairs }, (memory) =>
          memory.append("chat-1", said(2, 14), { commit: "turn-7" }),
        )
        expect(again).toMatchObject({ duplicate: true, from: 14, to: 16 })
      }),
    )
    expect(integrity(file)).toBe("ok")
  })
})

describe("what the table takes on the disk", () => {
  it("grows with the summaries, not with their square, where each carries over the ones before", async () => {
    const file = newFile()
    const lengthAfter = (log: EventLog.Service, turns: number) =>
      remembering(log, { strategy: Rounds({ fullContextTurns: 1, cachedContextTurns: 1 }) }, (memory) =>
        Effect.forEach(Array.from({ length: turns }), (_, turn) =>
          Effect.zipRight(memory.append("chat-1", said(2, turn * 2)), memory.settle("chat-1")),
        ),
      ).pipe(
        Effect.map(
          () => query(file, "SELECT sum(length(summary_text)) AS length, count(*) AS n FROM summaries")[0],
        ),
      )
    await withLog({ filename: file, synchronous: "normal" }, (log) =>
      Effect.gen(function* () {
        const first = yield* lengthAfter(log, 50)
        const second = yield* lengthAfter(log, 50)
        const count = Number(second?.["n"]) - Number(first?.["n"])
        expect(count).toBeGreaterThan(40)
        // As much again, the active one twice, and longer numbers.
        expect(Number(second?.["length"])).toBeLessThan(2.5 * Number(first?.["length"]))
        expect(yield* expectFollowed(file, log)).toBeGreaterThan(90)
      }),
    )
  })
})
