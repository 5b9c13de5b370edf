/** What goes wrong around a compaction: other engines, stores, strategies, callers. */
import { describe, expect, it } from "@effect/vitest"
import { type Clock, Deferred, Effect, Fiber, Logger, LogLevel, Stream, TestClock } from "effect"
import { echo, gated, pairs, said, withMemory } from "@memfold/harness/engine"
import {
  EventLog,
  InMemoryEventLog,
  type Keep,
  Memory,
  Message,
  Summarizer,
  BatchSize,
  Verify,
} from "../index.js"

/** An engine on a log that others use, too. */
const engine = (
  log: EventLog.Service,
  summarizer: Summarizer.Service,
  options: Partial<Memory.Options> = {},
) =>
  Memory.make({ strategy: pairs, ...options, compaction: { mode: "manual", ...options.compaction } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )

describe("the lease (L7, L9)", () => {
  it.effect("keeps every engine away until it is over; then a late result is thrown away", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const slow = yield* engine(log, summarizer, { compaction: { lease: "1 hour" } })
      const other = yield* engine(log, echo, { compaction: { lease: "1 hour" } })
      const clock = yield* Effect.clock
      /** On a machine whose clock is ahead, the lease seems to be over while the work goes on. */
      const ahead = (hours: number) =>
        Effect.withClock(
          Object.assign(Object.create(clock) as Clock.Clock, {
            currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + hours * 3_600_000),
            unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + hours * 3_600_000,
          }),
        )
      yield* slow.append("s", said(6))
      const fiber = yield* Effect.fork(slow.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      expect(yield* other.compact("s", { which: "due" })).toEqual([])
      expect(yield* other.compact("s").pipe(ahead(0.9))).toEqual({ _tag: "Idle", reason: "running" })
      expect(yield* other.compact("s", { which: "due" }).pipe(ahead(1.1))).toMatchObject([
        { _tag: "Committed", started: { from: 0, to: 4 } },
      ])
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Lost" }])
      const findings = yield* Verify.session(log, "s")
      expect(findings).toEqual([])
    }).pipe(Effect.scoped),
  )
})

describe("the lock is not left behind", () => {
  it.effect("by an interruption, which is no failure either: nothing is waited for afterwards", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, summarizer } = yield* gated
      const memory = yield* engine(log, summarizer)
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      yield* Fiber.interrupt(fiber)
      expect(yield* memory.state("s")).toMatchObject({ running: null, failures: null })
      const tags = yield* Stream.runCollect(Stream.map(memory.events("s"), ({ event }) => event._tag))
      expect([...tags].slice(6)).toEqual(["CompactionStarted", "CompactionReleased"])
    }).pipe(Effect.scoped),
  )

  it.effect("by a store that fails at the end: it is asked three times more, and the lock given back", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      let failing = 0
      const log: EventLog.Service = {
        ...real,
        append: (session, records, options) =>
          records[0].type === "SummaryCommitted" && failing-- > 0
            ? Effect.fail(new EventLog.LogError({ operation: "append", session, reason: "no disk" }))
            : real.append(session, records, options),
      }
      const memory = yield* engine(log, echo)
      yield* memory.append("s", said(6))
      const settled = Effect.gen(function* () {
        const fiber = yield* Effect.fork(Effect.either(memory.compact("s", { which: "due" })))
        yield* TestClock.adjust("1 minute")
        return yield* Fiber.join(fiber)
      })
      failing = 4
      expect(yield* settled).toMatchObject({ _tag: "Left", left: { _tag: "LogError" } })
      expect((yield* memory.state("s")).running).toBeNull()
      failing = 2
      expect(yield* settled).toMatchObject({ _tag: "Right", right: [{ _tag: "Committed" }] })
    }).pipe(Effect.scoped),
  )

  it.effect("by a store whose answer gets lost: what it had stored is not stored again", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      let lost = 1
      const log: EventLog.Service = {
        ...real,
        append: (session, records, options) =>
          real.append(session, records, options).pipe(
            Effect.filterOrFail(
              () => records[0].type !== "SummaryCommitted" || lost-- <= 0,
              () => new EventLog.LogError({ operation: "append", session, reason: "connection lost" }),
            ),
          ),
      }
      const memory = yield* engine(log, echo)
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Committed" }])
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 4, running: null, failures: null })
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("by a summarizer that answers with nothing at all", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const nothing = {
        name: "nothing",
        summarize: () => Effect.succeed(null as unknown as Summarizer.Result),
      }
      const memory = yield* engine(log, nothing)
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Failed", error: { reason: "unavailable" } }])
      expect((yield* memory.state("s")).running).toBeNull()
    }).pipe(Effect.scoped),
  )
})

