/** The caps of a day's spend: for all processes together, and until the day turns. */
import { describe, expect, it } from "@effect/vitest"
import {
  Clock,
  Deferred,
  Effect,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Stream,
  TestClock,
  TestContext,
} from "effect"
import * as fc from "fast-check"
import { echo, pairs, said } from "@memfold/harness/engine"
import { often } from "@memfold/harness/depth"
import {
  Embedder,
  EventLog,
  InMemoryEventLog,
  Memory,
  MemoryLayers,
  Metrics,
  Summarizer,
  Verify,
} from "../index.js"

const day = 86_400_000

/** A summarizer that costs what each call says, and notes what each day has cost, and each day of each session. */
const priced = (costs: () => number) => {
  const spent = new Map<string, number>()
  const calls: Array<number> = []
  const service: Summarizer.Service = {
    name: "priced",
    maxInputTokens: Number.POSITIVE_INFINITY,
    summarize: ({ session, from, to }) =>
      Effect.gen(function* () {
        const cost = costs()
        calls.push(cost)
        const today = Memory.dayOf(yield* Clock.currentTimeMillis)
        for (const key of [today, `${today} ${session}`]) spent.set(key, (spent.get(key) ?? 0) + cost)
        yield* Effect.sleep("3 seconds")
        return { text: `[${from},${to})`, usage: { input: cost - 1, output: 1 } }
      }),
  }
  return { service, spent, calls }
}

/** A process over a log that others use, too. */
const engine = (log: EventLog.Service, summarizer: Summarizer.Service, options: Partial<Memory.Options>) =>
  Memory.make({ strategy: pairs, ...options }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )

const uncovered = (memory: Memory.Service, session: string) =>
  Effect.map(memory.state(session), ({ total, coveredTo }) => total - coveredTo)

/** Long messages: the most that a call may cost is more than what it does cost. */
const long = (count: number, from: number) =>
  said(count, from).map((message) => ({
    ...message,
    parts: [{ type: "text" as const, text: "many words of one message. ".repeat(60) }],
  }))

