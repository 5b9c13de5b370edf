/** A limited number of sessions is compacted in the background at once. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { echo, pairs, said } from "@memfold/harness/engine"
import { BatchSize, EventLog, InMemoryEventLog, Memory, Summarizer } from "../index.js"

/** A summarizer that works for a second, and knows how many of its calls run and for which sessions they were. */
const watched = () => {
  const seen = { running: 0, most: 0, sessions: [] as Array<string> }
  const summarizer: Summarizer.Service = {
    name: "watched",
    summarize: (request) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          seen.running++
          seen.most = Math.max(seen.most, seen.running)
          seen.sessions.push(request.session)
        }),
        () => Effect.delay(echo.summarize(request), "1 second"),
        () => Effect.sync(() => seen.running--),
      ),
  }
  return { seen, summarizer }
}

const engine = (summarizer: Summarizer.Service, options: Partial<Memory.Options> = {}) =>
  Effect.flatMap(InMemoryEventLog.make, (log) =>
    Memory.make({ strategy: pairs, ...options }).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(Summarizer.Summarizer, summarizer),
    ),
  )

const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`)

describe("background compactions", () => {
  it.effect("are eight at once unless it is set otherwise, and none is forgotten", () =>
    Effect.gen(function* () {
      for (const concurrentCompactions of [undefined, 3]) {
        const { seen, summarizer } = watched()
        const options =
          concurrentCompactions === undefined ? {} : { compaction: { concurrency: concurrentCompactions } }
        const memory = yield* engine(summarizer, options)
        yield* Effect.forEach(names(50), (name) => memory.append(name, said(6)))
        yield* TestClock.adjust("1 minute")
        expect(seen.most).toBe(concurrentCompactions ?? 8)
        for (const name of names(50)) expect((yield* memory.state(name)).coveredTo).toBe(4)
        expect(seen.sessions).toEqual(names(50))
      }
    }).pipe(Effect.scoped),
  )

  it.effect("take turns: a session with much to do does not keep the others waiting", () =>
    Effect.gen(function* () {
      const { seen, summarizer } = watched()
      const strategy = { ...pairs, batchSize: BatchSize.messages(4) }
      const memory = yield* engine(summarizer, { strategy, compaction: { concurrency: 1 } })
      yield* memory.append("busy", said(26))
      yield* memory.append("calm", said(6))
      yield* TestClock.adjust("1 minute")
      expect(seen.sessions.slice(0, 3)).toEqual(["busy", "calm", "busy"])
      expect(seen.sessions.filter((name) => name === "busy")).toHaveLength(6)
    }).pipe(Effect.scoped),
  )

  it.effect("do not start any more when the memory is closed, and running compactions are interrupted", () =>
    Effect.gen(function* () {
      const { seen, summarizer } = watched()
      const scope = yield* Scope.make()
      const memory = yield* engine(summarizer).pipe(Scope.extend(scope))
      yield* Effect.forEach(names(50), (name) => memory.append(name, said(6)))
      yield* TestClock.adjust("100 millis")
      expect(seen.running).toBe(8)
      yield* Scope.close(scope, Exit.void)
      expect(seen).toMatchObject({ running: 0, sessions: names(8) })
    }),
  )

  it.effect("that wait for their turn are waited for by a context over its budget", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const summarizer: Summarizer.Service = {
        name: "gated",
        summarize: (request) => Effect.zipRight(Deferred.await(gate), echo.summarize(request)),
      }
      const budget = { tokens: 50, timeout: "1 minute" } as const
      const memory = yield* engine(summarizer, { compaction: { concurrency: 1 }, budget })
      yield* memory.append("first", said(6))
      yield* memory.append("second", said(6))
      const fiber = yield* Effect.fork(memory.context("second"))
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(fiber)).toMatchObject({ budget: "compacted" })
    }).pipe(Effect.scoped),
  )
})
