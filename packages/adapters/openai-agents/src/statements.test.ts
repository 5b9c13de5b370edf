/** What a turn of an agent asks the store for. */
import { type Statements, statementsOfTurns } from "@memfold/harness/statements"
import type { Answering } from "@memfold/strict-providers"
import { Agent, run, tool } from "@openai/agents"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { z } from "zod"
import { modelOf, readAll, serving } from "../test/agents.js"
import { type MemfoldSession, openaiAgents } from "./index.js"

type Clerk = Agent<unknown, "text" | z.ZodObject<{ answer: z.ZodString }>>
type Ask = (agent: Clerk, question: string, session: MemfoldSession) => Promise<unknown>

interface Way {
  readonly answers?: Answering
  readonly isStructured?: boolean
  readonly ask: Ask
  readonly takes: Statements
}

/** The model calls the tool three times at once, and answers when it has the results. */
const inSteps: Answering = ({ afterResult, turn }) =>
  afterResult
    ? { text: `Answer ${turn}.` }
    : { calls: ["a", "b", "c"].map((id) => ({ name: "search", arguments: { id } })) }

const structured: Answering = ({ turn }) => ({ text: `{"answer":"${turn}"}` })

const running: Ask = (agent, question, session) => run(agent, question, { session })

const streaming: Ask = async (agent, question, session) =>
  readAll(await run(agent, question, { session, stream: true }))

/** A stream that ends when the model begins to speak. */
const aborting: Ask = async (agent, question, session) => {
  const stop = new AbortController()
  const stream = await run(agent, question, { session, stream: true, signal: stop.signal })
  for await (const event of stream)
    if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") stop.abort()
  await stream.completed.catch(() => {})
}

/** A look at the head for the run, and an append of the question and the answer, which the SDK hands over when the run ends. */
const least = { appends: 1, heads: 1, pages: 0 }

const ways: Readonly<Record<string, Way>> = {
  "a question and its answer": { ask: running, takes: least },
  "an answer that streams": { ask: streaming, takes: least },
  "three calls at once": { answers: inSteps, ask: running, takes: least },
  "three calls at once that stream": { answers: inSteps, ask: streaming, takes: least },
  "an answer in a structure": { answers: structured, isStructured: true, ask: running, takes: least },
  "an answer in a structure that streams": {
    answers: structured,
    isStructured: true,
    ask: streaming,
    takes: least,
  },
  "a stream that is aborted": { ask: aborting, takes: least },
  "a stream that is aborted behind its calls": { answers: inSteps, ask: aborting, takes: least },
  "two questions at once": {
    ask: (agent, question, session) =>
      Promise.all([running(agent, `${question} a`, session), running(agent, `${question} b`, session)]),
    takes: { appends: 2, heads: 2, pages: 0 },
  },
}

const search = tool({
  name: "search",
  description: "Searches.",
  parameters: z.object({ id: z.string() }),
  execute: async ({ id }) => `found ${id}`,
})

it.each(Object.entries(ways))(
  "a turn is no more than its appends and looks at the head: %s",
  async (
    _name,
    { answers = ({ turn }) => ({ text: `Answer ${turn}.` }), isStructured = false, ask, takes },
  ) => {
    await using server = await serving(answers)
    const agent = new Agent({
      name: "clerk",
      instructions: "Be brief.",
      model: modelOf(server),
      tools: [search],
      ...(isStructured ? { outputType: z.object({ answer: z.string() }) } : {}),
    }) as Clerk
    const turns = await statementsOfTurns((store) => {
      const memory = createMemory({ store, compaction: { mode: "off" } })
      return (turn) => ask(agent, `Question ${turn}?`, openaiAgents(memory).session("chat"))
    })
    expect(turns).toEqual(turns.map(() => takes))
  },
)
