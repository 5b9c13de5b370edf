import { Cause, Effect, Exit, FiberId, type Scheduler } from "effect"
import { describe, expect, it } from "vitest"
import { raceFirst } from "./raceFirst.js"

/** A scheduler whose fibers make way once, after so many operations. */
const yieldingAfter = (operations: number) => {
  const tasks: Array<Scheduler.Task> = []
  let left = operations
  const scheduler: Scheduler.Scheduler = {
    scheduleTask: (task) => void tasks.push(task),
    shouldYield: () => (--left === 0 ? 0 : false),
  }
  return { tasks, scheduler, hasYielded: () => left <= 0 }
}

const hangs = Effect.async<never>(() => {})

describe("a race", () => {
  it("ends when it is interrupted, wherever its fiber has made way", () => {
    let reached = 0
    for (let operations = 1; operations <= 200; operations++) {
      const { tasks, scheduler, hasYielded } = yieldingAfter(operations)
      const fiber = Effect.runFork(raceFirst(hangs, hangs), { scheduler })
      if (hasYielded()) reached++
      fiber.unsafeInterruptAsFork(FiberId.none)
      for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task()
      const exit = fiber.unsafePoll()
      expect(exit === null ? "it never ends" : Exit.isInterrupted(exit), `after ${operations}`).toBe(true)
    }
    expect(reached).toBeGreaterThan(5)
  })

  it("is decided by the first that ends, and interrupts the other", async () => {
    const told: Array<string> = []
    const other = Effect.onInterrupt(hangs, () => Effect.sync(() => told.push("interrupted")))
    expect(await Effect.runPromise(raceFirst(other, Effect.succeed(1)))).toBe(1)
    const failed = await Effect.runPromiseExit(raceFirst(Effect.fail("no"), other))
    expect(failed).toEqual(Exit.failCause(Cause.fail("no")))
    expect(told).toEqual(["interrupted", "interrupted"])
  })
})
