import {
  EventLog,
  SummaryMode,
  Keep,
  Memory,
  Message,
  Strategy,
  Trigger,
  Verify,
  Summarizer,
} from "@memfold/core"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { withDriver } from "@memfold/harness/sqlite"
import {
  countsOf,
  folder,
  integrity,
  putSnapshot,
  records,
  recordsOf,
  summary,
  summaryRows,
  textsOf,
  versionOf,
  withLog,
} from "./support.js"
import { layer, make } from "../src/index.js"

const newFile = () => join(folder(), "chats.db")

describe("a file", () => {
  it("has everything when it is opened again", async () => {
    const filename = newFile()
    const data = '{"half":"\\ud83d","nul":"\\u0000","emoji":"👩‍👩‍👧"}'
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        yield* log.append("one", records(3, data), { expectedVersion: 0, batchId: "c1" })
        yield* log.append("日本 🗻", records(1), { expectedVersion: 0, batchId: "c1" })
        yield* putSnapshot(log, "one", data)
      }),
    )
    await withLog({ filename, synchronous: "normal" }, (log) =>
      Effect.gen(function* () {
        const [first] = yield* recordsOf(log, "one")
        expect(first).toEqual({ session: "one", version: 1, batchId: "c1", ...records(1, data)[0] })
        expect(yield* log.projections.get("one", "snapshot")).toEqual([{ key: "", data }])
        const sessions = yield* Stream.runCollect(EventLog.sessions(log))
        expect([...sessions].map(({ session, version }) => [session, version])).toEqual([
          ["one", 3],
          ["日本 🗻", 1],
        ])
        expect(yield* log.append("one", records(3), { expectedVersion: 0, batchId: "c1" })).toEqual({
          fromVersion: 1,
          version: 3,
          duplicate: true,
        })
      }),
    )
  })

  it("is in WAL mode and carries memfold's mark", async () => {
    const filename = newFile()
    await withLog({ filename }, (log) => versionOf(log, "one"))
    const pragma = (name: string) => withDriver(filename, (driver) => driver.pragma(name, { simple: true }))
    expect(pragma("journal_mode")).toBe("wal")
    expect(pragma("application_id")).toBe(Buffer.from("mfld").readInt32BE())
    expect(pragma("user_version")).toBe(6)
  })

  it("reads plainly with any SQLite shell, through the view log", async () => {
    const filename = newFile()
    const time = Date.UTC(2026, 0, 31, 23, 59, 58, 999)
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        yield* log.append("two", [{ time, type: "Second", schemaVersion: 1, data: "{}" }], {
          expectedVersion: 0,
          batchId: "c1",
        })
        yield* log.append(
          "one",
          [
            { time, type: "First", schemaVersion: 1, data: '{"index":0}' },
            { time: time + 1_000, type: "Other", schemaVersion: 1, data: "{}" },
          ],
          { expectedVersion: 0, batchId: "c1" },
        )
      }),
    )
    expect(withDriver(filename, (driver) => driver.prepare("SELECT * FROM log").all())).toEqual([
      {
        session: "one",
        version: 1,
        type: "First",
        time: "2026-01-31 23:59:58",
        batch_id: "c1",
        data: '{"index":0}',
      },
      {
        session: "one",
        version: 2,
        type: "Other",
        time: "2026-01-31 23:59:59",
        batch_id: "c1",
        data: "{}",
      },
      {
        session: "two",
        version: 1,
        type: "Second",
        time: "2026-01-31 23:59:58",
        batch_id: "c1",
        data: "{}",
      },
    ])
  })

  it("keeps the types of a batch, however many and however odd", async () => {
    const types = ["First", "Other", "First", "", "constructor", "it's 类型 🎈", "Other"]
    const [record] = records(1)
    const [first, ...rest] = types.map((type) => ({ ...record, type }))
    await withLog({ filename: newFile() }, (log) =>
      Effect.gen(function* () {
        // The types of an append that fails are not known afterwards.
        const broken = { ...record, data: null as unknown as string }
        yield* Effect.flip(log.append("one", [first!, broken], { expectedVersion: 0, batchId: "c0" }))
        yield* log.append("one", [first!, ...rest], { expectedVersion: 0, batchId: "c1" })
        yield* log.append("one", [{ ...record, type: "New" }], {
          expectedVersion: types.length,
          batchId: "c2",
        })
        yield* log.append("one", [first!], { expectedVersion: types.length + 1, batchId: "c3" })
        const found = (yield* recordsOf(log, "one")).map(({ type }) => type)
        expect(found).toEqual([...types, "New", "First"])
      }),
    )
  })

  it("takes a batch as a whole or not at all", async () => {
    const filename = newFile()
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        const [record] = records(1)
        const broken = { ...record, data: null as unknown as string }
        const append = log.append("one", [record, broken, record], { expectedVersion: 0, batchId: "c1" })
        expect(yield* Effect.flip(append)).toBeInstanceOf(EventLog.LogError)
        expect(yield* versionOf(log, "one")).toBe(0)
        expect(yield* recordsOf(log, "one")).toEqual([])
        const appended = yield* log.append("one", [record], { expectedVersion: 0, batchId: "c1" })
        expect(appended).toEqual({ fromVersion: 1, version: 1, duplicate: false })
      }),
    )
    expect(integrity(filename)).toBe("ok")
  })

  it("leaves nothing behind of a session that was deleted", async () => {
    const filename = newFile()
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        const projections = [summaryRows([summary(3)])]
        yield* log.append("one", records(3), { expectedVersion: 0, batchId: "c1", projections })
        yield* putSnapshot(log, "one", "{}")
        expect(yield* log.delete("one")).toBe(true)
      }),
    )
    const rows = (table: string) =>
      withDriver(filename, (driver) => driver.prepare(`SELECT * FROM ${table}`).all())
    expect(["sessions", "events", "projections", "summaries"].flatMap(rows)).toEqual([])
  })
})

