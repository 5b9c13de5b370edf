/** What a turn of an agent asks the store for. */
import { AIMessage, createAgent, fakeModel, HumanMessage } from "langchain"
import { leastStatements, statementsOfTurns } from "@memfold/harness/statements"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { langchain } from "./index.js"

it("is one append of the question, one look at the head, and one append of the answer", async () => {
  const turns = await statementsOfTurns((store) => {
    const memory = createMemory({ store, compaction: { mode: "off" } })
    return (turn) =>
      createAgent({
        model: fakeModel().respond(new AIMessage(`Answer ${turn}.`)),
        middleware: [langchain(memory).middleware()],
      }).invoke(
        { messages: [new HumanMessage(`Question ${turn}?`)] },
        { configurable: { thread_id: "chat" } },
      )
  })
  expect(turns).toEqual(leastStatements)
})
