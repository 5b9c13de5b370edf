/** The strict servers have copies of the tables of items and of fields: they depend on no package of memfold. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

it.each([
  ["items", "core/src/message/items.ts"],
  ["fields", "adapters/codec/src/requestFields.ts"],
])("the table of %s is the same in the strict servers", (_, path) => {
  const [own, ofServers] = [path, path.replace(/^.*\//u, "strict-providers/src/")].map((file) =>
    readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"),
  )
  expect(ofServers).toBe(own)
})
