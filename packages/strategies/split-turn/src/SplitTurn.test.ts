import { Message, ToolNotes } from "@memfold/core"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { decisions, oneByOne, ofTokens, summaryTokens, runOf } from "@memfold/testing"
import { SplitTurn } from "./index.js"

/** A window of 1,000 tokens: compact above 700, keep the newest 100, split above 600. */
const window = SplitTurn({ contextLimit: 1_000 })

const user = (tokens: number) => ofTokens("user", tokens)
const assistant = (tokens: number) => ofTokens("assistant", tokens)

/** An exchange of two messages that take 100 tokens together. */
const exchange = () => [user(40), assistant(60)]
const exchanges = (count: number) => Array.from({ length: count }, exchange).flat()
const answers = (count: number, tokens: number) => Array.from({ length: count }, () => assistant(tokens))

interface Compaction {
  readonly total: number
  readonly parts: ReadonlyArray<{ readonly kind: string; readonly from: number; readonly to: number }>
}

const plans = (
  batches: ReadonlyArray<ReadonlyArray<Message.Message>>,
  strategy = window,
): ReadonlyArray<Compaction> => decisions(strategy, batches).map(({ total, parts }) => ({ total, parts }))

/**
 * The reference's rules for messages without tools, in a window of 1,000: above 70 % compact all but the current
 * turn and the newest 10 %; what stays is new content, and above 50 % × 1.2 of the window it is split.
 */
const reference = (messages: ReadonlyArray<Message.Message>, sizes: ReadonlyArray<number>) => {
  const found: Array<Compaction> = []
  const sum = (from: number, to: number) => sizes.slice(from, to).reduce((one, other) => one + other, 0)
  let coveredTo = 0
  let turn = 0
  messages.forEach((message, index) => {
    const before = messages[index - 1]
    if (message.role === "user" && before?.role !== "user") turn = index
    const total = index + 1
    // One compaction can leave another one due.
    for (;;) {
      const context = (coveredTo === 0 ? 0 : summaryTokens) + sum(coveredTo, total)
      if (context <= 700) return
      let recent = total
      while (recent > coveredTo && sum(recent - 1, total) <= 100) recent--
      const kept = Math.max(Math.min(turn, recent), coveredTo)
      let cut = kept
      if (sum(kept, total) > 600) while (cut < total - 1 && (cut === kept || sum(kept, cut + 1) <= 600)) cut++
      if (cut === coveredTo) return
      // It waits where all that it can take would save nearly nothing.
      const taken = sum(coveredTo, sum(kept, total) > 600 ? total - 1 : kept)
      if (context - taken > 700 && taken < 700 / 16) return
      found.push({
        total,
        parts: [
          ...(kept > coveredTo ? [{ kind: "history", from: coveredTo, to: kept }] : []),
          ...(cut > kept ? [{ kind: "turn-prefix", from: kept, to: cut }] : []),
        ],
      })
      coveredTo = cut
    }
  })
  return found
}

describe("the threshold", () => {
  it("is 70 % of the window: not at it, but above it", () => {
    expect(plans([exchanges(7)])).toEqual([])
    expect(plans([[...exchanges(6), user(40), assistant(61)]])).toEqual([
      { total: 14, parts: [{ kind: "history", from: 0, to: 12 }] },
    ])
  })

  it("counts the summary in", () => {
    const found = plans(oneByOne([...exchanges(8), ...exchanges(6)]))
    // 800 tokens; then 100 in the tail, and the summary's 5.
    expect(found.map(({ total }) => total)).toEqual([15, 27])
  })

  it("believes the size that the provider reported", () => {
    const reporting = Message.assistant("a", { usage: { input: 690, output: 11 } })
    expect(plans(oneByOne([...exchanges(2), user(40), reporting]))).toEqual([
      { total: 6, parts: [{ kind: "history", from: 0, to: 4 }] },
    ])
  })

  it("is a setting", () => {
    const lower = SplitTurn({ contextLimit: 1_000, compactionThreshold: 0.5 })
    expect(plans([exchanges(5)], lower)).toEqual([])
    expect(plans([exchanges(6)], lower)).toHaveLength(1)
  })
})

describe("what stays", () => {
  it("is the current turn, from the user's message on", () => {
    const found = plans([[...exchanges(5), user(50), ...answers(3, 60)]])
    expect(found).toEqual([{ total: 14, parts: [{ kind: "history", from: 0, to: 10 }] }])
  })

  it("is the newest tenth of the window, where the current turn is smaller", () => {
    const found = plans([[...exchanges(6), user(10), assistant(10), user(10), assistant(80)]])
    expect(found).toEqual([{ total: 16, parts: [{ kind: "history", from: 0, to: 13 }] }])
  })
})

