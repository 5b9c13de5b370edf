import {
  Keep,
  type MemoryLayers,
  Message,
  Prune,
  type Session,
  Strategy,
  Summarizer,
  SummaryMode,
  TokenCounter,
  Trigger,
} from "@memfold/core"
import { Prices } from "@memfold/prices"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { Conversation } from "./Conversation.js"
import { ofTranscript } from "./Conversation.js"
import { fullHistory, prepare } from "./prepare.js"
import { replay } from "./replay.js"
import { answersOf, costOf, evidenceOf } from "./report.js"

const prices = [Prices.presets["claude-sonnet-5.5"], Prices.presets["gpt-6.2-sol"]]

const minute = 60_000
const start = Date.UTC(2026, 0, 1)

/** A talk: user and assistant in turn, so long after each other. */
const talk = (count: number, every = minute, say = (index: number) => `message ${index} has a few words`) =>
  Array.from({ length: count }, (_, index) =>
    (index % 2 === 0 ? Message.user : Message.assistant)(say(index), { time: start + index * every }),
  )

const tokensOf = (messages: ReadonlyArray<Message.Message>): number =>
  messages.reduce((sum, one) => sum + TokenCounter.ofMessage(TokenCounter.estimating, one), 0)

/** Summarizes all but the newest `keep` messages once there are `most`. */
const rolling = (keep: number, most: number) =>
  Strategy.make({
    name: "rolling",
    when: Trigger.backlog({ messages: most }),
    keep: Keep.lastMessages(keep),
    summaryMode: SummaryMode.rolling,
  })

const run = (messages: ReadonlyArray<Message.Message>, strategy = fullHistory) =>
  replay(ofTranscript("c", messages), strategy, { prices })

describe("a call", () => {
  it("is made for each assistant message, with all messages before it", async () => {
    const messages = talk(6)
    const { contexts } = await run(messages)
    expect(contexts).toEqual([1, 3, 5].map((count) => tokensOf(messages.slice(0, count))))
  })

  it("reads from the cache what the call before had, while the cache lives", async () => {
    const messages = talk(4)
    const [first = 0, second = 0] = (await run(messages)).contexts
    const spentAt = async (every: number) => (await run(talk(4, every))).spent[0]
    expect(await spentAt(minute)).toMatchObject({ calls: 2, cached: first, written: second })
    expect(await spentAt(3 * minute)).toMatchObject({ cached: 0, written: first + second })
  })

  it("finds calls and results of tools in the cache, but not an output that was shortened", async () => {
    const call = Message.call([{ id: "1", name: "read", arguments: '{"path":"a"}' }], { time: start })
    const other = Message.call([{ id: "1", name: "read", arguments: '{"path":"b"}' }], { time: start })
    const result = Message.result({ id: "1", output: "text ".repeat(400) }, { time: start })
    const answer = Message.assistant("so", { time: start })
    const messages = [Message.user("go", { time: start }), call, result, answer, other]
    const { spent, contexts } = await run(messages)
    expect(contexts).toHaveLength(3)
    // The last call finds all that the one before it had.
    expect(spent[0]!.cached).toBe(contexts[0]! + contexts[1]!)
    const shortening = Strategy.make({
      name: "shortening",
      when: Trigger.backlog({ messages: 3 }),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.none,
      prune: [Prune.hardClear({ keep: Keep.lastMessages(1) })],
    })
    const shortened = await run(messages, shortening)
    expect(shortened.compactions).toBe(1)
    expect(shortened.spent[0]!.cached).toBe(contexts[0]! + tokensOf(messages.slice(0, 2)))
  })

  it("does not take the prompt of the program that recorded it for one of its own", async () => {
    const messages = talk(8).map((one) =>
      one.role === "assistant" ? { ...one, usage: { input: 1_000_000, output: 7 } } : one,
    )
    const large = Strategy.make({
      name: "large",
      when: Trigger.contextAbove(10_000),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.drop,
    })
    const { contexts, compactions } = await run(messages, large)
    expect(contexts[1]).toBe(tokensOf([messages[0]!, messages[2]!]) + 7)
    expect(compactions).toBe(0)
  })
})

