import { describe, expect, it } from "vitest"
import { wellFormed } from "./wellFormed.js"

describe("wellFormed", () => {
  it("replaces halves of surrogate pairs, wherever they stand", () => {
    expect(wellFormed({ "a\ud83d": ["half \ud83d", { b: "\ude00 half" }] })).toEqual({
      "a\ufffd": ["half \ufffd", { b: "\ufffd half" }],
    })
  })

  it("leaves everything else as it is", () => {
    const value = { text: "ok 👩‍👩‍👧", list: [1, null, { nested: true }] }
    expect(wellFormed(value)).toBe(value)
  })
})
