/** The store on runtimes that have a SQLite of their own: where better-sqlite3 is not installed, nothing has to be. */
import { eventLogProperties, title } from "@memfold/testing"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { bundled } from "@memfold/harness/children"
import { often } from "@memfold/harness/depth"
import { runtimes } from "@memfold/harness/runtimes"
import { layer } from "../src/index.js"
import { folder } from "./support.js"

// Not bundled, and not found from the folder of the bundle.
const script = bundled(new URL("children/", import.meta.url), ["laws"], {
  "better-sqlite3": "better-sqlite3",
})

const inMemory = () => layer({ filename: ":memory:" })
const titles = eventLogProperties({ layer: inMemory, reopen: inMemory }).map(title)

describe("without better-sqlite3, the laws hold with the SQLite of", () => {
  it.for(runtimes)("$name", { timeout: often(120_000, 900_000) }, async ({ command }) => {
    const [program, ...before] = command()
    const args = [
      ...before,
      script("laws"),
      folder(),
      String(often(2, 100)),
      String(fc.readConfigureGlobal().seed),
    ]
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 1 << 27 })
    const lines = stdout.trim().split("\n")
    expect(lines.slice(0, -1)).toEqual(titles.map((law) => `holds ${law}`))
    expect(lines.at(-1)).toMatch(/^\d+ laws, [1-9]\d+ files$/)
  })
})
