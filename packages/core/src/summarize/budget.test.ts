import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { estimate } from "@memfold/message/TokenCounter"
import { budget } from "./budget.js"

const request = (replacesTokens: number, previous?: string) => ({
  session: "s1",
  kind: "history" as const,
  from: 0,
  to: 1,
  previous,
  messages: [],
  messagesFrom: 0,
  replacesTokens,
  instructions: undefined,
})
const size = { maxTokens: 800, share: 0.3 }
const summary = "a summary of earlier messages ".repeat(20)

describe("budget", () => {
  it("is a share of what is new, up to the bound", () => {
    expect(budget(request(2_000), size)).toBe(600)
    expect(budget(request(100_000), size)).toBe(800)
  })

  it("lets a few sentences keep more", () => {
    expect(budget(request(100), size)).toBe(60)
    expect(budget(request(250), size)).toBe(96)
  })

  it("counts the summary so far in full, so that it does not shrink at every merge", () => {
    const before = estimate(summary)
    expect(budget(request(before + 400, summary), size)).toBe(before + 120)
    expect(budget(request(before + 10, summary), size)).toBeGreaterThanOrEqual(before)
    expect(budget(request(before + 400, summary), { maxTokens: 50, share: 0.3 })).toBe(50)
  })

  it("is always less than what is replaced, and never negative", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5, max: 5_000 }),
        fc.option(fc.string({ maxLength: 3_000 }), { nil: undefined }),
        fc.double({ min: 0.01, max: 0.9, noNaN: true }),
        (replaced, previous, share) => {
          const tokens = budget(request(replaced, previous), { maxTokens: 800, share })
          expect(Number.isInteger(tokens)).toBe(true)
          expect(tokens).toBeGreaterThanOrEqual(0)
          expect(tokens).toBeLessThan(Math.max(replaced, 1))
        },
      ),
    )
  })
})
