/** What a turn of an agent asks the store for. */
import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { type Answer, versions } from "@memfold/harness/aiSdkVersions"
import { type Statements, statementsOfTurns } from "@memfold/harness/statements"
import { Guard, Message } from "@memfold/core"
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

/** The model calls a tool, then a tool three times at once, and then answers. */
const inSteps = (request: number): Answer =>
  request % 3 === 2 ? says(request) : calling(request, 1 + 2 * (request % 3))

const schema = z.object({ answer: z.string() })

type Streamed = Awaited<ReturnType<Agent["stream"]>>

/** Reads a stream to its end. */
const streamed = async (agent: Agent, question: string, options: object = {}): Promise<Streamed> => {
  const stream = await agent.stream(question, { memory, ...options })
  await stream.consumeStream()
  return stream
}

/** A stream that ends when the model begins to speak. */
const aborted = async (agent: Agent, question: string): Promise<void> => {
  const stop = new AbortController()
  const stream = await agent.stream(question, { memory, abortSignal: stop.signal })
  for await (const { type } of stream.fullStream) if (type === "text-delta") stop.abort()
}

/** A question, and its answer: an append each, and a look at the head for the call of the model. */
const least = { appends: 2, heads: 1, pages: 0 }
/** A turn in three steps. */
const threeSteps = { appends: 4, heads: 3, pages: 0 }

/** The ways to ask an agent. Each call of a model is a look at the head, and what it says is an append. */
const ways: Readonly<Record<string, Way>> = {
  "a question and its answer": { says, takes: least },
  "an answer that streams": { says, ask: streamed, takes: least },
  "two steps with tools, one with three calls at once": { says: inSteps, takes: threeSteps },
  "two steps with tools that stream": { says: inSteps, ask: streamed, takes: threeSteps },
  "an answer in a structure": {
    says: (request) => ({ text: `{"answer":"${request}"}` }),
    ask: (agent, question) => agent.generate(question, { memory, structuredOutput: { schema } }),
    takes: least,
  },
  "an answer in a structure that streams": {
    says: (request) => ({ text: `{"answer":"${request}"}` }),
    ask: (agent, question) => streamed(agent, question, { structuredOutput: { schema } }),
    takes: least,
  },
  "a stream that is aborted": { says, ask: aborted, takes: least },
  "a stream that is aborted in its last step": { says: inSteps, ask: aborted, takes: threeSteps },
  "two questions at once": {
    says,
    ask: (agent, question) =>
      Promise.all(["a", "b"].map((name) => agent.generate(`${question} ${name}`, { memory }))),
    takes: { appends: 4, heads: 2, pages: 0 },
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

it("a message is read once for each write of a call: a guard sees it then, and when it is stored", async () => {
  const seen: Array<string> = []
  const beforeAppend: Guard.BeforeAppend = (message) => {
    seen.push(Message.text(message))
    return Guard.keep
  }
  await using own = createMemory({ store: "memory:", beforeAppend })
  const { model } = seven!.model(() => ({ text: "Answer." }))
  const agent = new Agent({
    id: "clerk",
    name: "Clerk",
    instructions: "Be brief.",
    model: loose(model as never),
    ...mastra(own).processors(),
  })
  await agent.generate("Question?", { memory })
  // The question is compared and stored; then both are compared, and the answer is stored.
  expect(seen).toEqual(["Question?", "Question?", "Question?", "Answer.", "Answer."])
})
