/** Summaries that are damaged where they are stored: found, declared invalid, and written anew from the log. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger, Stream } from "effect"
import { echo, pairs, said } from "@memfold/harness/engine"
import { withoutSnapshots, withRecords } from "@memfold/harness/logs"
import { committed, started } from "@memfold/testing"
import {
  EventCodec,
  EventLog,
  SummaryMode,
  InMemoryEventLog,
  Memory,
  Strategy,
  Verify,
  Summarizer,
} from "../index.js"

/** A log whose records can be damaged, and whose snapshots are gone. */
const damageable = Effect.map(InMemoryEventLog.make, (real) => {
  const broken = new Set<number>()
  const log = withoutSnapshots(
    withRecords(real, (records) =>
      records.map((record) =>
        broken.has(record.version) ? { ...record, data: '{"text":"secret of the conversation' } : record,
      ),
    ),
  )
  return { log, broken }
})

const engine = (log: EventLog.Service, options: Partial<Memory.Options> = {}) =>
  Memory.make({ strategy: pairs, ...options, compaction: { mode: "manual", ...options.compaction } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, echo),
  )

/** The events of a session but for its messages, each with its place. */
const events = (memory: Memory.Service) =>
  memory.events("s").pipe(
    Stream.filter(({ event }) => event._tag !== "MessageAppended"),
    Stream.map(({ version, event }) => `${event._tag} at ${version}`),
    Stream.runCollect,
    Effect.map((all) => [...all]),
  )

const findings = (log: EventLog.Service) =>
  Effect.map(Verify.session(log, "s"), (all) => all.map(({ rule, version }) => `${rule} at ${version}`))

/** Collects what is logged while an effect runs. */
const listening = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const collecting = Logger.make<unknown, void>((options) => {
    lines.push(Logger.logfmtLogger.log(options))
  })
  return Effect.map(Effect.provide(effect, Logger.replace(Logger.defaultLogger, collecting)), (answer) => ({
    answer,
    lines,
  }))
}