describe("the spend of a day", () => {
  it("is at most its cap and one call, in any number of processes; the work goes on when the day turns", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          cap: fc.integer({ min: 1, max: 3_000 }),
          costs: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 8 }),
          processes: fc.integer({ min: 1, max: 3 }),
          scope: fc.constantFrom("session" as const, "owner" as const, "total" as const),
          turns: fc.array(
            fc.record({ session: fc.constantFrom("a", "b", "c"), pause: fc.nat({ max: 20 }) }),
            { minLength: 4, maxLength: 24 },
          ),
        }),
        ({ cap, costs, processes, scope, turns }) =>
          Effect.gen(function* () {
            const log = yield* InMemoryEventLog.make
            let drawn = 0
            const { service, spent, calls } = priced(() => costs[drawn++ % costs.length] ?? 1)
            const memories = yield* Effect.replicateEffect(
              engine(log, service, { spend: { [scope]: { tokens: cap } } }),
              processes,
            )
            for (const [at, { session, pause }] of turns.entries()) {
              const memory = memories[at % processes]!
              yield* memory.append(session, long(4, at * 4), { owner: "ada" })
              yield* TestClock.adjust(`${pause} seconds`)
              // A context answers at once, whatever has been spent.
              expect((yield* memory.context(session)).messages.length).toBeGreaterThan(0)
            }
            // A day makes one call at least.
            for (let left = turns.length; left >= 0; left--) yield* TestClock.adjust("1 day")
            const most = cap + Math.max(...calls)
            for (const [key, amount] of spent)
              if (scope !== "session" || key.includes(" ")) expect(amount).toBeLessThanOrEqual(most)
            for (const session of new Set(turns.map((turn) => turn.session))) {
              expect(yield* uncovered(memories[0]!, session)).toBeLessThanOrEqual(6)
              const findings = yield* Verify.session(log, session)
              expect(findings).toEqual([])
            }
            const counted = Memory.spendLog(scope, scope === "owner" ? "ada" : turns[0]!.session)
            expect(yield* Verify.session(log, counted)).toEqual([])
          }).pipe(
            Effect.scoped,
            Logger.withMinimumLogLevel(LogLevel.None),
            Effect.provide(TestContext.TestContext),
            Effect.runPromise,
          ),
      ),
      { numRuns: often(6, 200) },
    )
  })

  it.scoped("is counted by all processes, said once, and shown by contexts", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { service, calls } = priced(() => 700)
      const warnings: Array<string> = []
      const updates: Array<string> = []
      const heard = Layer.merge(
        Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ message }) => void warnings.push(String(message))),
        ),
        Metrics.listen(
          ({ name, labels }) => void updates.push(`${name} ${labels["cap"] ?? labels["part"] ?? ""}`),
        ),
      )
      yield* Effect.gen(function* () {
        const spend = { total: { tokens: 1_000 } }
        const first = yield* engine(log, service, { spend, budget: { tokens: 500, timeout: "5 seconds" } })
        const second = yield* engine(log, service, { spend })
        yield* first.append("a", long(8, 0))
        yield* TestClock.adjust("1 minute")
        yield* second.append("b", long(8, 0))
        yield* TestClock.adjust("1 minute")
        expect(calls).toEqual([700, 700])
        yield* second.append("c", long(8, 0))
        yield* first.append("d", long(8, 0))
        yield* TestClock.adjust("1 minute")
        expect(calls).toEqual([700, 700])
        expect((yield* second.context("c")).waits).toEqual({ cap: "total", until: day })
        // A budget does not wait for the next day.
        const shown = yield* first.context("d")
        expect([shown.budget, shown.waits?.cap, shown.messages.length]).toEqual(["spend-reached", "total", 8])
        expect(yield* second.compact("c")).toEqual({ _tag: "Idle", reason: "spend-reached" })
        expect(
          warnings.filter((one) => one.includes("the spend of the day has reached its cap")),
        ).toHaveLength(1)
        expect(updates).toContain("memfold_spend_reached total")
        expect(updates.filter((one) => one === "memfold_spend_tokens summarizer")).toHaveLength(2)
        const { spent } = yield* second.state(Memory.spendLog("total", ""))
        expect(spent).toMatchObject({
          day: "1970-01-01",
          tokens: 1_400,
          dollars: 0,
          reached: { tokens: 1_000 },
        })
        // The day turns, and nobody says anything.
        yield* TestClock.adjust("1 day")
        expect(calls).toHaveLength(4)
        expect((yield* second.context("c")).waits).toBeUndefined()
      }).pipe(Effect.provide(heard))
    }),
  )

  it.scoped("counts a call of a killed process with the most that it may cost", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const never = yield* Deferred.make<Summarizer.Result>()
      const begun = yield* Deferred.make<void>()
      const hanging: Summarizer.Service = {
        name: "hanging",
        summarize: () => Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(never)),
      }
      const spend = { session: { tokens: 100 } }
      // Its fiber is left alone, and nothing of it is settled: so ends a process that is killed.
      const killed = yield* engine(log, hanging, { spend, compaction: { mode: "manual" } })
      yield* killed.append("a", long(8, 0))
      yield* Effect.forkScoped(killed.compact("a"))
      yield* Deferred.await(begun)
      const { spent } = yield* killed.state(Memory.spendLog("session", "a"))
      expect(spent?.tokens).toBe(0)
      expect(spent?.heldTokens).toBeGreaterThan(1_000)
      const { service, calls } = priced(() => 10)
      const other = yield* engine(log, service, { spend, compaction: { mode: "manual" } })
      expect(yield* other.compact("a", { takeOver: true })).toEqual({ _tag: "Idle", reason: "spend-reached" })
      expect(calls).toEqual([])
    }),
  )

  it.scoped("is corrected to what calls did cost, in dollars, and costs nothing where no call was made", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { service } = priced(() => 1_001)
      const spend = { session: { dollars: 1 }, prices: { summarizer: { input: 2, output: 10 } } }
      const memory = yield* engine(log, service, { spend })
      yield* memory.append("a", long(8, 0))
      yield* TestClock.adjust("1 minute")
      const { spent } = yield* memory.state(Memory.spendLog("session", "a"))
      expect(spent?.dollars).toBeCloseTo((1_000 * 2 + 10) / 1e6, 12)
      const down: Summarizer.Service = {
        name: "down",
        summarize: ({ session }) =>
          Effect.fail(new Summarizer.SummarizerError({ session, reason: "unavailable", detail: "503" })),
      }
      const other = yield* engine(log, down, { spend })
      yield* other.append("b", long(8, 0))
      yield* TestClock.adjust("1 minute")
      expect((yield* other.state(Memory.spendLog("session", "b"))).spent).toMatchObject({
        tokens: 0,
        dollars: 0,
      })
      // What is free is not counted, and no cap holds it up.
      const free = yield* engine(log, echo, { spend })
      yield* free.append("c", long(8, 0))
      yield* TestClock.adjust("1 minute")
      expect((yield* free.state("c")).summary).not.toBeNull()
      expect((yield* free.state(Memory.spendLog("session", "c"))).version).toBe(0)
      // What an owner spent, and a session, is erased with them.
      expect(yield* memory.delete("a")).toBe(true)
      expect((yield* memory.state(Memory.spendLog("session", "a"))).version).toBe(0)
    }),
  )

  it.scoped("counts learning and embedding, too", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const learned: Array<number> = []
      const layers: MemoryLayers.Service = {
        learn: ({ from, to }) =>
          Effect.sync(() => {
            learned.push(to)
            return {
              facts: [{ id: `f${to}`, layer: "scope" as const, kind: "plan", text: "a fact", from, to }],
            }
          }),
        recall: ({ questions }) => Effect.succeed(questions.map(() => ({ user: [], scope: [] }))),
        facts: () => Effect.succeed([]),
        change: () => Effect.succeed(false),
        forgetMessage: () => Effect.void,
        logOf: () => null,
        forgetSessions: () => Effect.void,
      }
      let embedded = 0
      const embedder: Embedder.Service = {
        name: "axes",
        dimensions: 2,
        embed: (texts) =>
          Effect.sync(() => {
            embedded++
            return texts.map(() => [1, 0])
          }),
      }
      const memory = yield* engine(log, echo, { spend: { session: { tokens: 500 } } }).pipe(
        Effect.provideService(MemoryLayers.MemoryLayers, layers),
        Effect.provideService(Embedder.Embedder, embedder),
      )
      yield* memory.append("a", said(2))
      yield* TestClock.adjust("1 minute")
      expect(learned).toEqual([2])
      yield* memory.append("a", said(2, 2))
      yield* TestClock.adjust("1 minute")
      // The first turn has reached the cap: nothing is learned, and words alone decide.
      expect(learned).toEqual([2])
      const found = yield* Effect.fork(memory.recall("a", "message"))
      yield* TestClock.adjust("1 minute")
      expect((yield* Fiber.join(found)).messages.length).toBeGreaterThan(0)
      expect(embedded).toBe(0)
      yield* TestClock.adjust("1 day")
      expect(learned).toEqual([2, 4])
      const parts = yield* memory.events(Memory.spendLog("session", "a")).pipe(
        Stream.runCollect,
        Effect.map((all) => [...all].map(({ event }) => event._tag)),
      )
      expect(parts).toContain("SpendCapReached")
      const again = yield* Effect.fork(memory.recall("b", "message"))
      yield* memory.append("b", said(2))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(again)
    }),
  )

  it.effect("is refused where a cap in dollars has no price", () =>
    Effect.gen(function* () {
      const { service } = priced(() => 1)
      const made = yield* Effect.exit(
        Effect.scoped(engine(yield* InMemoryEventLog.make, service, { spend: { total: { dollars: 1 } } })),
      )
      expect(String(made)).toContain("spend.prices.summarizer")
      for (const spend of [
        { total: {} },
        { total: { tokens: 0 } },
        { each: { tokens: 1 } },
        { prices: { model: 1 } },
      ])
        expect(Memory.checkOptions({ strategy: pairs, spend })?.option).toBe("spend")
    }),
  )
})
