import { Keep, Message, Strategy, SummaryMode, Trigger } from "@memfold/core"
import { Prices } from "@memfold/prices"
import { describe, expect, it } from "vitest"
import { ofTranscript } from "./Conversation.js"
import { type Executor, inThisThread } from "./jobs.js"
import { page } from "./page/index.js"
import { unbeaten } from "./page/costAgainstKept.js"
import { logarithmicTicks, ticks } from "./page/svg.js"
import { reference, run, type RunOptions } from "./run.js"
import { serve, WorkerError } from "./workers.js"

const talk = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    (index % 2 === 0 ? Message.user : Message.assistant)(
      `message ${index} of the order KX-${1_000 + (index % 14)}`,
    ),
  )

const dropping = Strategy.make({
  name: "dropping",
  when: Trigger.backlog({ messages: 8 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.drop,
})

const given: RunOptions = {
  conversations: [ofTranscript("one", talk(30)), ofTranscript("<b>two</b>", talk(60))],
  policies: [{ name: "dropping & <so on>", strategy: dropping }],
  prices: [Prices.presets["claude-sonnet-5.5"]],
}

/** An executor that does several pieces of work at a time and finishes the first ones last. */
const reordering = (size: number): Executor & { readonly most: () => number } => {
  const inner = inThisThread({ policies: [reference, ...given.policies] })
  let running = 0
  let most = 0
  const last = async <A>(work: () => Promise<A>): Promise<A> => {
    most = Math.max(most, ++running)
    const before = running
    const result = await work()
    for (let turns = 0; turns < 50 * before; turns++) await Promise.resolve()
    running--
    return result
  }
  return {
    size,
    most: () => most,
    prepare: (job) => last(() => inner.prepare(job)),
    replay: (job) => last(() => inner.replay(job)),
  }
}

describe("a run", () => {
  it("has the full history first, then the policies, each with every conversation", async () => {
    const { policies, conversations } = await run(given)
    expect(conversations).toEqual([
      { name: "one", messages: 30, calls: 15, questions: 0, lasted: null },
      { name: "<b>two</b>", messages: 60, calls: 30, questions: 0, lasted: null },
    ])
    expect(policies.map(({ name }) => name)).toEqual(["full history", "dropping & <so on>"])
    for (const { replays, meanContext, largestContext } of policies) {
      expect(replays.map(({ contexts }) => contexts.length)).toEqual([15, 30])
      const all = replays.flatMap(({ contexts }) => contexts)
      expect(largestContext).toBe(Math.max(...all))
      expect(meanContext).toBeCloseTo(all.reduce((a, b) => a + b) / 45, 9)
    }
    const [full, own] = policies
    expect(full?.identifiers.there).toBe(full?.identifiers.needed)
    expect(own?.identifiers.there).toBeLessThan(own?.identifiers.needed ?? 0)
    expect(own?.costs[0]?.share?.total).not.toBeCloseTo(100, 6)
  })

  it("gives the same report however many pieces of work are done at a time", async () => {
    const executor = reordering(3)
    expect(await run({ ...given, executor })).toEqual(await run(given))
    expect(executor.most()).toBe(3)
  })

  it("gives each policy the recall that it asks for, and says so", async () => {
    const [one] = given.policies
    const policies = [one!, { ...one!, name: "recalling", automaticRecall: 200 }]
    // Only what asks recalls.
    const asking = talk(60).map((message) =>
      message.role === "user" ? Message.user(`${Message.text(message)}, where is it?`) : message,
    )
    const report = await run({ ...given, conversations: [ofTranscript("asking", asking)], policies })
    expect(report.policies.map(({ automaticRecall }) => automaticRecall)).toEqual([null, null, 200])
    const [, alone, recalling] = report.policies
    expect(recalling!.meanContext).toBeGreaterThan(alone!.meanContext)
    expect(recalling!.compactions).toBe(alone!.compactions)
    expect(page(report)).toContain("of at most 200 tokens")
    expect(page(await run(given))).not.toContain("automatic recall")
  })

  it("tells how far it is", async () => {
    const told: Array<number> = []
    await run({ ...given, onProgress: ({ done, total }) => told.push(done / total) })
    expect(told).toEqual([1, 2, 3, 4, 5, 6].map((done) => done / 6))
  })

  it("starts nothing more after a failure, and fails with it", async () => {
    let started = 0
    const executor: Executor = {
      ...inThisThread({ policies: [reference] }),
      replay: () => {
        started++
        return Promise.reject(new WorkerError({ detail: "gone" }))
      },
    }
    await expect(run({ ...given, executor })).rejects.toThrow("gone")
    expect(started).toBe(1)
  })
})

it("serve belongs in a worker thread", () => {
  const parent = () => serve({ policies: [] })
  expect(parent).toThrow(WorkerError)
})

describe("the page", () => {
  it("has every policy and conversation, escaped, and loads nothing", async () => {
    const html = page(await run(given))
    expect(html).toContain("dropping &amp; &lt;so on&gt;")
    expect(html).toContain("Contexts of &lt;b&gt;two&lt;/b&gt;")
    expect(html).not.toContain("<b>")
    expect(html).not.toContain("<so on>")
    expect(html).toContain("default-src 'none'")
    expect(html).not.toMatch(/<script|<link|<img|https?:|url\((?!#)|@import|NaN|undefined|Infinity/)
    expect(html.match(/<svg /g)).toHaveLength(1 + 1 + 2 * 2)
    for (const tag of ["svg", "figure", "section", "table", "tr", "text", "div"])
      expect(html.match(new RegExp(`<${tag}[ >]`, "g"))?.length).toBe(
        html.match(new RegExp(`</${tag}>`, "g"))?.length,
      )
  })

  it("is there for conversations in which nothing is called or needed", async () => {
    const silent = { ...given, conversations: [ofTranscript("silent", [Message.user("Hello")])] }
    const html = page(await run(silent))
    expect(html).not.toMatch(/NaN|undefined|Infinity/)
    expect(html).not.toContain("Cost against what is kept")
  })
})

it("a point is unbeaten if none costs no more and keeps no less", () => {
  const points = [
    { cost: 100, kept: 100 },
    { cost: 40, kept: 10 },
    { cost: 50, kept: 10 },
    { cost: 60, kept: 80 },
    { cost: 120, kept: 90 },
  ]
  expect(unbeaten(points)).toEqual([points[1], points[3], points[0]])
})

it("ticks are round, and no value is beyond them", () => {
  expect(ticks(650, 5)).toEqual([0, 200, 400, 600, 800])
  expect(ticks(100, 5)).toEqual([0, 20, 40, 60, 80, 100])
  expect(logarithmicTicks(30, 125)).toEqual([20, 50, 100, 200])
  expect(logarithmicTicks(100, 100)).toEqual([100, 200])
})
