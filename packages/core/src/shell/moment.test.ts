/** A compaction that comes due starts a moment later, in real time: the caller goes on first. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope } from "effect"
import { onTestFinished, vi } from "vitest"
import { echo, pairs, said } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Summarizer } from "../index.js"

/** A memory over a log in memory, whose summarizer tells how far each summary goes. */
const engine = (options: Partial<Memory.Options> = {}) =>
  Effect.gen(function* () {
    const log = yield* InMemoryEventLog.make
    const first = yield* Deferred.make<void>()
    const seen: Array<number> = []
    const summarizer: Summarizer.Service = {
      name: "seen",
      summarize: (request) =>
        Effect.zipRight(
          Effect.suspend(() => {
            seen.push(request.to)
            return Deferred.succeed(first, undefined)
          }),
          echo.summarize(request),
        ),
    }
    const memory = yield* Memory.make({ strategy: pairs, ...options }).pipe(
      Effect.provideService(EventLog.EventLog, log),
      Effect.provideService(Summarizer.Summarizer, summarizer),
    )
    return { log, memory, seen, summarized: Deferred.await(first) }
  })

/** From now on, timers are due when the test says so. */
const stopTimers = () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Lets all other fibers go on as far as they get without a timer. */
const otherFibers = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** What closing the memory leaves behind, right after an append that made a compaction due. */
const closedAtOnce = (options: Partial<Memory.Options>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { log, memory, seen } = yield* Scope.extend(engine(options), scope)
    yield* memory.append("s", said(6))
    yield* Scope.close(scope, Exit.void)
    return { seen, version: yield* EventLog.versionOf(log, "s") }
  })

describe("a compaction that comes due", () => {
  it.live("starts when the caller has gone on, and takes what has come until then", () =>
    Effect.gen(function* () {
      stopTimers()
      const { memory, seen, summarized } = yield* engine()
      yield* memory.append("s", said(6))
      yield* otherFibers
      yield* memory.append("s", said(2, 6))
      yield* otherFibers
      const { messages } = yield* memory.context("s")
      expect(messages).toHaveLength(8)
      expect(seen).toEqual([])
      vi.advanceTimersByTime(5)
      yield* summarized
      expect(seen).toEqual([6])
    }).pipe(Effect.scoped),
  )

  it.live("starts at once where a context waits for it", () =>
    Effect.gen(function* () {
      stopTimers()
      const { memory, seen } = yield* engine({ budget: { tokens: 50 } })
      yield* memory.append("s", said(6))
      yield* otherFibers
      expect(seen).toEqual([])
      // With its timer, it would never start.
      expect(yield* memory.context("s")).toMatchObject({ budget: "compacted" })
      expect(seen).toEqual([4])
    }).pipe(Effect.scoped),
  )

  it.live("is done when the memory is closed, if that has the time", () =>
    Effect.gen(function* () {
      // Six messages, the start of the compaction and its summary.
      expect(yield* closedAtOnce({ compaction: { shutdown: "1 minute" } })).toEqual({ seen: [4], version: 8 })
      expect(yield* closedAtOnce({})).toEqual({ seen: [], version: 6 })
    }),
  )
})
