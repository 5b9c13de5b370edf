import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { stateOf } from "@memfold/testing"
import { BatchSize, Keep, Message, Policy, Prune, Split, Strategy, SummaryMode, Trigger } from "../index.js"
import { withMargin } from "./withMargin.js"

const decided = (
  messages: ReadonlyArray<Message.Message>,
  given: Partial<Strategy.Strategy>,
  margin: number,
) => {
  const strategy = Strategy.make({
    name: "limits",
    when: Trigger.contextAbove(0),
    keep: Keep.lastMessages(2),
    summaryMode: SummaryMode.rolling,
    ...given,
  })
  const decision = Policy.decide(withMargin(strategy, margin), stateOf(messages), { now: 0 })
  return decision._tag === "Due" ? decision.plan : decision.reason
}

/** In these states, a message has 10 tokens. */
describe("behind a margin, a strategy guards its limits with it", () => {
  it("the largest context, counting only what no provider reported", () => {
    const above = (tokens: number) => ({ when: Trigger.contextAbove(tokens) })
    expect(decided(chat(8), above(99), 1.25)).toMatchObject({ from: 0, to: 6 })
    expect(decided(chat(8), above(100), 1.25)).toBe("not-due")
    expect(decided(chat(8), above(80), 1)).toBe("not-due")
    const reported = [...chat(5), Message.assistant("a", { usage: { input: 80, output: 10 } }), ...chat(1)]
    expect(decided(reported, above(102), 1.25)).toMatchObject({ from: 0 })
    expect(decided(reported, above(103), 1.25)).toBe("not-due")
  })

  it("the tail, the batch, and where outputs are kept whole", () => {
    expect(decided(chat(8), { keep: Keep.lastTokens(50) }, 1.25)).toMatchObject({ tailFrom: 4 })
    expect(decided(chat(8), { keep: Keep.lastTokens(50) }, 1)).toMatchObject({ tailFrom: 3 })
    expect(decided(chat(8), { batchSize: BatchSize.messages(3) }, 1.25)).toMatchObject({ to: 3 })
    const tools = [
      Message.user("q"),
      Message.call([{ id: "1", name: "t", arguments: "{}" }]),
      Message.result({ id: "1", output: "x".repeat(300) }),
      ...chat(4, 1),
    ]
    const prune = [Prune.hardClear({ keep: Keep.lastTokens(50) })]
    const cleared = { prune, summaryMode: SummaryMode.none }
    expect(decided(tools, cleared, 1.25)).toMatchObject({ prune: [{ index: 2 }] })
    expect(decided(tools, { ...cleared, prune: [Prune.hardClear({ keep: Keep.lastTokens(70) })] }, 1)).toBe(
      "nothing-to-take",
    )
  })

  it("a tail that is too large, and its prefix", () => {
    const turn = [Message.user("q"), ...Array.from({ length: 7 }, () => Message.assistant("a"))]
    const split = { keep: Keep.currentTurn, split: Split.tailAbove(100, { prefix: 50 }) }
    expect(decided(turn, split, 1.25)).toBe("nothing-to-take")
    expect(decided([...turn, Message.assistant("a")], split, 1.25)).toMatchObject({ to: 4 })
    expect(decided([...turn, Message.assistant("a")], split, 1)).toBe("nothing-to-take")
  })
})
