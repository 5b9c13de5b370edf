/** Benchmarks are run as the compiler wrote them, by Node: what they import has to be there for it, and not for the tests alone. */
import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

const folder = new URL(".", import.meta.url)

it("imports what its package names, and no sources", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", folder), "utf8")) as Readonly<
    Record<"dependencies" | "devDependencies", Readonly<Record<string, string>>>
  >
  const named = new Set(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  )
  expect(files.length).toBeGreaterThan(50)
  const unnamed = files.flatMap((file) =>
    [
      ...readFileSync(new URL(file, folder), "utf8").matchAll(
        /(?:from|import\() ?"((?:@[^"/]+\/)?[^"./:][^":/]*)[^":]*"/g,
      ),
    ]
      .map(([, name = ""]) => name)
      .filter((name) => !named.has(name))
      .map((name) => `${file} imports ${name}`),
  )
  expect(unnamed).toEqual([])
})
