/** The lock of a compaction: renewed while it works, taken over soon when it is gone, whatever the clocks say. */
import { describe, expect, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import { echo, gated, pairs, said } from "@memfold/harness/engine"
import { EventCodec, EventLog, InMemoryEventLog, Memory, Repair, Summarizer, Verify } from "../index.js"

const year = 365 * 24 * 3_600_000

/** An engine on a log that others use, too. */
const engine = (
  log: EventLog.Service,
  summarizer: Summarizer.Service = echo,
  options: Partial<Memory.Options> = {},
) =>
  Memory.make({ strategy: pairs, ...options, compaction: { mode: "manual", ...options.compaction } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )

/** Runs an effect on a machine whose clock is ahead. */
const ahead =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.clock, (clock) =>
      Effect.withClock(
        effect,
        Object.assign(Object.create(clock) as Clock.Clock, {
          currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
          unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + millis,
        }),
      ),
    )

/** The log has the lock of a compaction whose process was killed, on a machine whose clock was so far ahead. */
const killed = (log: EventLog.Service, { skew = 0, from = 0 } = {}) =>
  Effect.gen(function* () {
    const time = (yield* Clock.currentTimeMillis) + skew
    const expectedVersion = yield* EventLog.versionOf(log, "s")
    const started = EventCodec.encode({
      _tag: "CompactionStarted",
      compaction: "gone",
      strategy: "pairs",
      reason: "backlog",
      from,
      to: from + 4,
      tailFrom: from + 4,
      parts: [{ kind: "history", from, to: from + 4 }],
      leaseUntil: time + 30_000,
    })
    yield* log.append("s", [{ time, ...started }], { expectedVersion, batchId: `gone-${expectedVersion}` })
  })

const tags = (memory: Memory.Service) =>
  Effect.map(Stream.runCollect(memory.events("s")), (events) =>
    [...events].map(({ event }) => event._tag).filter((tag) => tag !== "MessageAppended"),
  )

describe("a compaction that works for long", () => {
  it.effect("renews its lease, so that nobody takes over", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const slow = yield* engine(log, summarizer, { compaction: { summarizerTimeout: "10 minutes" } })
      const other = yield* engine(log)
      yield* slow.append("s", said(6))
      const fiber = yield* Effect.fork(slow.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      for (let seconds = 0; seconds < 120; seconds += 5) {
        yield* TestClock.adjust("5 seconds")
        expect(yield* other.compact("s", { which: "due" })).toEqual([])
        expect(yield* other.compact("s")).toEqual({ _tag: "Idle", reason: "running" })
      }
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Committed" }])
      // Once for each half of the lease.
      const renewals = Array.from({ length: 8 }, () => "CompactionRenewed")
      expect(yield* tags(slow)).toEqual(["CompactionStarted", ...renewals, "SummaryCommitted"])
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("renews it so often at the most as its summarizer may take", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const never = { name: "never", summarize: () => Effect.never }
      const options = { compaction: { summarizerTimeout: "1 minute", summarizerRetries: 2 } } as const
      const memory = yield* engine(log, never, options)
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* TestClock.adjust("1 hour")
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Failed" }])
      // Three tries of a minute, and the pauses between them.
      const renewals = (yield* tags(memory)).filter((tag) => tag === "CompactionRenewed")
      expect(renewals).toHaveLength(12)
    }).pipe(Effect.scoped),
  )

  it.effect("stops when another one has the lock: nobody needs the rest of its work", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, summarizer } = yield* gated
      const slow = yield* engine(log, summarizer)
      const other = yield* engine(log)
      yield* slow.append("s", said(6))
      const fiber = yield* Effect.fork(slow.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      expect(yield* other.compact("s", { takeOver: true })).toMatchObject({ _tag: "Committed" })
      yield* TestClock.adjust("15 seconds")
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Lost" }])
      expect(yield* tags(slow)).toEqual([
        "CompactionStarted",
        "CompactionReleased",
        "CompactionStarted",
        "SummaryCommitted",
      ])
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )
})

describe("a compaction whose process was killed", () => {
  it.effect("blocks the session for 30 seconds, and not for a call from whoever knows that it is gone", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* engine(log)
      yield* memory.append("s", said(6))
      yield* killed(log)
      yield* TestClock.adjust("29999 millis")
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      const again = yield* engine(log)
      expect(yield* again.compact("s")).toEqual({ _tag: "Idle", reason: "running" })
      yield* TestClock.adjust("1 millis")
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { _tag: "Committed", started: { to: 4 } },
      ])
      yield* memory.append("s", said(4, 6))
      yield* killed(log, { from: 4 })
      expect(yield* memory.compact("s", { takeOver: true })).toMatchObject({ _tag: "Committed" })
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("leaves no message out of the contexts until then", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const strategy = { ...pairs, context: { ...pairs.context, maxMessages: 8 } }
      const memory = yield* engine(log, echo, { strategy, compaction: { mode: "background" } })
      yield* memory.append("s", said(3))
      yield* killed(log)
      yield* memory.append("s", said(20, 3))
      expect((yield* memory.context("s")).messages).toHaveLength(23)
      yield* TestClock.adjust("30 seconds")
      const { layout } = yield* memory.context("s")
      expect(layout).toMatchObject([{ section: "summary", from: 0, to: 21 }, { section: "uncovered" }])
    }).pipe(Effect.scoped),
  )

  it.effect("blocks for the length of its lease, even if its clock was a year ahead", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* (yield* engine(log)).append("s", said(6))
      yield* killed(log, { skew: year })
      const memory = yield* engine(log, echo, { compaction: { mode: "background" } })
      expect(yield* Verify.session(log, "s")).toMatchObject([
        { rule: "lease", detail: expect.stringContaining("gone has the lock until 1971-01-01T00:00:30") },
      ])
      yield* memory.append("s", said(1, 6))
      yield* TestClock.adjust("29 seconds")
      expect((yield* memory.state("s")).coveredTo).toBe(0)
      yield* TestClock.adjust("1 seconds")
      expect((yield* memory.state("s")).coveredTo).toBe(5)
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("is given back by a repair if its clock was a year ahead", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* engine(log)
      yield* memory.append("s", said(6))
      yield* killed(log, { skew: year })
      expect((yield* Repair.repair(log, "s")).mended).toEqual([expect.stringContaining("lock")])
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
    }).pipe(Effect.scoped),
  )

  it.effect("blocks nobody whose own clock is ahead, and a year behind no longer than its lease", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* engine(log)
      yield* TestClock.setTime(2 * year)
      yield* memory.append("s", said(6))
      yield* killed(log)
      const behind = ahead(-year)
      expect(yield* behind(memory.compact("s", { which: "due" }))).toEqual([])
      yield* TestClock.adjust("30 seconds")
      expect(yield* behind(memory.compact("s", { which: "due" }))).toMatchObject([{ _tag: "Committed" }])
      yield* memory.append("s", said(4, 6))
      yield* killed(log, { from: 4 })
      expect(yield* ahead(year)(memory.compact("s", { which: "due" }))).toMatchObject([{ _tag: "Committed" }])
    }).pipe(Effect.scoped),
  )
})

