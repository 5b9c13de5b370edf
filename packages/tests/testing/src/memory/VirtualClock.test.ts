import { Clock, Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { VirtualClock } from "./VirtualClock.js"

describe("a virtual clock", () => {
  it("wakes everybody in order, and only when their time has come", async () => {
    const time = new VirtualClock()
    const start = time.now
    const woken: Array<readonly [string, number]> = []
    const sleeper = (name: string, millis: number) =>
      Effect.sleep(millis).pipe(
        Effect.zipRight(Clock.currentTimeMillis),
        Effect.map((now) => woken.push([name, now - start])),
      )
    const program = Effect.gen(function* () {
      const fiber = yield* Effect.fork(
        Effect.all([sleeper("late", 500), sleeper("early", 20.5)], { concurrency: "unbounded" }),
      )
      yield* time.advance(20)
      expect(woken).toEqual([])
      yield* time.advance(100)
      expect(woken).toEqual([["early", 21]])
      expect(time.now - start).toBe(120)
      yield* time.through(Fiber.join(fiber))
      expect(woken).toEqual([
        ["early", 21],
        ["late", 500],
      ])
    })
    await Effect.runPromise(Effect.withClock(program, time.clock))
  })

  it("goes on by itself while something runs to its end", async () => {
    const time = new VirtualClock()
    const start = time.now
    const waiting = Effect.never.pipe(Effect.timeoutOption("1 hour"), Effect.zipRight(Effect.succeed("done")))
    expect(await Effect.runPromise(Effect.withClock(time.through(waiting), time.clock))).toBe("done")
    expect(time.now - start).toBe(3_600_000)
  })
})
