import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { clip, head, oneLine, tail } from "./text.js"

const untidy = fc
  .array(
    fc.constantFrom(
      "a",
      "word",
      " ",
      "\n",
      ". ",
      "。",
      "，",
      "漢",
      "字",
      "🎉",
      "👩‍👩‍👧",
      "\ud83c",
      "\udf89",
      "\u0000",
      "$&",
    ),
    { maxLength: 80 },
  )
  .map((pieces) => pieces.join(""))

describe("head and tail", () => {
  it("cut no surrogate pair in two", () => {
    expect(head("a🎉b", 2)).toBe("a")
    expect(head("a🎉b", 3)).toBe("a🎉")
    expect(tail("a🎉b", 2)).toBe("b")
    expect(tail("a🎉b", 3)).toBe("🎉b")
    fc.assert(
      fc.property(untidy, fc.nat({ max: 100 }), (text, length) => {
        expect(text.startsWith(head(text, length))).toBe(true)
        expect(text.endsWith(tail(text, length))).toBe(true)
        for (const cut of [head(text, length), tail(text, length)]) {
          expect(cut.length).toBeLessThanOrEqual(length)
          if (text.isWellFormed()) expect(cut.isWellFormed()).toBe(true)
        }
      }),
    )
  })
})

describe("oneLine", () => {
  it("leaves no line breaks, control characters, doubled spaces and halves of characters", () => {
    expect(oneLine(" a\r\n\tb\u0000c \ud83c d\u2028e ")).toBe("a b c d e")
  })
})

describe("clip", () => {
  it("leaves alone what fits", () => {
    expect(clip("  as it\nis ", 20)).toBe("as it is")
  })

  it("ends with a whole sentence, where that is most of it", () => {
    expect(clip("First things first. Then the rest follows.", 25)).toBe("First things first.")
    expect(clip("先说第一件事情。然后再说第二件事情。", 12)).toBe("先说第一件事情。")
    // Version numbers and names of files hold full stops that end nothing.
    expect(clip("Upgrade to 3.22.4 in package.json before anything else", 30)).toBe("Upgrade to 3.22.4 in…")
  })

  it("else with a whole word, else wherever it has to", () => {
    expect(clip("several words in a row without a stop", 20)).toBe("several words in a…")
    expect(clip("several, words", 9)).toBe("several…")
    expect(clip("没有空格的一句很长的话一直说下去", 8)).toBe("没有空格的一句…")
    expect(clip("🎉🎉🎉🎉🎉", 6)).toBe("🎉🎉…")
  })

  it("never exceeds the length, and is always well-formed and on one line", () => {
    fc.assert(
      fc.property(untidy, fc.integer({ min: 1, max: 60 }), (text, length) => {
        const clipped = clip(text, length)
        expect(clipped.length).toBeLessThanOrEqual(length)
        expect(clipped.isWellFormed()).toBe(true)
        expect(clipped).not.toMatch(/[\n\r]/)
      }),
    )
  })
})
