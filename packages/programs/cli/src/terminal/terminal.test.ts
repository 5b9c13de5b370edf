import { describe, expect, it } from "vitest"
import { clean, heading, json, shownId, table } from "./terminal.js"

/** What steers a terminal: the escape, a line's end, the bell, DEL, a C1 control, and a change of direction. */
const steering = ["\u001B[31m", "\n", "\u0007", "\u007F", "\u009B31m", "\u202E"]

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const controls = /[\u0000-\u001F\u007F-\u009F\u202E]/

describe("what steers a terminal is not shown", () => {
  it("in a text, an id, a cell or a heading", () => {
    for (const control of steering) {
      const text = `a${control}b`
      expect(clean(text)).not.toMatch(controls)
      expect(shownId(text)).not.toMatch(controls)
      expect(table([text], [[text], [{ text, paint: (shown) => shown }]], ["left"]).split("\n")).toHaveLength(
        4,
      )
      expect(heading(text).split("\n")).toHaveLength(2)
    }
    expect(clean("👩‍👧 keeps its joiner")).toBe("👩‍👧 keeps its joiner")
  })

  it("in JSON, which means the same", () => {
    const value = { text: `${steering.join("")}\u2028\u2066\uFEFF\u{E0001}👩‍👧`, [`key\u202E`]: [1, null] }
    for (const indent of [undefined, 2]) {
      const printed = json(value, indent)
      expect(JSON.parse(printed)).toEqual(value)
      expect(printed.replaceAll("\n", "")).not.toMatch(controls)
      expect(printed).not.toMatch(/[\u2028\u2066\uFEFF]|\u{E0001}/u)
      expect(printed).toContain("👩‍👧")
    }
  })

  it("in cells, which keep the colour that they are given", () => {
    const paint = (text: string) => `<${text}>`
    const rows = [[{ text: "a\u001B[8mb", paint }, "c"]]
    expect(table(["first", "second"], rows, ["right", "left"]).split("\n").at(-1)).toBe("<a [8mb>  c")
  })
})

describe("an id", () => {
  it("is shown as it is, its spaces included, and cut where it is very long", () => {
    expect(shownId("two  spaces ")).toBe("two  spaces ")
    expect(shownId("x".repeat(60))).toBe("x".repeat(60))
    expect(shownId("x".repeat(61))).toBe(`${"x".repeat(59)}…`)
    expect(shownId("x".repeat(100_000))).toBe(`${"x".repeat(59)}…`)
    expect(shownId("字".repeat(31))).toBe(`${"字".repeat(29)}…`)
  })
})
