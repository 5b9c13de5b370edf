import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { chat, conversation, prune as anyPrune } from "@memfold/testing/arbitrary"
import { after, appended, failed, pruned, started, stateOf } from "@memfold/testing"
import {
  type Event,
  SummaryMode,
  Keep,
  Message,
  type Policy,
  type Session,
  Split,
  Strategy,
  BatchSize,
  Trigger,
} from "../index.js"
import * as Prune from "./Prune.js"
import { decide } from "./decide.js"

const { assistant, call, result, system, user } = Message

const always: Trigger.Trigger = { due: () => "always" }

const strategy = (options: Partial<Parameters<typeof Strategy.make>[0]> = {}) =>
  Strategy.make({
    name: "s",
    when: always,
    keep: Keep.lastMessages(4),
    summaryMode: SummaryMode.rolling,
    ...options,
  })

const now = 1_700_000_100_000

const decision = (
  state: Session.SessionState,
  options: Parameters<typeof strategy>[0] = {},
  onDemand = false,
) => decide(strategy(options), state, { now, onDemand })

/** The plan for a state, or why there is none. */
const planned = (
  state: Session.SessionState,
  options: Parameters<typeof strategy>[0] = {},
): Policy.Plan | string => {
  const decided = decision(state, options)
  return decided._tag === "Due" ? decided.plan : decided.reason
}

const calls = (...ids: ReadonlyArray<string>) => call(ids.map((id) => ({ id, name: "t", arguments: "{}" })))
const answer = (id: string) => result({ id, output: "x" })

describe("a plan", () => {
  it("takes what lies between the coverage and the tail, with the trigger's reason", () => {
    expect(planned(stateOf(chat(10)))).toEqual({
      reason: "always",
      from: 0,
      to: 6,
      tailFrom: 6,
      parts: [{ kind: "history", from: 0, to: 6 }],
      prune: [],
    })
    expect(planned(stateOf(chat(10), 4))).toMatchObject({ from: 4, to: 6, tailFrom: 6 })
  })

  it("takes as much of it as the strategy wants", () => {
    expect(planned(stateOf(chat(10)), { batchSize: BatchSize.messages(2) })).toMatchObject({
      to: 2,
      tailFrom: 6,
    })
    expect(planned(stateOf(chat(10)), { batchSize: BatchSize.turns(2) })).toMatchObject({
      to: 4,
      tailFrom: 6,
    })
  })

  it("never reaches into the tail, whatever a take says (L2)", () => {
    const greedy: BatchSize.BatchSize = { to: (view) => view.total }
    expect(planned(stateOf(chat(10)), { batchSize: greedy })).toMatchObject({ to: 6, tailFrom: 6 })
  })

  it("of blocks has a block", () => {
    expect(planned(stateOf(chat(10)), { summaryMode: SummaryMode.blocks })).toMatchObject({
      parts: [{ kind: "block", from: 0, to: 6 }],
    })
  })

  it("stays within the messages there are, whatever a keep says", () => {
    const at = (position: number): Keep.Keep => ({ describe: "", from: () => position })
    expect(planned(stateOf(chat(10), 4), { keep: at(99) })).toMatchObject({ from: 4, to: 10 })
    expect(planned(stateOf(chat(10), 4), { keep: at(-5) })).toBe("nothing-to-take")
    expect(planned(stateOf(chat(10), 4), { keep: at(2) })).toBe("nothing-to-take")
    expect(planned(stateOf([]), { keep: at(3) })).toBe("nothing-to-take")
    expect(planned(stateOf(chat(10), 4), { keep: at(6.7) })).toMatchObject({ from: 4, to: 6 })
    expect(planned(stateOf(chat(10), 4), { keep: at(Number.NaN) })).toBe("nothing-to-take")
    expect(planned(stateOf(chat(10)), { batchSize: { to: () => Number.NaN } })).toBe("nothing-to-take")
  })
})

