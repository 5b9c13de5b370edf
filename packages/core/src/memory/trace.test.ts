import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Keep, Memory, Message, Strategy, SummaryMode, Trigger } from "../index.js"
import { withMemory } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 2 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})

it.effect("only a message that is on the branch in force is traced", () =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    for (const text of ["a", "b", "c", "d", "e"]) yield* memory.append("s", Message.user(text))
    const covering = yield* memory.traceMessage("s", 0)
    expect(covering.map(({ status }) => status)).toContain("active")
    expect(yield* memory.traceMessage("s", { version: 1 })).toEqual(covering)
    yield* memory.edit("s", 3, Message.user("another"))
    const gone = (yield* memory.messages("s")).total
    for (const name of [gone, -1, 0.5, { version: 0 }, { version: 99 }])
      expect(yield* Effect.flip(memory.traceMessage("s", name))).toMatchObject({ _tag: "UnknownMessage" })
  }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "inline" } }))),
)
