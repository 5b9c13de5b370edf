/**
 * The laws over everything that is shipped: all strategies, with small settings and with their defaults, all stores,
 * and all of them together under summarizers that fail in every way. `MEMFOLD_STRATEGIES` and `MEMFOLD_STORES` name
 * some of them alone, separated by commas.
 */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { deep, often } from "@memfold/harness/depth"
import * as Arbitrary from "../src/arbitrary/index.js"
import { eventLogProperties, memoryProperties, strategyProperties } from "../src/index.js"
import { lawSuite } from "../src/vitest.js"
import { chosen } from "./shipped/chosen.js"
import { stores } from "./shipped/stores.js"
import { strategies } from "@memfold/harness/shippedStrategies"

const ofStrategies = chosen("strategy", strategies, process.env["MEMFOLD_STRATEGIES"])
const ofStores = chosen("store", stores, process.env["MEMFOLD_STORES"])

/** Milliseconds that each law, and one input of it, may take; what hangs is found on a busy machine as well. */
const limits = { timeout: often(120_000, 900_000), timeLimit: 60_000 }

/** Several conversations one after another, for settings that are meant for long ones. */
const long = fc
  .array(Arbitrary.conversation, { minLength: 4, maxLength: often(4, 6) })
  .map((several) => several.flat())

for (const [name, { laws, defaults }] of ofStrategies) {
  lawSuite(`${name}: a strategy`, laws({ numRuns: often(2, 100) }), limits)
  lawSuite(`${name} with its defaults`, defaults({ numRuns: often(1, 20), conversations: long }), {
    ...limits,
    ...(name === "split-turn" ? { skip: { L0: "its window of 200,000 tokens is never full here" } } : {}),
  })
}

lawSuite(
  "any composition of the parts",
  strategyProperties(Arbitrary.strategy, { numRuns: often(5, 200) }),
  limits,
)
lawSuite(
  "policies that prune",
  strategyProperties(Arbitrary.pruningStrategy, { numRuns: often(2, 100) }),
  limits,
)

for (const [name, store] of ofStores) {
  lawSuite(`${name}: an event log`, eventLogProperties({ ...store, numRuns: often(2, 100) }), limits)
  // A quick run tries all strategies together over each store, since they have the laws of a strategy to themselves above.
  const together = !deep && ofStrategies.length > 1
  const over = together
    ? [["all strategies", fc.oneof(...ofStrategies.map(([, { strategies: some }]) => some))] as const]
    : ofStrategies.map(([strategy, { strategies: some }]) => [strategy, some] as const)
  for (const [strategy, some] of over) {
    lawSuite(
      `${strategy} over ${name}: a memory`,
      memoryProperties({ layer: store.layer, strategies: some, numRuns: together ? 2 : often(2, 20) }),
      limits,
    )
  }
}

describe("a name that names nothing", () => {
  it("fails with the names there are", () => {
    expect(() => chosen("store", stores, "memory, sqlit")).toThrow(
      'there is no store "sqlit"; there are: memory, sqlite',
    )
    expect(() => chosen("strategy", strategies, "window,summary")).toThrow(
      /there is no strategy "summary"; there are: .*window/,
    )
    expect(chosen("store", stores, "sqlite").map(([name]) => name)).toEqual(["sqlite"])
  })
})
