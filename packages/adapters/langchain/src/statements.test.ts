/** What a turn of an agent asks the store for. */
import { AIMessage, createAgent, fakeModel, HumanMessage, tool, toolStrategy } from "langchain"
import { type Statements, statementsOfTurns } from "@memfold/harness/statements"
import type { Memory } from "@memfold/core"
import { createMemory } from "memfold"
import { expect, it } from "vitest"
import { z } from "zod"
import { langchain } from "./index.js"

const search = tool(({ id }: { id: string }) => `found ${id}`, {
  name: "search",
  description: "Searches.",
  schema: z.object({ id: z.string() }),
})

const calling = (turn: number, count: number) =>
  new AIMessage({
    content: "",
    tool_calls: Array.from({ length: count }, (_, at) => ({
      type: "tool_call" as const,
      name: "search",
      args: { id: String(at) },
      id: `call ${turn}.${count}.${at}`,
    })),
  })

/** An answer in a structure is the call of a tool that stands for it. */
const structured = (turn: number) =>
  new AIMessage({
    content: "",
    tool_calls: [
      { type: "tool_call", name: "extract-1", args: { answer: String(turn) }, id: `call ${turn}` },
    ],
  })

const called = { configurable: { thread_id: "chat" } }
const asked = (text: string) => ({ messages: [new HumanMessage(text)] })

interface Way {
  readonly ask: (memory: Memory.AnyMemory, turn: number) => Promise<unknown>
  readonly takes: Statements
}

const played = (answers: ReadonlyArray<AIMessage | Error>) =>
  answers.reduce((model, answer) => model.respond(answer), fakeModel())

const agentOf = (memory: Memory.AnyMemory, ...answers: ReadonlyArray<AIMessage | Error>) =>
  createAgent({
    model: played(answers),
    tools: [search],
    middleware: [langchain(memory).middleware()],
  })

/** Reads the stream of an agent. */
const streamed = async (
  agent: ReturnType<typeof agentOf>,
  question: string,
  onChunk: () => void = () => {},
  signal?: AbortSignal,
) => {
  const options = { ...called, streamMode: "messages" as const, ...(signal === undefined ? {} : { signal }) }
  for await (const [chunk] of await agent.stream(asked(question), options))
    if (AIMessage.isInstance(chunk)) onChunk()
}

/** A stream that ends when the model has said something. */
const aborted = async (agent: ReturnType<typeof agentOf>, question: string) => {
  const stop = new AbortController()
  await expect(streamed(agent, question, () => stop.abort(), stop.signal)).rejects.toThrow(/abort/iu)
}

const answer = (turn: number) => new AIMessage(`Answer ${turn}.`)

/** The ways to ask an agent. Each call of a model is a look at the head, and what it says is an append. */
const ways: Readonly<Record<string, Way>> = {
  "a question and its answer": {
    ask: (memory, turn) => agentOf(memory, answer(turn)).invoke(asked(`Question ${turn}?`), called),
    takes: { appends: 2, heads: 1, pages: 0 },
  },
  "an answer that streams": {
    ask: (memory, turn) => streamed(agentOf(memory, answer(turn)), `Question ${turn}?`),
    takes: { appends: 2, heads: 1, pages: 0 },
  },
  "two steps with tools that stream": {
    ask: (memory, turn) =>
      streamed(agentOf(memory, calling(turn, 1), calling(turn, 3), answer(turn)), `Question ${turn}?`),
    takes: { appends: 4, heads: 3, pages: 0 },
  },
  "a stream that is aborted": {
    ask: (memory, turn) => aborted(agentOf(memory, answer(turn)), `Question ${turn}?`),
    takes: { appends: 1, heads: 1, pages: 0 },
  },
  "an answer in a structure": {
    ask: (memory, turn) =>
      createAgent({
        model: played([structured(turn)]),
        tools: [search],
        responseFormat: toolStrategy(z.object({ answer: z.string() })),
        middleware: [langchain(memory).middleware()],
      }).invoke(asked(`Question ${turn}?`), called),
    takes: { appends: 2, heads: 1, pages: 0 },
  },
  "two steps with tools, one with three calls at once": {
    ask: (memory, turn) =>
      agentOf(memory, calling(turn, 1), calling(turn, 3), answer(turn)).invoke(
        asked(`Question ${turn}?`),
        called,
      ),
    takes: { appends: 4, heads: 3, pages: 0 },
  },
  "two questions at once": {
    ask: (memory, turn) =>
      Promise.all(
        ["a", "b"].map((name) =>
          agentOf(memory, answer(turn)).invoke(asked(`Question ${turn} ${name}?`), called),
        ),
      ),
    takes: { appends: 4, heads: 2, pages: 0 },
  },
  "a model that fails": {
    ask: (memory, turn) =>
      expect(agentOf(memory, new Error("down")).invoke(asked(`Question ${turn}?`), called)).rejects.toThrow(
        "down",
      ),
    takes: { appends: 1, heads: 1, pages: 0 },
  },
}

it.each(Object.entries(ways))(
  "a turn is no more than its appends and looks at the head: %s",
  async (_name, way) => {
    const turns = await statementsOfTurns((store) => {
      const memory = createMemory({ store, compaction: { mode: "off" } })
      return (turn) => way.ask(memory, turn)
    })
    expect(turns).toEqual(turns.map(() => way.takes))
  },
)

it("a turn behind another process reads what that has written, and no more", async () => {
  const turns = await statementsOfTurns((store) => {
    const open = () => createMemory({ store, compaction: { mode: "off" } })
    const processes = [open(), open()]
    return (turn) => ways["a question and its answer"]!.ask(processes[turn % 2]!, turn)
  })
  // The write that the store refuses, a look at what is new for it and for the page, and the turn.
  expect(turns).toEqual(turns.map(() => ({ appends: 3, heads: 3, pages: 2 })))
})