describe("a split turn", () => {
  it("happens when a single user message is followed by a huge turn", () => {
    expect(plans(oneByOne([user(50), ...answers(6, 100)]))).toEqual([])
    expect(plans(oneByOne([user(50), ...answers(7, 100)]))).toEqual([
      { total: 8, parts: [{ kind: "turn-prefix", from: 0, to: 6 }] },
    ])
  })

  it("happens only above 60 % of the window: the budget and its margin", () => {
    const turn = (tokens: number) => [user(50), ...answers(10, (tokens - 50) / 10)]
    expect(plans([[...exchanges(2), ...turn(600)]])).toEqual([
      { total: 15, parts: [{ kind: "history", from: 0, to: 4 }] },
    ])
    expect(plans([[...exchanges(2), ...turn(610)]])).toEqual([
      {
        total: 15,
        parts: [
          { kind: "history", from: 0, to: 4 },
          { kind: "turn-prefix", from: 4, to: 14 },
        ],
      },
    ])
  })

  it("happens when a single message is huge, as soon as there is another after it", () => {
    expect(plans(oneByOne([user(650), assistant(50)]))).toEqual([])
    expect(plans(oneByOne([user(650), assistant(60), user(40)]))).toEqual([
      { total: 2, parts: [{ kind: "turn-prefix", from: 0, to: 1 }] },
    ])
    expect(plans(oneByOne([...exchanges(1), user(900), assistant(60)]))).toEqual([
      { total: 3, parts: [{ kind: "history", from: 0, to: 2 }] },
      { total: 4, parts: [{ kind: "turn-prefix", from: 2, to: 3 }] },
    ])
  })

  it("always leaves the newest group raw", () => {
    expect(plans([[user(50), assistant(400), assistant(400)]])).toEqual([
      { total: 3, parts: [{ kind: "turn-prefix", from: 0, to: 2 }] },
    ])
    expect(plans([[user(800)]])).toEqual([])
    const calls = Message.call([{ id: "1", name: "t", arguments: "word".repeat(300) }])
    const result = Message.result({ id: "1", output: "word".repeat(300) })
    expect(plans([[user(50), assistant(100), calls, result]])).toEqual([
      { total: 4, parts: [{ kind: "turn-prefix", from: 0, to: 2 }] },
    ])
  })

  it("never cuts a call from its result", () => {
    const work = (id: string) => [
      Message.call([{ id, name: "t", arguments: "word".repeat(92) }]),
      Message.result({ id, output: "word".repeat(92) }),
    ]
    const messages = [user(50), ...work("1"), ...work("2"), ...work("3"), ...work("4")]
    const [first, ...others] = plans(oneByOne(messages))
    expect(others).toEqual([])
    expect(first?.parts).toEqual([{ kind: "turn-prefix", from: 0, to: 5 }])
  })

  it("goes on with its prefix while the turn goes on", () => {
    const found = decisions(window, oneByOne([user(50), ...answers(16, 100)]))
    expect(found.map(({ total, parts, summary }) => ({ total, parts, summary }))).toEqual([
      {
        total: 8,
        parts: [{ kind: "turn-prefix", from: 0, to: 6 }],
        summary: [{ kind: "turn-prefix", from: 0, to: 6, text: "[0,6)" }],
      },
      {
        total: 13,
        parts: [{ kind: "turn-prefix", from: 6, to: 12 }],
        summary: [{ kind: "turn-prefix", from: 0, to: 12, text: "[0,12)" }],
      },
    ])
  })

  it("merges its prefix into the history once the turn is over", () => {
    const found = decisions(
      window,
      oneByOne([...exchanges(2), user(50), ...answers(7, 100), ...exchanges(7)]),
    )
    expect(found.map(({ parts, summary }) => ({ parts, summary }))).toEqual([
      {
        parts: [{ kind: "history", from: 0, to: 4 }],
        summary: [{ kind: "history", from: 0, to: 4, text: "[0,4)" }],
      },
      {
        parts: [{ kind: "turn-prefix", from: 4, to: 10 }],
        summary: [
          { kind: "history", from: 0, to: 4, text: "[0,4)" },
          { kind: "turn-prefix", from: 4, to: 10, text: "[4,10)" },
        ],
      },
      {
        parts: [{ kind: "history", from: 10, to: 20 }],
        summary: [{ kind: "history", from: 0, to: 20, text: "[0,20)" }],
      },
    ])
  })

  it("is worded as the reference words it", async () => {
    const turn = [user(50), ...answers(7, 100)]
    const { moments, state } = await runOf(window, oneByOne([...exchanges(2), ...turn]))
    expect(state.summary?.segments.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["history", 0, 4],
      ["turn-prefix", 4, 10],
    ])
    expect(moments.at(-1)?.context.messages[0]).toEqual(
      Message.system("[Conversation Summary]\n[0,4)\n\n---\n\n**Turn Context (split turn):**\n\n[4,10)"),
    )
  })
})