describe("what a context shows besides the conversation", () => {
  /** Something that is dropped, much talk, and a question about it that many answers follow. */
  const asking = [
    Message.user("The boat is called Albatross.", { time: start }),
    ...talk(38).map((one) => ({ ...one, time: one.time! + minute })),
    Message.user("How is the boat called?", { time: start + 40 * minute }),
    ...Array.from({ length: 4 }, () => Message.assistant("Wait.", { time: start + 40 * minute })),
  ]
  const dropping = Strategy.make({ ...rolling(4, 24), summaryMode: SummaryMode.drop })

  it("by automatic recall is charged once written, and then read from the cache", async () => {
    const conversation = ofTranscript("c", asking)
    const without = await replay(conversation, dropping, { prices })
    const recalling = await replay(conversation, dropping, { prices, automaticRecall: 200 })
    const added = recalling.contexts.map((tokens, at) => tokens - without.contexts[at]!)
    expect(added.slice(0, -4).every((tokens) => tokens === 0)).toBe(true)
    const [first = 0] = added.slice(-4)
    expect(first).toBeGreaterThan(10)
    expect(added.slice(-4)).toEqual([first, first, first, first])
    expect([without.added, recalling.added]).toEqual([0, 4 * first])
    expect(recalling.spent[0]!.written - without.spent[0]!.written).toBe(first)
    expect(recalling.spent[0]!.cached - without.spent[0]!.cached).toBe(3 * first)
  })

  it("leaves signed reasoning out only behind what has changed", async () => {
    const thought = (time: number) =>
      ({
        ...Message.assistant("Wait.", { time }),
        parts: [
          { type: "reasoning", text: "Long thoughts of many words.", signature: "s" },
          { type: "text", text: "Wait." },
        ],
      }) satisfies Message.Message
    const said = asking.slice(0, -4)
    const at = start + 40 * minute
    const signed = [...said, thought(at), thought(at), thought(at)]
    const conversation = ofTranscript("c", signed)
    const without = await replay(conversation, dropping, { prices })
    const recalling = await replay(conversation, dropping, { prices, automaticRecall: 200 })
    const added = recalling.contexts
      .slice(-3)
      .map((tokens, call) => tokens - without.contexts.slice(-3)[call]!)
    // The recalled messages stay within a turn, and so does the reasoning.
    expect(added[0]).toBeGreaterThan(10)
    expect(added).toEqual([added[0], added[0], added[0]])
  })

  it("by memory layers is charged, and each replay has layers of its own", async () => {
    let made = 0
    const fact: Session.KnownFact = {
      id: "f",
      layer: "user",
      kind: "profile",
      text: "The user sails.",
      from: 0,
      to: 1,
      time: start,
    }
    const layers = Effect.sync((): MemoryLayers.Service => {
      made++
      return {
        learn: () => Effect.succeed({ facts: [] }),
        recall: ({ questions }) => Effect.succeed(questions.map(() => ({ user: [fact], scope: [] }))),
        facts: () => Effect.succeed([]),
        change: () => Effect.succeed(false),
        forgetMessage: () => Effect.void,
        logOf: () => null,
        forgetSessions: () => Effect.void,
      }
    })
    const conversation = ofTranscript("c", talk(6))
    const without = await replay(conversation, fullHistory, { prices })
    for (const count of [1, 2]) {
      const { contexts } = await replay(conversation, fullHistory, { prices, layers })
      for (const [at, tokens] of contexts.entries()) expect(tokens).toBeGreaterThan(without.contexts[at]!)
      expect(made).toBe(count)
    }
  })
})

