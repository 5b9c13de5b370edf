/** The laws of stores, checked within a Worker: over D1, and in a Durable Object. Miniflare runs both. */
import { InMemoryEventLog } from "@memfold/core"
import { eventLogProperties, title } from "@memfold/testing"
import * as fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import { lines } from "@memfold/harness/program"
import { workerOf } from "./miniflare.js"

const start = workerOf("laws", { LAWS: "Laws" })
const titles = eventLogProperties({
  layer: InMemoryEventLog.layer,
  reopen: () => InMemoryEventLog.layer,
}).map(title)

// A Durable Object runs the same statements; `chat.test.ts` has both at each test.
const stores = [
  ["D1", "d1"],
  ["a Durable Object", "object"],
]

describe.each(deep ? stores : stores.slice(0, 1))("%s: an event log", (_name, path) => {
  let wrong: ReadonlyMap<string, string>
  beforeAll(
    async () => {
      const miniflare = await start()
      const query = `runs=${often(2, 50)}&seed=${fc.readConfigureGlobal().seed}`
      const answer = await miniflare.dispatchFetch(`http://laws/${path}?${query}`)
      wrong = new Map(lines(await answer.text()) as unknown as Iterable<readonly [string, string]>)
    },
    often(300_000, 1_800_000),
  )
  it.each(titles)("%s", (law) => {
    expect(wrong.get(law)).toBe("")
  })
})
