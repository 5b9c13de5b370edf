import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Keep, Memory, Message, Strategy, SummaryMode, Trigger } from "../index.js"
import { withMemory } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 2 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})
const live = withMemory({ strategy, compaction: { mode: "inline" } })

describe("messages of a session", () => {
  it.effect("come in pages from the end, covered ones included", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* memory.messages("s")).toEqual({
        messages: [],
        times: [],
        from: 0,
        to: 0,
        unreadable: [],
        total: 0,
        before: null,
      })
      for (let at = 0; at < 25; at++) yield* memory.append("s", Message.user(`message ${at}`, { time: at }))
      expect((yield* memory.state("s")).coveredTo).toBeGreaterThan(15)

      const seen: Array<string> = []
      let page = yield* memory.messages("s", { limit: 10 })
      for (const [from, to] of [
        [15, 25],
        [5, 15],
        [0, 5],
      ] as const) {
        expect(page).toMatchObject({ from, to, total: 25 })
        expect(page.times).toEqual(page.messages.map((_, at) => from + at))
        seen.unshift(...page.messages.map(Message.text))
        if (page.before === null) break
        page = yield* memory.messages("s", { limit: 10, before: page.before })
      }
      expect(page.before).toBeNull()
      expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => `message ${at}`))
    }).pipe(Effect.provide(live)),
  )

  it.effect("begin at the last clear, which makes earlier cursors invalid", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const text of ["a", "b", "c"]) yield* memory.append("s", Message.user(text))
      const { before } = yield* memory.messages("s", { limit: 1 })
      yield* memory.clear("s")
      yield* memory.append("s", [Message.user("d"), Message.user("e"), Message.user("f")])
      expect((yield* memory.messages("s")).messages.map(Message.text)).toEqual(["d", "e", "f"])
      for (const options of [{ before: before! }, { before: "x" }, { before: "0.99.99" }, { limit: 0 }]) {
        expect(yield* Effect.flip(memory.messages("s", options))).toMatchObject({ _tag: "InvalidInput" })
      }
    }).pipe(Effect.provide(live)),
  )

  it.effect("of a branch that was left come in pages as well", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (let at = 0; at < 25; at++) yield* memory.append("s", Message.user(`message ${at}`))
      yield* memory.edit("s", 12, Message.user("another"))
      yield* memory.edit("s", 5, Message.user("a third"))
      const texts = (options: Memory.PageOptions) =>
        Effect.map(memory.messages("s", options), ({ messages, before }) => ({
          texts: messages.map(Message.text),
          before,
        }))
      const [inForce, second, first] = yield* memory.branches("s")
      expect((yield* texts({ branch: inForce!.id, limit: 1 })).texts).toEqual(["a third"])
      expect((yield* texts({ branch: second!.id, limit: 2 })).texts).toEqual(["message 11", "another"])
      const page = yield* texts({ branch: first!.id, limit: 10 })
      expect(page.texts).toEqual(Array.from({ length: 10 }, (_, at) => `message ${at + 15}`))
      const rest = yield* texts({ branch: first!.id, before: page.before! })
      expect(rest.texts).toEqual(Array.from({ length: 15 }, (_, at) => `message ${at}`))
      expect(yield* Effect.flip(memory.messages("s", { branch: 7_777 }))).toMatchObject({
        _tag: "UnknownBranch",
      })
      expect(yield* Effect.flip(memory.messages("s", { before: page.before! }))).toMatchObject({
        _tag: "InvalidInput",
      })
    }).pipe(Effect.provide(live)),
  )
})
