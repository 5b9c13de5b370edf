/** The laws of stores over a store with an archive behind it. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { deep, often } from "@memfold/harness/depth"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { eventLogLaws } from "@memfold/testing/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { behind, folderArchive } from "../src/index.js"
import { moving } from "./support.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-archive-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const log = Effect.flatMap(InMemoryEventLog.make, (inner) => behind(inner, folderArchive(folder)))

eventLogLaws({
  name: "a store with an archive behind it",
  layer: () => Layer.effect(EventLog.EventLog, log),
  replace: false,
  numRuns: often(4, 100),
})

const segmented = (inner: EventLog.Service) =>
  Effect.map(behind(inner, folderArchive(folder)), (whole) => moving(inner, whole, folderArchive(folder)))

eventLogLaws({
  name: "a store whose old events move behind every write",
  layer: () => Layer.effect(EventLog.EventLog, Effect.flatMap(InMemoryEventLog.make, segmented)),
  replace: false,
  numRuns: often(4, 100),
})

// What the archive does is the same over each store.
if (deep) {
  eventLogLaws({
    name: "a SQLite file whose old events move behind every write",
    layer: () =>
      Layer.scoped(
        EventLog.EventLog,
        Effect.flatMap(
          SqliteEventLog.make({ filename: join(mkdtempSync(join(folder, "sqlite-")), "chats.db") }),
          segmented,
        ),
      ),
    replace: false,
    numRuns: 30,
  })
}
