/** The scripts of `children/` as programs of their own: they are started dozens of times, and a bundle starts quickly. */
import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { bundleAll } from "../../../scripts/bundle.mjs"
import { driverPath } from "./support.js"

/** Bundles scripts of `children/` for the tests of a file; answers with the path of each. */
export const bundled = <Name extends string>(...names: ReadonlyArray<Name>): ((name: Name) => string) => {
  const outDir = join(tmpdir(), `memfold-children-${process.pid}-${names[0]}`)
  beforeAll(async () => {
    await bundleAll(
      Object.fromEntries(
        names.map((name) => [name, fileURLToPath(new URL(`children/${name}.mjs`, import.meta.url))]),
      ),
      { outDir, external: { "better-sqlite3": pathToFileURL(driverPath).href } },
    )
  }, 60_000)
  afterAll(() => rmSync(outDir, { recursive: true, force: true }))
  return (name) => join(outDir, `${name}.mjs`)
}
