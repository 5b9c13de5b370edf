/** The laws of stores over a store with an archive behind it. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { behind, folderArchive } from "../src/index.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-archive-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const log = Effect.flatMap(InMemoryEventLog.make, (inner) => behind(inner, folderArchive(folder)))

eventLogLaws({
  name: "a store with an archive behind it",
  layer: () => Layer.effect(EventLog.EventLog, log),
  numRuns: often(4, 100),
})
