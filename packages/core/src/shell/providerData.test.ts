/** Summaries that a provider wrote in a form of its own: the text beside it, and that it goes wherever the text goes. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { unmarked } from "@memfold/testing"
import { echo, pairs, said, withMemory } from "@memfold/harness/engine"
import {
  EventLog,
  InMemoryEventLog,
  Keep,
  Memory,
  Session,
  Split,
  Strategy,
  Summarizer,
  SummaryMode,
  TokenCounter,
  Trigger,
  Verify,
} from "../index.js"
import * as Message from "@memfold/message/Message"

const secret = "block-of"

/** Writes the range as text, and a block that names it too. */
const native = (
  options: Partial<Summarizer.Service> = {},
  data: { readonly tokens?: number; readonly keepsReasoning?: boolean } = {},
) => {
  const asked: Array<Summarizer.Request> = []
  const service: Summarizer.Service = {
    name: "native",
    ...options,
    summarize: (request) =>
      Effect.sync(() => {
        asked.push(request)
        const range = `[${request.from},${request.to})`
        return {
          text: range,
          providerData: {
            provider: "acme",
            model: "m1",
            data: { block: `${secret} ${range}` },
            ...data,
          },
        }
      }),
  }
  return { asked, service }
}

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const
const opaque = (range: string) => ({
  type: "opaque",
  provider: "acme",
  model: "m1",
  data: { block: `${secret} ${range}` },
  replaces: "text-before",
})
const text = (words: string) => ({ type: "text", text: words })

const stored = (session: string) =>
  Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const records = [...(yield* Stream.runCollect(EventLog.records(log, session)))]
    const rows = yield* Effect.forEach(["snapshot", "summary"], (kind) => log.projections.get(session, kind))
    return JSON.stringify([records.map(({ data }) => data), rows])
  })

