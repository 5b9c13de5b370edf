import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readable } from "./json.js"

describe("readable", () => {
  it("writes objects as lines of keys and values", () => {
    const user = {
      name: { first: "Mia", last: "Li" },
      dob: "1990-04-05",
      tags: ["a", 1, null],
      cards: [{ id: "c1" }, { id: "c2" }],
    }
    expect(readable(JSON.stringify(user))).toBe(
      "dob=1990-04-05, tags=[a, 1, null]\nname: first=Mia, last=Li\ncards: id=c1\ncards: id=c2",
    )
  })

  it("keeps the lines of a text inside", () => {
    expect(readable('{"exit":1,"stdout":"line one\\nline two"}')).toBe("exit=1\nstdout:\nline one\nline two")
  })

  it("leaves everything else alone", () => {
    for (const text of ["", "plain", "42", '"a"', "{ broken", "[1, 2", "  [link](x)"])
      expect(readable(text)).toBe(text)
    expect(readable("[1, 2]")).toBe("[1, 2]")
  })

  it("survives any JSON, and depth without end", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(typeof readable(text)).toBe("string")
      }),
    )
    expect(readable(`${'{"a":'.repeat(4_000)}1${"}".repeat(4_000)}`)).toContain("a")
  })

  it("loses no string", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^\w{1,5}$/), fc.array(fc.stringMatching(/^\w{1,5}$/))),
        (value) => {
          const text = readable(JSON.stringify(value))
          for (const one of Object.values(value).flat()) expect(text).toContain(one)
        },
      ),
    )
  })
})
