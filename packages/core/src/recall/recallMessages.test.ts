import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import {
  FullTextIndex,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Recall,
  Strategy,
  SummaryMode,
  Trigger,
  Summarizer,
} from "../index.js"
import { echo, withMemory } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 2 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})
const live = withMemory({ strategy, compaction: { mode: "inline" } })

const filler = (from: number, to: number): ReadonlyArray<Message.Message> =>
  Array.from({ length: to - from }, (_, at) =>
    at % 2 === 0 ? Message.user(`Small talk number ${from + at}`) : Message.assistant(`I see, ${from + at}`),
  )

const indexes = ({ messages }: Recall.Recalled) => messages.map(({ index }) => index)

describe("recall", () => {
  it.effect("finds what items of providers and text files say, and no data of images", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const item = (data: unknown): Message.Part => ({ type: "opaque", provider: "openai-responses", data })
      const penalty = `data:text/plain;charset=utf-8,${encodeURIComponent("The penalty is 400 euros.")}`
      yield* memory.append("s", [
        { role: "user", parts: [{ type: "file", mediaType: "text/plain", uri: penalty, name: "contract" }] },
        {
          role: "assistant",
          parts: [
            item({ type: "mcp_call", id: "m1", name: "track", arguments: "{}", output: "Parcel in Villach" }),
            item({
              type: "code_interpreter_call",
              id: "c1",
              code: "",
              outputs: [{ type: "logs", logs: "sum 7731" }],
            }),
            item({ type: "image_generation_call", id: "i1", result: `Giraffe${"Ab1".repeat(200)}` }),
            item({ type: "reasoning", id: "r1", summary: [], encrypted_content: "zebra" }),
          ],
        },
        Message.call([{ id: "s1", name: "shell_call", arguments: "{}" }]),
        Message.result({
          id: "s1",
          output: "",
          content: [item([{ stdout: "Klagenfurt", stderr: "" }])] as never,
        }),
        ...filler(4, 20),
      ])
      const found = (query: string) => Effect.map(memory.recall("s", query), indexes)
      expect(yield* found("penalty 400 euros")).toContain(0)
      expect(yield* found("villach")).toContain(1)
      expect(yield* found("7731")).toContain(1)
      expect(yield* found("klagenfurt")).toContain(3)
      expect(yield* found("giraffe")).toEqual([])
      expect(yield* found("zebra")).toEqual([])
    }).pipe(Effect.provide(live)),
  )

  it.effect("finds covered messages word for word, in order, with those around them", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const time = Date.UTC(2026, 4, 3)
      yield* memory.append("s", [
        ...filler(0, 10),
        Message.user("Where is my order KX-4471?", { time, name: "Ada" }),
        Message.assistant("It was sent on Monday.", { time: time + 1_000 }),
        ...filler(12, 40),
      ])
      expect((yield* memory.state("s")).coveredTo).toBeGreaterThan(30)
      const found = yield* memory.recall("s", "kx-4471", { tokens: 40 })
      expect(indexes(found)).toEqual(expect.arrayContaining([10, 11]))
      expect(found.text).toContain(
        "(2026-05-03)\n[10] Ada: Where is my order KX-4471?\n[11] assistant: It was sent on Monday.",
      )
      expect(found.messages.find(({ index }) => index === 10)).toEqual({
        index: 10,
        version: 11,
        time,
        role: "user",
        origin: "user",
        message: Message.user("Where is my order KX-4471?", { time, name: "Ada" }),
        text: "Where is my order KX-4471?",
        excerpt: false,
        rank: 1,
      })
      expect(found.tokens).toBeLessThanOrEqual(40)
      expect(yield* memory.recall("s", "the of and", {})).toEqual({ messages: [], text: "", tokens: 0 })
      expect(yield* memory.recall("s", "giraffe")).toEqual({ messages: [], text: "", tokens: 0 })
      expect(yield* memory.recall("empty", "order")).toEqual({ messages: [], text: "", tokens: 0 })
    }).pipe(Effect.provide(live)),
  )

  it.effect("leaves out what the context shows, where that is asked for", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        Message.user("apples are red"),
        ...filler(1, 20),
        Message.user("apples are green"),
      ])
      const all = indexes(yield* memory.recall("s", "apples"))
      const outside = indexes(yield* memory.recall("s", "apples", { messages: "outside-context" }))
      expect(all).toEqual(expect.arrayContaining([0, 20]))
      expect(outside).toContain(0)
      expect(outside).not.toContain(20)
    }).pipe(Effect.provide(live)),
  )

  it.effect("shows groups of tool calls whole, and excerpts of what is too long", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = `${"compiling a module\n".repeat(400)}error in src/money.ts: wrong currency\n${"more output\n".repeat(400)}`
      yield* memory.append("s", [
        Message.user("What is the weather in Graz?"),
        Message.call([{ id: "c1", name: "weather", arguments: '{"city":"Graz"}' }]),
        Message.result({ id: "c1", output: "14 °C, rain" }),
        Message.assistant("It rains."),
        Message.user("Build it"),
        Message.call([{ id: "c2", name: "build", arguments: "{}" }]),
        Message.result({ id: "c2", output: log }),
        Message.assistant("It failed."),
        ...filler(8, 20),
      ])
      const small = yield* memory.recall("s", "weather graz", { tokens: 120 })
      expect(indexes(small)).toEqual(expect.arrayContaining([1, 2]))
      expect(small.messages.every(({ excerpt }) => !excerpt)).toBe(true)
      const large = yield* memory.recall("s", "money.ts currency", { tokens: 400 })
      const result = large.messages.find(({ index }) => index === 6)
      expect(result).toMatchObject({ excerpt: true, role: "tool", message: { role: "tool" } })
      expect(result?.text).toContain("error in src/money.ts: wrong currency")
      expect(result?.text).toContain("…")
      expect(Message.results(result!.message)).toEqual([])
      expect(large.tokens).toBeLessThanOrEqual(400)
    }).pipe(Effect.provide(live)),
  )

  it.effect("finds nothing that was redacted, cleared or deleted, and keeps forks apart", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user("the zebra sleeps"), ...filler(1, 6)])
      expect(indexes(yield* memory.recall("s", "zebra"))).toContain(0)
      yield* memory.fork("s", "copy")
      yield* memory.redact("s", 0)
      expect((yield* memory.recall("s", "zebra")).messages).toEqual([])
      expect((yield* memory.recall("s", "redacted small talk")).text).not.toContain("zebra")
      expect(indexes(yield* memory.recall("copy", "zebra"))).toContain(0)
      yield* memory.append("copy", Message.user("a giraffe"))
      expect((yield* memory.recall("s", "giraffe")).messages).toEqual([])
      yield* memory.clear("copy")
      expect((yield* memory.recall("copy", "zebra")).messages).toEqual([])
      yield* memory.append("copy", [Message.user("no animal")])
      expect((yield* memory.recall("copy", "zebra")).messages).toEqual([])
      yield* memory.append("copy", [Message.user("another zebra")])
      expect(indexes(yield* memory.recall("copy", "zebra"))).toEqual([0, 1])
      yield* memory.delete("copy")
      expect((yield* memory.recall("copy", "zebra")).messages).toEqual([])
      yield* memory.append("copy", [Message.user("no animal"), Message.user("zebra")])
      expect(indexes(yield* memory.recall("copy", "zebra"))).toEqual([0, 1])
    }).pipe(Effect.provide(live)),
  )

  it.effect("finds of a past version what it found then", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user("red apples"), ...filler(1, 8)])
      const { version } = yield* memory.state("s")
      const then = yield* memory.recall("s", "apples")
      yield* memory.append("s", [Message.user("green apples, apples and apples"), ...filler(9, 30)])
      expect(yield* memory.recall("s", "apples", { atVersion: version })).toEqual(then)
      expect((yield* memory.recall("s", "apples")).messages.length).toBeGreaterThan(then.messages.length)
    }).pipe(Effect.provide(live)),
  )

  it.effect("refuses wrong arguments", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const wrong = [
        memory.recall("", "apples"),
        memory.recall("s", 5 as unknown as string),
        memory.recall("s", "apples", { tokens: -1 }),
        memory.recall("s", "apples", { messages: "some" as "all" }),
        memory.recall("s", "apples", { atVersion: 7 }),
      ]
      for (const one of wrong) expect(yield* Effect.flip(one)).toMatchObject({ _tag: "InvalidInput" })
    }).pipe(Effect.provide(live)),
  )

  it.effect("is the same whatever the process keeps", () =>
    Effect.gen(function* () {
      const log = InMemoryEventLog.layer
      const program = Effect.gen(function* () {
        const memory = yield* Memory.Memory
        const found: Array<unknown> = []
        for (let turn = 0; turn < 6; turn++) {
          for (const session of ["a", "b", "c"]) {
            yield* memory.append(session, [Message.user(`${session} apples ${turn}`), ...filler(0, 3)])
            found.push(yield* memory.recall(session, "apples"))
          }
        }
        return JSON.stringify(found, (key, value: unknown) => (key === "time" ? 0 : value)).replaceAll(
          /\(\d{4}-\d\d-\d\d\)/g,
          "",
        )
      })
      const results = yield* Effect.forEach([0, 30, 1_000_000], (capacity) => {
        const index = Layer.sync(FullTextIndex.FullTextIndex, () => Recall.inProcess({ capacity }))
        return Effect.provide(
          program,
          Layer.fresh(Memory.layer({ strategy, compaction: { mode: "inline" } })).pipe(
            Layer.provide(index),
            Layer.provide(Layer.fresh(log)),
            Layer.provide(Layer.succeed(Summarizer.Summarizer, echo)),
          ),
        )
      })
      expect(new Set(results).size).toBe(1)
    }),
  )
})

