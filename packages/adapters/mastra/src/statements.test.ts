/** What a turn of an agent asks the store for. */
import { Agent } from "@mastra/core/agent"
import { versions } from "@memfold/harness/aiSdkVersions"
import { leastStatements, statementsOfTurns } from "@memfold/harness/statements"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { loose } from "../test/loose.js"
import { mastra } from "./index.js"

const [, , seven] = versions

it("is one append of the question, one look at the head, and one append of the answer", async () => {
  const turns = await statementsOfTurns((store) => {
    const memory = createMemory({ store, compaction: { mode: "off" } })
    const { model } = seven!.model((_prompt, request) => ({ text: `Answer ${request}.` }))
    const agent = new Agent({
      id: "clerk",
      name: "Clerk",
      instructions: "Be brief.",
      model: loose(model as never),
      ...mastra(memory).processors(),
    })
    return (turn) => agent.generate(`Question ${turn}?`, { memory: { thread: "chat", resource: "ann" } })
  })
  expect(turns).toEqual(leastStatements)
})
