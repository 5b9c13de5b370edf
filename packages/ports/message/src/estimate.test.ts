import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { byLine, estimate, estimateInSteps, growing } from "./estimate.js"

describe("estimate", () => {
  it.each([
    ["", 0],
    ["x", 1],
    [" ", 1],
    ["\n", 1],
    ["hello", 1],
    ["The quick brown fox jumps over the lazy dog.", 10],
    // A contraction is one word, a capital inside a word starts another.
    ["can't won't", 4],
    ["getUserName", 3],
    // Digits go in groups of three, and a space before them is a token of its own.
    ["1234567", 3],
    ["in 2025", 4],
    // Indentation and line breaks are cheap; so is a run of equal punctuation.
    ["\n        return", 3],
    ["=".repeat(32), 1],
    // No word is known in a jumble.
    ["f3A9bC2dE7aB4cD1", 16],
    ["🎉", 2],
    ["\ud83c", 1],
    ["\udf89", 1],
  ])("charges %j with %d", (text, tokens) => {
    expect(estimate(text)).toBe(tokens)
  })

  it("charges a Chinese character with nearly a token, not a quarter of one", () => {
    const text = "今天天气很好我们一起去公园散步吧"
    expect(estimate(text)).toBeGreaterThan(text.length * 0.6)
    expect(estimate(text)).toBeLessThanOrEqual(text.length)
  })

  it("notices that a text is not English, and forgets it when English goes on", () => {
    const english = "we should probably leave before the others arrive "
    const hungarian = "köszönöm szépen, holnap reggel újra megpróbálom "
    const before = estimate(hungarian.repeat(5))
    expect(before / estimate(english.repeat(5))).toBeGreaterThan(1.5)
    const after = estimate(hungarian.repeat(5) + english.repeat(20)) - before
    expect(after / estimate(english.repeat(20))).toBeLessThan(1.15)
  })

  it("takes names for names: a capitalised word is no evidence", () => {
    const rest = " asked whether everybody received the invitation yesterday"
    expect(estimate(`Łukasz${rest}`) - estimate(rest)).toBeLessThanOrEqual(3)
    expect(estimate(`łukasz${rest}`)).toBeGreaterThan(estimate(`Łukasz${rest}`))
  })

  it("of a growing text is that of the text, wherever it differs from the one before", () => {
    const piece = fc
      .tuple(
        fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("word ", "a1B2c3", "   ", "\n", "==", "fü")),
        fc.constantFrom(1, 3, 900),
      )
      .map(([text, times]) => text.repeat(times))
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), piece), { maxLength: 12 }),
        (steps) => {
          const grown = growing()
          let text = "The quick brown fox jumps over the lazy dog. ".repeat(400)
          for (const [share, more] of [[1, ""] as const, ...steps]) {
            // Cut at its end, rarely far from it, and continued.
            text = text.slice(0, Math.floor(text.length * share ** (1 / 8))) + more
            expect(grown(text)).toBe(estimate(text))
          }
        },
      ),
    )
  })

  it("of texts with lines in common is that of each text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "The rates",
        "a1B2c3D4e5F6g7H8i9",
        "Größe",
        "kia",
        "uuid",
        "x;",
        "(",
        "12",
        "don't",
        "\r",
        "…",
      ),
      fc.constantFrom(" ", "\n", "\n\n", "\n".repeat(16), "\n  ", "\t", "  \n", "\u00a0\n", ", "),
      fc.string({ unit: "binary", maxLength: 4 }),
    )
    const line = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(""))
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (lines, order) => {
          const count = byLine()
          for (let end = 0; end <= order.length; end++) {
            const text = order
              .slice(0, end)
              .map((at) => lines[at % lines.length])
              .join("\n")
            expect(count(text)).toBe(estimate(text))
          }
        },
      ),
    )
  })

  const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), codeUnits())

  it("is a whole number, at least 1 for any text and at most its UTF-8 bytes and a margin", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const tokens = estimate(text)
        expect(Number.isSafeInteger(tokens)).toBe(true)
        expect(tokens).toBeGreaterThanOrEqual(text === "" ? 0 : 1)
        expect(tokens).toBeLessThanOrEqual(Math.ceil(text.length * 3 * 1.02))
      }),
    )
  })

  it("charges two texts together hardly more than one after the other", () => {
    const words = fc.array(
      fc.constantFrom(
        "the ",
        "Straße ",
        "być ",
        '{"a":1}',
        "\n  ",
        "123",
        "漢字",
        "привет ",
        "🎉",
        "aB3",
        "!",
        "'",
      ),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(words, words, (a, b) => {
        const [left, right] = [a.join(""), b.join("")]
        expect(estimate(left + right)).toBeLessThanOrEqual(estimate(left) + estimate(right) + 20)
      }),
    )
  })

  it("grows in proportion: ten times a text is ten times the tokens", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = estimate(`${text}\n`.repeat(20))
        const tenfold = estimate(`${text}\n`.repeat(200))
        expect(Math.abs(tenfold - 10 * once)).toBeLessThanOrEqual(once * 0.5 + 20)
      }),
    )
  })

  it("is the same in steps, wherever they end, and a step ends behind the word that stands there", () => {
    fc.assert(
      fc.property(fc.array(anyText), fc.integer({ min: 1, max: 40 }), (texts, length) => {
        const text = texts.join("")
        const steps = estimateInSteps(text, length)
        let step = steps.next()
        while (step.done !== true) step = steps.next()
        expect(step.value).toBe(estimate(text))
      }),
    )
    const words = "a word and another one, ".repeat(60_000)
    expect([...estimateInSteps(words)].length).toBeGreaterThan(words.length / 70_000)
  })

  it("handles a megabyte of one character", () => {
    for (const unit of ["a", " ", "\n", "=", "7", "漢", "\ud83d", "🎉", "aB3/"]) {
      expect(estimate(unit.repeat(1_000_000 / unit.length))).toBeGreaterThan(10_000)
    }
  })
})

/** Strings of arbitrary UTF-16 code units, lone surrogates among them. */
function codeUnits(): fc.Arbitrary<string> {
  return fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes))
}
