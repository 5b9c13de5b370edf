/**
 * Type tests: the public functions with the published types of each major version of `ai`. The package is compiled from its
 * sources, and its dependencies from their build: otherwise their sources would be checked again for each version.
 */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const tsc = fileURLToPath(new URL("../../../../../node_modules/.bin/tsc", import.meta.url))

const compile = (config: string): Promise<string> =>
  new Promise((resolve) => {
    const project = fileURLToPath(new URL(config, import.meta.url))
    execFile(tsc, ["-p", project], (_error, out, err) => resolve(out + err))
  })

describe("the public functions take and give the types of", () => {
  for (const name of ["ai5", "ai6", "ai"]) {
    it(name, async () => {
      const printed = await compile(`tsconfig.${name}.json`)
      expect(printed.split("\n").filter((line) => line.includes("error TS"))).toEqual([])
    })
  }
})
