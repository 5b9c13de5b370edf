/** Contexts with a draft: what a request shows before it is in the log. */
import { describe, expect, it } from "@effect/vitest"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import { Effect } from "effect"
import { Memory, type Message } from "../index.js"

const live = withMemory({ strategy: pairs, compaction: { mode: "manual" } })
const [one, two, three] = said(3)

const thought = (text: string): Message.Message => ({
  role: "assistant",
  parts: [
    { type: "opaque", provider: "test", data: { text }, bound: true },
    { type: "text", text },
  ],
})
const calling: Message.Message = {
  role: "assistant",
  parts: [
    { type: "opaque", provider: "test", data: "r", bound: true },
    { type: "tool-call", id: "c1", name: "look", arguments: "{}" },
  ],
}
const result: Message.Message = {
  role: "tool",
  parts: [{ type: "tool-result", id: "c1", output: "there" }],
}

/** Whether the newest message of a context still has its bound part. */
const hasReasoning = (messages: ReadonlyArray<Message.Message>, at = -1): boolean =>
  messages.at(at)!.parts.some((part) => part.type === "opaque")

describe("a context with a draft", () => {
  it.effect("is the context after the append, and nothing is written", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const messages of [[one!], [two!, calling], [result, three!]]) {
        const before = yield* memory.state("s")
        const draft = yield* memory.context("s", { draft: { messages } })
        expect((yield* memory.state("s")).version).toBe(before.version)
        yield* memory.append("s", messages)
        const { messages: after, layout, prefix } = yield* memory.context("s")
        expect(draft.messages).toEqual(after)
        expect(draft.layout).toEqual(layout)
        expect(draft.prefix).toEqual({ ...prefix, version: before.version })
      }
      const edit = yield* memory.context("s", { draft: { messages: three!, from: 1 } })
      yield* memory.edit("s", 1, three!)
      expect(edit.messages).toEqual((yield* memory.context("s")).messages)
    }).pipe(Effect.provide(live)),
  )

  it.effect(
    "keeps reasoning of an answer that is appended with it, also behind an open call and an edit",
    () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        const first = yield* memory.context("s", { draft: { messages: one! } })
        yield* memory.append("s", [one!, calling], { prefix: first.prefix })
        const second = yield* memory.context("s", { draft: { messages: result } })
        expect(hasReasoning(second.messages, 1)).toBe(true)
        yield* memory.append("s", [result, thought("found")], { prefix: second.prefix })
        expect(hasReasoning((yield* memory.context("s")).messages)).toBe(true)

        const edit = yield* memory.context("s", { draft: { messages: two!, from: 0 } })
        yield* memory.edit("s", 0, [two!, thought("again")], { prefix: edit.prefix })
        expect(hasReasoning((yield* memory.context("s")).messages)).toBe(true)
      }).pipe(Effect.provide(live)),
  )

  it.effect("leaves reasoning out that was produced behind another prefix", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(20))
      const { prefix } = yield* memory.context("s", { draft: { messages: one! } })
      // Three drafted messages would reach over the versions of the compaction, if those counted.
      const long = yield* memory.context("s", { draft: { messages: [one!, two!, three!, one!] } })
      yield* memory.compact("s")
      yield* memory.append("s", [one!, thought("late")], { prefix })
      expect(hasReasoning((yield* memory.context("s")).messages)).toBe(false)
      yield* memory.append("t", said(20))
      yield* memory.compact("t")
      yield* memory.append("t", [one!, two!, three!, one!, thought("late")], { prefix: long.prefix })
      expect(hasReasoning((yield* memory.context("t")).messages)).toBe(false)

      const edit = yield* memory.context("s", { draft: { messages: one!, from: 21 } })
      yield* memory.append("s", two!)
      yield* memory.edit("s", 21, [one!, thought("elsewhere")], { prefix: edit.prefix })
      expect(hasReasoning((yield* memory.context("s")).messages)).toBe(false)
    }).pipe(Effect.provide(live)),
  )

  it.effect("is refused for the past, beyond the end, and with a wrong message", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [one!, two!])
      const wrong: ReadonlyArray<Memory.ContextOptions> = [
        { draft: { messages: one! }, atVersion: 1 },
        { draft: { messages: one!, from: 3 } },
        { draft: { messages: one!, from: -1 } },
        { draft: { messages: { role: "nobody" } as never } },
      ]
      for (const options of wrong)
        expect(yield* Effect.flip(memory.context("s", options))).toMatchObject({ _tag: "InvalidInput" })
    }).pipe(Effect.provide(live)),
  )
})
