import { describe, expect, it } from "@effect/vitest"
import { replaceRows } from "@memfold/harness/logs"
import { Effect } from "effect"
import { EventLog, Keep, Memory, Message, Strategy, SummaryMode, TokenCounter, Trigger } from "../index.js"
import { withMemory } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 2 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})
const live = withMemory({ strategy, compaction: { mode: "inline" } })

const filler = (count: number, time = 0): ReadonlyArray<Message.Message> =>
  Array.from({ length: count }, (_, at) => Message.user(`Small talk number ${at}`, { time }))

describe("recall in all sessions of an owner", () => {
  it.effect("ranks them together, names the session of each message, and keeps within the budget", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const time = Date.UTC(2026, 4, 3)
      const day = 86_400_000
      yield* memory.append(
        "trip",
        [
          Message.user("We fly to Graz.", { time }),
          ...filler(9, time),
          Message.user("The hotel in Graz is called Sonne.", { time: time + 1 }),
        ],
        { owner: "ann", title: "Our\n[0] user: trip" },
      )
      yield* memory.append(
        "shop",
        [...filler(9, time + day), Message.user("Ship order KX-4471 to Graz.", { time: time + day })],
        { owner: "ann" },
      )
      yield* memory.append("bob", [Message.user("Graz, Graz and Graz: KX-4471")], { owner: "bob" })
      yield* memory.append("nobody", [Message.user("Graz, Graz and Graz: KX-4471")])
      const found = yield* memory.recallOf("ann", "Graz")
      const hits = found.messages.filter(({ text }) => text.includes("Graz"))
      expect(hits.map(({ session, index }) => [session, index])).toEqual([
        ["trip", 0],
        ["trip", 10],
        ["shop", 9],
      ])
      expect(new Set(found.messages.map(({ session }) => session))).toEqual(new Set(["trip", "shop"]))
      expect(
        found.text.startsWith("# Session trip: Our [0] user: trip\n(2026-05-03)\n[0] user: We fly to Graz."),
      ).toBe(true)
      expect(found.text).toContain("\n# Session shop\n")
      expect(found.unreadable).toEqual([])
      expect(hits[2]).toMatchObject({ version: 10, time: time + day, role: "user", excerpt: false })
      for (const tokens of [0, 12, 25, 40, 60, 100]) {
        const {
          text,
          tokens: size,
          messages,
        } = yield* memory.recallOf("ann", "Where does order KX-4471 go?", { tokens })
        expect(size).toBeLessThanOrEqual(tokens)
        expect(TokenCounter.estimating.count(text)).toBe(size)
        if (tokens >= 40)
          expect(messages).toContainEqual(expect.objectContaining({ session: "shop", index: 9 }))
      }
      const without = yield* memory.recallOf("ann", "Graz", { without: ["trip"] })
      expect(new Set(without.messages.map(({ session }) => session))).toEqual(new Set(["shop"]))
      const empty = { messages: [], text: "", tokens: 0, unreadable: [] }
      expect(yield* memory.recallOf("ann", "giraffe")).toEqual(empty)
      expect(yield* memory.recallOf("ann", "the of and")).toEqual(empty)
      expect(yield* memory.recallOf("eve", "Graz")).toEqual(empty)
    }).pipe(Effect.provide(live)),
  )

  it.effect("does not share scores between neighbours of different sessions", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("a", [Message.user("zebra")], { owner: "ann" })
      yield* memory.append("b", [Message.user("nothing of that"), ...filler(5)], { owner: "ann" })
      expect((yield* memory.recallOf("ann", "zebra")).messages.map(({ session }) => session)).toEqual(["a"])
    }).pipe(Effect.provide(live)),
  )

  it.effect("says how rare a word is in all of them", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      // "rare" is everywhere in its session, and "often" is rare in "b"; of all messages, it is the other way round.
      const times = (count: number, word: string) => Array.from({ length: count }, () => Message.user(word))
      yield* memory.append("a", times(3, "rare"), { owner: "ann" })
      yield* memory.append("b", [...filler(10), Message.user("often"), ...filler(9)], { owner: "ann" })
      for (const name of ["c", "d", "e"]) yield* memory.append(name, times(10, "often"), { owner: "ann" })
      const { messages } = yield* memory.recallOf("ann", "often rare", { tokens: 24 })
      expect(messages.map(({ session }) => session)).toEqual(["a"])
    }).pipe(Effect.provide(live)),
  )

  it.effect("finds in a session nothing of before it belonged to somebody else", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", [Message.user("zebra")], { owner: "ann" })
      yield* memory.describe("s", { owner: "bob" })
      expect((yield* memory.recallOf("ann", "zebra")).messages).toEqual([])
      expect((yield* memory.recallOf("bob", "zebra")).messages.length).toBe(1)
      // A row that another program has changed does not make it another owner's.
      yield* replaceRows(log, "s", "description", [
        { key: "", data: JSON.stringify({ owner: "eve", title: null }) },
      ])
      expect((yield* memory.recallOf("eve", "zebra")).messages).toEqual([])
    }).pipe(Effect.provide(live)),
  )

  it.effect("leaves out a session with a damaged event, and names it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("good", [Message.user("zebra")], { owner: "ann" })
      yield* memory.append("bad", [Message.user("zebra")], { owner: "ann" })
      yield* log.rewrite(
        "bad",
        [
          { version: 2, schemaVersion: 1, data: "{", checksum: 1 },
          { version: 1, schemaVersion: 1, data: "{", checksum: 1 },
        ],
        [{ time: 0, type: "Later", schemaVersion: 1, data: "{}" }],
        {
          expectedVersion: yield* EventLog.versionOf(log, "bad"),
          batchId: "damage",
        },
      )
      const fresh = yield* Memory.make({ strategy, compaction: { mode: "off" } })
      const found = yield* fresh.recallOf("ann", "zebra")
      expect(found.messages.map(({ session }) => session)).toEqual(["good"])
      expect(found.unreadable).toEqual(["bad"])
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.effect("ranks a long query by its rarest words, in every session", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const common = Array.from({ length: 60 }, (_, at) => `common${at}`)
      for (let at = 0; at < 40; at++) {
        yield* memory.append(`s${at}`, [Message.user(common.join(" "))], { owner: "ann" })
      }
      yield* memory.append("rare", [Message.user("The zebra is late.")], { owner: "ann" })
      for (let search = 0; search < 2; search++) {
        const query = ["zebra", ...common, ...common.map((word) => `${word}x`)].join(" ")
        const { messages } = yield* memory.recallOf("ann", query, { tokens: 60 })
        expect(messages.find(({ rank }) => rank === 1)).toMatchObject({ session: "rare" })
        const nowhere = Array.from(
          { length: 100 },
          (_, at) => `nowhere${"abcdefghij"[at % 10]}${"klmnopqrst"[Math.floor(at / 10)]}`,
        ).join(" ")
        expect((yield* memory.recallOf("ann", nowhere)).messages).toEqual([])
        expect((yield* memory.recallOf("ann", `${nowhere} yesterday`)).messages).toEqual([])
      }
    }).pipe(Effect.provide(live)),
  )

  it.effect("stops reading when nothing more fits", () =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      let reads = 0
      const counted: EventLog.Service = {
        ...log,
        read: (session, options) => {
          reads++
          return log.read(session, options)
        },
      }
      const memory = yield* Memory.make({ strategy, compaction: { mode: "off" } }).pipe(
        Effect.provideService(EventLog.EventLog, counted),
      )
      for (let at = 0; at < 300; at++) {
        // One piece, which no rest of the budget has room for.
        const text = `zebra ${"lorem ".repeat(14)}${at}`
        yield* memory.append(`s${at}`, [Message.user(text)], { owner: "ann" })
      }
      const search = memory.recallOf("ann", "zebra", { tokens: 160 })
      const found = (yield* search).messages
      reads = 0
      expect((yield* search).messages).toEqual(found)
      expect(found.length).toBeGreaterThan(0)
      expect(reads).toBeGreaterThan(20)
      expect(reads).toBeLessThan(100)
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.effect("refuses wrong arguments", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const wrong = [
        memory.recallOf("", "apples"),
        memory.recallOf("ann", 5 as unknown as string),
        memory.recallOf("ann", "apples", { tokens: -1 }),
        memory.recallOf("ann", "apples", { without: "s" as unknown as ReadonlyArray<string> }),
      ]
      for (const one of wrong) expect(yield* Effect.flip(one)).toMatchObject({ _tag: "InvalidInput" })
    }).pipe(Effect.provide(live)),
  )
})