describe("the reference's rules", () => {
  const turns = fc.array(
    fc.record({
      users: fc.array(fc.integer({ min: 5, max: 800 }), { minLength: 1, maxLength: 2 }),
      answers: fc.array(fc.integer({ min: 5, max: 300 }), { minLength: 1, maxLength: 8 }),
    }),
    { maxLength: 8, size: "max" },
  )

  it("hold for turns of any size", () => {
    fc.assert(
      fc.property(turns, (turns) => {
        const sizes = turns.flatMap(({ users, answers }) => [...users, ...answers])
        const messages = turns.flatMap(({ users, answers }) => [
          ...users.map(user),
          ...answers.map(assistant),
        ])
        expect(plans(oneByOne(messages))).toEqual(reference(messages, sizes))
      }),
      { numRuns: often(100, 500) },
    )
  })
})

describe("the settings", () => {
  it("are shares of the window", () => {
    expect(SplitTurn.defaults).toEqual({
      contextLimit: 200_000,
      compactionThreshold: 0.7,
      keepRecentShare: 0.1,
      splitBudget: 0.5,
      splitMargin: 1.2,
      adaptiveSplit: false,
      pruneToolOutputs: "off",
      toolFailures: 8,
      trackFiles: true,
    })
    const { keep, split } = SplitTurn()
    expect(keep.describe).toBe("the current round and the last 20000 tokens")
    expect(split?.above).toBe(120_000)
    expect(split?.prefix({ messages: 3, tokens: 150_000 })).toBe(120_000)
  })

  it("can let the prefix follow the size of the messages: from 0.4 of the window down to 0.15", () => {
    const { split } = SplitTurn({ contextLimit: 100_000, adaptiveSplit: true })
    const prefix = (messages: number, tokens: number) => split?.prefix({ messages, tokens })
    expect(prefix(700, 70_000)).toBe(40_000)
    expect(prefix(9, 70_000)).toBe(40_000)
    expect(prefix(7, 70_000)).toBe(16_000)
    expect(prefix(2, 70_000)).toBe(15_000)
    const sizes = [2, 5, 6, 7, 8, 9, 70, 7_000].map((messages) => prefix(messages, 70_000) ?? 0)
    expect(sizes).toEqual(sizes.toSorted((one, other) => one - other))
  })

  it("can prune tool outputs, softly or for good", () => {
    const methods = (pruneToolOutputs: "off" | "soft-trim" | "hard-clear") =>
      SplitTurn({ pruneToolOutputs }).prune?.map(({ method, keep }) => [method, keep.describe])
    expect(methods("off")).toEqual([])
    expect(methods("soft-trim")).toEqual([["soft-trim", "the last 2 messages"]])
    expect(methods("hard-clear")).toEqual([
      ["soft-trim", "the last 2 messages"],
      ["hard-clear", "the last 20000 tokens"],
    ])
  })

  it("can leave out what is noted down from tool calls", () => {
    expect(SplitTurn().toolNotes).toMatchObject({ failures: { maxFailures: 8, maxCharacters: 240 } })
    expect(SplitTurn({ toolFailures: 0, trackFiles: false }).toolNotes).toEqual({})
    const own = { readers: ["fetch_source"], pathArguments: ["source"] }
    expect(SplitTurn({ trackFiles: own }).toolNotes?.files).toEqual(ToolNotes.withFileTools(own))
    expect(SplitTurn().toolNotes?.files).toEqual(ToolNotes.commonFileTools)
    expect(() => SplitTurn({ trackFiles: { reader: ["x"] } as object })).toThrow(/trackFiles/)
  })

  it("go by the reference's names", () => {
    const read = SplitTurn.decode({ context_limit: 1_000, threshold: 0.5 })
    expect(plans([exchanges(6)], Either.getOrThrow(read))).toHaveLength(1)
    expect(Either.isRight(SplitTurn.decode({ context_window: 1_000, compaction_threshold: 0.8 }))).toBe(true)
  })

  it("have to make sense", () => {
    for (const settings of [
      { contextLimit: 0 },
      { compactionThreshold: 0 },
      { compactionThreshold: 1.1 },
      { splitMargin: 0.9 },
      { splitBudget: 0 },
      { keepRecentShare: 0.7 },
    ]) {
      expect(Either.isLeft(SplitTurn.decode(settings))).toBe(true)
    }
    const refused = Either.getOrThrow(Either.flip(SplitTurn.decode({ keep_recent_share: 0.8 })))
    expect(refused.detail).toContain(
      "keep_recent_share (0.8) has to be smaller than compaction_threshold (0.7)",
    )
  })
})
