import { describe, expect, it } from "vitest"
import { Cost, Prices } from "./index.js"

const prices: Prices.Prices = {
  model: "test",
  input: 1,
  cached: 0.1,
  cacheWrite: 1.25,
  output: 5,
  cacheMinutes: 5,
  cacheUnit: "message",
  asOf: "2026-11-22",
  source: "made up",
}

const minute = 60_000

/** What calls with these prompts come to, each message ten tokens long, a minute apart or at these times. */
const spentOn = (
  prompts: ReadonlyArray<ReadonlyArray<string>>,
  { times = prompts.map((_, at) => at * minute), unit = prices.cacheUnit } = {},
): Cost.Spent =>
  prompts.reduce(
    (spent, texts, at) =>
      Cost.call(
        spent,
        { time: times[at]!, prompt: texts.map((text) => ({ text, tokens: 10 })) },
        { ...prices, cacheUnit: unit },
      ),
    Cost.nothing,
  )

describe("the cost of a conversation", () => {
  it("reads from the cache what leads both prompts, and writes the rest", () => {
    expect(spentOn([["a"], ["a", "b"], ["a", "b", "c"]])).toMatchObject({ calls: 3, cached: 30, written: 30 })
    expect(
      spentOn([
        ["a", "b", "c"],
        ["x", "b", "c"],
      ]),
    ).toMatchObject({ cached: 0, written: 60 })
    expect(
      spentOn([
        ["a", "b", "c"],
        ["a", "c"],
      ]),
    ).toMatchObject({ cached: 10, written: 40 })
    expect(spentOn([["a", "b"], ["a"]])).toMatchObject({ cached: 10, written: 20 })
  })

  it("writes everything anew when the cache has expired since the last call, not the first one", () => {
    const prompts = [["a"], ["a"], ["a"]]
    expect(spentOn(prompts, { times: [0, 5 * minute, 10 * minute] })).toMatchObject({ cached: 20 })
    expect(spentOn(prompts, { times: [0, 5 * minute + 1, 6 * minute] })).toMatchObject({
      cached: 10,
      written: 20,
    })
  })

  it("charges a question in context as new behind what the newest call sent, and keeps the cache alive", () => {
    const prompt = (...texts: ReadonlyArray<string>) => texts.map((text) => ({ text, tokens: 10 }))
    const before = spentOn([["a", "b"]])
    const asked = Cost.summarizerInContext(
      before,
      { time: 4 * minute, prompt: prompt("a", "b", "c", "?"), output: 3 },
      prices,
    )
    expect(asked).toMatchObject({
      calls: 1,
      cached: 20,
      written: 20,
      summarizerInput: 20,
      summarizerOutput: 3,
    })
    const late = { time: 6 * minute, prompt: prompt("a", "x") }
    expect(Cost.call(asked, late, prices).cached).toBe(30)
    expect(Cost.call(before, late, prices).cached).toBe(0)
    expect(Cost.isCached(before, 5 * minute, prices)).toBe(true)
    expect(Cost.isCached(before, 5 * minute + 1, prices)).toBe(false)
    expect(Cost.isCached(Cost.nothing, 0, prices)).toBe(false)
  })

  it("keeps the start of a message that grows only where the cache keeps tokens", () => {
    const grows = [["summary", "b"], ["summary, and more"]]
    expect(spentOn(grows).cached).toBe(0)
    expect(spentOn(grows, { unit: "token" }).cached).toBe(Math.floor((10 * 7) / 17))
  })

  it("is the tokens times their prices, tokens of summarizers included", () => {
    const spent = Cost.summarizer(spentOn([["a"], ["a", "b"]]), { input: 1_000, output: 100 })
    const { cached, written, summarizer, total, ...parts } = Cost.total(spent, prices)
    expect(cached * 1e6).toBeCloseTo(1, 9)
    expect(written * 1e6).toBeCloseTo(25, 9)
    expect(summarizer * 1e6).toBeCloseTo(1_500, 9)
    expect(total).toBeCloseTo(cached + written + summarizer, 12)
    expect(parts.summarizerInput * 1e6).toBeCloseTo(1_000, 9)
    expect(parts.summarizerOutput * 1e6).toBeCloseTo(500, 9)
  })
})

describe("the break-even point", () => {
  const session = { perCall: 100, summary: 800, kept: 2_000, summarizerInput: 6_600, summarizerOutput: 800 }

  it("is where compacting at any other size costs more, with many calls after it", () => {
    /** What a call costs on average if each compaction takes `size` tokens: its share of the compaction, and cached tokens. */
    const costOf = (size: number): number => {
      const once = 1.15 * 2_800 + 6_600 + 5 * 800
      return (once * session.perCall) / size + (prices.cached * size) / 2
    }
    const best = Cost.breakEven(prices, session)
    for (const factor of [0.5, 0.9, 0.99, 1.01, 1.1, 2])
      expect(costOf(best)).toBeLessThan(costOf(best * factor))
  })

  it("grows with the pace of the session, and with how cheap the cache is", () => {
    expect(Cost.breakEven(prices, { ...session, perCall: 400 })).toBeCloseTo(
      2 * Cost.breakEven(prices, session),
    )
    expect(Cost.breakEven({ ...prices, cached: 0.05 }, session)).toBeGreaterThan(
      Cost.breakEven(prices, session),
    )
    expect(Cost.breakEven({ ...prices, cached: 0 }, session)).toBe(Number.POSITIVE_INFINITY)
    const free = { ...prices, input: 0, output: 0, cacheWrite: 0 }
    expect(Cost.breakEven(free, session)).toBe(0)
  })
})

it("presets name their source and their day, and a cached token costs least", () => {
  for (const preset of Object.values(Prices.presets)) {
    expect(preset.source).not.toBe("")
    expect(new Date(preset.asOf).toISOString().slice(0, 10)).toBe(preset.asOf)
    expect(preset.cached).toBeLessThan(preset.input)
    expect(preset.cacheWrite).toBeGreaterThanOrEqual(preset.input)
    expect(preset.output).toBeGreaterThan(preset.input)
  }
})
