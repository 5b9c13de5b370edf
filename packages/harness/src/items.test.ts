/** The strict servers have a copy of the table of items: they depend on no package of memfold. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

it("the table of items is the same in core and in the strict servers", () => {
  const [ofCore, ofServers] = ["core/src/message", "strict-providers/src"].map((folder) =>
    readFileSync(new URL(`../../${folder}/items.ts`, import.meta.url), "utf8"),
  )
  expect(ofServers).toBe(ofCore)
})
