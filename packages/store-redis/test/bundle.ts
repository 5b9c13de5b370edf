/** The scripts of `children/` as programs of their own, made from the sources under test. A bundle starts quickly. */
import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { bundleAll } from "../../../scripts/bundle.mjs"

/** Bundles scripts of `children/` for the tests of a file; answers with the path of each. */
export const bundled = <Name extends string>(...names: ReadonlyArray<Name>): ((name: Name) => string) => {
  const outDir = join(tmpdir(), `memfold-redis-children-${process.pid}-${names[0]}`)
  beforeAll(async () => {
    await bundleAll(
      Object.fromEntries(
        names.map((name) => [name, fileURLToPath(new URL(`children/${name}.mjs`, import.meta.url))]),
      ),
      { outDir },
    )
  }, 60_000)
  afterAll(() => rmSync(outDir, { recursive: true, force: true }))
  return (name) => join(outDir, `${name}.mjs`)
}
