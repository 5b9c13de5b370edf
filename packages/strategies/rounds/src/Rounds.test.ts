import { Message, type Strategy } from "@memfold/core"
import { Effect, Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { chat } from "@memfold/testing/arbitrary"
import { decisions, oneByOne, runOf } from "@memfold/testing"
import { Rounds, type RoundsSettings } from "./index.js"

const { assistant, call, result, user } = Message

/** Compactions in rounds: after how many, and which, counted from 1 as the reference does. */
type Rhythm = ReadonlyArray<{ readonly after: number; readonly from: number; readonly to: number }>

/** The reference's words: with A + B uncompressed rounds, compact exactly the oldest B. */
const reference = (turns: number, a: number, b: number): Rhythm => {
  const found: Array<Rhythm[number]> = []
  let compressedThrough = 0
  for (let k = 1; k <= turns; k++) {
    if (k - compressedThrough < a + b) continue
    found.push({ after: k, from: compressedThrough + 1, to: compressedThrough + b })
    compressedThrough += b
  }
  return found
}

/** What our strategy does while these rounds come in, message by message. */
const ours = (turns: ReadonlyArray<ReadonlyArray<Message.Message>>, a: number, b: number): Rhythm => {
  const ends: Array<number> = []
  for (const turn of turns) ends.push((ends.at(-1) ?? 0) + turn.length)
  /** How many rounds have begun and are answered within the first `messages` messages. */
  const answered = (messages: number) => ends.findIndex((end) => end >= messages) + 1
  const turnsIn = (messages: number) => (messages === 0 ? 0 : ends.indexOf(messages) + 1)
  return decisions(Rounds({ fullContextTurns: a, cachedContextTurns: b }), oneByOne(turns.flat())).map(
    ({ total, from, to }) => ({ after: answered(total), from: turnsIn(from) + 1, to: turnsIn(to) }),
  )
}

const plain = (turns: number) =>
  Array.from({ length: turns }, (_, turn) => [user(`question ${turn}`), assistant(`answer ${turn}`)])

/** Rounds of one to three user messages, some calls of tools, and an answer. */
const anyTurn = fc
  .record({
    users: fc.integer({ min: 1, max: 3 }),
    tools: fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 3 }),
    answers: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ users, tools, answers }) => [
    ...Array.from({ length: users }, () => user("question")),
    ...tools.flatMap((parallel) => {
      const ids = Array.from({ length: parallel }, (_, position) => `c${position}`)
      return [
        call(ids.map((id) => ({ id, name: "t", arguments: "{}" }))),
        ...ids.map((id) => result({ id, output: "x" })),
      ]
    }),
    ...Array.from({ length: answers }, () => assistant("answer")),
  ])

