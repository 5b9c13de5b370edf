/** The stores that are shipped, by name. Redis has a suite of its own, since it takes a server. */
import { InMemoryEventLog } from "@memfold/core"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { layer as sqlite } from "@memfold/store-sqlite"
import type { EventLogPropertiesOptions } from "../../src/index.js"

let folder = ""
let files = 0
const newFile = (): string => {
  if (folder === "") folder = mkdtempSync(join(tmpdir(), "memfold-laws-"))
  return join(folder, `${files++}.db`)
}
afterAll(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true })
})

/** The stores. */
export const stores: ReadonlyMap<string, EventLogPropertiesOptions> = new Map<
  string,
  EventLogPropertiesOptions
>([
  ["memory", { layer: InMemoryEventLog.layer }],
  [
    "sqlite",
    {
      layer: () => sqlite({ filename: ":memory:" }),
      reopen: () => sqlite({ filename: newFile() }),
    },
  ],
])