describe("a compaction", () => {
  it("is charged as calls of a model: its prompt and its answer", async () => {
    const { spent, compactions } = await run(talk(40), rolling(4, 8))
    // At 12, 20, 28 and 36 messages.
    expect(compactions).toBe(4)
    for (const one of spent) {
      expect(one.summarizerInput).toBeGreaterThan(tokensOf(talk(32)))
      expect(one.summarizerOutput).toBeGreaterThan(0)
    }
  })

  it("is charged as a question in context while the cache is alive, and as a prompt of its own later", async () => {
    const asked = (messages: ReadonlyArray<Message.Message>, askInContext: boolean, keep = 4) =>
      replay(ofTranscript("c", messages), rolling(keep, 8), { prices, askInContext })
    const [own, inContext] = [await asked(talk(40), false), await asked(talk(40), true)]
    expect(inContext.contexts).toEqual(own.contexts)
    for (const [at, one] of inContext.spent.entries()) {
      const before = own.spent[at]!
      expect(one.calls).toBe(before.calls)
      expect(one.summarizerInput).toBeLessThan(before.summarizerInput)
      expect(one.cached).toBeGreaterThan(before.cached)
      expect(one.summarizerOutput).toBe(before.summarizerOutput)
    }
    const slow = talk(40).map((one, at) => ({ ...one, time: start + at * 60 * minute }))
    // Compacted right behind what the user says, an hour after the call before.
    expect((await asked(slow, true, 5)).spent).toEqual((await asked(slow, false, 5)).spent)
  })

  it("runs while nobody says anything, as a memory does by itself", async () => {
    const idle = Strategy.make({
      name: "idle",
      when: Trigger.idle("1 hour"),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.drop,
    })
    const paused = [...talk(6), ...talk(2).map((one) => ({ ...one, time: one.time! + 120 * minute }))]
    expect(await run(paused, idle)).toMatchObject({ compactions: 1 })
    expect(await run(talk(8), idle)).toMatchObject({ compactions: 0 })
  })

  it("that fails costs no message, and says why", async () => {
    const failing: Summarizer.Service = {
      name: "failing",
      summarize: ({ session }) =>
        new Summarizer.SummarizerError({ session, reason: "refused", detail: "will not" }),
    }
    const conversation = ofTranscript("c", talk(20))
    const replayed = await replay(conversation, rolling(4, 8), { prices, summarizer: failing })
    const { contexts } = await run(talk(20))
    expect(replayed.contexts).toEqual(contexts)
    expect(replayed.failures).toBeGreaterThan(0)
    expect(replayed.firstFailure).toContain("will not")
    expect(replayed.spent[0]).toMatchObject({ summarizerInput: 0, summarizerOutput: 0 })
  })

  it("by a fallback is charged, too", async () => {
    const failing: Summarizer.Service = {
      name: "failing",
      summarize: ({ session }) =>
        new Summarizer.SummarizerError({ session, reason: "refused", detail: "will not" }),
      fallback: { name: "short", summarize: () => Effect.succeed({ text: "short" }) },
    }
    const { spent, failures } = await replay(ofTranscript("c", talk(20)), rolling(4, 8), {
      prices,
      summarizer: failing,
    })
    expect(failures).toBe(0)
    expect(spent[0]!.summarizerOutput).toBeGreaterThan(0)
  })
})

