import { CurrentSummarizer, InMemoryEventLog, Memory, Message, type Summarizer } from "@memfold/core"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { Rounds } from "./index.js"

const echo: Summarizer.Service = {
  name: "echo",
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to})` }),
}

it("keeps the rhythm of the reference's table", async () => {
  const live = Memory.layer({ strategy: Rounds(), compaction: "manual" }).pipe(
    Layer.provide(InMemoryEventLog.layer),
    Layer.provide(Layer.succeed(CurrentSummarizer, echo)),
  )
  const program = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const rows: Array<unknown> = []
    for (let round = 1; round <= 10; round++) {
      yield* memory.append("s", [Message.user(`question ${round}`), Message.assistant(`answer ${round}`)])
      const outcomes = yield* memory.settle("s")
      const context = yield* memory.context("s")
      rows.push([
        round,
        outcomes.map((one) => (one._tag === "Committed" ? one.started.parts : one)),
        context.layout,
        Message.text(context.messages[0]!),
      ])
    }
    return rows
  })
  const rows = await Effect.runPromise(program.pipe(Effect.provide(live)))
  console.log(JSON.stringify(rows, null, 1))
  expect(rows.length).toBe(10)
})