describe("a cap", () => {
  const capped = { ...pairs, context: { ...pairs.context, maxMessages: 6 } }
  const down: Summarizer.Service = { name: "down", summarize: () => Effect.never }

  it.effect("gives way while a compaction runs, after a failure, and during the pause after a revert", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const options = { strategy: capped, compaction: { mode: "background", summarizerRetries: 0 } } as const
      const memory = yield* engine(log, down, options)
      const shown = Effect.map(memory.context("s"), ({ messages }) => messages.length)
      // About to start, and running.
      yield* memory.append("s", said(12))
      expect(yield* shown).toBe(12)
      yield* TestClock.adjust("1 second")
      expect((yield* memory.state("s")).running).not.toBeNull()
      expect(yield* shown).toBe(12)
      yield* TestClock.adjust("2 minutes")
      expect(yield* memory.state("s")).toMatchObject({ running: null, failures: { reason: "timeout" } })
      expect(yield* shown).toBe(12)

      const working = yield* engine(log)
      yield* working.compact("s")
      yield* working.revert("s")
      expect(yield* shown).toBe(12)
      expect((yield* memory.context("s", { atVersion: 12 })).messages).toHaveLength(12)
    }).pipe(Effect.scoped),
  )

  it.effect("holds where nothing is going to cover the messages", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      for (const compaction of ["manual", "off"] as const) {
        const memory = yield* engine(log, echo, { strategy: capped, compaction: { mode: compaction } })
        if (compaction === "manual") yield* memory.append("s", said(12))
        const { layout } = yield* memory.context("s")
        expect(layout[0]).toMatchObject({ section: "gap", from: 0, to: 6 })
      }
    }).pipe(Effect.scoped),
  )
})
