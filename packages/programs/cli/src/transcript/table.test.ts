/** The table of readers in the documents says what the readers do. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { writers } from "../../test/conserving/writers.js"
import { formats, readers } from "./readers.js"

const page = readFileSync(new URL("../../../../../docs/migrate/transcripts.md", import.meta.url), "utf8")

const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `") && !line.startsWith("| `--"))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, format = "", , read = "", , silent = ""]) => ({
    format: format.replaceAll("`", ""),
    read,
    silent: [...silent.matchAll(/`([^`]+)`/g)].map(([, place]) => place),
  }))

it("has a row for each format, in their order", () => {
  expect(rows.map(({ format }) => format)).toEqual([...formats])
})

describe.each(rows)("$format", ({ format, read, silent }) => {
  const reader = readers[format as keyof typeof readers]

  it("is silent where the table says that nobody speaks, and nowhere else", () => {
    expect(silent).toEqual(reader.notSaid)
  })

  it("has branches and compactions where the table says so, and files of it are tried with them", () => {
    const has = new Set(writers.filter((one) => one.format === format).flatMap((one) => one.has))
    // Events of Copilot name the one before, which is the one before in the file.
    expect(/\bbranches\b/.test(read)).toBe(reader.hasBranches)
    expect(/\bcompactions\b/.test(read)).toBe(reader.hasCompactions)
    expect(has.has("left")).toBe(reader.hasBranches)
  })
})