describe("recall of who said it, and of answers", () => {
  /** The index of the message that fits a query best. */
  const first = (messages: ReadonlyArray<Message.Message>, query: string) =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      // Nothing stands beside the messages that are compared, so that none has a share of another.
      const apart = messages.flatMap((message, at) => [message, ...filler(10 * at, 10 * at + 6)])
      yield* memory.append("s", apart)
      const found = yield* memory.recall("s", query, { tokens: 2_000 })
      return (found.messages.find(({ rank }) => rank === 1)?.index ?? Number.NaN) / 7
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "off" } })))
  const said = (name: string, text: string): Message.Message => ({ ...Message.user(text), name })

  it.effect("prefers what was said by whom the query names", () =>
    Effect.gen(function* () {
      const talk = [said("Ann", "I live in Graz."), said("Bob", "I live in Linz.")]
      expect(yield* first(talk, "Where does Ann live?")).toBe(0)
      expect(yield* first(talk, "Where does Bob live?")).toBe(1)
      const called = [said("Ann", "I live in Graz."), said("Bob", "Ann, I live in Linz, Ann.")]
      expect(yield* first(called, "Where does Ann live?")).toBe(0)
    }),
  )

  it.effect("prefers what was said in the role that the query means", () =>
    Effect.gen(function* () {
      const talk = [Message.assistant("The hotel Mira is good."), Message.user("The hotel Lara is good.")]
      expect(yield* first(talk, "Which hotel did you recommend?")).toBe(0)
      expect(yield* first(talk, "Which hotel did I mention?")).toBe(1)
      expect(yield* first(talk.toReversed(), "Which hotel did you recommend?")).toBe(1)
    }),
  )

  it.effect("prefers the answer to a question", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        Message.user("The invoice?"),
        Message.assistant("In the blue folder."),
        ...filler(0, 6),
        Message.user("The invoice."),
        Message.assistant("In the green folder."),
        ...filler(6, 12),
      ])
      const { messages } = yield* memory.recall("s", "invoice")
      const ranks = new Map(messages.map(({ index, rank }) => [index, rank ?? Number.NaN]))
      expect(ranks.get(1)).toBeLessThan(ranks.get(9)!)
    }).pipe(Effect.provide(live)),
  )
})
