import * as fc from "fast-check"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, it } from "vitest"
import { prose } from "../test/prose.js"
import { code, json, opaque, output } from "../test/structured.js"
import { longRun, splitLongRuns } from "./split.js"

const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set<string>() })
const countInPieces = (text: string): number =>
  splitLongRuns(text).reduce((sum, piece) => sum + count(piece), 0)

describe("splitLongRuns", () => {
  it("leaves every ordinary text whole", () => {
    for (const text of [prose, code, json, opaque, output].flatMap((samples) => Object.values(samples))) {
      expect(splitLongRuns(text.repeat(3))).toEqual([text.repeat(3)])
    }
  })

  it("cuts a run, and nothing else, at its longest allowed length", () => {
    const run = "a".repeat(longRun)
    expect(splitLongRuns(`short ${run}`)).toEqual([`short ${run}`])
    expect(splitLongRuns(`short ${run}${run}b, and more`)).toEqual([`short ${run}`, run, "b, and more"])
  })

  it("never cuts digits, which the tokenizer takes in threes anyway", () => {
    expect(splitLongRuns("7".repeat(5000))).toHaveLength(1)
  })

  it("loses nothing, keeps surrogate pairs whole and every run short", () => {
    const units = ["a", "É", "漢", "🎉", "𝒳", "\u0301", "!", "/", "\n", " ", "7", "\ud83c", "\udf89"]
    const text = fc
      .array(fc.tuple(fc.constantFrom(...units), fc.integer({ min: 1, max: 2 * longRun })), { maxLength: 6 })
      .map((runs) => runs.map(([unit, times]) => unit.repeat(times)).join(""))
    fc.assert(
      fc.property(text, (whole) => {
        const pieces = splitLongRuns(whole)
        expect(pieces.join("")).toBe(whole)
        expect(pieces.every((piece) => piece.isWellFormed())).toBe(whole.isWellFormed())
        for (const piece of pieces) {
          for (const run of piece.match(/[\p{L}\p{M}]+|[^\s\p{L}\p{N}]+|\s+/gu) ?? []) {
            // What is left of a run of marks may join the letters after it.
            expect(run.length).toBeLessThanOrEqual(2 * longRun)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it("changes the count of a long run by at most 0.1 %", () => {
    let state = 7
    const next = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return (state >>> 8) % below
    }
    const random = (alphabet: string): string =>
      Array.from({ length: 6000 }, () => alphabet.charAt(next(alphabet.length))).join("")
    const runs = [
      "a".repeat(6000),
      "漢".repeat(2000),
      random("abcdefghijklmnopqrstuvwxyz"),
      random("!#$%&()*+,-.:;<=>?"),
    ]
    for (const text of runs) {
      const exact = count(text)
      expect(splitLongRuns(text).length).toBeGreaterThan(1)
      expect(Math.abs(countInPieces(text) - exact) / exact).toBeLessThanOrEqual(0.001)
    }
  })
})