describe("there is no plan", () => {
  it("when the trigger is not due", () => {
    expect(planned(stateOf(chat(10)), { when: Trigger.never })).toBe("not-due")
    expect(planned(stateOf(chat(15)), { when: Trigger.backlog({ messages: 12 }) })).toBe("not-due")
    expect(planned(stateOf(chat(16)), { when: Trigger.backlog({ messages: 12 }) })).toMatchObject({ to: 12 })
  })

  it("when the floor is above the trigger: nothing can be taken, so nothing loops", () => {
    const options = { when: Trigger.uncovered({ messages: 5 }), keep: Keep.lastMessages(20) }
    expect(planned(stateOf(chat(10)), options)).toBe("nothing-to-take")
  })

  it("while a compaction runs, also on demand, until its lease is over", () => {
    const running = after(...appended(chat(10)), started(6, { leaseUntil: now + 1 }))
    expect(decision(running)).toEqual({ _tag: "Idle", reason: "running" })
    expect(decision(running, {}, true)).toEqual({ _tag: "Idle", reason: "running" })
    const over = after(...appended(chat(10)), started(6, { leaseUntil: now }))
    expect(planned(over)).toMatchObject({ from: 0, to: 6 })
  })

  it("for a while after a failure: until a time, or until a number of messages has come", () => {
    const state = (options: Parameters<typeof failed>[0]) =>
      after(...appended(chat(10)), started(6), failed(options))
    expect(planned(state({ retryTime: now + 1, retryMessages: 11 }))).toBe("backing-off")
    expect(planned(state({ retryTime: now, retryMessages: 11 }))).toMatchObject({ to: 6 })
    expect(planned(state({ retryTime: now + 1, retryMessages: 10 }))).toMatchObject({ to: 6 })
    // No pause is longer than an hour: the clock of the process that failed is ahead.
    expect(planned(state({ retryTime: now + 3_600_000, retryMessages: 11 }))).toBe("backing-off")
    expect(planned(state({ retryTime: now + 3_600_001, retryMessages: 11 }))).toMatchObject({ to: 6 })
  })
})

describe("on demand", () => {
  it("neither trigger nor back-off is asked", () => {
    const waiting = after(
      ...appended(chat(10)),
      started(6),
      failed({ retryTime: now + 1, retryMessages: 99 }),
    )
    expect(decision(waiting, { when: Trigger.never }, true)).toMatchObject({
      _tag: "Due",
      plan: { reason: "demand", from: 0, to: 6 },
    })
  })

  it("the tail stays all the same, also where it is everything (L2)", () => {
    expect(decision(stateOf(chat(4)), {}, true)).toEqual({ _tag: "Idle", reason: "nothing-to-take" })
    const turns = { keep: Keep.lastTurns(4), batchSize: BatchSize.turns(3), summaryMode: SummaryMode.blocks }
    expect(decision(stateOf(chat(6)), turns, true)).toEqual({ _tag: "Idle", reason: "nothing-to-take" })
    expect(decision(stateOf(chat(12)), turns, true)).toEqual({ _tag: "Idle", reason: "nothing-to-take" })
    expect(decision(stateOf(chat(14)), turns, true)).toMatchObject({ plan: { to: 6, tailFrom: 6 } })
  })
})

describe("no boundary splits a group (L5)", () => {
  const messages = [user("q"), calls("1", "2"), answer("1"), answer("2"), assistant("a"), user("q")]

  it("the tail begins before the group", () => {
    for (const count of [3, 4, 5]) {
      expect(planned(stateOf(messages), { keep: Keep.lastMessages(count) })).toMatchObject({
        to: 1,
        tailFrom: 1,
      })
    }
    expect(planned(stateOf(messages), { keep: Keep.lastMessages(2) })).toMatchObject({ to: 4, tailFrom: 4 })
  })

  it("what is taken ends before the group", () => {
    const options = { keep: Keep.lastMessages(1) }
    expect(planned(stateOf(messages), { ...options, batchSize: BatchSize.messages(2) })).toMatchObject({
      to: 1,
    })
    expect(planned(stateOf(messages), { ...options, batchSize: BatchSize.messages(3) })).toMatchObject({
      to: 1,
    })
    expect(planned(stateOf(messages), { ...options, batchSize: BatchSize.messages(4) })).toMatchObject({
      to: 4,
    })
  })

  it("an open group at the end is never taken, a dead one is", () => {
    const keep = Keep.lastMessages(0)
    const open = [user("q"), calls("1", "2"), answer("1")]
    expect(planned(stateOf(open), { keep })).toMatchObject({ to: 1, tailFrom: 1 })
    expect(planned(stateOf(open.slice(1)), { keep })).toBe("nothing-to-take")
    expect(planned(stateOf([...open, user("stop")]), { keep })).toMatchObject({ to: 4 })
    expect(planned(stateOf([...open, user("stop")]), { keep: Keep.lastMessages(1) })).toMatchObject({ to: 3 })
  })
})

