import { describe, expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { makeTimers } from "./Timers.js"

const timersOf = Effect.gen(function* () {
  const due: Array<string> = []
  const timers = yield* makeTimers<number>((session, value) =>
    Effect.clockWith((clock) =>
      Effect.map(clock.currentTimeMillis, (now) => void due.push(`${session}${value} at ${now}`)),
    ),
  )
  return { due, timers }
})

describe("timers", () => {
  it.scoped("are due at their times, whatever the order in which they are set", () =>
    Effect.gen(function* () {
      const { due, timers } = yield* timersOf
      yield* timers.set("a", 300, 1)
      yield* timers.set("b", 100, 1)
      yield* timers.set("c", 200, 1)
      yield* TestClock.adjust(1_000)
      expect(due).toEqual(["b1 at 100", "c1 at 200", "a1 at 300"])
      yield* timers.set("a", 1_500, 2)
      yield* TestClock.adjust(1_000)
      expect(due.slice(3)).toEqual(["a2 at 1500"])
    }),
  )

  it.scoped("are one for a session, with the earliest time and the newest value", () =>
    Effect.gen(function* () {
      const { due, timers } = yield* timersOf
      yield* timers.set("a", 300, 1)
      yield* timers.set("a", 200, 2)
      yield* timers.set("a", 400, 3)
      yield* TestClock.adjust(1_000)
      expect(due).toEqual(["a3 at 200"])
    }),
  )

  it.scoped("are not due after they are deleted or closed, nor set after that", () =>
    Effect.gen(function* () {
      const { due, timers } = yield* timersOf
      yield* timers.set("a", 100, 1)
      yield* timers.set("b", 200, 1)
      timers.delete("a")
      yield* TestClock.adjust(150)
      yield* timers.close
      yield* timers.set("c", 175, 1)
      yield* TestClock.adjust(1_000)
      expect(due).toEqual([])
    }),
  )
})
