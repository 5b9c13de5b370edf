/** What a comparison comes to, and how a search asks, and what it shows of a message. */
import { expect, it, onTestFinished, vi } from "vitest"
import { excerptOf, untilWhole, wordsIn } from "../src/page/service/searchWords.js"
import { type Comparison, verdictOf } from "../src/page/session/verdict.js"

const compared = (name: string, dollars: number, needed: number, there: number): Comparison => [
  name,
  {
    strategy: name,
    prices: "a model",
    messages: 2,
    compactions: 0,
    failures: 0,
    firstFailure: null,
    points: [{ index: 1, tokens: 10, dollars, cached: 0, needed, there, compactions: 0 }],
  },
]

it("says what is cheapest, and what it lost", () => {
  const full = compared("full history", 0.68, 51, 51)
  expect(verdictOf([full])).toBe(null)
  expect(verdictOf([full, compared("break-even", 0.34, 51, 36)])).toBe(
    "break-even is cheapest: $0.34, 50 % less than full history; 15 of 51 needed identifiers were not in its context.",
  )
  // A strategy may cost more than the full history, which is what one would do without any.
  expect(verdictOf([full, compared("rounds", 0.9, 51, 36), compared("break-even", 0.34, 51, 36)])).toContain(
    "50 % less than full history",
  )
  expect(verdictOf([full, compared("rounds", 0.7, 51, 36)])).toBe(
    "full history is cheapest: $0.68, 3 % less than rounds; 0 of 51 needed identifiers were not in its context.",
  )
  expect(verdictOf([full, compared("rounds", 0.68, 0, 0)])).toBe(
    "All cost $0.68: there was nothing to save yet.",
  )
})

it("cuts an excerpt around the first of the words", () => {
  const text = `${"a ".repeat(100)}the zeppelin${" b".repeat(200)}`
  const excerpt = excerptOf(wordsIn("Zeppelin!"), text)
  expect(excerpt).toMatch(/^….*the zeppelin b.*…$/)
  expect(excerpt.indexOf("zeppelin")).toBe(61)
  expect(excerptOf(wordsIn("x"), "short")).toBe("short")
})

it("asks a search that is partial again, with pauses that grow", async () => {
  vi.useFakeTimers({ now: 0 })
  onTestFinished(() => void vi.useRealTimers())
  const asked: Array<number> = []
  const left = [9, 8, 7, 6, 5, 4, 3, undefined]
  const done = untilWhole(async () => left[asked.push(Date.now()) - 1])
  await vi.runAllTimersAsync()
  await done
  expect(asked.map((time, at) => time - (asked[at - 1] ?? 0))).toEqual([
    0, 300, 600, 1_200, 2_400, 4_800, 5_000, 5_000,
  ])
})
