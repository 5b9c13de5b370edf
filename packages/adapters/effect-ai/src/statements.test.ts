/** What a turn of an agent asks the store for. */
import { LanguageModel } from "@effect/ai"
import { leastStatements, statementsOfTurns } from "@memfold/harness/statements"
import { Effect, Stream } from "effect"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { MemfoldChat } from "./index.js"

it("is one append of the question, one look at the head, and one append of the answer", async () => {
  const turns = await statementsOfTurns((store) => {
    const memory = createMemory({ store, compaction: { mode: "off" } })
    return (turn) =>
      Effect.gen(function* () {
        const chat = yield* MemfoldChat.make(memory, "chat")
        yield* chat.generateText({ prompt: `Question ${turn}?` })
      }).pipe(
        Effect.provideServiceEffect(
          LanguageModel.LanguageModel,
          LanguageModel.make({
            generateText: () => Effect.succeed([{ type: "text", text: `Answer ${turn}.` }]),
            streamText: () => Stream.empty,
          }),
        ),
        Effect.runPromise,
      )
  })
  expect(turns).toEqual(leastStatements)
})
