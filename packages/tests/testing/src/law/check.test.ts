import { EventLog, SummaryMode, InMemoryEventLog, Keep, Strategy, Trigger } from "@memfold/core"
import { Effect, Layer } from "effect"
import * as fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import { eventLogProperties } from "../log/eventLogProperties.js"
import { strategyProperties } from "../strategy/strategyProperties.js"
import { lawSuite } from "../vitest.js"
import { check, examine, LawBroken, parseSeed, title } from "./check.js"
import { canonical, makeLaw, must, same } from "./Law.js"

afterEach(() => vi.unstubAllEnvs())

const small = makeLaw({
  id: "L0",
  name: "numbers are small",
  explanation: "Large ones are hard to read.",
  numRuns: 100,
  arbitrary: fc.nat({ max: 10_000 }),
  holds: (n) => must(n < 50, () => `${n} is large`),
  describe: (n) => `the number ${n}`,
})

/** Compacts what its own tail begins with. */
const greedy = Strategy.make({
  name: "greedy",
  when: Trigger.uncovered({ messages: 6 }),
  keep: Keep.lastMessages(3),
  batchSize: { to: ({ total }) => total },
  summaryMode: SummaryMode.rolling,
})

const brokenBy = async (law: typeof small, options = {}) => {
  const verdict = await examine(law, options)
  if (verdict._tag !== "Broken") throw new Error("the law holds")
  return verdict
}

describe("a law that does not hold", () => {
  it("is shrunk, and reported with what is wrong and how to see it again", async () => {
    const verdict = await brokenBy(small)
    expect(verdict).toMatchObject({ counterexample: [50], detail: "50 is large" })
    expect(verdict.report).toContain("L0: numbers are small\n\n  Large ones are hard to read.")
    expect(verdict.report).toContain("What is wrong: 50 is large")
    expect(verdict.report).toContain("  the number 50")
    expect(verdict.report).toContain(
      `MEMFOLD_SEED=${verdict.seed}:${verdict.path} vitest -t "L0: numbers are small"`,
    )
    await expect(check(small)).rejects.toBeInstanceOf(LawBroken)
  })

  it("is seen again by seed and path, in the first run", async () => {
    const { seed, path, counterexample } = await brokenBy(small)
    expect(await brokenBy(small, { seed, path })).toMatchObject({ runs: 1, counterexample })
    vi.stubEnv("MEMFOLD_SEED", `${seed}:${path}`)
    expect(await brokenBy(small)).toMatchObject({ seed, runs: 1, counterexample })
    vi.stubEnv("MEMFOLD_SEED", `${seed}`)
    expect(await brokenBy(small)).toMatchObject({ seed, path, counterexample })
  })

  it("is found by an example, before anything is generated", async () => {
    const rare = makeLaw({
      id: "L0",
      name: "no number is 10,001",
      explanation: "It is an example alone.",
      numRuns: 3,
      arbitrary: fc.nat({ max: 10_000 }),
      examples: [10_001],
      holds: (n) => must(n !== 10_001, () => "it is"),
      describe: (n) => `the number ${n}`,
    })
    const { seed, path } = await brokenBy(rare)
    expect(await brokenBy(rare, { seed, path })).toMatchObject({ runs: 1, counterexample: [10_001] })
    const tried: Array<number> = []
    const well = makeLaw({
      ...rare,
      arbitrary: fc.constant(1),
      describe: String,
      holds: (n) => void tried.push(n),
      examples: [7],
    })
    expect(await examine(well)).toMatchObject({ _tag: "Holds", runs: 4 })
    expect(tried).toEqual([7, 1, 1, 1])
  })

  it("shows the conversation, and what each compaction did with it", async () => {
    const law = strategyProperties(greedy).find(
      (one) => one.name === "the strategy never asks for a summary of the tail",
    )!
    const { report } = await brokenBy(law, { seed: 1 })
    expect(report).toMatch(/"take" goes to \d+, and the tail begins at \d+/)
    expect(report).toMatch(/#\s+role\s+tokens/)
    expect(report).toMatch(/^\s+0\s+(system|user|assistant|tool)\s+\d+/m)
    expect(report.length).toBeLessThan(3_000)
  })
})

describe("a law that comes to no end", () => {
  const silent = InMemoryEventLog.make.pipe(
    Effect.map((log) => EventLog.EventLog.of({ ...log, append: () => Effect.never })),
    Layer.effect(EventLog.EventLog),
  )

  it("is reported with its input and seed: a store that never answers", async () => {
    const [law] = eventLogProperties({ layer: silent })
    const verdict = await brokenBy(law as typeof small, { timeLimit: 20, seed: 5 })
    expect(verdict.detail).toBe("this input did not end within 0.02 s")
    expect(verdict.counterexample).not.toBeNull()
    expect(verdict.report).toContain(title(law!))
    expect(verdict.report).toContain("MEMFOLD_SEED=5")
  })

  it("is reported with what was tried when the time for all of it is up", async () => {
    const hangs = makeLaw({
      ...small,
      holds: () => new Promise(() => {}),
      arbitrary: fc.nat(),
      describe: String,
    })
    const { detail, report } = await brokenBy(hangs, { within: 30 })
    expect(detail).toContain("it did not end within 0.03 s: ")
    expect(report).toContain("L0: numbers are small")
  })
})

describe("a law that holds", () => {
  it("says how often it was tried", async () => {
    const holds = makeLaw({ ...small, holds: () => {}, arbitrary: fc.nat(), describe: String })
    expect(await examine(holds, { numRuns: 7 })).toMatchObject({ _tag: "Holds", runs: 7 })
  })
})

describe("a seed", () => {
  it("is a number, with or without a path", () => {
    expect(parseSeed("12")).toEqual({ seed: 12 })
    expect(parseSeed(" -12:0:3:1 ")).toEqual({ seed: -12, path: "0:3:1" })
    expect(() => parseSeed("twelve")).toThrow(/MEMFOLD_SEED is "twelve"/)
  })
})

describe("a suite", () => {
  it("knows the laws it is told to skip", () => {
    expect(() => lawSuite("none", [small], { skip: { L99: "for no reason" } })).toThrow(
      'there is no law "L99" to skip; there are: L0: numbers are small',
    )
  })
})

describe("values are the same", () => {
  it("by their contents, whatever the order of their fields", () => {
    expect(canonical({ a: 1, b: [{ c: undefined, d: 2n }] })).toBe(canonical({ b: [{ d: 2n }], a: 1 }))
    expect(canonical({ a: [1, 2] })).not.toBe(canonical({ a: [2, 1] }))
    expect(() => same(1, 2, () => "one")).toThrow(/one\n {2}expected 2\n {2}found {4}1/)
    expect(title(small)).toBe("L0: numbers are small")
  })
})
