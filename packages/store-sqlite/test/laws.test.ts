/** The laws of stores over SQLite files. */
import { join } from "node:path"
import { deep, often } from "@memfold/harness/depth"
import { eventLogLaws } from "@memfold/testing/vitest"
import { layer, type Options } from "../src/index.js"
import { folder } from "./support.js"

const newFile = () => join(folder(), "chats.db")

const laws = (name: string, options: () => Options) =>
  eventLogLaws({
    name,
    layer: () => layer(options()),
    reopen: () => layer({ filename: newFile() }),
    numRuns: often(4, 100),
    timeout: often(120_000, 900_000),
    timeLimit: 60_000,
  })

laws("a file, synchronous full", () => ({ filename: newFile() }))
if (deep) {
  laws("a file, synchronous normal", () => ({ filename: newFile(), synchronous: "normal" }))
  laws("a database in memory", () => ({ filename: ":memory:" }))
}
