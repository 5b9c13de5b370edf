/**
 * Holds the estimate of `@memfold/core` to the error its documentation states. The test lives here because the core
 * has no tokenizer to compare with.
 */
import { TokenCounter } from "@memfold/core"
import { beforeAll, describe, expect, it } from "vitest"
import { prose } from "../test/prose.js"
import { code, json, opaque, output } from "../test/structured.js"
import { gpt } from "./index.js"

let exact: TokenCounter.Service
beforeAll(async () => {
  exact = await gpt()
})

const estimate = TokenCounter.estimating.count

/** How far the estimate is off, as a fraction of the exact count; negative is too low. */
const error = (text: string): number => estimate(text) / exact.count(text) - 1

const classes = [
  { name: "prose", samples: prose, lowest: -0.14, highest: 0.15 },
  { name: "code", samples: code, lowest: 0.03, highest: 0.2 },
  { name: "json", samples: json, lowest: 0.03, highest: 0.14 },
  { name: "output", samples: output, lowest: -0.02, highest: 0.11 },
  { name: "opaque", samples: opaque, lowest: -0.08, highest: 0.12 },
]

describe.each(classes)("estimate of $name", ({ samples, lowest, highest }) => {
  it.each(Object.entries(samples))("%s", (_, text) => {
    expect(error(text)).toBeGreaterThanOrEqual(lowest)
    expect(error(text)).toBeLessThanOrEqual(highest)
  })

  it("leans to the high side, by no more than a tenth", () => {
    const mean =
      Object.values(samples).reduce((sum, text) => sum + error(text), 0) / Object.keys(samples).length
    expect(mean).toBeGreaterThan(0)
    expect(mean).toBeLessThan(0.1)
  })
})

describe("estimate", () => {
  it("is closer than a quarter of a token a character, most of all in Chinese, Japanese and Korean", () => {
    for (const language of ["Chinese, simplified", "Chinese, traditional", "Japanese", "Korean"]) {
      const text = prose[language] ?? ""
      expect(text.length / 4 / exact.count(text)).toBeLessThan(0.5)
      expect(Math.abs(error(text))).toBeLessThan(0.12)
    }
  })

  it("holds for a conversation that mixes languages and formats", () => {
    const everything = classes.flatMap(({ samples }) => Object.values(samples)).join("\n\n")
    expect(error(everything)).toBeGreaterThan(0)
    expect(error(everything)).toBeLessThan(0.1)
  })
})
