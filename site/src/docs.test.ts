/** What the site says of itself: every page has its place, every anchor is there, and numbers that are shown twice agree. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { DeadLink, linkOf, repository } from "./links.js"
import { llmsFullText, llmsText, markdownOf } from "./llms.js"
import { aboutOf, addressOf, packages, pages, parts, placeOf, root } from "./pages.js"

const read = (document: string): string => readFileSync(join(root, document), "utf8")

const listed = parts.flatMap(({ pages }) => pages.map(({ document }) => document))

it("every page is in the navigation, once", () => {
  expect(listed.toSorted()).toEqual(pages.filter((page) => page !== "site/index.md"))
  expect(new Set(pages.map(placeOf)).size).toBe(pages.length)
})

it("every page says what it is about in its first paragraph", () => {
  expect(listed.filter((document) => aboutOf(document).length < 20)).toEqual([])
  expect(listed.filter((document) => aboutOf(document).endsWith(":"))).toEqual([])
})

it("a link leads to a page, or to the repository", () => {
  expect(linkOf("docs/lab.md", "recall.md#by-time")).toBe("/recall.html#by-time")
  expect(linkOf("docs/stores.md", "../packages/programs/lab")).toBe("/packages/programs/lab/")
  expect(linkOf("CONTRIBUTING.md", "packages/core/src/Memory.ts#L93")).toBe(
    `${repository}/blob/main/packages/core/src/Memory.ts#L93`,
  )
  expect(linkOf("docs/lab.md", "../examples")).toBe(`${repository}/tree/main/examples`)
  expect(linkOf("docs/lab.md", "https://example.org/a.md")).toBe("https://example.org/a.md")
  expect(() => linkOf("docs/lab.md", "nowhere.md")).toThrow(DeadLink)
  expect(() => linkOf("docs/lab.md", "../../outside.md")).toThrow(DeadLink)
})

/** The anchor that the site gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-")

it("every anchor of a link to a page is a heading of that page", () => {
  const anchors = new Map(
    pages.map((page) => [
      addressOf(page),
      new Set([...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading))),
    ]),
  )
  const dead = pages.flatMap((page) =>
    [
      ...read(page)
        .replaceAll(/^```[\s\S]*?^```$/gm, "")
        .matchAll(/\]\(([^)\s]+)\)/g),
    ]
      .map(([, href = ""]) => ({
        href,
        to: href.startsWith("#") ? `${addressOf(page)}${href}` : linkOf(page, href),
      }))
      .filter(({ to }) => to.startsWith("/") && to.includes("#"))
      .filter(
        ({ to }) =>
          anchors.get(to.split("#")[0] ?? "")?.has(decodeURIComponent(to.split("#")[1] ?? "")) !== true,
      )
      .map(({ href }) => `${page}: ${href}`),
  )
  expect(dead).toEqual([])
})

it("the Markdown of a page links to the Markdown of other pages", () => {
  const text = markdownOf("docs/start/openai.md")
  expect(text).toContain("(/strategies/index.md)")
  expect(text).toContain("(/stores.md)")
  expect(text).toContain("(/packages/adapters/openai/index.md)")
})

it("llms.txt lists every page of the navigation, and llms-full.txt has their words", () => {
  const list = llmsText()
  expect(listed.filter((document) => !list.includes(`(/${placeOf(document)})`))).toEqual([])
  const full = llmsFullText()
  expect(full).toContain("# Which strategy, and what it costs")
  expect(full).toContain("# Start with LangChain")
})

it("the figures of the strategies are those of the lab's page, which its own test prints again", () => {
  const table = (document: string) => read(document).match(/^policy .*\n(?:[─ ].*\n|[a-z].*\d\n)+/gm)
  expect(table("docs/strategies/README.md")).toHaveLength(2)
  expect(table("docs/strategies/README.md")).toEqual(table("docs/lab.md"))
})

it("what pages say of a strategy is what its rows of the tables say", () => {
  const text = read("docs/lab.md")
  const cells = (name: string) =>
    [...text.matchAll(new RegExp(`^${name} +(\\d.*)$`, "gm"))].map(([, row = ""]) => row.split(/ +/))
  // Decisions tell what was.
  const current = listed.filter((document) => !document.startsWith("docs/decisions/"))
  const said = current.flatMap((document) => {
    const words = read(document).replaceAll(/\s+/g, " ")
    const find = (
      figure: string,
      of: (costs: ReadonlyArray<string>, contexts: ReadonlyArray<string>) => unknown,
    ) =>
      [...words.matchAll(new RegExp(`\`([a-z-]+)\`(?:(?! \`[a-z-]+\`)[^.;])*?${figure}`, "g"))].flatMap(
        ([, name = "", figure]) => {
          const [costs, contexts] = cells(name)
          return costs === undefined || contexts === undefined
            ? []
            : [{ document, name, figure, is: of(costs, contexts) }]
        },
      )
    return [
      ...find("costs (\\d+)\\b", ([cost]) => cost),
      ...find("compacts (\\d+) times", (_, [, , compactions]) => compactions),
      ...find("(\\d+) % of the identifiers", (_, contexts) => contexts.at(-1)),
    ]
  })
  expect(said.length).toBeGreaterThan(4)
  expect(said.filter(({ figure, is }) => figure !== is)).toEqual([])
  const rows = [
    ...read("docs/concepts/prompt-cache.md").matchAll(
      /^\| ([a-z -]+?) +\| (\d+) +\| (\d+) % +\| (\d+) +\|$/gm,
    ),
  ]
  expect(rows).toHaveLength(4)
  for (const [, name = "", ...figures] of rows) {
    const [costs = [], contexts = []] = cells(name === "full history" ? name : name.replaceAll(" ", "-"))
    expect([name, ...figures]).toEqual([name, contexts[2], costs.at(-1), costs[0]])
  }
})

it("the numbers of the first page stand on the pages that they link to", () => {
  const cards = [
    ...read("site/index.md").matchAll(/^- \[\*\*([\d %MiB]+)(?: of \d+)?\*\*<br>.*\]\((.*)\)$/gm),
  ]
  expect(cards.map(([, number]) => number)).toEqual(["56", "82 %", "75 MiB", "0"])
  for (const [, number = "", href = ""] of cards.slice(0, 3))
    expect(
      read(
        `docs/${
          href
            .replace(/^\.\.\/docs\//, "")
            .split("#")[0]
            ?.replace(/\/$/, "/README.md") ?? ""
        }`,
      ),
    ).toMatch(new RegExp(`\\b${number}(?!\\w)`))
  const [, table = ""] = /^## Failures[^]*?\n(\|[^]*?)\n\n/m.exec(read("docs/comparison.md")) ?? []
  expect(table.split("\n").length - 2).toBe(11)
})

it("every published package and every benchmark has its line", () => {
  const list = read("docs/packages.md")
  expect([...packages.values()].filter((folder) => !list.includes(`(../${folder})`))).toEqual([])
  const names = [...read("bench/src/main.ts").matchAll(/^ {2}\["([a-z]+)", \(\)/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(5)
  const commands = read("docs/benchmarks.md")
  expect(names.filter((name) => !commands.includes(`npm run bench -- ${name}\``))).toEqual([])
})
