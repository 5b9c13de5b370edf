/** What a turn of an agent asks the store for. */
import { leastStatements, statementsOfTurns } from "@memfold/harness/statements"
import { Agent, run } from "@openai/agents"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { modelOf, serving } from "../test/agents.js"
import { openaiAgents } from "./index.js"

it("is one look at the head, and one append of the question and the answer", async () => {
  await using server = await serving(({ turn }) => ({ text: `Answer ${turn}.` }))
  const agent = new Agent({ name: "clerk", instructions: "Be brief.", model: modelOf(server) })
  const turns = await statementsOfTurns((store) => {
    const memory = createMemory({ store, compaction: { mode: "off" } })
    return (turn) => run(agent, `Question ${turn}?`, { session: openaiAgents(memory).session("chat") })
  })
  expect(turns).toEqual(leastStatements.map((turn) => ({ ...turn, appends: 1 })))
})