describe("pinned messages", () => {
  it("alone need no summary", () => {
    const messages = [system("1"), system("2"), ...chat(4)]
    expect(planned(stateOf(messages))).toBe("nothing-to-take")
    expect(planned(stateOf([...messages, user("q")]))).toMatchObject({ from: 0, to: 3 })
  })

  it("alone join what follows, where a take would reach no further", () => {
    const messages = [system("1"), system("2"), ...chat(8)]
    expect(planned(stateOf(messages), { batchSize: BatchSize.messages(1) })).toMatchObject({ from: 0, to: 3 })
    expect(planned(stateOf(messages), { batchSize: BatchSize.messages(2) })).toMatchObject({ from: 0, to: 3 })
    expect(planned(stateOf(messages), { batchSize: BatchSize.messages(4) })).toMatchObject({ from: 0, to: 4 })
    const calling = [system("1"), calls("1"), answer("1"), ...chat(6)]
    expect(planned(stateOf(calling), { batchSize: BatchSize.messages(1) })).toMatchObject({ from: 0, to: 3 })
  })

  it("take their group along: a call that is shown verbatim needs no summary either", () => {
    const group = [calls("1"), result({ id: "1", output: "x" }, { pinned: true })]
    expect(planned(stateOf([...group, ...chat(4)]))).toBe("nothing-to-take")
    expect(planned(stateOf([...group, ...chat(5)]))).toMatchObject({ from: 0, to: 3 })
  })

  it("alone join what follows: the turn prefix", () => {
    const messages = [system("1"), user("q"), ...Array.from({ length: 9 }, () => assistant("a"))]
    const split = Split.tailAbove(50, { prefix: 40 })
    expect(planned(stateOf(messages), { keep: Keep.currentTurn, split })).toEqual({
      reason: "always",
      from: 0,
      to: 5,
      tailFrom: 1,
      parts: [{ kind: "turn-prefix", from: 0, to: 5 }],
      prune: [],
    })
  })

  it("alone are no turn prefix", () => {
    const turn = [user("q", { pinned: true }), assistant("a"), assistant("b"), user("and")]
    const options = { keep: Keep.currentTurn, split: Split.tailAbove(20, { prefix: 10 }) }
    expect(planned(stateOf(turn.slice(0, 3)), options)).toBe("nothing-to-take")
    const messages = [...chat(2), user("q", { pinned: true }), assistant("a"), assistant("b")]
    expect(planned(stateOf(messages), options)).toEqual({
      reason: "always",
      from: 0,
      to: 2,
      tailFrom: 2,
      parts: [{ kind: "history", from: 0, to: 2 }],
      prune: [],
    })
  })
})