describe("a summary with provider data", () => {
  it.effect("is a text, and the data beside it, for its provider alone", () => {
    const { service } = native()
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s")
      const [summary] = (yield* memory.context("s")).messages
      expect(summary).toEqual({
        role: "system",
        parts: [text("[Conversation Summary]\n[0,4)"), opaque("[0,4)")],
      })
      if (summary === undefined) return
      expect(Message.partsFor(summary, { provider: "acme" })).toEqual([opaque("[0,4)")])
      expect(Message.partsFor(summary, { provider: "acme", model: "m1" })).toEqual([opaque("[0,4)")])
      expect(Message.partsFor(summary, { provider: "acme", model: "m2" })).toEqual([summary.parts[0]])
      expect(Message.partsFor(summary, { provider: "other" })).toEqual([summary.parts[0]])
      expect(Message.text(summary)).toBe("[Conversation Summary]\n[0,4)")
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect(
    "is merged with the conversation that a model would see: the data, and the messages in pairs",
    () => {
      const { asked, service } = native()
      return Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", [Message.system("be kind"), ...said(5)])
        yield* memory.compact("s")
        expect(asked[0]?.context).toEqual({
          pinned: [Message.system("be kind")],
          summary: [],
          messages: said(3),
        })
        yield* memory.append("s", [
          Message.call([{ id: "c", name: "look", arguments: "{}" }]),
          Message.user("never mind"),
          ...said(4),
        ])
        const shown = unmarked((yield* memory.context("s")).messages)
        yield* memory.compact("s")
        const { pinned = [], summary = [], messages = [] } = asked[1]?.context ?? {}
        expect(summary[0]?.parts[1]).toEqual(opaque("[0,4)"))
        expect(messages.map(({ role }) => role)).toContain("tool")
        expect([...pinned, ...summary, ...messages]).toEqual(shown.slice(0, -2))
      }).pipe(Effect.provide(withMemory(manual, service)))
    },
  )

  it.effect("of a long input goes from piece to piece, and is not asked for a divided message", () => {
    const { asked, service } = native({ maxInputTokens: 100 })
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [...said(20), Message.user("a long question ".repeat(100)), ...said(3)])
      yield* memory.compact("s")
      const [first, second] = asked
      expect(asked.length).toBeGreaterThan(3)
      expect(first?.context?.messages).toHaveLength(first?.to ?? 0)
      expect(second?.context?.summary[0]?.parts[1]).toEqual(opaque(`[0,${first?.to})`))
      expect(asked.filter(({ context }) => context === undefined).length).toBeGreaterThan(1)
      const { summary } = yield* memory.state("s")
      expect(summary?.segments[0]?.providerData?.data).toEqual({
        block: `${secret} [0,${summary?.coveredTo})`,
      })
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("keeps what else it says as a text behind the data, in one text for everyone else", () => {
    const { service } = native()
    const strategy = Strategy.make({
      name: "split",
      when: Trigger.never,
      keep: Keep.currentTurn,
      summaryMode: SummaryMode.rolling,
      split: Split.tailAbove(100, { prefix: 1_000 }),
    })
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const call = (id: string) => [
        Message.call([{ id, name: "look", arguments: "{}" }]),
        Message.result({ id, output: "a long answer of the tool ".repeat(60) }),
      ]
      yield* memory.append("s", [...said(4), Message.user("go"), ...call("a"), ...call("b"), ...call("c")])
      yield* memory.compact("s")
      const { summary } = yield* memory.state("s")
      expect(summary?.segments.map(({ kind, providerData }) => [kind, providerData !== undefined])).toEqual([
        ["history", true],
        ["turn-prefix", false],
      ])
      const [message] = (yield* memory.context("s")).messages
      if (message === undefined || summary === null) return
      expect(message.parts.map(({ type }) => type)).toEqual(["text", "opaque", "text"])
      expect(Message.partsFor(message)).toHaveLength(1)
      expect(Message.text(message)).toContain("Turn Context")
      expect(Message.partsFor(message, { provider: "acme" }).map(({ type }) => type)).toEqual([
        "opaque",
        "text",
      ])
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }, service)))
  })

  it.effect("takes the tokens of its larger form, and none twice", () => {
    const { service } = native({}, { tokens: 30 })
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(20))
      yield* memory.compact("s")
      expect((yield* memory.state("s")).summary?.tokens).toBe(34)
      const [summary] = (yield* memory.context("s")).messages
      const counted = TokenCounter.ofMessage(TokenCounter.estimating, summary ?? Message.user(""))
      expect(counted).toBe(TokenCounter.estimating.count("[Conversation Summary]\n[0,18)") + 4)
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("is left out if the data is not smaller than the messages", () => {
    const { service } = native({}, { tokens: 1_000_000 })
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s")
      expect((yield* memory.state("s")).summary?.segments).toEqual([
        { kind: "history", from: 0, to: 4, text: "[0,4)" },
      ])
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("fails as a whole if JSON cannot hold the data", () => {
    const broken: Summarizer.Service = {
      name: "broken",
      summarize: () =>
        Effect.succeed({ text: "so far", providerData: { provider: "acme", data: { n: 1n } } }),
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      const options = { strategy: pairs }
      expect(yield* memory.compact("s", options)).toMatchObject({
        _tag: "Failed",
        error: { reason: "unavailable" },
      })
    }).pipe(
      Effect.provide(
        withMemory({ ...manual, compaction: { ...manual.compaction, summarizerRetries: 0 } }, broken),
      ),
    )
  })

  it.effect("is erased with the text of a covered message (L15)", () => {
    const { service } = native()
    return Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* Effect.gen(function* () {
        const memory = yield* Memory.make(manual)
        yield* memory.append("s", said(6))
        yield* memory.compact("s")
        yield* memory.append("s", said(4, 6))
        yield* memory.compact("s")
        expect(yield* stored("s")).toContain(secret)
        yield* memory.fork("s", "copy")
        yield* memory.redact("s", 1)
        expect(yield* stored("s")).not.toContain(secret)
        expect(yield* stored("copy")).toContain(`${secret} [0,8)`)
        expect(JSON.stringify(yield* memory.summaries("s"))).not.toContain(secret)
        expect(JSON.stringify(yield* memory.context("s"))).not.toContain(secret)
        expect(yield* Verify.session(log, "s")).toEqual([])
      }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, service),
      )
    }).pipe(Effect.scoped)
  })

  it.effect("comes and goes with its text: a revert, a fork, a restart (L6)", () => {
    const { service } = native()
    return Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* Effect.gen(function* () {
        const memory = yield* Memory.make(manual)
        yield* memory.append("s", said(6))
        yield* memory.compact("s")
        const toSummary = (yield* memory.state("s")).summary?.id ?? ""
        yield* memory.append("s", said(4, 6))
        yield* memory.compact("s")
        const block = (session: string) =>
          Effect.map(memory.state(session), ({ summary }) => summary?.segments[0]?.providerData?.data)
        yield* memory.fork("s", "copy")
        yield* memory.revert("s", { toSummary })
        expect(yield* block("s")).toEqual({ block: `${secret} [0,4)` })
        expect(yield* block("copy")).toEqual({ block: `${secret} [0,8)` })
        const restarted = yield* Memory.make(manual)
        expect(yield* restarted.context("copy")).toEqual(yield* memory.context("copy"))
        expect(yield* Session.make(log).load("s")).toEqual(yield* memory.state("s"))
        expect(yield* Verify.session(log, "copy")).toEqual([])
      }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, service),
      )
    }).pipe(Effect.scoped)
  })
})

