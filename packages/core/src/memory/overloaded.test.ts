/** A memory over a store that answers no append for a while: what it refuses, and what it does once the store is back. */
import { describe, expect, it } from "@effect/vitest"
import { echoing, pairs, said } from "@memfold/harness/engine"
import { Effect, Fiber, Layer } from "effect"
import { EventLog, InMemoryEventLog, Memory } from "../index.js"

describe("a memory for which it is too much", () => {
  it.scoped("refuses appends at once and has all others, compacts later, and searches again", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const away = yield* Effect.makeSemaphore(1)
      const store: EventLog.Service = {
        ...log,
        append: (...given) => away.withPermits(1)(log.append(...given)),
      }
      const memory = yield* Memory.make({
        strategy: pairs,
        load: { appends: 4, appendsPerSession: 3 },
      }).pipe(Effect.provide(Layer.merge(echoing, Layer.succeed(EventLog.EventLog, store))))
      const others = Effect.repeatN(Effect.yieldNow(), 200)
      yield* away.take(1)
      const append = (session: string, from: number) => memory.append(session, said(6, from))
      const waiting = [
        yield* Effect.fork(append("a", 0)),
        yield* Effect.fork(append("a", 6)),
        yield* Effect.fork(append("b", 0)),
      ]
      yield* others
      expect(yield* Effect.flip(memory.recall("a", "message"))).toMatchObject({ _tag: "Overloaded" })
      expect(yield* Effect.flip(memory.recallOf("ann", "message"))).toMatchObject({ _tag: "Overloaded" })
      waiting.push(yield* Effect.fork(append("a", 12)))
      yield* others
      for (const session of ["a", "b", "c"]) {
        const refused = yield* Effect.flip(append(session, 50))
        expect(refused).toMatchObject({ _tag: "Overloaded", session })
        expect(refused.message).toContain("try again after")
      }
      // Contexts are what a caller has come for.
      expect((yield* memory.context("a")).messages).toEqual([])
      yield* away.release(1)
      yield* Effect.forEach(waiting, Fiber.join)
      yield* others
      expect((yield* memory.state("a")).total).toBe(18)
      expect((yield* memory.state("b")).total).toBe(6)
      expect((yield* memory.state("c")).version).toBe(0)
      expect((yield* memory.state("a")).summary).not.toBeNull()
      yield* memory.recall("a", "message")
    }),
  )
})
