import { describe, expect, it } from "vitest"
import { pricesOf, Savings } from "./Savings.js"

const usage = { fresh: 0, cached: 90_000, written: 10_000, output: 1_000 }
const call = { session: "s", model: "claude-sonnet-5-5", usage, before: 80_000, after: 80_000, time: 0 }

describe("the prices of a model", () => {
  it.each([
    ["claude-sonnet-5-5", "Claude Sonnet 5.5"],
    ["claude-sonnet-5-5-20261001", "Claude Sonnet 5.5"],
    ["anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5"],
    ["claude-sonnet-5", "Claude Sonnet 5"],
    ["claude-sonnet-5-7", undefined],
    ["gpt-6.2-sol", "GPT-6.2 Sol, up to 272K"],
    ["gpt-5", undefined],
    [null, undefined],
  ])("%s: %s", (model, name) => {
    expect(pricesOf(model)?.model).toBe(name)
  })
})

describe("what a proxy saves", () => {
  it("is nothing as long as everything goes up as it came", () => {
    const savings = new Savings()
    savings.call(call)
    expect(savings.of("s").saved).toBe(0)
    // 90,000 · 0.10 + 10,000 · 2.50 + 1,000 · 10, in millionths of a dollar
    expect(savings.of("s").spent).toBeCloseTo(0.044, 6)
    expect(savings.of("another").spent).toBe(0)
  })

  it("is what the longer prompt would have cost, less what summaries cost", () => {
    const savings = new Savings()
    savings.call(call)
    savings.summary("s", call.model, { fresh: 0, cached: 100_000, written: 0, output: 2_000 })
    const short = { fresh: 0, cached: 20_000, written: 1_000, output: 1_000 }
    savings.call({ ...call, usage: short, before: 81_000, after: 1_000, time: 60_000 })
    // Without: 100,000 were sent before and are read; 1,000 are new. With: 20,000 and 1,000.
    const summary = 0.01 + 0.02
    expect(savings.of("s").saved).toBeCloseTo(80_000 * 0.1e-6 - summary, 6)
    expect(savings.totals).toEqual(savings.of("s"))
  })

  it("takes no cache for granted that is not there", () => {
    const savings = new Savings()
    const fresh = { fresh: 21_000, cached: 0, written: 0, output: 0 }
    savings.call({ ...call, usage: fresh, before: 81_000, after: 1_000 })
    expect(savings.of("s").saved).toBeCloseTo(80_000 * 2e-6, 6)
  })
})
