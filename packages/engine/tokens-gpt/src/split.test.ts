import * as fc from "fast-check"
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base"
import * as o200k from "gpt-tokenizer/encoding/o200k_base"
import { describe, expect, it } from "vitest"
import { prose } from "../test/prose.js"
import { code, json, opaque, output } from "../test/structured.js"
import { longRun, piecesOf } from "./split.js"

const plain = { disallowedSpecial: new Set<string>() }
const count = (text: string): number => o200k.countTokens(text, plain)
/** The pieces of a text of one step. */
const splitLongRuns = (text: string): ReadonlyArray<string> => [...piecesOf(text, Infinity)]
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

  describe("where a text is longer than a step", () => {
    const whole = [prose, code, json, opaque, output].flatMap((samples) => Object.values(samples))

    it("cuts where no count changes, with either vocabulary", () => {
      const units = [
        ..."aÉ漢🎉\u0301!/'\r\n\t 7\u00a0<|",
        "'s",
        "'LL",
        "don't",
        "x\u0301",
        " (",
        "12",
        "\ud83c",
      ]
      const text = fc.oneof(
        fc.array(fc.constantFrom(...units), { maxLength: 600 }).map((parts) => parts.join("")),
        fc.tuple(fc.constantFrom(...whole), fc.nat(1_000)).map(([sample, from]) => sample.slice(from)),
      )
      fc.assert(
        fc.property(text, fc.integer({ min: 1, max: 100 }), (given, step) => {
          // Runs that are cut for their length are left out: their count may change.
          fc.pre(splitLongRuns(given).length === 1)
          const pieces = [...piecesOf(`${"a ".repeat(longRun)}${given}`, step)]
          const joined = pieces.join("")
          for (const { countTokens } of [o200k, cl100k])
            expect(pieces.reduce((sum, piece) => sum + countTokens(piece, plain), 0)).toBe(
              countTokens(joined, plain),
            )
        }),
        { numRuns: 2_000 },
      )
    })

    it("makes no long piece of any ordinary text", () => {
      for (const text of whole)
        for (const piece of piecesOf(text.repeat(3 + 2_000 / text.length), 200))
          expect(piece.length).toBeLessThan(400)
    })
  })
})
