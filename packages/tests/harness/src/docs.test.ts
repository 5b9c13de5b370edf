/** What documents say of the repository: links, the index of decisions, the order of folders, and the lines of the walks. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { coreFolders } from "../../../../scripts/lintRules.mjs"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

const read = (path: string): string => readFileSync(join(root, path), "utf8")

/** The links of a document: its words, and the path and the anchor that it leads to. */
const linksOf = (path: string) =>
  [...read(path).matchAll(/\[([^\]]*)\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)].map(
    ([, words = "", to = "", anchor]) => ({ words, to, anchor }),
  )

/** The tracked documents, without documents that packages generate. */
const documents = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" })
  .trim()
  .split("\n")

it("every relative link of a document leads to a file", () => {
  expect(documents.length).toBeGreaterThan(80)
  const broken = documents.flatMap((path) =>
    linksOf(path)
      .filter(({ to }) => to !== "" && !/^[a-z]+:/.test(to))
      .filter(({ to }) => !existsSync(resolve(root, dirname(path), to)))
      .map(({ to }) => `${path}: ${to}`),
  )
  expect(broken).toEqual([])
})

it("the index of decisions has each record, in order, by its title", () => {
  const records = readdirSync(join(root, "docs/decisions")).filter((name) => /^\d+-/.test(name))
  const expected = records
    .map((name) => ({
      number: Number.parseInt(name, 10),
      name,
      title: /^# \d+\. (.*)$/m.exec(read(`docs/decisions/${name}`))?.[1],
    }))
    .toSorted((one, other) => one.number - other.number)
  const rows = read("docs/decisions/README.md")
    .split("\n")
    .flatMap((line) => {
      const [, number, name, title] = /^\| \[(\d+)\]\(([^)]*)\)\s+\| (.*?)\s*\|$/.exec(line) ?? []
      return number === undefined ? [] : [{ number: Number(number), name, title }]
    })
  expect(rows).toEqual(expected)
  expect(expected.map(({ number }) => number)).toEqual(expected.map((_, at) => at + 1))
})

it("CONTRIBUTING lists the folders of core in the order that the lint rule keeps", () => {
  const listed = [...read("CONTRIBUTING.md").matchAll(/^\| `(\w+)\/`/gm)].map(([, folder]) => folder)
  expect(listed).toEqual(coreFolders)
})

it("CONTRIBUTING says each law that a test cites", () => {
  const tests = execFileSync("git", ["ls-files", "*.ts"], { cwd: root, encoding: "utf8" }).trim().split("\n")
  const cited = new Set(tests.flatMap((path) => read(path).match(/\bL[12]?\d(?=[: ,.)"])/g) ?? []))
  const said = new Set([...read("CONTRIBUTING.md").matchAll(/^- \*\*(L\d+)\*\*/gm)].map(([, law]) => law!))
  expect(said.size).toBeGreaterThan(20)
  // L0 says that an input was worth a try.
  expect([...cited].filter((law) => law !== "L0" && !said.has(law))).toEqual([])
})

it("the page of operations lists every metric and every span", () => {
  const sources = execFileSync("git", ["ls-files", "packages/*.ts"], { cwd: root, encoding: "utf8" })
    .trim()
    .split("\n")
    .filter((path) => /\/src\//.test(path) && !/\.test\.ts$|\/tests\//.test(path))
    .map(read)
  const made = sources.flatMap((text) =>
    [...text.matchAll(/(?:counter|histogram|gauge|[sS]pan)\(\s*"(memfold[_.][\w.]+)"/g)].map(
      ([, name]) => name,
    ),
  )
  // The two operations that write are one span in the sources.
  const names = [...new Set([...made, "memfold.append", "memfold.rewrite"])].toSorted()
  expect(names.length).toBeGreaterThan(30)
  const listed = read("docs/operations.md").match(/(?<=`)memfold[_.][\w.]+(?=`)/g) ?? []
  expect([...new Set(listed)].toSorted()).toEqual(names)
})

it("each step of the walks is at the line that it names", () => {
  const steps = linksOf("CONTRIBUTING.md").filter(({ anchor }) => /^L\d+$/.test(anchor ?? ""))
  expect(steps.length).toBeGreaterThan(20)
  const wrong = steps.flatMap(({ words, to, anchor = "" }) => {
    const name = words.replaceAll("`", "")
    const lines = read(to).split("\n")
    const isThere = new RegExp(`\\b${name}\\b`).test(lines[Number(anchor.slice(1)) - 1] ?? "")
    if (isThere) return []
    const places = lines.flatMap((line, at) =>
      new RegExp(`(const ${name}\\b|^\\s+${name}: \\()`).test(line) ? [at + 1] : [],
    )
    return [`${name} is not at ${basename(to)}#${anchor}, but at ${places.join(", ")}`]
  })
  expect(wrong).toEqual([])
})

it("the sections of a context are described by their names", () => {
  const text = read("packages/core/src/render/Section.ts")
  const [, described = "", type = ""] =
    /The kind of a section\.([\s\S]*?)\*\/\nexport type SectionName =([\s\S]*?)\n\n/.exec(text) ?? []
  const names = [...described.matchAll(/^ \* - (`.*?):/gm)].flatMap(([, words = ""]) =>
    [...words.matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
  )
  expect(names).toEqual([...type.matchAll(/"([\w-]+)"/g)].map(([, name]) => name))
})