describe("what an append does not suffer from (L8)", () => {
  it.effect("a strategy that throws, or answers with no position", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<Keep.Keep["from"]> = [
        () => {
          throw new Error("a mistake")
        },
        () => Number.NaN,
        ({ total }) => total - 2.5,
      ]
      const log = yield* InMemoryEventLog.make
      for (const [position, from] of wrong.entries()) {
        const strategy = { ...pairs, keep: { describe: "", from } }
        const memory = yield* engine(log, echo, { strategy, compaction: { mode: "inline" } })
        expect(yield* memory.append(`s${position}`, said(9))).toMatchObject({ to: 9 })
        expect((yield* memory.state(`s${position}`)).total).toBe(9)
      }
    }).pipe(Effect.scoped),
  )

  it.effect("a caller that is uninterruptible: the work beside it is not", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* engine(log, summarizer, { compaction: { mode: "background" } })
        yield* Effect.uninterruptible(memory.append("s", said(6)))
        yield* Deferred.await(entered)
      }).pipe(Effect.scoped)
      const later = yield* engine(log, echo)
      expect((yield* later.state("s")).running).toBeNull()
    }).pipe(Effect.scoped),
  )
})

describe("what does not mislead a decision", () => {
  it.effect("the usage of an answer to a prompt from before the commit", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      const usage = { input: 9_000, output: 10 }
      yield* memory.append("s", Message.assistant("late", { usage }))
      expect((yield* memory.state("s")).reported).toBeNull()
      yield* memory.append("s", [Message.user("next"), Message.assistant("in time", { usage })])
      expect((yield* memory.state("s")).reported).toEqual({ index: 8, tokens: 9_010 })
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )

  it.effect("pinned messages at the front of what is to be taken", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const pinned = said(2).map((message) => ({ ...message, pinned: true }))
      yield* memory.append("s", [...pinned, ...said(6, 2)])
      const [outcome] = yield* memory.compact("s", { which: "due" })
      expect(outcome).toMatchObject({ _tag: "Committed", started: { from: 0, to: 3 } })
    }).pipe(
      Effect.provide(
        withMemory({
          strategy: { ...pairs, batchSize: BatchSize.messages(2) },
          compaction: { mode: "manual" },
        }),
      ),
    ),
  )

  it.effect("a summary so long that the summarizer has no room for anything new", () =>
    Effect.gen(function* () {
      let calls = 0
      const wordy: Summarizer.Service = {
        name: "wordy",
        maxInputTokens: 75,
        summarize: () => Effect.sync(() => ({ text: "a text of many words ".repeat(calls++ === 0 ? 9 : 1) })),
      }
      const memory = yield* engine(yield* InMemoryEventLog.make, wordy)
      yield* memory.append("s", said(40))
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        // What the first call finished is kept; there is no room for a second one.
        { _tag: "Committed", committed: { calls: 1 } },
        { _tag: "Failed", error: { reason: "too-large" } },
      ])
      expect(calls).toBe(1)
    }).pipe(Effect.scoped),
  )
})

describe("a restored summary", () => {
  it.effect("is said for people once, and of further sessions for a search of a fault", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const first = yield* engine(log, echo)
      for (const session of ["a", "b", "c"]) {
        yield* first.append(session, said(6))
        yield* first.compact(session, { which: "due" })
      }
      const heard: Array<readonly [string, unknown]> = []
      const listening = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ logLevel, message }) => void heard.push([logLevel.label, message])),
      )
      yield* engine(log, echo).pipe(
        Effect.flatMap((memory) => Effect.forEach(["a", "b", "a", "c"], (one) => memory.context(one))),
        Logger.withMinimumLogLevel(LogLevel.Debug),
        Effect.provide(listening),
      )
      const restored = heard.filter(([, message]) => String(message) === "a summary was restored")
      expect(restored.map(([level]) => level)).toEqual(["INFO", "DEBUG", "DEBUG"])
    }).pipe(Effect.scoped),
  )
})