/** How many transactions stand in a write-ahead log: the last frame of each one says how large the database is. */
const transactionsIn = (filename: string): number => {
  const bytes = readFileSync(`${filename}-wal`)
  const frame = 24 + bytes.readUInt32BE(8)
  let transactions = 0
  // What is left of an older round of the log has another salt.
  const salt = bytes.subarray(16, 24)
  for (let at = 32; at + frame <= bytes.length; at += frame) {
    if (!bytes.subarray(at + 8, at + 16).equals(salt)) break
    if (bytes.readUInt32BE(at + 4) !== 0) transactions++
  }
  return transactions
}

describe("appends to one session, one after the other", () => {
  const append = (log: EventLog.Service, session: string, version: number) =>
    log.append(session, records(1), { expectedVersion: version, batchId: `b${version + 1}` })

  // Streams of Node.js go on by ticks.
  const ticks = Effect.promise(() => new Promise<void>((resolve) => process.nextTick(resolve)))
  it.each([
    ["promises", Effect.promise(() => Promise.resolve())],
    ["ticks", ticks],
  ])("leave timers and sockets their turn, where they go on by %s", async (_, goOn) => {
    await withLog({ filename: newFile() }, (log) =>
      Effect.gen(function* () {
        yield* append(log, "one", 0)
        const turns: Array<string> = []
        setImmediate(() => turns.push("socket"))
        setTimeout(() => turns.push("timer"), 1)
        let version = 1
        for (; turns.length < 2 && version < 10_000; version++) {
          yield* append(log, "one", version)
          yield* goOn
        }
        expect(turns).toHaveLength(2)
      }),
    )
  })
})

describe("group commit", () => {
  it("what waits at the same time shares one statement, and each has its own answer", async () => {
    const filename = newFile()
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        const [record] = records(1)
        const broken = { ...record, time: null as unknown as number }
        for (const session of ["good", "behind", "fine"])
          yield* log.append(session, records(2), { expectedVersion: 0, batchId: "first" })
        const before = transactionsIn(filename)
        const append = (
          session: string,
          expectedVersion: number,
          options: Partial<EventLog.AppendOptions> = {},
        ) => log.append(session, records(3), { expectedVersion, batchId: "c", ...options })
        const answers = yield* Effect.all(
          {
            good: append("good", 2),
            conflict: Effect.flip(append("behind", 1)),
            again: append("behind", 2, { batchId: "first" }),
            anew: Effect.flip(append("behind", 2, { lastBatchId: "other" })),
            nobody: Effect.flip(append("nobody", 2)),
            fine: append("fine", 2),
          },
          { concurrency: "unbounded" },
        )
        expect(transactionsIn(filename) - before).toBe(1)
        expect(answers).toMatchObject({
          good: { fromVersion: 3, version: 5, duplicate: false },
          conflict: { _tag: "VersionConflict", expectedVersion: 1, actualVersion: 2 },
          again: { fromVersion: 1, version: 2, duplicate: true },
          anew: { _tag: "VersionConflict" },
          nobody: { _tag: "VersionConflict", actualVersion: 0 },
          fine: { version: 5 },
        })

        const some = yield* Effect.all(
          [
            append("good", 5, { batchId: "d" }),
            log.append("behind", [record, broken], { expectedVersion: 2, batchId: "d" }),
            append("fine", 5, { batchId: "d" }),
          ].map(Effect.either),
          { concurrency: "unbounded" },
        )
        expect(some.map(({ _tag }) => _tag)).toEqual(["Right", "Left", "Right"])
        expect(yield* versionOf(log, "good")).toBe(8)
        expect(yield* versionOf(log, "behind")).toBe(2)
        expect(yield* versionOf(log, "fine")).toBe(8)
      }),
    )
    expect(integrity(filename)).toBe("ok")
  })

  it("two that are decided on the same version: one wins, whichever transaction they are in (L12)", async () => {
    await withLog({ filename: ":memory:" }, (log) =>
      Effect.gen(function* () {
        const answers = yield* Effect.all(
          Array.from({ length: 20 }, (_, index) =>
            Effect.either(log.append("one", records(1), { expectedVersion: 0, batchId: `c${index}` })),
          ),
          { concurrency: "unbounded" },
        )
        expect(answers.map(({ _tag }) => _tag).toSorted()).toEqual([...Array(19).fill("Left"), "Right"])
        expect(yield* versionOf(log, "one")).toBe(1)
      }),
    )
  })

  it("64 sessions at once take at most a transaction for each of their turns", async () => {
    const filename = newFile()
    await withLog({ filename }, (log) =>
      Effect.gen(function* () {
        const sessions = Array.from({ length: 64 }, (_, index) => `s${index}`)
        for (const session of sessions)
          yield* log.append(session, records(1), { expectedVersion: 0, batchId: "c0" })
        const before = transactionsIn(filename)
        yield* Effect.forEach(
          sessions,
          (session) =>
            Effect.forEach([1, 2, 3, 4, 5], (version) =>
              log.append(session, records(1), { expectedVersion: version, batchId: `c${version}` }),
            ),
          { concurrency: "unbounded" },
        )
        expect(transactionsIn(filename) - before).toBeLessThanOrEqual(10)
      }),
    )
  })
})

