/** What a turn of an agent asks the store for. */
import { AIMessage, createAgent, fakeModel, HumanMessage, tool } from "langchain"
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

const called = { configurable: { thread_id: "chat" } }
const asked = (text: string) => ({ messages: [new HumanMessage(text)] })

interface Way {
  readonly ask: (memory: Memory.AnyMemory, turn: number) => Promise<unknown>
  readonly takes: Statements
}

const agentOf = (memory: Memory.AnyMemory, ...answers: ReadonlyArray<AIMessage | Error>) =>
  createAgent({
    model: answers.reduce((model, answer) => model.respond(answer), fakeModel()),
    tools: [search],
    middleware: [langchain(memory).middleware()],
  })

const answer = (turn: number) => new AIMessage(`Answer ${turn}.`)

/** The ways to ask an agent. Each call of a model is a look at the head, and what it says is an append. */
const ways: Readonly<Record<string, Way>> = {
  "a question and its answer": {
    ask: (memory, turn) => agentOf(memory, answer(turn)).invoke(asked(`Question ${turn}?`), called),
    takes: { appends: 2, heads: 1, pages: 0 },
  },
  "an answer that streams": {
    ask: async (memory, turn) => {
      const options = { ...called, streamMode: "messages" as const }
      const stream = await agentOf(memory, answer(turn)).stream(asked(`Question ${turn}?`), options)
      for await (const chunk of stream) expect(chunk).toBeDefined()
    },
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
