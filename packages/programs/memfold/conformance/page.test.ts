/**
 * The page and the tests say the same: every row of docs/conformance.md has its test here, and every numbered test
 * its row, where it stands by its name. A row whose third column begins with `—` cannot carry over, says why, and needs
 * no test.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const page = fileURLToPath(new URL("../../../../docs/conformance.md", import.meta.url))
const folder = fileURLToPath(new URL(".", import.meta.url))

interface Row {
  /** Such as `1.4`. */
  readonly number: string
  /** The number of the heading it stands under. */
  readonly section: string
  readonly asks: string
  readonly here: string
  /** The name of the test, without the number. */
  readonly test: string
}

/** A line of a table as its cells; a `\|` inside of one is no border. */
const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .replace(/^\||\|\s*$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())

interface Read {
  readonly sections: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
  readonly malformed: ReadonlyArray<string>
}

/** The tables of a page. What looks like a line of one and is none is malformed. */
const readPage = (markdown: string): Read => {
  const sections: Array<string> = []
  const rows: Array<Row> = []
  const malformed: Array<string> = []
  for (const line of markdown.split("\n")) {
    const heading = /^## (?<section>\d+)\. /.exec(line)?.groups?.["section"]
    if (heading !== undefined) sections.push(heading)
    const section = sections.at(-1)
    if (section === undefined || !line.trimStart().startsWith("|")) continue
    const cells = cellsOf(line)
    const [number = "", asks = "", here = "", test = ""] = cells
    if (number === "row" || /^:?-+:?$/.test(number)) continue
    if (cells.length === 4 && /^\d+\.\d+$/.test(number)) rows.push({ number, section, asks, here, test })
    else malformed.push(line)
  }
  return { sections, rows, malformed }
}

interface NumberedTest {
  readonly number: string
  readonly name: string
  readonly file: string
}

/**
 * The tests of a file whose names begin with a number, whatever stands between `it` and the name. A skipped test
 * proves nothing, so it does not count.
 */
const readTests = (file: string, source: string): ReadonlyArray<NumberedTest> =>
  [
    ...source.matchAll(
      /^\s*(?:it|test)\b(?!\.(?:skip|todo|fails)\b)[^"'`\n]*\(\s*(?<quote>["'`])(?<number>\d+\.\d+)[ :]+(?<name>.*?)\k<quote>, /gm,
    ),
  ].map((match) => ({
    number: match.groups?.["number"] ?? "",
    name: (match.groups?.["name"] ?? "").replaceAll("\\\\", "\\"),
    file,
  }))

const twice = (numbers: ReadonlyArray<string>): ReadonlyArray<string> =>
  numbers.filter((number, position) => numbers.indexOf(number) !== position)

const markdown = readFileSync(page, "utf8")
const { sections, rows, malformed } = readPage(markdown)
const files = readdirSync(folder).filter((file) => /^\d+-.*\.test\.ts$/.test(file))
const tests = files.flatMap((file) => readTests(file, readFileSync(join(folder, file), "utf8")))
const isExempt = ({ here }: Row) => here.startsWith("—")

describe("docs/conformance.md", () => {
  it("has a table for each of the five designs, and every line of one is a numbered row", () => {
    expect(sections).toEqual(["1", "2", "3", "4", "5"])
    expect(sections.filter((section) => rows.every((row) => row.section !== section))).toEqual([])
    expect(malformed).toEqual([])
    expect(rows.filter(({ number, section }) => !number.startsWith(`${section}.`))).toEqual([])
    expect(rows.filter(({ asks, here }) => asks === "" || here === "")).toEqual([])
  })

  it("has no row twice", () => {
    expect(twice(rows.map(({ number }) => number))).toEqual([])
  })

  it("names the test of every row", () => {
    const names = new Map(tests.map(({ number, name }) => [number, `\`${name}\``]))
    const wrong = rows.filter((row) => row.test !== (isExempt(row) ? "—" : names.get(row.number)))
    expect(wrong.map(({ number, test }) => `${number} ${test}, not ${names.get(number)}`)).toEqual([])
  })

  it("says of every row that cannot carry over why", () => {
    const silent = rows.filter((row) => isExempt(row) && !/^—\s*\S.{10,}/.test(row.here))
    expect(silent).toEqual([])
  })

  it("links to files that are there", () => {
    const links = [...markdown.matchAll(/\]\((?<path>[^)#]+)(?:#[^)]*)?\)/g)].map(
      (match) => match.groups?.["path"] ?? "",
    )
    const broken = links.filter((path) => !/^\w+:/.test(path) && !existsSync(join(dirname(page), path)))
    expect(broken).toEqual([])
  })
})

describe("the conformance tests", () => {
  it("have a file for each design, with the rows of that design in it", () => {
    expect(files.map((file) => file.split("-")[0])).toEqual(["1", "2", "3", "4", "5"])
    expect(tests.filter(({ number, file }) => number.split(".")[0] !== file.split("-")[0])).toEqual([])
  })

  it("test no row twice", () => {
    expect(twice(tests.map(({ number }) => number))).toEqual([])
  })

  it("test every row", () => {
    const tested = new Set(tests.map(({ number }) => number))
    const untested = rows.filter((row) => !isExempt(row) && !tested.has(row.number))
    expect(untested.map(({ number, asks }) => `${number} ${asks}`)).toEqual([])
  })

  it("test nothing that is not a row", () => {
    const known = new Set(rows.map(({ number }) => number))
    const unknown = tests.filter(({ number }) => !known.has(number))
    expect(unknown.map(({ number, file }) => `${number} in ${file}`)).toEqual([])
  })
})

describe("the reading of pages and tests", () => {
  const table = (...lines: ReadonlyArray<string>) =>
    readPage(
      [
        "# Page",
        "| not | a | row |",
        "## 7. Title",
        "| row | asks | here | test |",
        "| --- | --- | --- | --- |",
        ...lines,
      ].join("\n"),
    )

  it("finds rows, and lines that are none", () => {
    expect(table("| 7.1 | this \\| that | there | `it` |", "| 7.2 | — | — no such thing | — |").rows).toEqual(
      [
        { number: "7.1", section: "7", asks: "this \\| that", here: "there", test: "`it`" },
        { number: "7.2", section: "7", asks: "—", here: "— no such thing", test: "—" },
      ],
    )
    const wrong = [
      "| 7.1 | only three | here |",
      "| 7 | no | number | it |",
      "| 7.2 | one | is | too | many |",
    ]
    expect(table(...wrong)).toMatchObject({ rows: [], malformed: wrong })
  })

  it("finds tests, however they are written", () => {
    const source = [
      'it("7.1 name: what", () => {})',
      'it.only(  "7.2: what", () => {})',
      'it.skip("7.7 what", () => {})',
      'it.todo("7.8 what")',
      "it(\n  '7.3 what', () => {})",
      "it.each([1, 2])(`7.4 what`, () => {})",
      'it.effect("7.10 what", () => {})',
      'it("in 7.5 words", () => {})',
      'expect("7.6 what")',
    ]
    const found = readTests("7-x.test.ts", source.join("\n"))
    expect(found[0]).toEqual({ number: "7.1", name: "name: what", file: "7-x.test.ts" })
    const numbers = found.map(({ number }) => number)
    expect(numbers).toEqual(["7.1", "7.2", "7.3", "7.4", "7.10"])
    expect(twice(["7.1", "7.2", "7.1"])).toEqual(["7.1"])
  })
})
