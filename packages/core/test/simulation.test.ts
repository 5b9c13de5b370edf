/**
 * The engine as a whole, in worlds where everything goes wrong: several engines on one log, crashes, clocks that
 * disagree, stores and summarizers that fail. One seed is one run; every law is checked after every step.
 */
import { Fiber } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { failure, nothing, simulateAll, summary } from "./simulation/seeds.js"
import { simulate } from "./simulation/simulation.js"

const blocks = often(1, 20)
const each = often(40, 100)

describe("the simulation", () => {
  let tally = nothing
  let millis = 0
  afterAll(() => console.log(summary(tally, millis)))

  it.each(Array.from({ length: blocks }, (_, block) => 1 + block * each))(
    `keeps all laws, L1 to L15: seeds from %i on`,
    (from) => {
      const began = performance.now()
      tally = simulateAll(from, each, { ...tally, failed: null })
      millis += performance.now() - began
      expect(tally.failed === null ? "" : failure(tally.failed)).toBe("")
    },
  )

  it.each([
    [344, "a lock was counted from a time before it was taken"],
    [1315, "an event was older than the decision to append it"],
    [323, "a fork read a session while it was redacted"],
    [4188, "a failure was recorded by a clock that is a year ahead"],
    [567, "a session came due between the last decision and its timer"],
    [478, "a process was killed while it compacts, and the other processes keep no time"],
    [1509, "a subscriber hears the start of a session that is deleted by then"],
    [18667, "an engine that keeps no time sees the lease of a clock that is a year ahead"],
    [5254, "a memory is closed in the step in which a compaction begins to write"],
    [525, "three compactions failed in a row, after which a cap of the context holds"],
    [217, "a summary covers a system prompt of which a newer form is shown"],
    [2038, "a session was deleted, grew to its old length and was deleted again while it was read"],
  ])("keeps all laws at seed %i, where %s", (seed) => {
    const { failed } = simulateAll(seed, 1, nothing)
    expect(failed === null ? "" : failure(failed)).toBe("")
  })

  it("leaves no fibers behind, although processes are killed", () => {
    const before = Fiber.unsafeRoots().length
    const { counts } = simulateAll(20, often(12, 30))
    expect(counts.get("crashes")).toBeGreaterThan(0)
    expect(Fiber.unsafeRoots().length).toBe(before)
  })

  it("is the same run, step by step, for the same seed", () => {
    for (let seed = 1; seed <= often(3, 40); seed++) {
      const lines = (): ReadonlyArray<string> => {
        const told: Array<string> = []
        simulate(seed, (line) => told.push(line))
        return told
      }
      expect(lines()).toEqual(lines())
    }
  })
})
