/** Recall in time: by options, and by the words of the query. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { pairs, withMemory } from "@memfold/harness/engine"
import { Memory, Message } from "../index.js"

const at = (iso: string): number => Date.parse(`${iso}Z`)

const said: ReadonlyArray<Message.Message> = [
  { ...Message.user("The first order was late."), time: at("2026-04-30T10:00") },
  { ...Message.assistant("I am sorry about the order."), time: at("2026-04-30T10:01") },
  { ...Message.user("My cat is called Felix."), time: at("2026-05-05T09:00") },
  { ...Message.user("The second order was late, too."), time: at("2026-05-06T09:00") },
  { ...Message.user("Good morning!"), time: at("2026-05-12T08:00") },
  { ...Message.user("The holiday is in August."), time: at("2026-05-12T19:00") },
]

const asked = (query: string, options: Memory.RecallOptions = {}) =>
  Effect.gen(function* () {
    // A Wednesday.
    yield* TestClock.setTime(at("2026-05-13T15:00"))
    const memory = yield* Memory.Memory
    yield* memory.append("s", said, { owner: "ann" })
    const { messages } = yield* memory.recall("s", query, options)
    const owned = yield* memory.recallOf("ann", query, options)
    expect(owned.messages.map(({ index }) => index)).toEqual(messages.map(({ index }) => index))
    return {
      indexes: messages.map(({ index }) => index),
      best: messages.find(({ rank }) => rank === 1)?.index,
    }
  }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "off" } })))

describe("recall in time", () => {
  it.effect("finds only messages between two times", () =>
    Effect.gen(function* () {
      const { indexes } = yield* asked("order", { after: at("2026-05-01"), before: at("2026-05-07") })
      expect(indexes).toEqual([2, 3])
      expect((yield* asked("order", { after: at("2026-05-07") })).indexes).toEqual([])
      expect((yield* asked("", { before: at("2026-05-01") })).indexes).toEqual([0, 1])
    }),
  )

  it.effect("puts messages of a time in the query first, and leaves the others behind them", () =>
    Effect.gen(function* () {
      const { indexes, best } = yield* asked("Which order was late last week?")
      expect(best).toBe(3)
      expect(indexes).toContain(0)
      expect((yield* asked("Which order was late in April?")).best).toBe(0)
      // What is said of a time is found, though it was said at another one.
      expect((yield* asked("When is the holiday in August?")).best).toBe(5)
    }),
  )

  it.effect("finds what was said at a time, and nothing where nothing was said", () =>
    Effect.gen(function* () {
      expect((yield* asked("What did we say yesterday evening?")).indexes).toEqual([5])
      expect((yield* asked("Was haben wir gestern besprochen?")).indexes).toEqual([4, 5])
      expect((yield* asked("昨天我们说了什么")).indexes).toEqual([4, 5])
      expect((yield* asked("What did we talk about in 2024?")).indexes).toEqual([])
      // Half past one in the night of Tokyo is the evening before in UTC.
      expect((yield* asked("today", { timeZone: "Asia/Tokyo" })).indexes).toEqual([])
      expect((yield* asked("yesterday", { timeZone: "America/Los_Angeles" })).indexes).toEqual([4, 5])
    }),
  )

  it.effect("knows what asks for a time alone by the empty words of each language", () =>
    Effect.gen(function* () {
      for (const query of [
        "What happened yesterday?",
        "yesterday, what exactly did we talk about?",
        "What was it that I told you yesterday?",
        "What were we discussing yesterday?",
        "What did you and I agree on yesterday?",
        "Anything new yesterday?",
        "Was ist gestern passiert?",
        "Was war gestern los?",
        "Worüber haben wir uns gestern eigentlich unterhalten?",
        "was habe ich dir gestern erzählt",
        "Wovon war gestern die Rede?",
        "Was gab es gestern Neues?",
        "Was haben wir gestern abgemacht?",
        "Que s'est-il passé hier ?",
        "Qu'est-ce qu'on s'est dit hier ?",
        "De quoi avons-nous parle hier",
        "Quoi de neuf hier ?",
        "Qu'avons-nous décidé hier ?",
        "¿Qué pasó ayer?",
        "¿De qué hablamos ayer?",
        "que me dijiste ayer",
        "¿Qué me contaste ayer?",
        "¿De qué estuvimos hablando ayer?",
        "昨天发生了什么事",
        "我昨天跟你说过什么？",
        "昨天聊了哪些话题",
      ])
        expect([query, (yield* asked(query)).indexes]).toEqual([query, [4, 5]])
      for (const query of [
        "Was ist gestern mit der Bestellung passiert?",
        "¿Qué pasó ayer con el gato?",
        "昨天的订单发生了什么",
      ])
        expect([query, (yield* asked(query)).indexes]).not.toEqual([query, [4, 5]])
    }),
  )

  it.effect(
    "finds the newest messages of a time in all sessions, and those that many others rank before",
    () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(at("2026-05-13T15:00"))
        const memory = yield* Memory.Memory
        const many = Array.from({ length: 10_200 }, () => ({
          ...Message.user("order order"),
          time: at("2026-05-12T08:00"),
        }))
        const late = { ...Message.user("The order of the day is this."), time: at("2026-05-12T19:00") }
        yield* memory.append("b", [late], { owner: "ann" })
        for (let from = 0; from < many.length; from += 1_000)
          yield* memory.append("a", many.slice(from, from + 1_000), { owner: "ann" })
        yield* memory.append("a", { ...late, time: at("2026-05-01T10:00") })
        const texts = ({ messages }: { readonly messages: ReadonlyArray<{ readonly text: string }> }) =>
          messages.filter(({ text }) => text.includes("day is this")).length
        const tokens = 100
        // Sessions are listed from the one changed last.
        expect(texts(yield* memory.recallOf("ann", "What did we say yesterday?", { tokens }))).toBe(1)
        const before = at("2026-05-02T00:00")
        expect(texts(yield* memory.recall("a", "order", { before, tokens }))).toBe(1)
        expect(texts(yield* memory.recallOf("ann", "order", { before, tokens }))).toBe(1)
        const { messages } = yield* memory.recall("a", "order", { after: before, before: before + 1 })
        expect(messages).toEqual([])
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "off" } }))),
  )

  it.effect("refuses what is no time", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said)
      for (const wrong of [
        { after: Number.NaN },
        { before: "2026-05-01" as unknown as number },
        { after: 2, before: 2 },
        { timeZone: "Mars/Olympus" },
      ]) {
        expect(yield* Effect.flip(memory.recall("s", "order", wrong))).toMatchObject({ _tag: "InvalidInput" })
        expect(yield* Effect.flip(memory.recallOf("ann", "order", wrong))).toMatchObject({
          _tag: "InvalidInput",
        })
      }
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "off" } }))),
  )
})