describe("a split", () => {
  const turn = (length: number) => [user("q"), ...Array.from({ length: length - 1 }, () => assistant("a"))]
  const split = Split.tailAbove(50, { prefix: 30 })
  const keep = Keep.currentTurn

  it("of a tail that is too large makes its beginning a turn prefix", () => {
    expect(planned(stateOf([...chat(4), ...turn(6)]), { keep, split })).toEqual({
      reason: "always",
      from: 0,
      to: 7,
      tailFrom: 4,
      parts: [
        { kind: "history", from: 0, to: 4 },
        { kind: "turn-prefix", from: 4, to: 7 },
      ],
      prune: [],
    })
  })

  it("leaves a tail alone that is not above the limit", () => {
    expect(planned(stateOf([...chat(4), ...turn(5)]), { keep, split })).toMatchObject({
      to: 4,
      parts: [{ kind: "history", from: 0, to: 4 }],
    })
  })

  it("looks at all that stays beside it, so that a system prompt counts (reference design 3)", () => {
    const messages = [system("s"), ...turn(5)]
    expect(planned(stateOf(messages), { keep, split })).toMatchObject({ from: 0, to: 4, tailFrom: 1 })
    // Also when it is in the summary already.
    expect(planned(stateOf(messages, 1), { keep, split })).toMatchObject({ from: 1, to: 4 })
  })

  it("is all there is to do where the turn is the whole conversation", () => {
    expect(planned(stateOf(turn(6)), { keep, split })).toMatchObject({
      from: 0,
      to: 3,
      parts: [{ kind: "turn-prefix", from: 0, to: 3 }],
    })
    expect(planned(stateOf(turn(5)), { keep, split })).toBe("nothing-to-take")
  })

  it("goes on in the same turn, and stands beside blocks, too", () => {
    expect(planned(stateOf(turn(9), 3), { keep, split })).toMatchObject({
      from: 3,
      to: 6,
      tailFrom: 3,
      parts: [{ kind: "turn-prefix", from: 3, to: 6 }],
    })
    expect(
      planned(stateOf([...chat(4), ...turn(6)]), { keep, split, summaryMode: SummaryMode.blocks }),
    ).toMatchObject({
      parts: [{ kind: "block" }, { kind: "turn-prefix" }],
    })
  })

  it("takes the turn's beginning into the history once the turn is over", () => {
    expect(planned(stateOf([...turn(9), ...turn(2)], 3), { keep, split })).toMatchObject({
      parts: [{ kind: "history", from: 3, to: 9 }],
    })
  })

  it("cuts no group", () => {
    const messages = [user("q"), assistant("a"), calls("1", "2"), answer("1"), answer("2"), assistant("a")]
    expect(planned(stateOf(messages), { keep, split })).toMatchObject({ to: 2 })
    expect(planned(stateOf(messages), { keep, split: Split.tailAbove(50, { prefix: 50 }) })).toMatchObject({
      to: 5,
    })
  })

  it("leaves the newest group raw, however large the prefix may be", () => {
    const large = Split.tailAbove(50, { prefix: 1_000 })
    expect(planned(stateOf(turn(6)), { keep, split: large })).toMatchObject({ to: 5 })
    const asking = [...turn(4), calls("1"), answer("1")]
    expect(planned(stateOf(asking), { keep, split: large })).toMatchObject({ to: 4 })
    const open = [...turn(5), calls("1")]
    expect(planned(stateOf(open), { keep, split: large })).toMatchObject({ to: 5 })
  })

  it("takes a first group that is larger than the prefix may be", () => {
    const small = Split.tailAbove(50, { prefix: 5 })
    expect(planned(stateOf(turn(6)), { keep, split: small })).toMatchObject({ to: 1 })
    const huge = [user("q"), calls("1", "2", "3"), ...["1", "2", "3"].map(answer), assistant("a")]
    const options = { keep: Keep.lastMessages(5), split: Split.tailAbove(40, { prefix: 30 }) }
    expect(planned(stateOf(huge), options)).toMatchObject({
      tailFrom: 1,
      to: 5,
      parts: [
        { kind: "history", from: 0, to: 1 },
        { kind: "turn-prefix", from: 1, to: 5 },
      ],
    })
  })

  it("does not happen where the tail is one group", () => {
    const group = [user("q"), calls("1", "2", "3", "4", "5"), ...["1", "2", "3", "4", "5"].map(answer)]
    expect(planned(stateOf(group), { keep: Keep.lastMessages(3), split })).toMatchObject({
      to: 1,
      parts: [{ kind: "history" }],
    })
  })
})

it("takes a group that is larger than what was asked for", () => {
  const group = [calls("a", "b", "c"), answer("a"), answer("b"), answer("c")]
  const state = stateOf([...group, ...chat(20)])
  expect(planned(state, { batchSize: BatchSize.messages(2) })).toMatchObject({ from: 0, to: 4 })
})