describe("signed reasoning behind a summary that its provider wrote", () => {
  const keeping = { keepsReasoning: true }
  const thought = (index: number): Message.Message => ({
    role: "assistant",
    parts: [
      { type: "reasoning", text: `thinking of ${index}`, signature: `signature ${index}` },
      ...said(2)[1]!.parts,
    ],
  })
  const turn = (index: number) => [said(1, index)[0]!, thought(index)]
  const signatures = (messages: ReadonlyArray<Message.Message>) =>
    messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "reasoning" ? [part.signature] : [])),
    )
  /** Three turns, a compaction, and what is left of the signatures. */
  const after = (
    service: Summarizer.Service,
    {
      messages = [0, 2, 4].map(turn),
      ...options
    }: Partial<Memory.Options> & { readonly messages?: ReadonlyArray<ReadonlyArray<Message.Message>> } = {},
  ) =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const batch of messages) {
        for (const message of batch) {
          const { prefix } = yield* memory.context("s")
          yield* memory.append("s", message, { prefix })
        }
      }
      yield* memory.compact("s")
      return signatures((yield* memory.context("s")).messages)
    }).pipe(Effect.provide(withMemory({ ...manual, ...options }, service)))

  it.effect("stays, where the kept messages follow directly", () =>
    Effect.gen(function* () {
      expect(yield* after(native({}, keeping).service)).toEqual(["signature 4"])
      expect(yield* after(native({}, {}).service)).toEqual([])
      expect(yield* after(echo)).toEqual([])
    }),
  )

  it.effect("is in the conversation that the provider compacts", () => {
    const { asked, service } = native({}, keeping)
    return Effect.gen(function* () {
      yield* after(service)
      expect(signatures(asked[0]?.context?.messages ?? [])).toEqual(["signature 0", "signature 2"])
    })
  })

  it.effect("goes with anything that was not compacted, or does not follow", () => {
    const { service } = native({}, keeping)
    const pin = { ...said(1)[0]!, pinned: true }
    return Effect.gen(function* () {
      const pinned = [[pin, thought(0)], turn(2), turn(4)]
      expect(yield* after(service, { messages: pinned })).toEqual([])
      const said0 = [turn(0), [Message.system("from now on, be brief"), ...turn(2)], turn(4)]
      expect(yield* after(service, { messages: said0 })).toEqual([])
      const prompt = [[Message.system("be kind")], turn(0), turn(2), turn(4)]
      expect(yield* after(service, { messages: prompt })).toEqual(["signature 4"])
      // The first uncovered message and the last covered message are both the user's.
      const sameSide = [turn(0), said(1), turn(2)]
      expect(yield* after(service, { messages: sameSide })).toEqual([])
      const capped = Strategy.make({ ...pairs, name: "capped", context: { maxMessages: 3 } })
      expect(yield* after(service, { strategy: capped })).toEqual([])
    })
  })

  it.effect("goes if an earlier summary was only a text", () => {
    const { service } = native({}, keeping)
    let first = true
    const text: Summarizer.Service = {
      name: "first a text",
      summarize: (request) =>
        Effect.map(service.summarize(request), ({ providerData, ...result }) => {
          const own = first ? result : { ...result, ...(providerData === undefined ? {} : { providerData }) }
          first = false
          return own
        }),
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const continued = (index: number) =>
        Effect.forEach(turn(index), (message) =>
          Effect.flatMap(memory.context("s"), ({ prefix }) => memory.append("s", message, { prefix })),
        )
      const kept = Effect.map(memory.context("s"), ({ messages }) => signatures(messages))
      for (const index of [0, 2, 4]) yield* continued(index)
      yield* memory.compact("s")
      expect(yield* kept).toEqual([])
      for (const index of [6, 8]) yield* continued(index)
      expect(yield* kept).toEqual(["signature 6", "signature 8"])
      yield* memory.compact("s")
      expect(yield* kept).toEqual([])
      for (const index of [10, 12]) yield* continued(index)
      yield* memory.compact("s")
      expect(yield* kept).toEqual(["signature 12"])
    }).pipe(Effect.provide(withMemory(manual, text)))
  })

  it.effect("of an answer that was under way at the commit is kept if its context is named", () => {
    const { service } = native({}, keeping)
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const named of [true, false]) {
        const session = `named ${named}`
        yield* memory.append(session, [...said(6), ...said(1)])
        const { prefix } = yield* memory.context(session)
        yield* memory.compact(session)
        yield* memory.append(session, thought(7), named ? { prefix } : {})
        expect(signatures((yield* memory.context(session)).messages)).toEqual(named ? ["signature 7"] : [])
      }
    }).pipe(Effect.provide(withMemory(manual, service)))
  })

  it.effect("is left out for a reader who gets the text", () => {
    const { service } = native({}, keeping)
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const message of [0, 2, 4].flatMap(turn)) {
        yield* memory.append("s", message, { prefix: (yield* memory.context("s")).prefix })
      }
      yield* memory.compact("s")
      const { messages } = yield* memory.context("s")
      const read = (reader?: Message.Reader, accepts?: () => boolean) => {
        const all = Message.forReader(messages, reader, accepts)
        return [signatures(all.map(({ message }) => message)), all.flatMap(({ leftOut }) => leftOut)]
      }
      const [kept] = [signatures(messages)]
      expect(kept).toEqual(["signature 4"])
      expect(read({ provider: "acme", model: "m1" })).toEqual([kept, []])
      for (const [reader, accepts] of [
        [{ provider: "acme", model: "m2" }],
        [{ provider: "acme" }, () => false],
        [],
      ] as const) {
        expect(read(reader, accepts)).toEqual([[], ["reasoning"]])
      }
    }).pipe(Effect.provide(withMemory(manual, service)))
  })
})
