import { eventLogLaws } from "@memfold/testing/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { layer } from "./fileLog.js"

const folder = mkdtempSync(join(tmpdir(), "file-log-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const empty = () => layer(mkdtempSync(join(folder, "log-")))
eventLogLaws({
  name: "one file for each session",
  layer: empty,
  reopen: empty,
  numRuns: 10,
  feed: false,
  replace: false,
})
