/** When it is too much: what is refused, in which order, and after how long to come again. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock, TestContext } from "effect"
import * as fc from "fast-check"
import { makeLoad, type Overloaded } from "./Load.js"

/** One append that waits. */
interface Waiting {
  readonly session: string
  readonly began: number
  readonly gate: Deferred.Deferred<void>
  readonly fiber: Fiber.RuntimeFiber<void, Overloaded>
}

const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ append: fc.constantFrom("a", "b", "c") }) },
  { weight: 2, arbitrary: fc.record({ end: fc.nat(9), how: fc.constantFrom("done", "interrupted") }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 90_000 }) }) },
)

const others = Effect.repeatN(Effect.yieldNow(), 5)

describe("a load", () => {
  it("refuses what is beyond its bounds at once, compactions first, then searches, appends last, and says when to come again", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(command, { maxLength: 30 }),
        (appends, appendsPerSession, commands) =>
          Effect.gen(function* () {
            const load = makeLoad({ appends, appendsPerSession })
            const waiting: Array<Waiting> = []
            let [now, lastTook] = [0, 0]
            let compaction: Fiber.RuntimeFiber<void> | null = null
            const comesAgain = () =>
              Math.min(Math.max(100, lastTook, waiting.length === 0 ? 0 : now - waiting[0]!.began), 60_000)
            for (const one of commands) {
              if ("pass" in one) {
                now += one.pass
                yield* TestClock.adjust(one.pass)
              } else if ("append" in one) {
                const { append: session } = one
                const gate = yield* Deferred.make<void>()
                const fiber = yield* Effect.fork(load.appending(session, Deferred.await(gate)))
                yield* others
                const isFull =
                  waiting.length >= appends ||
                  waiting.filter((other) => other.session === session).length >= appendsPerSession
                if (isFull) {
                  const refused = yield* Effect.flip(Fiber.join(fiber))
                  expect(refused).toMatchObject({ _tag: "Overloaded", session, retryAfter: comesAgain() })
                } else {
                  expect(fiber.unsafePoll()).toBeNull()
                  waiting.push({ session, began: now, gate, fiber })
                }
              } else if (waiting.length > 0) {
                const [ended] = waiting.splice(one.end % waiting.length, 1)
                lastTook = now - ended!.began
                if (one.how === "done") yield* Deferred.succeed(ended!.gate, undefined)
                else yield* Fiber.interrupt(ended!.fiber)
                expect(Exit.isSuccess(yield* Fiber.await(ended!.fiber))).toBe(one.how === "done")
                yield* others
              }
              const isCalm = waiting.length < appends / 2
              compaction ??= yield* Effect.fork(load.calm)
              yield* others
              expect(compaction.unsafePoll() !== null).toBe(isCalm)
              if (isCalm) compaction = null
              const search = yield* Effect.either(load.searching())
              expect(search._tag).toBe(waiting.length < (appends * 3) / 4 ? "Right" : "Left")
            }
          }).pipe(Effect.provide(TestContext.TestContext), Effect.runPromise),
      ),
      { numRuns: 200 },
    ))
})