describe("pruning", () => {
  /** A question, a call and its output, and an answer. */
  const asked = (output: string, options: Message.Options = {}) => [
    user("q"),
    calls("1"),
    result({ id: "1", output }, options),
    assistant("a"),
  ]
  const long = "x".repeat(300)
  const trim = Prune.softTrim({ keep: Keep.lastMessages(2), above: 100, head: 10, tail: 20 })
  const clear = Prune.hardClear({ keep: Keep.lastMessages(2) })
  /** What is cut down where nothing is folded. */
  const cuts = (messages: ReadonlyArray<Message.Message>, ...prune: ReadonlyArray<Prune.Prune>) => {
    const plan = planned(stateOf(messages), { summaryMode: SummaryMode.none, prune })
    return typeof plan === "string" ? plan : plan.prune
  }

  it("leaves the two ends of a long output, and says how much is missing", () => {
    expect(cuts([...asked(long), ...chat(2)], trim)).toEqual([
      {
        index: 2,
        part: 0,
        method: "soft-trim",
        originalLength: 300,
        head: 10,
        tail: 20,
        note: "\n[… 270 characters of tool output cut …]\n",
      },
    ])
  })

  it("leaves a note alone, where the rule says so", () => {
    expect(cuts([...asked(long), ...chat(2)], clear)).toEqual([
      {
        index: 2,
        part: 0,
        method: "hard-clear",
        originalLength: 300,
        head: 0,
        tail: 0,
        note: "[Old tool output cleared: 300 characters]",
      },
    ])
  })

  it("is only of outputs longer than the rule says", () => {
    const above = Prune.hardClear({ keep: Keep.lastMessages(2), above: 300 })
    expect(cuts([...asked(long), ...chat(2)], above)).toBe("nothing-to-take")
    expect(cuts([...asked(`${long}x`), ...chat(2)], above)).toHaveLength(1)
  })

  it("is only of what is older than the rule keeps, and never within a group", () => {
    const messages = asked(long)
    expect(cuts(messages, Prune.hardClear({ keep: Keep.lastMessages(1) }))).toHaveLength(1)
    for (const count of [2, 3, 4]) {
      expect(cuts(messages, Prune.hardClear({ keep: Keep.lastMessages(count) }))).toBe("nothing-to-take")
    }
    const open = [user("q"), calls("1", "2"), result({ id: "1", output: long }), assistant("wait")]
    expect(cuts(open, Prune.hardClear({ keep: Keep.lastMessages(0) }))).toBe("nothing-to-take")
  })

  it("is of each output by the last rule that fits it", () => {
    const messages = [...asked(long), ...asked(long), ...asked(long)]
    const methods = (...prune: ReadonlyArray<Prune.Prune>) => {
      const found = cuts(messages, ...prune)
      return typeof found === "string" ? found : found.map(({ index, method }) => [index, method])
    }
    const older = Prune.hardClear({ keep: Keep.lastMessages(8) })
    expect(methods(trim, older)).toEqual([
      [2, "hard-clear"],
      [6, "soft-trim"],
    ])
    expect(methods(older, trim)).toEqual([
      [2, "soft-trim"],
      [6, "soft-trim"],
    ])
    // Of the rules that apply to an output, the last one decides, even if it leaves this output as it is.
    expect(methods(trim, Prune.hardClear({ keep: Keep.lastMessages(8), above: 9_000 }))).toEqual([
      [6, "soft-trim"],
    ])
  })

  it("clears no output before a model has answered it", () => {
    const [question, asking, output, answer] = asked(long)
    const keep = Keep.lastMessages(0)
    expect(cuts([question!, asking!, output!], Prune.hardClear({ keep }))).toBe("nothing-to-take")
    expect(cuts([...asked(long), question!, asking!, output!], Prune.hardClear({ keep }))).toMatchObject([
      { index: 2 },
    ])
    // Not the user's next message, either: only an answer shows that a model has seen it.
    expect(cuts([question!, asking!, output!, user("go on")], Prune.hardClear({ keep }))).toBe(
      "nothing-to-take",
    )
    expect(
      cuts([question!, asking!, output!, user("go on"), answer!], Prune.hardClear({ keep })),
    ).toHaveLength(1)
    // Meanwhile, another rule may shorten it.
    const shorten = Prune.softTrim({ keep, above: 100, head: 10, tail: 20 })
    expect(cuts([question!, asking!, output!], shorten, Prune.hardClear({ keep }))).toMatchObject([
      { index: 2, method: "soft-trim" },
    ])
  })

  it("is of results alone, each by its place in its message", () => {
    const messages = [
      user(long),
      calls("1", "2"),
      {
        role: "tool" as const,
        parts: [
          { type: "text" as const, text: long },
          { type: "tool-result" as const, id: "1", output: "short" },
          { type: "tool-result" as const, id: "2", output: long },
        ],
      },
      assistant(long),
    ]
    expect(cuts(messages, Prune.hardClear({ keep: Keep.lastMessages(0) }))).toMatchObject([
      { index: 2, part: 2 },
    ])
  })

  it("leaves pinned messages alone, and what is shown along with them", () => {
    const keep = Keep.lastMessages(0)
    expect(cuts(asked(long, { pinned: true }), Prune.hardClear({ keep }))).toBe("nothing-to-take")
    const [question, asking, ...others] = asked(long)
    const messages = [question!, { ...asking!, pinned: true }, ...others]
    expect(cuts(messages, Prune.hardClear({ keep }))).toBe("nothing-to-take")
  })

  it("cuts nothing where that would not make it shorter", () => {
    const keep = Keep.lastMessages(0)
    const cleared = (length: number) => cuts(asked("x".repeat(length)), Prune.hardClear({ keep, above: 0 }))
    // The note itself takes forty.
    expect(cleared(40)).toBe("nothing-to-take")
    expect(cleared(60)).toHaveLength(1)
    const whole = Prune.softTrim({ keep, above: 0, head: 200, tail: 200 })
    expect(cuts(asked(long), whole)).toBe("nothing-to-take")
  })

  it("never cuts between the two halves of a surrogate pair", () => {
    const faces = "😀".repeat(100)
    const rule = (head: number, tail: number) =>
      Prune.softTrim({ keep: Keep.lastMessages(0), above: 100, head, tail })
    expect(cuts(asked(faces), rule(11, 21))).toMatchObject([{ head: 10, tail: 20 }])
    expect(cuts(asked(faces), rule(12, 20))).toMatchObject([{ head: 12, tail: 20 }])
    expect(cuts(asked(`${faces}x`), rule(11, 21))).toMatchObject([{ head: 10, tail: 21 }])
  })

  it("of an output that ends with half a surrogate pair leaves no end where none was asked for", () => {
    const half = `${long}\ud83d`
    const keep = Keep.lastMessages(0)
    expect(cuts(asked(half), Prune.hardClear({ keep }))).toMatchObject([{ head: 0, tail: 0 }])
    expect(cuts(asked(half), Prune.softTrim({ keep, above: 100, head: 5, tail: 0 }))).toMatchObject([
      { head: 5, tail: 0 },
    ])
  })

  it("goes along with a compaction, of what stays raw alone", () => {
    const messages = [...asked(long), ...asked(long), ...chat(2)]
    const options = { prune: [clear], batchSize: BatchSize.messages(4) }
    expect(planned(stateOf(messages), { ...options, keep: Keep.lastMessages(2) })).toMatchObject({
      from: 0,
      to: 4,
      parts: [{ kind: "history", from: 0, to: 4 }],
      prune: [{ index: 6 }],
    })
    expect(planned(stateOf(messages), { prune: [clear], keep: Keep.lastMessages(2) })).toMatchObject({
      to: 8,
      prune: [],
    })
    expect(planned(stateOf(messages, 4), { ...options, keep: Keep.lastMessages(6) })).toMatchObject({
      from: 4,
      to: 4,
      parts: [],
      prune: [{ index: 6 }],
    })
  })

  it("waits for the trigger, and needs none on demand", () => {
    const state = stateOf([...asked(long), ...chat(2)])
    const options = { when: Trigger.never, summaryMode: SummaryMode.none, prune: [clear] }
    expect(planned(state, options)).toBe("not-due")
    expect(decision(state, options, true)).toMatchObject({ plan: { reason: "demand", parts: [] } })
  })
})

