import { SummaryMode, Keep, Message, Strategy, Trigger } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { compactions, runOf } from "../memory/run.js"
import { inSurroundings, worlds } from "./surroundings.js"
import { picture } from "./picture.js"
import { decisions, oneByOne, rehearse } from "./rehearse.js"
import { deepFreeze, frozenCopy, lending } from "./untouched.js"

const long = (position: number) => `message ${position} `.repeat(20)
const talk = oneByOne(
  Array.from({ length: 30 }, (_, at) =>
    at % 2 === 0 ? Message.user(long(at)) : Message.assistant(long(at)),
  ),
)
const policies = [SummaryMode.rolling, SummaryMode.blocks, SummaryMode.drop].map((fold) =>
  Strategy.make({
    name: fold,
    when: Trigger.backlog({ messages: 4 }),
    keep: Keep.lastMessages(3),
    summaryMode: fold,
  }),
)

describe("a rehearsal", () => {
  it.each(policies)("comes to what the engine comes to: $name", async (policy) => {
    const run = await runOf(policy, talk)
    const rehearsed = rehearse(policy, talk)
    expect(compactions(run).map(({ started: { from, to, parts } }) => ({ from, to, parts }))).toEqual(
      rehearsed.decided.map(({ from, to, parts }) => ({ from, to, parts })),
    )
    expect(run.state.summary?.segments).toEqual(rehearsed.moments.at(-1)?.state.summary?.segments)
    expect(decisions(policy, talk).length).toBeGreaterThan(4)
  })

  it("is given up where settling does not end", () => {
    const [policy] = policies
    const { endless } = rehearse(policy!, talk.slice(0, 1), {
      decide: (_strategy, { coveredTo }) => ({
        _tag: "Due",
        plan: { reason: "x", from: coveredTo, to: coveredTo, tailFrom: 0, parts: [], prune: [] },
      }),
    })
    expect(endless).toBe(3)
  })

  it("is a table, with a column for each compaction", () => {
    const drawn = picture(rehearse(policies[0]!, talk.slice(0, 8))).split("\n")
    const column = drawn[0]!.indexOf(" a ") + 1
    expect(
      drawn
        .slice(1, 9)
        .map((row) => row.charAt(column))
        .join(""),
    ).toBe("████░░░ ")
    expect(drawn).toContain('  a: with 7 messages, "backlog": [0,4), as history [0,4), tail from 4')
  })
})

describe("other surroundings", () => {
  it("answer otherwise, tell what was asked, and are put back", () => {
    const before = [Date, Math.random, performance.now]
    const found = worlds.map((world) =>
      inSurroundings(world, () => [
        Date.now(),
        new Date().getTime(),
        new Date(5).getTime(),
        Math.random(),
        performance.now(),
      ]),
    )
    expect(found[0]?.asked).toEqual(["Date.now()", "new Date()", "Math.random()", "performance.now()"])
    expect(new Set(found.map(({ answer }) => answer[0])).size).toBe(worlds.length)
    expect(found.every(({ answer }) => answer[2] === 5)).toBe(true)
    expect(new Set(worlds.map(({ now }) => new Date(now).getUTCHours()))).toEqual(new Set([0, 6, 12, 18]))
    expect([Date, Math.random, performance.now]).toEqual(before)
    expect(() =>
      inSurroundings(worlds[0]!, () => {
        throw new Error("x")
      }),
    ).toThrow("x")
    expect([Date, Math.random, performance.now]).toEqual(before)
  })
})

describe("what is only lent", () => {
  it("notices who changes it", () => {
    const changing = lending({
      ...policies[0]!,
      keep: {
        describe: "",
        from: (view) => ((view as { total: number }).total = 0),
      },
    })
    expect(rehearse(changing, talk).thrown?.error).toMatchObject({ message: "it sets `total` of its view" })
    const copy = frozenCopy({ list: [{ a: 1 }] })
    expect(() => ((copy.list[0] as { a: number }).a = 2)).toThrow(TypeError)
    expect(Object.isFrozen(deepFreeze({ a: { b: {} } }).a.b)).toBe(true)
  })
})
