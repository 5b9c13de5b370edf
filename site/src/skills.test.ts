/**
 * The skills that packages bring along for coding agents. Their blocks are compiled with those of all documents; here, each one is
 * shipped, and is read again when a page changes that it is written from.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { otherDocuments, packages, root } from "./pages.js"

const read = (document: string): string => readFileSync(join(root, document), "utf8")

/** The pages that each skill is written from. */
const sources: Readonly<Record<string, ReadonlyArray<string>>> = {
  "packages/programs/memfold/SKILL.md": [
    "packages/programs/memfold/README.md",
    "docs/adapters.md",
    "docs/start/openai.md",
    "docs/start/anthropic.md",
  ],
  "packages/adapters/ai-sdk/SKILL.md": ["packages/adapters/ai-sdk/README.md", "docs/start/ai-sdk.md"],
  "packages/adapters/effect-ai/SKILL.md": ["packages/adapters/effect-ai/README.md", "docs/start/effect.md"],
  "packages/adapters/langchain/SKILL.md": [
    "packages/adapters/langchain/README.md",
    "docs/start/langchain.md",
  ],
  "packages/adapters/mastra/SKILL.md": ["packages/adapters/mastra/README.md", "docs/start/mastra.md"],
  "packages/adapters/openai-agents/SKILL.md": [
    "packages/adapters/openai-agents/README.md",
    "docs/start/openai-agents.md",
  ],
}

const skills = otherDocuments.filter((document) => document.endsWith("/SKILL.md"))

it("every skill has its pages", () => {
  expect(skills).toEqual(Object.keys(sources).toSorted())
})

it.each(skills)("%s is shipped, says when to use it, and has a block", (skill) => {
  const folder = skill.replace("/SKILL.md", "")
  expect([...packages.values()]).toContain(folder)
  expect(JSON.parse(read(`${folder}/package.json`)).files).toContain("SKILL.md")
  const [, name = "", description = ""] =
    /^---\nname: ([a-z0-9-]+)\ndescription: (.+)\n---\n/.exec(read(skill)) ?? []
  expect(name.length).toBeLessThanOrEqual(64)
  expect(description.length).toBeGreaterThan(100)
  expect(description.length).toBeLessThanOrEqual(1_024)
  expect(read(skill)).toMatch(/^```ts\n/m)
})

it("the paths in the skill of memfold are skills that are shipped", () => {
  const named = [
    ...read("packages/programs/memfold/SKILL.md").matchAll(/node_modules\/(@memfold\/[a-z-]+)\/SKILL\.md/g),
  ]
  const folders = named.map(([, name = ""]) => packages.get(name) ?? name)
  expect(folders.map((folder) => `${folder}/SKILL.md`).toSorted()).toEqual(
    skills.filter((skill) => skill !== "packages/programs/memfold/SKILL.md"),
  )
  expect(folders.every((folder) => existsSync(join(root, folder, "SKILL.md")))).toBe(true)
})

// It fails when a page has changed: read the skill beside the page, mend it, and run this file with `-u`.
it("no skill is older than a page that it is written from", async () => {
  const digest = (document: string) => createHash("sha256").update(read(document)).digest("hex").slice(0, 16)
  const pages = [...new Set(Object.values(sources).flat())].toSorted()
  const lines = pages.map((page) => {
    const names = skills.filter((skill) => sources[skill]?.includes(page))
    return `${digest(page)}  ${page} -> ${names.join(", ")}`
  })
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("skills.txt")
})
