/** A server that is waited for. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Schedule, TestClock } from "effect"
import { tellIfSlow } from "./clock.js"

describe("tries that go on", () => {
  it.effect("are told after a second, and once a minute", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const logger = Logger.make(
        ({ message, logLevel }) => void told.push(`${logLevel.label} ${String(message)}`),
      )
      const patience = tellIfSlow("redis://127.0.0.1:1/0")
      const tries = (seconds: number) =>
        Effect.fail("away").pipe(
          Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo(`${seconds} seconds`), patience)),
          Effect.ignore,
          Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        )
      const after = (seconds: number) =>
        Effect.gen(function* () {
          const trying = yield* Effect.fork(tries(seconds))
          yield* TestClock.adjust(`${seconds + 1} seconds`)
          yield* Fiber.join(trying)
          return told.length
        })
      expect(yield* after(0.5)).toBe(0)
      expect(yield* after(15)).toBe(1)
      expect(yield* after(15)).toBe(1)
      expect(yield* after(130)).toBe(3)
      expect(new Set(told)).toEqual(
        new Set(["ERROR redis://127.0.0.1:1/0 does not answer; memfold goes on trying"]),
      )
    }),
  )
})
