import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cpuTime } from "@memfold/harness/cpuTime"
import { most, prose } from "./prose.js"

const texts = (text: string) => prose(text).map((line) => line.text)
const own = (text: string) =>
  prose(text)
    .filter(({ quoted }) => !quoted)
    .map((line) => line.text)

describe("prose", () => {
  it("has no code: fenced, indented, or in tags of a line's own", () => {
    expect(texts("before\n```ts\nconst a = 1\n```\nafter")).toEqual(["before", "after"])
    expect(texts("before\n~~~\ncode\n```\nmore\n~~~\nafter")).toEqual(["before", "after"])
    expect(texts("before\n````md\n```\ncode\n```\nmore\n````\nafter")).toEqual(["before", "after"])
    expect(texts("before\n```\nnever closed\nmore")).toEqual(["before"])
    expect(texts("before\n    indented\n\tindented\nafter")).toEqual(["before", "after"])
    expect(texts("before\n<system-reminder>\nI like tea\n</system-reminder>\nafter")).toEqual([
      "before",
      "after",
    ])
    expect(texts("<note>I like tea</note>\nafter")).toEqual(["after"])
    expect(texts("I prefer `pnpm`")).toEqual(["I prefer `pnpm`"])
  })

  it("knows headings, items and tasks, and drops their marks", () => {
    expect(
      prose("## Next steps\n- one\n3. two\n* [ ] three\n- [x] four\n\nfive").map(({ marker, text }) => [
        marker,
        text,
      ]),
    ).toEqual([
      ["heading", "Next steps"],
      ["item", "one"],
      ["item", "two"],
      ["open task", "three"],
      ["done task", "four"],
      ["none", "five"],
    ])
    expect(texts("**Bold** words")).toEqual(["Bold words"])
  })

  it("marks quotations, and material behind a colon, as somebody else's words", () => {
    expect(own("> I like tea\nI like coffee")).toEqual(["I like coffee"])
    expect(own("Fix this mail:\n\nMy name is Bob.\n\nThanks")).toEqual(["Fix this mail:"])
    expect(own("翻译成英文：\n我叫小明")).toEqual(["翻译成英文："])
    expect(own("About me:\n- I like tea")).toEqual(["About me:", "I like tea"])
    expect(own("See http://example.org at 10:30\nI like tea")).toHaveLength(2)
  })

  it("takes any text, a limited part of it, in time linear in its length", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            "```",
            "\n",
            "a: b",
            "<x>",
            "</x>",
            "> ",
            "- [ ]",
            "    ",
            "漢：",
            "\ud83c",
            "\r\n",
            "**",
            "\u2028",
          ),
        ),
        (pieces) => {
          for (const { text } of prose(pieces.join(""))) expect(text.trim()).toBe(text)
        },
      ),
    )
    const start = cpuTime()
    for (const unit of ["a", "\n", "**", "<a", "- [ ] ", "> ", "`", " ", "a: ", "*".repeat(50)]) {
      const lines = prose(unit.repeat(5_000_000 / unit.length))
      expect(lines.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(most)
    }
    expect(start()).toBeLessThan(3_000)
  })
})
