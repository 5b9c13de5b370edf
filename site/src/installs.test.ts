/** The install lines of documents bring what the blocks of the same document import. */
import { builtinModules } from "node:module"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { installedBy } from "./installs.js"
import { otherDocuments, pages, root } from "./pages.js"

const documents = [...pages, ...otherDocuments].filter(
  (document) => !document.startsWith("docs/decisions/") && !document.includes("/templates/"),
)

const read = (document: string): string => readFileSync(join(root, document), "utf8")

/** The packages that a block imports. */
const importedBy = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/\b(?:from|import) "((?:@[^/"]+\/)?[^./"][^/"]*)/gu)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.startsWith("node:") && !builtinModules.includes(name))

const blocksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^ *```ts\n([\s\S]*?)^ *```$/gmu)].map(([, code = ""]) => code)

/** Whoever begins with such a document has nothing yet; further blocks of other documents are for those who have more. */
const isBegunWith = /^docs\/(start|migrate)\/|SKILL\.md$/u

describe("a document", () => {
  it("says to install what its blocks import", () => {
    const missing = documents.flatMap((document) => {
      const text = read(document)
      const installed = new Set(installedBy(text))
      const blocks = isBegunWith.test(document) ? blocksOf(text) : blocksOf(text).slice(0, 1)
      return [...new Set(blocks.flatMap(importedBy))]
        .filter((name) => !installed.has(name))
        .map((name) => `${document}: ${name}`)
    })
    expect(missing).toEqual([])
  })

  it("asks for the driver of SQLite where Node 20 alone needs it, and in the version for it", () => {
    const lines = documents.flatMap((document) =>
      read(document)
        .split("\n")
        .filter((line) => /(install|add) .*better-sqlite3/u.test(line))
        .map((line) => ({ document, line })),
    )
    const isFor20 = (line: string) => /Node 20|before Node 22/u.test(line)
    expect(lines.length).toBeGreaterThan(20)
    // Its vectors are in a file that this driver opens.
    const others = lines.filter(({ document }) => !document.includes("/sqlite-vec/"))
    expect(others.filter(({ line }) => !isFor20(line))).toEqual([])
    expect(lines.filter(({ line }) => !line.includes("better-sqlite3@12"))).toEqual([])
  })
})
