/** A short version of the benchmark: it never costs more, and the prefix upstream stays between compactions. */
import { cacheMiss } from "@memfold/strict-providers"
import { beforeAll, describe, expect, it } from "vitest"
import { agents } from "./agents.js"
import { type Cost, run } from "./session.js"

describe.each(agents)("80 turns in $name", (agent) => {
  let without: Cost
  beforeAll(async () => {
    without = await run(agent, 80, false)
  })

  it("cost no more through the proxy than without it", async () => {
    const through = await run(agent, 80, true)
    expect([without.refused, through.refused]).toEqual([0, 0])
    expect(through.summaries).toBeGreaterThan(0)
    expect(through.dollars).toBeLessThan(without.dollars)

    // Until the first summary, everything is as without the proxy; behind each, the start of one prompt is new.
    const { sent } = through
    const misses = sent.flatMap((later, at) =>
      at > 0 && cacheMiss(sent[at - 1]!, later) !== null ? [at] : [],
    )
    expect(misses.length).toBe(through.summaries)
    const until = misses[0]! - 1
    expect(until).toBeGreaterThan(5)
    expect(sent.slice(0, until)).toEqual(without.sent.slice(0, until))
    expect(through.after.slice(0, until)).toEqual(without.after.slice(0, until))
  })

  it("is answered while summaries are written in the background", async () => {
    const through = await run(agent, 80, true, "background")
    expect(through.refused).toBe(0)
    expect(through.summaries).toBeGreaterThan(0)
    expect(through.dollars).toBeLessThan(without.dollars)
  })
})
