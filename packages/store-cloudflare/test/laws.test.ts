/** The laws of stores, checked within a Worker: over D1, and in a Durable Object. Miniflare runs both. */
import { InMemoryEventLog } from "@memfold/core"
import { eventLogProperties, title } from "@memfold/testing"
import * as fc from "fast-check"
import { Miniflare } from "miniflare"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { bundleAll } from "../../../scripts/bundle.mjs"

const folder = mkdtempSync(join(tmpdir(), "memfold-worker-"))
let miniflare: Miniflare
beforeAll(async () => {
  const source = fileURLToPath(new URL("worker/laws.mjs", import.meta.url))
  const program = await bundleAll({ laws: source }, { outDir: folder })
  miniflare = new Miniflare({
    modules: true,
    scriptPath: program("laws"),
    compatibilityDate: "2025-11-01",
    d1Databases: ["DB"],
    durableObjects: { LAWS: { className: "Laws", useSQLite: true } },
  })
})
afterAll(async () => {
  await miniflare.dispose()
  rmSync(folder, { recursive: true, force: true })
})

// Their names alone: the Worker has the same laws in the same order.
const names = eventLogProperties({ layer: InMemoryEventLog.layer, reopen: () => InMemoryEventLog.layer })
const titles = names.map((law, at) => [title(law), at] as const)

describe.each([
  ["D1", "d1"],
  ["a Durable Object", "object"],
])("%s: an event log", (_name, path) => {
  it.for(titles)("%s", { timeout: often(120_000, 900_000) }, async ([, law]) => {
    const query = `law=${law}&runs=${often(2, 50)}&seed=${fc.readConfigureGlobal().seed}`
    const answer = await miniflare.dispatchFetch(`http://laws/${path}?${query}`)
    expect(await answer.text()).toBe("")
  })
})
