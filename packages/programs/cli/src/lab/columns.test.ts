import { stripVTControlCharacters } from "node:util"
import stringWidth from "string-width"
import { describe, expect, it } from "vitest"
import { groupedTable } from "./columns.js"

const numbers = (title: string, digits: number) => ({ title, cells: ["1".repeat(digits), "2"] })

const first = { title: "policy", cells: ["full history", "a policy of mine with a very, very long name"] }

const groups = [
  { title: "cost", columns: [numbers("cost", 3), numbers("cached", 3), numbers("written", 3)] },
  { title: "contexts", columns: [numbers("mean", 6), numbers("largest", 6), numbers("compactions", 2)] },
]

/** The parts of the table without colours: a test runner can ask for them with `FORCE_COLOR`. */
const partsOf = (shown: Parameters<typeof groupedTable>[1], width: number) =>
  groupedTable(first, shown, width).map((part) => stripVTControlCharacters(part).split("\n"))

const linesOf = (width: number) => partsOf(groups, width)

describe("a grouped table", () => {
  it.each([60, 80, 100, 200])("is never wider than %d columns, and every number is there once", (width) => {
    const lines = linesOf(width).flat()
    for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width)
    const titles = lines.join(" ")
    for (const { columns } of groups)
      for (const { title } of columns) expect(titles.split(title)).toHaveLength(title === "cost" ? 3 : 2)
  })

  it("puts groups side by side where there is room, and below each other where there is not", () => {
    expect(linesOf(60)).toHaveLength(2)
    expect(linesOf(140)).toHaveLength(1)
    expect(linesOf(60)[1]?.[0]?.trim()).toBe("contexts")
    for (const part of linesOf(60)) {
      expect(part).toHaveLength(5)
      expect(part[1]).toMatch(/^policy /)
      expect(part[3]).toMatch(/^full history /)
    }
  })

  it("divides a group that is too wide by itself, under the same title", () => {
    const wide = { title: "many", columns: Array.from({ length: 12 }, (_, at) => numbers(`column-${at}`, 3)) }
    const parts = partsOf([wide], 60)
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) {
      expect(part[0]?.trim()).toBe("many")
      for (const line of part) expect(stringWidth(line)).toBeLessThanOrEqual(60)
    }
  })
})