describe("the rhythm", () => {
  it("is the one of the reference's table: A = 4, B = 3", async () => {
    const { moments } = await runOf(Rounds(), plain(10))
    const rows = moments
      .filter(({ settled }) => settled)
      .map(({ outcomes, state, context }, position) => {
        const compacted = outcomes.flatMap((outcome) =>
          outcome._tag === "Committed" ? outcome.started.parts : [],
        )
        return {
          k: position + 1,
          action: compacted.map(({ kind, from, to }) => `${kind} ${from / 2 + 1}..${to / 2}`).join(),
          compressedThrough: state.coveredTo / 2,
          sent: context.layout
            .map(({ section, from, to }) => `${section} ${from / 2 + 1}..${to / 2}`)
            .join(" + "),
        }
      })
    const before = [1, 2, 3, 4, 5, 6].map((k) => ({
      k,
      action: "",
      compressedThrough: 0,
      sent: `uncovered 1..${k}`,
    }))
    expect(rows).toEqual([
      ...before,
      { k: 7, action: "block 1..3", compressedThrough: 3, sent: "summary 1..3 + uncovered 4..7" },
      { k: 8, action: "", compressedThrough: 3, sent: "summary 1..3 + uncovered 4..8" },
      { k: 9, action: "", compressedThrough: 3, sent: "summary 1..3 + uncovered 4..9" },
      { k: 10, action: "block 4..6", compressedThrough: 6, sent: "summary 1..6 + uncovered 7..10" },
    ])
  })

  it("goes on like that, up to 40 rounds and for other A and B", () => {
    for (const [a, b] of [
      [4, 3],
      [1, 1],
      [1, 5],
      [6, 1],
      [2, 2],
      [10, 7],
    ] as const) {
      expect(ours(plain(40), a, b)).toEqual(reference(40, a, b))
    }
    expect(reference(40, 4, 3)).toHaveLength(12)
  })

  it("counts a round as one, however many messages it has", () => {
    fc.assert(
      fc.property(
        fc.array(anyTurn, { maxLength: 25, size: "max" }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        (turns, a, b) => {
          expect(ours(turns, a, b)).toEqual(reference(turns.length, a, b))
        },
      ),
      { numRuns: often(30, 100) },
    )
  })

  it("compacts B rounds again and again when many arrive at once, each a block of its own", () => {
    const found = decisions(Rounds(), [plain(13).flat()])
    expect(found.map(({ from, to }) => [from, to])).toEqual([
      [0, 6],
      [6, 12],
      [12, 18],
    ])
    expect(found.at(-1)?.summary).toEqual([
      { kind: "block", from: 0, to: 6, text: "[0,6)" },
      { kind: "block", from: 6, to: 12, text: "[6,12)" },
      { kind: "block", from: 12, to: 18, text: "[12,18)" },
    ])
  })
})

describe("a round", () => {
  it("is not complete before its answer: the question of the next one compacts nothing", () => {
    expect(decisions(Rounds(), oneByOne(chat(13)))).toEqual([])
    expect(decisions(Rounds(), oneByOne(chat(14)))).toMatchObject([{ total: 14, from: 0, to: 6 }])
  })

  it("is not complete while a tool is at work", () => {
    const calling = call([{ id: "1", name: "t", arguments: "{}" }])
    const working = [...chat(13), calling, result({ id: "1", output: "x" })]
    expect(decisions(Rounds(), oneByOne(working))).toEqual([])
    expect(decisions(Rounds(), oneByOne([...working, assistant("so")]))).toMatchObject([{ from: 0, to: 6 }])
  })

  it("is one, too, when the user broke it off", () => {
    const stopped = [...chat(11), call([{ id: "1", name: "t", arguments: "{}" }]), ...chat(2, 12)]
    expect(decisions(Rounds(), oneByOne(stopped))).toMatchObject([{ total: 14, from: 0, to: 6 }])
    const worked = [
      ...chat(11),
      call([{ id: "1", name: "t", arguments: "{}" }]),
      result({ id: "1", output: "x" }),
    ]
    expect(decisions(Rounds(), oneByOne([...worked, ...chat(2, 12)]))).toMatchObject([{ total: 15, to: 6 }])
  })

  it("is not lost to a welcome or a system prompt before the first", () => {
    const messages = [Message.system("be kind"), assistant("welcome"), ...chat(14)]
    expect(decisions(Rounds(), oneByOne(messages))).toMatchObject([{ total: 16, from: 0, to: 8 }])
  })
})

describe("the context", () => {
  it("has the blocks in order, the oldest first, under one heading", async () => {
    const { state, moments } = await runOf(Rounds(), plain(13))
    expect(state.summary?.segments).toMatchObject([
      { kind: "block", from: 0, to: 6, text: "[0,6)" },
      { kind: "block", from: 6, to: 12, text: "[6,12)" },
      { kind: "block", from: 12, to: 18, text: "[12,18)" },
    ])
    expect(moments.at(-1)?.context.messages[0]).toEqual(
      Message.system("[Session Memory]\n[0,6)\n\n[6,12)\n\n[12,18)"),
    )
  })

  it("has the blocks that fit the question at the compaction, as far as there is room", async () => {
    const topics = ["parser", "garden", "invoice", "train", "coffee", "parser"]
    const turns = Array.from({ length: 3 * topics.length }, (_, turn) => {
      const topic = topics[Math.floor(turn / 3)]!
      return [user(`${topic} question ${turn}`), assistant(`the ${topic} is answered in full ${turn}`)]
    })
    const summarizer = {
      name: "topics",
      summarize: ({ from }: { readonly from: number }) =>
        Effect.succeed({ text: `about the ${topics[from / 6]}` }),
    }
    const shown = async (settings: Partial<RoundsSettings>) => {
      const { moments } = await runOf(
        Rounds({ fullContextTurns: 1, cachedContextTurns: 3, ...settings }),
        turns,
        { summarizer },
      )
      return moments.map(({ context, state }) => ({
        text: Message.text(context.messages[0]!),
        covered: context.layout.find(({ section }) => section === "summary")?.to,
        tokens: context.layout.find(({ section }) => section === "summary")?.tokens ?? 0,
        summary: state.summary?.id,
        kept: state.summary?.segments.length,
      }))
    }
    const all = await shown({})
    const bounded = await shown({ sessionMemoryTokens: 20 })
    expect(all.at(-1)).toMatchObject({ kept: 5, covered: 30 })
    expect(bounded.at(-1)).toMatchObject({ kept: 5, covered: 30 })
    expect(all.at(-1)?.text).toContain("garden")
    // The last compaction came with a question about the parser.
    expect(bounded.at(-1)?.text).toBe("[Session Memory]\nabout the parser\n\nabout the coffee")
    expect(Math.max(...bounded.map(({ tokens }) => tokens))).toBeLessThan(30)
    // Between two compactions it stays the same (law L13).
    expect(
      new Set(bounded.map(({ summary, text }) => (summary === undefined ? "" : `${summary} ${text}`))).size,
    ).toBe(6)
  })

  it("never has fewer than A rounds raw", async () => {
    const { moments } = await runOf(Rounds(), plain(20))
    const settled = moments.filter(({ settled }) => settled)
    expect(settled.map(({ state }) => state.uncovered.length / 2)).toEqual(
      settled.map((_, position) => (position < 6 ? position + 1 : 4 + ((position + 1 - 7) % 3))),
    )
  })
})

describe("the settings", () => {
  it("are A and B, by any of their names", () => {
    expect(Rounds.defaults).toEqual({
      fullContextTurns: 4,
      cachedContextTurns: 3,
      sessionMemoryTokens: null,
    })
    for (const settings of [
      { fullContextTurns: 1, cachedContextTurns: 2 },
      { full_context_turns: 1, cached_context_turns: 2 },
      { A: 1, B: 2 },
      { a: 1, b: 2 },
    ]) {
      const strategy = Either.getOrThrow(Rounds.decode(settings))
      expect(decisions(strategy, oneByOne(chat(6)))).toMatchObject([{ total: 6, from: 0, to: 4 }])
    }
  })

  it("are at least 1", () => {
    for (const settings of [{ A: 0 }, { B: 0 }, { A: 1.5 }, { A: "4" }]) {
      expect(Either.isLeft(Rounds.decode(settings))).toBe(true)
    }
  })
})

describe("where the settings come from", () => {
  const settings = (sources: Strategy.Sources) => {
    const strategy = Either.getOrThrow(Rounds.resolve(sources))
    const found = decisions(strategy, oneByOne(plain(12).flat()))
    return { A: found[0]!.total / 2 - found[0]!.to / 2, B: found[0]!.to / 2 }
  }
  const file = { agent: { contextWindow: { fullContextTurns: 5, cachedContextTurns: 2 } } }
  const environment = { MEMFOLD_FULL_CONTEXT_TURNS: "6", MEMFOLD_CACHED_CONTEXT_TURNS: "1" }

  it("is the request, then agent-tools.json, then the environment, then A = 4 and B = 3", () => {
    expect(settings({})).toEqual({ A: 4, B: 3 })
    expect(settings({ environment })).toEqual({ A: 6, B: 1 })
    expect(settings({ environment, file })).toEqual({ A: 5, B: 2 })
    expect(settings({ environment, file, request: { fullContextTurns: 1 } })).toEqual({ A: 1, B: 2 })
    expect(settings({ environment: { MEMFOLD_CACHED_CONTEXT_TURNS: "2" } })).toEqual({ A: 4, B: 2 })
    const prizm = { PRIZM_FULL_CONTEXT_TURNS: "6", PRIZM_CACHED_CONTEXT_TURNS: "1" }
    expect(settings({ environment: prizm })).toEqual({ A: 4, B: 3 })
    expect(settings({ environment: prizm, environmentPrefix: "PRIZM_" })).toEqual({ A: 6, B: 1 })
    expect(settings({ file: { agent: { model: "m" }, theme: "dark" } })).toEqual({ A: 4, B: 3 })
  })
})
