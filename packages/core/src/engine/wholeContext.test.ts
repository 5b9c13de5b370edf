/** What a summarizer that asks in context is given: the context as it is, and where in it the messages are. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import * as fc from "fast-check"
import { batched, conversation, strategy as anyStrategy } from "@memfold/testing/arbitrary"
import { runOf } from "@memfold/testing"
import { often } from "@memfold/harness/depth"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import {
  Keep,
  Memory,
  MemoryLayers,
  Message,
  Split,
  Strategy,
  type Summarizer,
  SummaryMode,
  Trigger,
} from "../index.js"

/** Writes what it covers, and keeps the requests. */
const asking = (options: Partial<Summarizer.Service> = {}) => {
  const asked: Array<Summarizer.Request> = []
  const service: Summarizer.Service = {
    name: "in context",
    asksInContext: true,
    ...options,
    summarize: (request) =>
      Effect.sync(() => {
        asked.push(request)
        return { text: `[${request.from},${request.to})` }
      }),
  }
  return { asked, service }
}

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const texts = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> => messages.map(Message.text)

/** The texts of what a request is about, as its context shows them. */
const about = ({ wholeContext }: Summarizer.Request): ReadonlyArray<string> | undefined =>
  wholeContext && texts(wholeContext.messages.slice(wholeContext.from, wholeContext.to))

describe("the whole context of a request", () => {
  it("is the context that a model gets before the compaction, and has every message in its place", async () => {
    let given = 0
    let all = 0
    const check = async ([strategy, batches]: readonly [
      Strategy.Strategy,
      ReadonlyArray<ReadonlyArray<Message.Message>>,
    ]) => {
      const { asked, service } = asking()
      const run = await runOf(strategy, batches, { summarizer: service })
      // Between two compactions of the same moment, nobody asked for a context.
      const between = run.moments.some(({ outcomes }) => outcomes.length > 1)
      const contexts = between ? [] : run.moments.map(({ context }) => JSON.stringify(context.messages))
      for (const { wholeContext, messages, previous, to } of asked) {
        all++
        if (wholeContext === undefined) continue
        given++
        const { from } = wholeContext
        if (!between) expect(contexts).toContain(JSON.stringify(wholeContext.messages))
        const inside = wholeContext.messages.slice(from, wholeContext.to)
        const shown = new Set(inside.flatMap(({ parts }) => parts.map((part) => JSON.stringify(part))))
        for (const { parts } of messages)
          for (const part of parts)
            if (part.type === "text" && previous === undefined)
              expect(shown.has(JSON.stringify(part)), `message before ${to}`).toBe(true)
      }
    }
    await fc.assert(fc.asyncProperty(fc.tuple(anyStrategy, batched(conversation)), check), {
      numRuns: often(25, 500),
    })
    expect(given / all).toBeGreaterThan(0.3)
  })

  it.effect("begins with the context of the newest call, and ends with its answer", () => {
    const { asked, service } = asking()
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.system("Be kind."), ...said(5)])
      const sent = (yield* memory.context("s")).messages
      yield* memory.append("s", Message.assistant("the answer to it"))
      yield* memory.compact("s")
      const first = asked[0]?.wholeContext
      expect(first?.messages.slice(0, sent.length)).toEqual(sent)
      expect(texts(first?.messages.slice(sent.length) ?? [])).toEqual(["the answer to it"])
      expect(about(asked[0]!)).toEqual(texts(said(4)))
      // The next one merges the summary, so it begins with it.
      yield* memory.append("s", said(4))
      yield* memory.compact("s")
      expect(about(asked[1]!)?.[0]).toBe("[Conversation Summary]\n[0,5)")
      expect(asked[1]?.wholeContext?.messages[0]).toEqual(Message.system("Be kind."))
      expect(about(asked[1]!)).toHaveLength(1 + asked[1]!.messages.length)
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("says when a model was called with it, if one was", () => {
    const { asked, service } = asking()
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* TestClock.setTime(7_000)
      yield* memory.append("s", said(9))
      yield* TestClock.setTime(9_000)
      yield* memory.append("s", Message.user("one more"))
      yield* memory.compact("s")
      yield* memory.append("s", [Message.user("another"), Message.user("and another")])
      yield* memory.compact("s")
      yield* memory.append("s", said(4))
      yield* memory.compact("s")
      expect(asked.map(({ wholeContext }) => wholeContext?.lastCallTime)).toEqual([7_000, null, 9_000])
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("of a new block is behind the older blocks", () => {
    const { asked, service } = asking()
    const strategy = Strategy.make({
      name: "blocks",
      when: Trigger.never,
      keep: Keep.lastMessages(2),
      summaryMode: SummaryMode.blocks,
    })
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const from of [0, 6, 12]) {
        yield* memory.append("s", said(6, from))
        yield* memory.compact("s")
      }
      expect(asked.map((request) => about(request)?.length)).toEqual([4, 6, 6])
      expect(asked.map(({ wholeContext }) => wholeContext?.from)).toEqual([0, 1, 1])
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }, service)))
  })

  it.effect(
    "has the facts before the newest user message, and is missing where they are among the messages",
    () => {
      const { asked, service } = asking()
      const fact = {
        layer: "user",
        key: "diet",
        text: "Vegetarian.",
        id: "f1",
        from: 0,
        to: 1,
        time: 0,
      } as const
      const layers: MemoryLayers.Service = {
        recall: ({ questions }: MemoryLayers.Query) =>
          Effect.succeed(questions.map(() => ({ user: [fact], scope: [] }))),
        learn: () => Effect.succeed({ facts: [] }),
        facts: () => Effect.succeed([]),
        change: () => Effect.succeed(false),
        forgetMessage: () => Effect.void,
        logOf: () => null,
        forgetSessions: () => Effect.void,
      } as unknown as MemoryLayers.Service
      return Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(9))
        const sent = (yield* memory.context("s")).messages
        yield* memory.compact("s")
        expect(asked[0]?.wholeContext?.messages).toEqual(sent)
        expect(texts(sent).join()).toContain("Vegetarian.")
        expect(about(asked[0]!)?.join()).not.toContain("Vegetarian.")
        // Where the newest user message is compacted, its facts would be in the midst of the messages.
        yield* memory.append("s", [
          Message.user("go on"),
          ...said(4, 1).filter(({ role }) => role === "assistant"),
        ])
        yield* memory.append("s", [Message.assistant("one more"), Message.assistant("and another")])
        yield* memory.compact("s")
        expect(asked[1]?.messages.length).toBeGreaterThan(0)
        expect(asked[1]?.wholeContext).toBeUndefined()
      }).pipe(
        Effect.provide(
          withMemory(manual, service).pipe(Layer.provide(Layer.succeed(MemoryLayers.MemoryLayers, layers))),
        ),
      )
    },
  )
})

