/** What an application has a say in: hooks, the budget, the switch, the end. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Logger, LogLevel, Metric, Scope, TestClock } from "effect"
import { echo, gated, pairs, said, withMemory } from "@memfold/harness/engine"
import {
  EventLog,
  SummaryMode,
  type Hooks,
  InMemoryEventLog,
  Keep,
  Memory,
  Strategy,
  Summarizer,
  Trigger,
  Verify,
} from "../index.js"
import { messagesAppended } from "../observe/metrics.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const on = (log: EventLog.Service, options: Partial<Memory.Options>, summarizer: Summarizer.Service = echo) =>
  Memory.make({ strategy: pairs, ...options }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )

const failing: Summarizer.Service = {
  name: "failing",
  summarize: ({ session }) =>
    Effect.fail(new Summarizer.SummarizerError({ session, reason: "refused", detail: "no" })),
}

describe("a hook before a compaction", () => {
  it.effect("sees the plan, and may add instructions to the caller's instructions", () => {
    const seen: Array<string> = []
    const told: Array<string | undefined> = []
    const hooks: Hooks = {
      beforeCompaction: ({ session, plan, state }) =>
        Effect.sync(() => {
          seen.push(`${session} [${plan.from},${plan.to}) ${plan.reason} of ${state.total}`)
          return { instructions: "keep the numbers" }
        }),
    }
    const summarizer: Summarizer.Service = {
      name: "listening",
      summarize: (request) => {
        told.push(request.instructions)
        return echo.summarize(request)
      },
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.append("s", said(6, 6))
      yield* memory.compact("s", { instructions: "be brief" })
      expect(seen).toEqual(["s [0,4) backlog of 6", "s [4,10) demand of 12"])
      expect(told).toEqual(["keep the numbers", "be brief\n\nkeep the numbers"])
    }).pipe(
      Effect.provide(withMemory({ ...manual, compaction: { ...manual.compaction, hooks } }, summarizer)),
    )
  })

  it.effect("sees the very plan that is started", () => {
    let decisions = 0
    const seen: Array<string> = []
    const strategy = Strategy.make({
      name: "counts decisions",
      when: { due: (view) => (view.tailFrom - view.coveredTo < 4 ? null : `decision ${++decisions}`) },
      keep: Keep.lastMessages(2),
      summaryMode: SummaryMode.rolling,
    })
    const hooks: Hooks = {
      beforeCompaction: ({ plan }) => Effect.sync(() => void seen.push(plan.reason)),
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      decisions = 0
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { started: { reason: "decision 1" } },
      ])
      expect(seen).toEqual(["decision 1"])
      expect(decisions).toBe(1)
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual", hooks } })))
  })

  it.effect("is asked once, and the plan is made again if the session changes meanwhile", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const other = yield* on(log, manual)
      const seen: Array<number> = []
      const beforeCompaction: Hooks["beforeCompaction"] = ({ plan }) =>
        Effect.sync(() => void seen.push(plan.to)).pipe(
          Effect.zipRight(Effect.orDie(other.append("s", said(2, 6)))),
          Effect.as({ instructions: "keep the numbers" }),
        )
      const memory = yield* on(log, {
        ...manual,
        compaction: { ...manual.compaction, hooks: { beforeCompaction } },
      })
      yield* memory.append("s", said(6))
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { _tag: "Committed", started: { from: 0, to: 6 } },
      ])
      expect(seen).toEqual([4])
    }).pipe(Effect.scoped),
  )

  it.effect("may say no: nothing is done, and the next look asks again", () => {
    let asked = 0
    const hooks: Hooks = {
      beforeCompaction: () => Effect.sync(() => (++asked < 3 ? { veto: true as const } : undefined)),
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.compact("s")).toEqual({ _tag: "Idle", reason: "vetoed" })
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
      expect(asked).toBe(3)
    }).pipe(Effect.provide(withMemory({ ...manual, compaction: { ...manual.compaction, hooks } })))
  })

  it.effect("is told how it ended; a hook that dies changes nothing", () => {
    const ended: Array<string> = []
    const hooks: Hooks = {
      beforeCompaction: () => Effect.die("a bug"),
      afterCompaction: ({ session, outcome }) =>
        Effect.sync(() => ended.push(`${session} ${outcome._tag}`)).pipe(
          Effect.zipRight(Effect.die("another")),
        ),
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
      expect(ended).toEqual(["s Committed"])
    }).pipe(
      Effect.provide(withMemory({ ...manual, compaction: { ...manual.compaction, hooks } })),
      Logger.withMinimumLogLevel(LogLevel.None),
    )
  })
})

describe("the budget of a context", () => {
  const size = (tokens: number) => ({ budget: { tokens, timeout: "10 seconds" as const } })

  it.effect("is waited for while a compaction runs", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      const memory = yield* on(yield* InMemoryEventLog.make, size(60), summarizer)
      yield* memory.append("s", said(6))
      yield* Deferred.await(entered)
      const context = yield* Effect.fork(memory.context("s"))
      yield* Effect.yieldNow()
      expect(yield* Fiber.poll(context)).toMatchObject({ _tag: "None" })
      yield* Deferred.succeed(gate, undefined)
      const { budget, layout } = yield* Fiber.join(context)
      expect(budget).toBe("compacted")
      expect(layout[0]).toMatchObject({ section: "summary", to: 4 })
    }).pipe(Effect.scoped),
  )

  it.effect("is not waited for longer than its time, and the work goes on", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      const memory = yield* on(yield* InMemoryEventLog.make, size(60), summarizer)
      yield* memory.append("s", said(6))
      yield* Deferred.await(entered)
      const context = yield* Effect.fork(memory.context("s"))
      yield* TestClock.adjust("10 seconds")
      expect((yield* Fiber.join(context)).budget).toBe("timed-out")
      yield* Deferred.succeed(gate, undefined)
      expect((yield* memory.context("s")).budget).toBe("compacted")
    }).pipe(Effect.scoped),
  )

  it.effect("waits for a compaction that another process runs", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const other = yield* on(log, { compaction: { mode: "manual" } }, summarizer)
      yield* other.append("s", said(6))
      const settling = yield* Effect.fork(other.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      const memory = yield* on(log, size(60))
      const context = yield* Effect.fork(memory.context("s"))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.poll(context)).toMatchObject({ _tag: "None" })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(settling)
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(context)).budget).toBe("compacted")
    }).pipe(Effect.scoped),
  )

  it.effect("says when nothing was needed, when nothing more can be done, and when it failed", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const memory = yield* on(log, size(60))
      yield* memory.append("short", said(2))
      expect((yield* memory.context("short")).budget).toBe("within")
      const strict = yield* on(log, size(1))
      expect((yield* strict.context("short")).budget).toBe("nothing-to-take")
      expect((yield* strict.context("short", { atVersion: 1 })).budget).toBeUndefined()
      const unlucky = yield* on(log, size(60), failing)
      yield* unlucky.append("long", said(6))
      expect((yield* unlucky.context("long")).budget).toBe("failed")
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.effect("does not call it done where the store let no compaction begin", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const full: EventLog.Service = {
        ...log,
        append: (session, records, options) =>
          records.some(({ type }) => type === "CompactionStarted")
            ? new EventLog.LogError({ operation: "append", session, reason: "the disk is full" })
            : log.append(session, records, options),
      }
      const memory = yield* on(full, size(60))
      yield* memory.append("s", said(6))
      const context = yield* Effect.fork(memory.context("s"))
      yield* TestClock.adjust("5 seconds")
      expect((yield* Fiber.join(context)).budget).toBe("failed")
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None)),
  )
})

describe("compaction that is off", () => {
  it.effect("is off whoever asks", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(20))
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.compact("s")).toEqual({ _tag: "Idle", reason: "off" })
      expect(yield* memory.compact("s", { which: "all" })).toEqual([])
      expect(yield* memory.state("s")).toMatchObject({ total: 20, coveredTo: 0, running: null })
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "off" } }))),
  )
})

describe("closing a memory", () => {
  it.effect("lets compactions end for as long as it is told to", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const scope = yield* Scope.make()
      const memory = yield* on(log, { compaction: { shutdown: "1 minute" } }, summarizer).pipe(
        Scope.extend(scope),
      )
      yield* memory.append("s", said(6))
      yield* Deferred.await(entered)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("30 seconds")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(closing)
      const after = yield* on(log, manual)
      expect(yield* after.state("s")).toMatchObject({ coveredTo: 4, running: null })
    }).pipe(Effect.scoped),
  )

  it.effect("gives up what takes longer, and leaves no lock behind", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, summarizer } = yield* gated
      const scope = yield* Scope.make()
      const memory = yield* on(log, { compaction: { shutdown: "1 minute" } }, summarizer).pipe(
        Scope.extend(scope),
      )
      yield* memory.append("s", said(6))
      yield* Deferred.await(entered)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(closing)
      const after = yield* on(log, manual)
      expect(yield* after.state("s")).toMatchObject({ coveredTo: 0, running: null, failures: null })
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )
})

describe("what can be measured", () => {
  /** The counters of a name, by their labels. */
  const counters = (name: string) =>
    Effect.map(Metric.snapshot, (pairs) =>
      Object.fromEntries(
        pairs
          .filter(({ metricKey }) => metricKey.name === name)
          .map(({ metricKey, metricState }) => [
            metricKey.tags.map(({ key, value }) => `${key}=${value}`).join(" "),
            "count" in metricState ? metricState.count : metricState,
          ]),
      ),
    )

  it.effect("messages, compactions by how they ended, failures by kind, and a shadow's other opinion", () => {
    const shadow = Strategy.make({
      name: "eager-shadow",
      when: Trigger.backlog({ messages: 1 }),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.rolling,
    })
    return Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const strategy = { ...pairs, name: "measured" }
      const before = yield* counters("memfold_messages_appended")
      const memory = yield* on(log, { strategy, shadow, compaction: { mode: "inline" } })
      yield* memory.append("s", said(1), { idempotencyKey: "once" })
      yield* memory.append("s", said(1), { idempotencyKey: "once" })
      yield* memory.append("s", said(2, 1))
      yield* memory.append("s", said(3, 3))
      const unlucky = yield* on(log, { strategy, compaction: { mode: "inline" } }, failing)
      yield* unlucky.append("t", said(6))

      const now = yield* counters("memfold_messages_appended")
      expect(Number(now[""]) - Number(before[""] ?? 0)).toBe(12)
      expect(yield* counters("memfold_compactions")).toMatchObject({
        "outcome=Committed strategy=measured reason=backlog": 1,
        "outcome=Failed strategy=measured reason=refused": 1,
      })
      expect(yield* counters("memfold_shadow_decisions")).toMatchObject({
        "strategy=eager-shadow agrees=false": 1,
        "strategy=eager-shadow agrees=true": 3,
      })
      expect((yield* counters("memfold_summarizer_failures"))["reason=refused"]).toBeGreaterThan(0)
      expect((yield* Metric.value(messagesAppended)).count).toBeGreaterThan(0)
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None))
  })
})
