/** What a turn of an agent asks the store for. */
import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { type Answer, versions } from "@memfold/harness/aiSdkVersions"
import { type Statements, statementsOfTurns } from "@memfold/harness/statements"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { z } from "zod"
import { loose } from "../test/loose.js"
import { mastra } from "./index.js"

const [, , seven] = versions

const search = createTool({
  id: "search",
  description: "Searches.",
  inputSchema: z.object({ id: z.string() }),
  execute: async () => "found",
})

const calling = (request: number, count: number): Answer => ({
  calls: Array.from({ length: count }, (_, at) => ({
    id: `call ${request}.${at}`,
    input: { id: String(at) },
  })),
})

const memory = { thread: "chat", resource: "ann" }

interface Way {
  /** What the model says, by the number of the request. */
  readonly says: (request: number) => Answer
  readonly ask?: (agent: Agent, question: string) => Promise<unknown>
  readonly takes: Statements
}

const says = (request: number): Answer => ({ text: `Answer ${request}.` })

/** The ways to ask an agent. Each call of a model is a look at the head, and what it says is an append. */
const ways: Readonly<Record<string, Way>> = {
  "a question and its answer": { says, takes: { appends: 2, heads: 1, pages: 0 } },
  "an answer that streams": {
    says,
    ask: async (agent, question) => (await agent.stream(question, { memory })).consumeStream(),
    takes: { appends: 2, heads: 1, pages: 0 },
  },
  "two steps with tools, one with three calls at once": {
    says: (request) => (request % 3 === 2 ? says(request) : calling(request, 1 + 2 * (request % 3))),
    takes: { appends: 4, heads: 3, pages: 0 },
  },
  "an answer in a structure": {
    says: (request) => ({ text: `{"answer":"${request}"}` }),
    ask: (agent, question) =>
      agent.generate(question, {
        memory,
        structuredOutput: { schema: z.object({ answer: z.string() }) },
      }),
    takes: { appends: 2, heads: 1, pages: 0 },
  },
}

it.each(Object.entries(ways))(
  "a turn is no more than its appends and looks at the head: %s",
  async (_name, { says: script, takes, ask = (agent, question) => agent.generate(question, { memory }) }) => {
    const turns = await statementsOfTurns((store) => {
      const { model } = seven!.model((_prompt, request) => script(request))
      const agent = new Agent({
        id: "clerk",
        name: "Clerk",
        instructions: "Be brief.",
        model: loose(model as never),
        tools: { search },
        ...mastra(createMemory({ store, compaction: { mode: "off" } })).processors(),
      })
      return (turn) => ask(agent, `Question ${turn}?`)
    })
    expect(turns).toEqual(turns.map(() => takes))
  },
)
