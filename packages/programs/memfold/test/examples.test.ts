/**
 * Every example in the documentation compiles: the `ts` blocks of all Markdown files and of all TSDoc comments,
 * with the strictness of the sources. They meet the built packages, as the reader's program does.
 */
import { typeErrors } from "@memfold/harness/compiler"
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
/** Within the package, so that its dependencies are found. */
const folder = fileURLToPath(new URL("../.examples", import.meta.url))

/** Folders without documents of ours. The packages are installed in millions of paths: nobody looks into them. */
const isLeftOut = (name: string) => /^(node_modules|dist|\.git|\.turbo|\.examples|\.changeset)$/.test(name)

/** The files in a folder and its subfolders. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return isLeftOut(entry.name) ? [] : filesIn(path)
    return [path]
  })

const documents = filesIn(root)
  .map((path) => relative(root, path))
  // The reference of the site is generated from comments, which are read where they are.
  .filter((name) => /\.(md|ts)$/.test(name) && !name.endsWith(".test.ts") && !name.startsWith("site/api/"))
  .toSorted()

/** The memory of examples that use one without making it, as the examples of operations do. */
const given = `import { createMemory } from "memfold"
const memory = createMemory({ store: "sqlite:chats.db" })
`

/** Whether an example of a comment uses a memory that it does not make. */
const isGivenMemory = (code: string): boolean => /\bmemory\.\w/u.test(code) && !/^import /mu.test(code)

interface Example {
  readonly name: string
  readonly code: string
}

const examplesOf = (name: string): ReadonlyArray<Example> => {
  const text = readFileSync(join(root, name), "utf8")
  return [...text.matchAll(/^([ \t]*(?:\* ?)?)```ts\n([\s\S]*?)^[ \t]*(?:\* ?)?```$/gm)].map(
    (match, position) => ({
      name: `${name.replace(/[^\w]+/g, "-")}-${position}`,
      code: (match[2] ?? "")
        .split("\n")
        .map((line) => (name.endsWith(".ts") ? line.replace(/^\s*\* ?/, "") : line))
        .join("\n"),
    }),
  )
}

it("every example compiles", async () => {
  const examples = documents.flatMap(examplesOf)
  expect(examples.length).toBeGreaterThan(10)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { name, code } of examples)
    writeFileSync(join(folder, `${name}.ts`), `${isGivenMemory(code) ? given : ""}${code}\nexport {}\n`)
  // The tutorial's strategies and the store import each other, as the files do that they are shown from.
  for (const shown of [join(root, "examples/laws"), join(root, "examples/store")]) {
    for (const name of readdirSync(shown).filter((file) => !file.endsWith(".test.ts"))) {
      copyFileSync(join(shown, name), join(folder, name))
    }
  }
  // They depend on this package, so this package cannot depend on them.
  const paths = {
    "create-memfold": ["../../create-memfold/dist/index.d.ts"],
    "@memfold/mcp": ["../../mcp/dist/index.d.ts"],
    "@memfold/studio": ["../../studio/dist/index.d.ts"],
    "@modelcontextprotocol/server/stdio": [
      "../../mcp/node_modules/@modelcontextprotocol/server/dist/stdio.d.mts",
    ],
  }
  const config = {
    extends: "../../../../tsconfig.base.json",
    compilerOptions: { customConditions: [], paths },
    include: ["*.ts"],
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
  expect(await typeErrors(folder)).toEqual([])
  console.log(`${examples.length} examples of ${documents.length} files in ${relative(root, folder)}`)
})
