import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as fc from "fast-check"
import { makeTurns } from "./Turns.js"

describe("the writers of a session", () => {
  it("write one after the other, in the order in which they came, whoever is interrupted while they wait", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 12 }), async (interrupted) => {
        const inTurn = makeTurns()
        const wrote: Array<number> = []
        let atWork = 0
        const program = Effect.gen(function* () {
          const gate = yield* Deferred.make<void>()
          const first = yield* Effect.fork(inTurn("s", Deferred.await(gate)))
          yield* Effect.yieldNow()
          const writers = yield* Effect.forEach(interrupted, (_, position) =>
            Effect.fork(
              inTurn(
                "s",
                Effect.gen(function* () {
                  expect(++atWork).toBe(1)
                  yield* Effect.yieldNow()
                  wrote.push(position)
                  atWork--
                }),
              ),
            ).pipe(Effect.zipLeft(Effect.yieldNow())),
          )
          for (const [position, fiber] of writers.entries())
            if (interrupted[position] === true) yield* Fiber.interrupt(fiber)
          yield* Deferred.succeed(gate, undefined)
          yield* Fiber.join(first)
          yield* Effect.forEach(writers, Fiber.await)
        })
        await Effect.runPromise(program)
        expect(wrote).toEqual(interrupted.flatMap((isOut, position) => (isOut ? [] : [position])))
      }),
      { numRuns: 50 },
    )
  })

  it.effect("do not wait for the writers of another session", () =>
    Effect.gen(function* () {
      const inTurn = makeTurns()
      const gate = yield* Deferred.make<void>()
      const waiting = yield* Effect.fork(inTurn("s", Deferred.await(gate)))
      expect(yield* inTurn("t", Effect.succeed("written"))).toBe("written")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(waiting)
    }),
  )

  it.effect("go on behind a writer that fails", () =>
    Effect.gen(function* () {
      const inTurn = makeTurns()
      expect(yield* Effect.flip(inTurn("s", Effect.fail("no")))).toBe("no")
      expect(yield* inTurn("s", Effect.succeed("yes"))).toBe("yes")
    }),
  )

  it.effect("finish a write that has begun, even if the caller is interrupted", () =>
    Effect.gen(function* () {
      const inTurn = makeTurns()
      const [begun, gate] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let done = false
      const write = Deferred.succeed(begun, undefined).pipe(
        Effect.zipRight(Deferred.await(gate)),
        Effect.zipRight(Effect.sync(() => (done = true))),
      )
      const fiber = yield* Effect.fork(inTurn("s", write))
      yield* Deferred.await(begun)
      const ending = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(ending)
      expect(done).toBe(true)
    }),
  )
})
