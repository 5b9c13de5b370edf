import { describe, expect, it } from "vitest"
import { piecesOf } from "./pieces.js"

describe("the pieces of a text", () => {
  it("end at white space, follow each other, and cut no character", () => {
    expect(piecesOf("one two three four", { maxCharacters: 8 })).toEqual([
      { offset: 0, text: "one two " },
      { offset: 8, text: "three " },
      { offset: 14, text: "four" },
    ])
    expect(piecesOf("🎈🎈🎈", { maxCharacters: 3 }).map(({ text }) => text)).toEqual(["🎈", "🎈", "🎈"])
  })

  it("are at most 16, and none is blank", () => {
    const pieces = piecesOf(`${" ".repeat(50)}${"word ".repeat(50)}`, { maxCharacters: 5 })
    expect(pieces).toHaveLength(16)
    expect(pieces[0]).toEqual({ offset: 50, text: "word " })
    expect(piecesOf(" \n ", {})).toEqual([])
  })
})