describe("within one process", () => {
  // A transaction that gave way to other fibers would lock them out for as long as they block its thread.
  it("two logs on one file take turns, however large the batches", async () => {
    const filename = newFile()
    const options = { filename, busyTimeout: "1 second", synchronous: "normal" } as const
    await withLog(options, (first) =>
      Effect.gen(function* () {
        const second = yield* make(options)
        const fill = (log: EventLog.Service, session: string) =>
          Effect.forEach([0, 1, 2, 3, 4], (batch) =>
            log.append(session, records(1_000), { expectedVersion: batch * 1_000, batchId: `c${batch}` }),
          )
        yield* Effect.all([fill(first, "one"), fill(second, "two")], { concurrency: "unbounded" })
        expect(yield* versionOf(second, "one")).toBe(5_000)
        expect(yield* versionOf(first, "two")).toBe(5_000)
      }),
    )
  })

  it("an append that is interrupted is written as a whole or not at all, and blocks nobody", async () => {
    await withLog({ filename: ":memory:" }, (log) =>
      Effect.gen(function* () {
        const append = log.append("one", records(2_000), { expectedVersion: 0, batchId: "c1" })
        const fiber = yield* Effect.fork(append)
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        expect([0, 2_000]).toContain(yield* versionOf(log, "one"))
        expect((yield* log.append("two", records(1), { expectedVersion: 0, batchId: "c1" })).version).toBe(1)
      }),
    )
  })

  it("8 fibers append to one session while it is compacted", async () => {
    const filename = newFile()
    const program = Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const halfway = yield* Deferred.make<void>()
      // The first compaction runs until a hundred more messages have come.
      const slow: Summarizer.Service = {
        name: "slow",
        summarize: ({ from, to }) =>
          Deferred.succeed(started, undefined).pipe(
            Effect.zipRight(Deferred.await(halfway)),
            Effect.as({ text: `[${from},${to})` }),
          ),
      }
      const strategy = Strategy.make({
        name: "often",
        when: Trigger.backlog({ messages: 6 }),
        keep: Keep.lastMessages(4),
        summaryMode: SummaryMode.rolling,
      })
      const live = Memory.layer({ strategy }).pipe(
        Layer.provideMerge(layer({ filename })),
        Layer.provide(Layer.succeed(Summarizer.Summarizer, slow)),
      )
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        const log = yield* EventLog.EventLog
        let appended = 0
        const fiber = (name: number) =>
          Effect.forEach(
            Array.from({ length: 25 }, (_, index) => `${name}.${index}`),
            (text, index) =>
              Effect.gen(function* () {
                // Two from each are enough for a compaction, which starts a moment later.
                if (index === 2) yield* Deferred.await(started)
                const { from } = yield* memory.append("one", Message.user(text))
                if (++appended === 116) yield* Deferred.succeed(halfway, undefined)
                // As people do between two messages: a fiber that never pauses keeps its turn from the compaction.
                yield* Effect.yieldNow()
                return { from, text }
              }),
          )
        const answers = yield* Effect.all([0, 1, 2, 3, 4, 5, 6, 7].map(fiber), { concurrency: "unbounded" })
        yield* memory.compact("one", { which: "due" })

        const texts = yield* textsOf(log, "one")
        expect(texts).toHaveLength(200)
        for (const mine of answers) {
          expect(mine.map(({ from }) => texts[from])).toEqual(mine.map(({ text }) => text))
          expect(mine.map(({ from }) => from)).toEqual(mine.map(({ from }) => from).toSorted((a, b) => a - b))
        }
        expect(yield* Verify.session(log, "one")).toEqual([])

        const types = (yield* recordsOf(log, "one")).map(({ type }) => type)
        const [start, end] = [types.indexOf("CompactionStarted"), types.indexOf("SummaryCommitted")]
        expect(types.slice(start, end).filter((type) => type === "MessageAppended").length).toBeGreaterThan(
          80,
        )
        const counts = yield* countsOf(log, "one")
        expect(counts["SummaryCommitted"]).toBeGreaterThan(0)
      }).pipe(Effect.provide(live))
    })
    await Effect.runPromise(program)
    expect(integrity(filename)).toBe("ok")
  })
})