describe("a strategy that folds nothing", () => {
  it("has nothing to do where there is nothing to prune", () => {
    expect(planned(stateOf(chat(10)), { summaryMode: SummaryMode.none })).toBe("nothing-to-take")
    expect(planned(stateOf(chat(10)), { summaryMode: SummaryMode.none, prune: [] })).toBe("nothing-to-take")
    expect(decision(stateOf(chat(10)), { summaryMode: SummaryMode.none }, true)).toEqual({
      _tag: "Idle",
      reason: "nothing-to-take",
    })
  })

  it("leaves every message raw, whatever else it says", () => {
    const options = {
      summaryMode: SummaryMode.none,
      keep: Keep.currentTurn,
      split: Split.tailAbove(20, { prefix: 10 }),
    }
    expect(planned(stateOf([user("q"), ...Array.from({ length: 9 }, () => assistant("a"))]), options)).toBe(
      "nothing-to-take",
    )
  })

  it("comes to an end, with every output shorter each time and none cut twice by one rule (L9)", () => {
    fc.assert(
      fc.property(conversation, fc.array(anyPrune, { minLength: 1, maxLength: 3 }), (messages, rules) => {
        const prune = rules.map(([, rule]) => rule)
        const events: Array<Event.Event> = [...appended(messages)]
        let steps = 0
        for (; ; steps++) {
          const state = after(...events)
          const plan = planned(state, { summaryMode: SummaryMode.none, prune })
          if (typeof plan === "string") break
          const { from, parts } = plan
          expect({ from, to: plan.to, parts }).toEqual({ from: 0, to: 0, parts: [] })
          events.push(started(0, { parts }), pruned(plan.prune.map((one) => ({ ...one, tokens: 1 }))))
          const output = ({ uncovered }: Session.SessionState, { index, part }: Prune.PlannedPrune) => {
            const found = uncovered.at(index)?.message.parts[part]
            return found?.type === "tool-result" ? found.output.length : Number.NaN
          }
          const next = after(...events)
          for (const one of plan.prune) expect(output(next, one)).toBeLessThan(output(state, one))
        }
        expect(steps).toBeLessThanOrEqual(rules.length)
      }),
      { numRuns: 200 },
    )
  })

  it("is done with an output at once, however little the rule wants to leave of it", () => {
    for (const above of [0, 100, 410, 440]) {
      const trim = Prune.softTrim({ keep: Keep.lastMessages(0), above, head: 200, tail: 200 })
      const prune = [trim]
      const messages = [calls("1"), result({ id: "1", output: "x".repeat(1_000) })]
      const plan = planned(stateOf(messages), { summaryMode: SummaryMode.none, prune })
      if (typeof plan === "string") throw new Error(plan)
      const outputs = plan.prune.map((one) => ({ ...one, tokens: 1 }))
      const state = after(...appended(messages), started(0, { parts: [] }), pruned(outputs))
      expect(planned(state, { summaryMode: SummaryMode.none, prune })).toBe("nothing-to-take")
    }
  })
})