describe("there is none", () => {
  const run = (
    service: Summarizer.Service,
    messages: ReadonlyArray<Message.Message>,
    strategy: Strategy.Strategy = pairs,
  ) =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", messages)
      yield* memory.compact("s")
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }, service)))

  const none = (asked: ReadonlyArray<Summarizer.Request>) => {
    expect(asked.length).toBeGreaterThan(0)
    for (const { wholeContext } of asked) expect(wholeContext).toBeUndefined()
  }

  it.effect("for a summarizer that does not ask for it", () => {
    const { asked, service } = asking({ asksInContext: false })
    return Effect.map(run(service, said(8)), () => none(asked))
  })

  it.effect("where the input is divided, or the context is larger than the summarizer's window", () => {
    const divided = asking({ maxInputTokens: 60 })
    const small = asking({ maxInputTokens: 130 })
    const long = [...said(4), Message.user("the tail ".repeat(60)), Message.assistant("ok")]
    return Effect.gen(function* () {
      yield* run(divided.service, said(20))
      expect(divided.asked.length).toBeGreaterThan(1)
      none(divided.asked)
      yield* run(small.service, long)
      none(small.asked)
    })
  })

  it.effect("where a cap leaves messages out", () => {
    const { asked, service } = asking()
    const strategy = Strategy.make({ ...pairs, context: { maxMessages: 4 } })
    return Effect.map(run(service, said(10), strategy), () => none(asked))
  })

  it.effect("for what follows a text that was only now written", () => {
    const { asked, service } = asking()
    const strategy = Strategy.make({
      name: "split",
      when: Trigger.never,
      keep: Keep.currentTurn,
      summaryMode: SummaryMode.rolling,
      split: Split.tailAbove(100, { prefix: 1_000 }),
      toolNotes: { failures: { maxFailures: 5, maxCharacters: 80 } },
    })
    const step = (id: string) => [
      Message.call([{ id, name: "look", arguments: "{}" }]),
      Message.result({ id, output: "a long answer of the tool ".repeat(60), isError: true }),
    ]
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...said(4), Message.user("go"), ...step("a"), ...step("b"), ...step("c")])
      yield* memory.compact("s")
      // Each of both parts is in the context.
      expect(asked.map(({ kind, wholeContext }) => [kind, wholeContext !== undefined])).toEqual([
        ["history", true],
        ["turn-prefix", true],
      ])
      yield* memory.append("s", [...step("d"), ...step("e")])
      yield* memory.compact("s")
      // The notes of failures are in the context, but not in the text to merge.
      expect(asked[2]).toMatchObject({ kind: "turn-prefix" })
      expect(asked[2]?.previous).toBeDefined()
      expect(asked[2]?.wholeContext).toBeUndefined()
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }, service)))
  })
})