describe("a damaged summary", () => {
  it.effect("costs no message, is declared invalid once, and is written anew when the policy says so", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* Effect.flatMap(engine(log), (memory) =>
        Effect.zipRight(memory.append("s", said(6)), memory.compact("s", { which: "due" })),
      )
      broken.add(8)
      const memory = yield* engine(log)
      expect(yield* memory.state("s")).toMatchObject({
        coveredTo: 0,
        summary: null,
        damaged: [{ version: 8 }],
      })
      expect((yield* memory.context("s")).messages).toEqual(said(6))
      expect(yield* findings(log)).toEqual(["decodable at 8"])

      const { answer, lines } = yield* listening(memory.compact("s", { which: "due" }))
      expect(answer).toMatchObject([
        { _tag: "Committed", started: { from: 0, to: 4 }, committed: { segments: [{ text: "[0,4)" }] } },
      ])
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 4, damaged: [], running: null })
      expect(yield* events(memory)).toEqual([
        "CompactionStarted at 7",
        "DamagedSummary at 8",
        "SummaryInvalidated at 9",
        "CompactionStarted at 10",
        "SummaryCommitted at 11",
      ])
      expect(lines).toHaveLength(1)
      expect(lines[0]).toContain("session=s")
      expect(lines[0]).toContain("level=ERROR")
      expect(lines[0]).not.toContain("secret")
      expect(yield* findings(log)).toEqual([])

      expect(yield* listening(memory.compact("s", { which: "due" }))).toEqual({ answer: [], lines: [] })
      expect(yield* Effect.map(events(memory), (all) => all.length)).toBe(5)
    }).pipe(Effect.scoped),
  )

  it.effect("in place of an older summary brings the older one back", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* Effect.gen(function* () {
        const memory = yield* engine(log)
        yield* memory.append("s", said(6))
        yield* memory.compact("s", { which: "due" })
        yield* memory.append("s", said(4, 6))
        yield* memory.compact("s", { which: "due" })
        expect(yield* events(memory)).toContain("SummarySuperseded at 15")
      })
      broken.add(14)
      const memory = yield* engine(log)
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 4, supersededCount: 0 })
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { started: { from: 4, to: 8 }, committed: { segments: [{ text: "[0,8)" }] } },
      ])
      const statuses = Effect.map(memory.summaries("s"), (all) => all.map(({ status }) => status))
      expect(yield* statuses).toEqual(["superseded", "invalid", "active"])
      expect(yield* findings(log)).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("from which a newer summary was written leaves the newer one in force", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      const before = yield* engine(log)
      yield* before.append("s", said(6))
      yield* before.compact("s", { which: "due" })
      yield* before.append("s", said(4, 6))
      yield* before.compact("s", { which: "due" })
      broken.add(8)
      const memory = yield* engine(log)
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 8, damaged: [{ version: 8 }] })
      expect(yield* findings(log)).toEqual(["decodable at 8", "L3 at 13", "L1 at 15"])
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 8, damaged: [] })
      expect(yield* findings(log)).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("takes along what was built on it: each is declared invalid, and all is written anew", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      const blocks = { strategy: Strategy.make({ ...pairs, summaryMode: SummaryMode.blocks }) }
      const before = yield* engine(log, blocks)
      yield* before.append("s", said(6))
      yield* before.compact("s", { which: "due" })
      yield* before.append("s", said(4, 6))
      yield* before.compact("s", { which: "due" })
      broken.add(8)
      const memory = yield* engine(log, blocks)
      expect(yield* memory.state("s")).toMatchObject({
        coveredTo: 0,
        damaged: [{ version: 8, summary: null }, { version: 14 }],
      })
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ started: { from: 0, to: 8 } }])
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 8, damaged: [] })
      const statuses = Effect.map(memory.summaries("s"), (all) => all.map(({ status }) => status))
      expect(yield* statuses).toEqual(["invalid", "invalid", "active"])
      // The engine that had it all in memory sees the same.
      expect(yield* before.state("s")).toEqual(yield* memory.state("s"))
      expect(yield* findings(log)).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("is declared invalid also where nothing is due, and its messages stay raw", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* Effect.flatMap(engine(log), (memory) =>
        Effect.zipRight(memory.append("s", said(5)), memory.compact("s")),
      )
      broken.add(7)
      const memory = yield* engine(log)
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* events(memory)).toContain("SummaryInvalidated at 8")
      expect((yield* memory.context("s")).messages).toEqual(said(5))
      expect(yield* findings(log)).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("is dealt with along with the next append, where compactions run by themselves", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      yield* Effect.flatMap(engine(log), (memory) =>
        Effect.zipRight(memory.append("s", said(4)), memory.compact("s")),
      )
      broken.add(6)
      const memory = yield* engine(log, { compaction: { mode: "inline" } })
      yield* memory.append("s", said(1, 4))
      expect(yield* memory.state("s")).toMatchObject({ total: 5, coveredTo: 0, damaged: [] })
      expect(yield* events(memory)).toContain("SummaryInvalidated at 8")
    }).pipe(Effect.scoped),
  )

  it.effect("is declared invalid once, whoever finds it, and an engine that still had it follows", () =>
    Effect.gen(function* () {
      const { log, broken } = yield* damageable
      const before = yield* engine(log)
      yield* before.append("s", said(6))
      yield* before.compact("s", { which: "due" })
      expect(yield* before.state("s")).toMatchObject({ coveredTo: 4 })
      broken.add(8)
      const [one, other] = [yield* engine(log), yield* engine(log)]
      yield* Effect.all([one.compact("s", { which: "due" }), other.compact("s", { which: "due" })], {
        concurrency: "unbounded",
      })
      const found = (yield* events(one)).filter((event) => event.startsWith("SummaryInvalidated"))
      expect(found).toHaveLength(1)
      const state = yield* one.state("s")
      expect(state).toMatchObject({ coveredTo: 4, damaged: [], running: null })
      for (const memory of [before, other]) expect(yield* memory.state("s")).toEqual(state)
      expect(yield* before.append("s", said(1, 6))).toMatchObject({ from: 6 })
      expect(yield* findings(log)).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("may be readable, and not fit: it is declared invalid by its id", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* engine(log)
      yield* memory.append("s", said(6))
      const misfit = committed(4, { carried: 2 })
      yield* log.append(
        "s",
        [
          { time: 0, ...EventCodec.encode(started(4)) },
          { time: 0, ...EventCodec.encode(misfit) },
        ],
        { expectedVersion: 6, batchId: "another program" },
      )
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { _tag: "Committed", started: { from: 0, to: 4 } },
      ])
      const all = yield* Stream.runCollect(memory.events("s"))
      expect([...all].map(({ event }) => event)).toContainEqual({
        _tag: "SummaryInvalidated",
        version: 8,
        summary: "s1",
        reason: "damaged",
      })
      expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual(["invalid", "active"])
      expect(yield* findings(log)).toEqual([])
    }).pipe(Effect.scoped),
  )
})
