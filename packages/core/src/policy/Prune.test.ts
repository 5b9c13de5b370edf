import { describe, expect, it } from "vitest"
import { Keep } from "../index.js"
import * as Prune from "./Prune.js"

const keep = Keep.lastMessages(2)

describe("a rule of pruning", () => {
  it("that trims leaves two ends, of the size the reference names unless said otherwise", () => {
    expect(Prune.softTrim({ keep })).toEqual({
      method: "soft-trim",
      keep,
      above: 4_000,
      head: 1_500,
      tail: 1_500,
    })
    expect(Prune.softTrim({ keep, above: 9, head: 1, tail: 2 })).toMatchObject({
      above: 9,
      head: 1,
      tail: 2,
    })
  })

  it("that clears leaves nothing", () => {
    expect(Prune.hardClear({ keep })).toEqual({ method: "hard-clear", keep, above: 200, head: 0, tail: 0 })
    expect(Prune.hardClear({ keep, above: 9 })).toMatchObject({ above: 9, head: 0, tail: 0 })
  })
})

describe("a note", () => {
  it("says how much is missing", () => {
    expect(Prune.note("soft-trim", 1_234)).toContain("1234 characters")
    expect(Prune.note("hard-clear", 1_234)).toContain("1234 characters")
  })
})