describe("what is needed", () => {
  /** An order number, much talk, and an answer that uses it. */
  const order = [
    Message.user("My order is KX-4471.", { time: start }),
    ...talk(21),
    Message.assistant("KX-4471 is on its way.", { time: start + 30 * minute }),
  ]

  it("is in the full history, and not where it was dropped", async () => {
    const conversation = ofTranscript("c", order)
    const prepared = await prepare(conversation, { recallTokens: 100 })
    const dropped = Strategy.make({ ...rolling(4, 8), summaryMode: SummaryMode.drop })
    const full = await replay(conversation, fullHistory, { prices, prepared })
    const without = await replay(conversation, dropped, { prices, prepared })
    expect(full.identifiers).toEqual({ needed: 1, there: 1 })
    expect(without.identifiers).toEqual({ needed: 1, there: 0 })
  })

  /** Something said on the first day, and asked on the last. */
  const days: Conversation = {
    name: "days",
    messages: [
      Message.user("The boat is called Albatross. It is nine metres long.", { time: start }),
      ...talk(39).map((one) => ({ ...one, time: one.time! + minute })),
    ],
    questions: [{ text: "How is the boat called?", evidence: [0] }],
    ends: [40],
  }

  it("is found raw, in a summary, by recall, or nowhere", async () => {
    const prepared = await prepare(days, { recallTokens: 60 })
    expect(prepared.asked).toEqual([40])
    expect(prepared.found).toEqual([[[true, true]]])
    const kept = async (strategy: Strategy.Strategy, text: string | null = null) => {
      const summarizer: Summarizer.Service = {
        name: "s",
        summarize: () => Effect.succeed({ text: text ?? "short" }),
      }
      return evidenceOf([await replay(days, strategy, { prices, prepared, summarizer })])
    }
    expect(await kept(fullHistory)).toMatchObject({
      asked: 1,
      raw: 1,
      inSummaries: 0,
      withRecall: 1,
      newest: 1,
    })
    const half = await kept(rolling(4, 36), "The boat is called Albatross.")
    expect(half).toMatchObject({ raw: 0, inSummaries: 0.5, withRecall: 1, newest: 0 })
    expect(await kept(rolling(4, 36))).toMatchObject({ raw: 0, inSummaries: 0, withRecall: 1 })
    const nothingFound = { ...prepared, found: [[[false, false]]] }
    const summarizer: Summarizer.Service = { name: "s", summarize: () => Effect.succeed({ text: "short" }) }
    const lost = await replay(days, rolling(4, 36), { prices, prepared: nothingFound, summarizer })
    expect(evidenceOf([lost])).toMatchObject({ withRecall: 0 })
  })

  it("has words of expected answers, by what the context says and what could stand in its place", async () => {
    const answer = "Albatross, nine metres"
    const asked = {
      ...days,
      questions: [
        { ...days.questions[0]!, answer },
        { text: "Whose is it?", evidence: [0] },
      ],
    }
    const prepared = await prepare(asked, { recallTokens: 60 })
    expect(prepared.answers).toEqual([
      [
        { words: [true, true, true], tokens: expect.any(Number) },
        { words: [], tokens: expect.any(Number) },
      ],
    ])
    const answers = async (strategy: Strategy.Strategy) => {
      const summarizer: Summarizer.Service = {
        name: "s",
        summarize: () => Effect.succeed({ text: "The boat is called Albatross." }),
      }
      return answersOf([await replay(asked, strategy, { prices, prepared, summarizer })])
    }
    const full = await answers(fullHistory)
    const all = { words: 1 }
    const none = { words: 0 }
    expect(full).toMatchObject({
      asked: 1,
      context: all,
      newest: all,
      summaries: none,
      recall: all,
      oracle: all,
    })
    expect(full?.summaries).toEqual({ words: 0, tokens: 0, perThousand: 0 })
    const half = (await answers(rolling(4, 36)))!
    const third = { words: 1 / 3 }
    expect(half).toMatchObject({ context: third, newest: none, summaries: third, summariesWithRecall: all })
    expect(half.summariesWithRecall.tokens).toBe(half.summaries.tokens + half.recall.tokens)
    expect(half.oracle.perThousand).toBeCloseTo(1_000 / half.oracle.tokens)
    expect(
      answersOf([
        await replay(days, rolling(4, 36), { prices, prepared: await prepare(days, { recallTokens: 60 }) }),
      ]),
    ).toBeNull()
  })

  it("is recalled by the context itself, if the question is the newest user message", async () => {
    const other = { text: "Which opera did the dentist whistle?", evidence: [0] }
    const both = { ...days, questions: [...days.questions, other] }
    const prepared = {
      ...(await prepare(both, { recallTokens: 60 })),
      found: [
        [
          [false, false],
          [false, false],
        ],
      ],
    }
    const dropping = Strategy.make({ ...rolling(4, 36), summaryMode: SummaryMode.drop })
    const evidence = async (automaticRecall: number) =>
      evidenceOf([await replay(both, dropping, { prices, prepared, automaticRecall })])
    // Nothing fits the other question, so half of all evidence is there.
    const found = await evidence(200)
    expect(found).toMatchObject({ asked: 2, raw: 0, inSummaries: 0, recalled: 0.5, withRecall: 0.5 })
    const without = evidenceOf([await replay(both, dropping, { prices, prepared })])
    expect(without).toMatchObject({ raw: 0, recalled: 0, withRecall: 0 })
    // `tokens` counts the context with what it recalls, but not the question itself.
    expect(found!.tokens).toBeGreaterThan(without!.tokens)
    expect(found!.tokens).toBeLessThan(without!.tokens + 200)
    expect(await evidence(10)).toEqual(without)
  })
})

describe("what a policy costs", () => {
  it("is in parts that add up, with the full history as 100", async () => {
    const full = await run(talk(60))
    const own = await run(talk(60), rolling(4, 8))
    for (const [at, price] of prices.entries()) {
      expect(costOf([full], [full], price, at).share?.total).toBeCloseTo(100, 9)
      const { share, dollars } = costOf([own], [full], price, at)
      for (const { total, cached, written, newInput, summarizerOutput } of [share!, dollars])
        expect(cached + written + newInput + summarizerOutput).toBeCloseTo(total, 9)
      expect(dollars.newInput).toBeCloseTo((own.spent[at]!.summarizerInput * price.input) / 1e6, 12)
    }
  })

  it("counts each conversation the same, however long it is", async () => {
    const [short, long] = [await run(talk(4)), await run(talk(80))]
    const [cheap, dear] = [await run(talk(4)), await run(talk(80), rolling(4, 8))]
    const shareOf = (own: typeof short, full: typeof short) =>
      costOf([own], [full], prices[0]!, 0).share!.total
    const both = costOf([cheap, dear], [short, long], prices[0]!, 0).share!.total
    expect(both).toBeCloseTo((shareOf(cheap, short) + shareOf(dear, long)) / 2, 9)
  })

  it("is unknown where nobody calls a model", async () => {
    const silent = await run([Message.user("Hello")])
    expect(costOf([silent], [silent], prices[0]!, 0)).toMatchObject({ share: null, cached: null })
  })
})
