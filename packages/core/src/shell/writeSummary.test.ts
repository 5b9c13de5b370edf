/** Long inputs, and summarizers that fail midway: what is asked of whom, and what is kept. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { echo, pairs, said, withMemory } from "@memfold/harness/engine"
import { SummaryMode, Keep, Memory, Message, Strategy, Summarizer, BatchSize, Trigger } from "../index.js"

/** Fails from the n-th call on, counted from 0; before that it writes what it covers. */
const failingFrom = (n: number, options: Partial<Summarizer.Service> = {}) => {
  const asked: Array<Summarizer.Request> = []
  const service: Summarizer.Service = {
    name: "first",
    ...options,
    summarize: (request) =>
      Effect.suspend(() => {
        asked.push(request)
        return asked.length > n
          ? Effect.fail(
              new Summarizer.SummarizerError({
                session: request.session,
                reason: "refused",
                detail: "not today",
              }),
            )
          : echo.summarize(request)
      }),
  }
  return { asked, service }
}

const commit = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  yield* memory.append("s", said(22))
  return yield* memory.compact("s")
})

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

describe("a chain of summarizers", () => {
  it.effect("asks the next one when one has failed, and writes down whose words they are", () => {
    const first = failingFrom(0)
    const second = failingFrom(0, { name: "second" })
    const third = failingFrom(9, { name: "third" })
    const chain = Summarizer.withFallback(first.service, second.service, third.service)
    expect(Summarizer.chain(chain).map(({ name }) => name)).toEqual(["first", "second", "third"])
    return Effect.gen(function* () {
      expect(yield* commit).toMatchObject({
        _tag: "Committed",
        committed: { summarizer: "third", calls: 3, coveredTo: 20 },
      })
      expect(first.asked[0]).toEqual(third.asked[0])
    }).pipe(Effect.provide(withMemory(manual, chain)))
  })

  it.effect("fails with the last one's failure when all have failed", () => {
    const chain = Summarizer.withFallback(failingFrom(0).service, failingFrom(0, { name: "second" }).service)
    return Effect.gen(function* () {
      expect(yield* commit).toMatchObject({ _tag: "Failed", error: { reason: "refused" } })
      expect((yield* (yield* Memory.Memory).state("s")).coveredTo).toBe(0)
    }).pipe(Effect.provide(withMemory(manual, chain)))
  })

  it.effect("goes on from what the one before had finished, in pieces of its own size", () => {
    const first = failingFrom(2, { maxInputTokens: 100 })
    const second = failingFrom(9, { name: "second" })
    return Effect.gen(function* () {
      const outcome = yield* commit
      expect(outcome).toMatchObject({
        _tag: "Committed",
        committed: { summarizer: "first, second", calls: 4, coveredTo: 20, segments: [{ text: "[0,20)" }] },
      })
      const [request] = second.asked
      expect(second.asked).toHaveLength(1)
      expect(request?.previous).toBe(`[0,${request?.messagesFrom})`)
      expect(request?.messagesFrom).toBe(first.asked[1]?.to)
      expect(request?.messages).toHaveLength(20 - (request?.messagesFrom ?? 0))
    }).pipe(Effect.provide(withMemory(manual, Summarizer.withFallback(first.service, second.service))))
  })

  it("can be joined to another one", () => {
    const service = (name: string): Summarizer.Service => ({ ...echo, name })
    const joined = Summarizer.withFallback(Summarizer.withFallback(service("a"), service("b")), service("c"))
    expect(Summarizer.chain(joined).map(({ name }) => name)).toEqual(["a", "b", "c"])
    expect(Summarizer.withFallback(echo)).toBe(echo)
  })
})

describe("what was finished before a failure", () => {
  it.effect("is kept; the rest stays raw and is tried again later", () => {
    const { asked, service } = failingFrom(2, { maxInputTokens: 100 })
    return Effect.gen(function* () {
      const outcome = yield* commit
      const coveredTo = asked[1]?.to ?? 0
      expect(coveredTo).toBeGreaterThan(2)
      expect(coveredTo).toBeLessThan(20)
      expect(outcome).toMatchObject({
        _tag: "Committed",
        started: { to: 20 },
        committed: { coveredTo, segments: [{ from: 0, to: coveredTo, text: `[0,${coveredTo})` }], calls: 3 },
      })
      const memory = yield* Memory.Memory
      expect(yield* memory.state("s")).toMatchObject({ coveredTo, total: 22, running: null })
      expect(yield* memory.compact("s")).toMatchObject({
        _tag: "Failed",
        started: { from: coveredTo, to: 20 },
      })
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("ends where a group ends, never within one (L5)", () => {
    const { asked, service } = failingFrom(1, { maxInputTokens: 125 })
    const long = (index: number) => `answer ${index} ${"of some length ".repeat(6)}`
    const group = (index: number) => [
      Message.call([
        { id: `a${index}`, name: "look", arguments: "{}" },
        { id: `b${index}`, name: "look", arguments: "{}" },
      ]),
      Message.result({ id: `a${index}`, output: long(index) }),
      Message.result({ id: `b${index}`, output: long(index) }),
    ]
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user("go"), ...[0, 1, 2, 3].flatMap(group), ...said(2)])
      const outcome = yield* memory.compact("s")
      const { coveredTo } = yield* memory.state("s")
      expect(asked).toHaveLength(2)
      expect([1, 4, 7, 10]).toContain(coveredTo)
      expect(outcome).toMatchObject({ _tag: "Committed", committed: { coveredTo } })
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("is not kept where a block stands for a fixed number of rounds", () => {
    const strategy = Strategy.make({
      name: "blocks",
      when: Trigger.never,
      keep: Keep.lastMessages(2),
      batchSize: BatchSize.turns(10),
      summaryMode: SummaryMode.blocks,
    })
    const { service } = failingFrom(2, { maxInputTokens: 100 })
    return Effect.gen(function* () {
      expect(yield* commit).toMatchObject({ _tag: "Failed" })
      expect((yield* (yield* Memory.Memory).state("s")).coveredTo).toBe(0)
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }, service)))
  })
})

describe("the size that a strategy asks for", () => {
  it.effect("comes with each request, and merged blocks have their own", () => {
    const summarySize = { share: 0.25, maxTokens: 400 }
    const { asked, service } = failingFrom(9)
    const strategy = Strategy.make({
      ...pairs,
      summaryMode: SummaryMode.blocks,
      summarySize,
      // Two blocks of the echo summarizer take more.
      mergeBlocks: { above: 10, maxTokens: 100 },
    })
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (let round = 0; round < 4; round++) {
        yield* memory.append("s", said(22))
        yield* memory.compact("s")
      }
      expect(asked.map(({ kind, size }) => [kind, size])).toEqual([
        ["block", summarySize],
        ["block", summarySize],
        ["history", { share: 0.25, maxTokens: 100 }],
        ["block", summarySize],
      ])
      const { summary, coveredTo } = yield* memory.state("s")
      expect(summary?.segments.map(({ kind, from }) => [kind, from])).toEqual([
        ["history", 0],
        ["block", summary?.segments[0]?.to],
      ])
      expect(summary?.segments.at(-1)?.to).toBe(coveredTo)
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }, service)))
  })
})
