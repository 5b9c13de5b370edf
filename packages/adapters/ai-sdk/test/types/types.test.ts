/**
 * Type tests: the public functions with the published types of each major version of `ai`. The package is compiled from its
 * sources, and its dependencies from their build: otherwise their sources would be checked again for each version.
 */
import { typeErrors } from "@memfold/harness/compiler"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

describe("the public functions take and give the types of", () => {
  for (const name of ["ai5", "ai6", "ai"]) {
    it(name, async () => {
      expect(await typeErrors(fileURLToPath(new URL(`tsconfig.${name}.json`, import.meta.url)))).toEqual([])
    })
  }
})
