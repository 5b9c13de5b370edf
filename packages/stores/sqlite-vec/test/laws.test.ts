import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { often } from "@memfold/harness/depth"
import { memoryProperties } from "@memfold/testing"
import { lawSuite, vectorIndexLaws } from "@memfold/testing/vitest"
import { layer } from "../src/index.js"

const folder = mkdtempSync(join(tmpdir(), "memfold-vectors-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const inFile = () => layer({ filename: join(folder, `${files++}.db`) })

vectorIndexLaws({
  name: "sqlite-vec",
  layer: () => layer({ filename: ":memory:" }),
  reopen: inFile,
  numRuns: often(20, 200),
})

lawSuite(
  "recall by meaning with sqlite-vec",
  memoryProperties({ vectorIndex: () => layer({ filename: ":memory:" }), numRuns: often(10, 100) }).filter(
    ({ name }) => name.startsWith("recall by meaning"),
  ),
)