describe("blocks that have outgrown their room", () => {
  const blocks = { summaryMode: SummaryMode.blocks, mergeBlocks: { above: 100, maxTokens: 25 } }
  /** Ten messages; a summary of `tokens` tokens with two blocks covers four of them. */
  const covered = (tokens: number, segments = 2) => {
    const state = stateOf(chat(10), 4)
    const block = { kind: "block" as const, text: "b" }
    return {
      ...state,
      summary: {
        ...state.summary!,
        tokens,
        segments: Array.from({ length: segments }, (_, at) => ({
          ...block,
          from: (4 / segments) * at,
          to: (4 / segments) * (at + 1),
        })),
      },
    }
  }
  const kinds = (state: Session.SessionState, options = blocks) => {
    const plan = planned(state, options)
    return typeof plan === "string" ? plan : plan.parts
  }

  it("are merged with the new messages into one history", () => {
    expect(kinds(covered(101))).toEqual([{ kind: "history", from: 4, to: 6 }])
  })

  it("are kept while there is room, if there is only one, and without the rule", () => {
    const block = [{ kind: "block", from: 4, to: 6 }]
    expect(kinds(covered(100))).toEqual(block)
    expect(kinds(covered(101, 1))).toEqual(block)
    const { mergeBlocks: _without, ...kept } = blocks
    expect(kinds(covered(101), kept as typeof blocks)).toEqual(block)
  })
})
