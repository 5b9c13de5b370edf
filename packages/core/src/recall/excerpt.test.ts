import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ellipsis, excerpt } from "./excerpt.js"
import { queryTermsOf } from "../search/terms.js"

const size = (text: string): number => text.length

describe("excerpt", () => {
  const text = `${"Nothing to see here. ".repeat(30)}The order KX-4471 was late.\nThe customer complained. ${"And so on. ".repeat(40)}`

  it("is the part around the terms, with marks where text is left out", () => {
    const found = excerpt(text, queryTermsOf("which order was late"), size, 120)
    expect(found).toContain("The order KX-4471 was late.")
    expect(found.startsWith(`${ellipsis} `)).toBe(true)
    expect(found.endsWith(` ${ellipsis}`)).toBe(true)
  })

  it("has no marks where nothing is left out, and is empty where nothing fits", () => {
    expect(excerpt("One. Two.", ["two"], size, 100)).toBe("One. Two.")
    expect(excerpt("Two. One.", ["two"], size, 7)).toBe(`Two. ${ellipsis}`)
    expect(excerpt(text, ["order"], size, 5)).toBe("")
    expect(excerpt("", ["order"], size, 5)).toBe("")
  })

  it("keeps within its size, and consists of the text", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("alpha", "bravo.", "c\n", "数据。", "x".repeat(300), "😀"), {
          maxLength: 60,
        }),
        fc.nat({ max: 500 }),
        (words, most) => {
          const given = words.join(" ")
          const found = excerpt(given, ["alpha", "数据"], size, most)
          expect(found.length).toBeLessThanOrEqual(most)
          const inner = found.replace(/^… /, "").replace(/ …$/, "")
          expect(given).toContain(inner)
          expect(found.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})
