/**
 * Failures of LangChain's own `summarizationMiddleware`, as the same script with it and with memfold: what the model gets at
 * the end.
 */
import { MemorySaver } from "@langchain/langgraph"
import type { Memory } from "@memfold/core"
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  fakeModel,
  HumanMessage,
  summarizationMiddleware,
  tool,
  ToolMessage,
} from "langchain"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemory } from "memfold"
import { loose } from "./loose.js"
import { memfold, MemfoldChatMessageHistory, summarizer } from "../src/index.js"

const thread = { configurable: { thread_id: "chat" } }
const search = tool(async ({ query }) => `found ${query}`, {
  name: "search",
  description: "Searches.",
  schema: z.object({ query: z.string() }),
})

type Model = ReturnType<typeof fakeModel>
type Answers = (model: Model, turn: number) => void

const answers: Answers = (model, turn) => void model.respond(new AIMessage(`This is answer ${turn}.`))

/** A model that summarizes: what it says each time, or an error. */
const summarizing = (say: (prompt: string) => AIMessage | Error): Model => {
  const model = fakeModel()
  for (let call = 0; call < 200; call++) {
    model.respond((messages) => say(messages.map(({ text }) => text).join("\n")))
  }
  return model
}

interface Script {
  readonly turns: number
  readonly question: (turn: number) => string
  readonly answer?: Answers
  readonly summary: Model
  /** How many messages `summarizationMiddleware` keeps; 6 by default. */
  readonly keep?: number
  /** What was said before, in the first call. */
  readonly before?: ReadonlyArray<BaseMessage>
}

/** What the model got in its last call. */
const played = async (
  { turns, question, answer = answers, before = [] }: Script,
  middleware: NonNullable<Parameters<typeof createAgent>[0]["middleware"]>[number],
  checkpointer?: MemorySaver,
): Promise<ReadonlyArray<BaseMessage>> => {
  const model = fakeModel()
  for (let turn = 1; turn <= turns; turn++) answer(model, turn)
  const agent = createAgent({
    model,
    tools: [search],
    middleware: [middleware],
    ...(checkpointer ? { checkpointer } : {}),
  })
  for (let turn = 1; turn <= turns; turn++) {
    const given = turn === 1 ? before : []
    await agent.invoke({ messages: [...given, new HumanMessage(question(turn))] }, thread)
  }
  return model.calls.at(-1)!.messages
}

const withTheirs = (script: Script) =>
  played(
    script,
    loose(summarizationMiddleware, {
      model: script.summary,
      trigger: { messages: 12 },
      keep: { messages: script.keep ?? 6 },
    }),
    new MemorySaver(),
  )

const withOurs = async (script: Script) => {
  const memory = createMemory({
    store: "memory:",
    strategy: "rounds",
    settings: { fullContextTurns: 3, cachedContextTurns: 3 },
    compaction: { mode: "inline" },
    summarizer: summarizer({ model: script.summary }),
  })
  return { memory, sent: await played(script, memfold({ memory })) }
}

const said = (messages: ReadonlyArray<BaseMessage>): string => messages.map(({ text }) => text).join("\n")
const questions = (messages: ReadonlyArray<BaseMessage>) =>
  messages.filter((one) => HumanMessage.isInstance(one)).map(({ text }) => text)
const logged = async (memory: Memory.AnyMemory) =>
  new MemfoldChatMessageHistory({ memory, session: "chat" }).allMessages()

/** The fact of the first turn, which only a summary can still say. */
const question = (turn: number) =>
  turn === 1 ? "My order is KX-4471." : `This is question ${turn}, isn't it?`

describe("a summarizer that fails (langchain#38867)", () => {
  const script = () => ({ turns: 20, question, summary: summarizing(() => new Error("429: quota exceeded")) })

  it("memfold: the messages stay, and the error is nowhere", async () => {
    const { memory, sent } = await withOurs(script())
    expect(said(sent)).not.toContain("quota exceeded")
    expect(questions(sent)).toEqual(Array.from({ length: 20 }, (_, index) => question(index + 1)))
    expect(await memory.summaries("chat")).toEqual([])
    await memory.close()
  })

  it("summarizationMiddleware: the text of the error is the summary, and the messages are gone", async () => {
    const sent = await withTheirs(script())
    expect(said(sent)).toContain("Error generating summary: Error: 429: quota exceeded")
    expect(said(sent)).not.toContain("KX-4471")
  })
})

describe("an input of the summarizer above 4,000 tokens", () => {
  // Each turn is about 1,500 tokens, and its number is its only mark.
  const long = (turn: number) =>
    `Turn ${turn}: order KX-${1_000 + turn}. ${"All of it is about the same matter. ".repeat(170)}`
  const echo = () =>
    summarizing((prompt) => new AIMessage([...new Set(prompt.match(/KX-\d{4}/gu) ?? [])].join(", ")))
  const orders = (messages: ReadonlyArray<BaseMessage>) => new Set(said(messages).match(/KX-\d{4}/gu) ?? [])

  it("memfold: every message is in a summary or in the context", async () => {
    const { memory, sent } = await withOurs({ turns: 20, question: long, summary: echo() })
    expect((await memory.summaries("chat")).length).toBeGreaterThan(1)
    expect(orders(sent).size).toBe(20)
    await memory.close()
  })

  it("summarizationMiddleware: what was cut off is in neither", async () => {
    const sent = await withTheirs({ turns: 20, question: long, summary: echo() })
    expect(orders(sent).size).toBeLessThan(12)
    expect(said(sent)).not.toContain("KX-1001")
  })
})

describe("a message above the limit of the summarizer's input (langchain#39261)", () => {
  // It is the last one of the first seven, which are to be summarized; as one word, it cannot be cut.
  const file = (turn: number) => (turn === 4 ? "x".repeat(60_000) : question(turn))
  const summary = () =>
    summarizing(
      (prompt) => new AIMessage(prompt.includes("KX-4471") ? "The order is KX-4471." : "Questions."),
    )
  const script = () => ({ turns: 7, question: file, summary: summary() })

  it("memfold: the summary says what was said", async () => {
    const { memory, sent } = await withOurs(script())
    expect((await memory.summaries("chat")).length).toBeGreaterThan(0)
    expect(said(sent)).toContain("The order is KX-4471.")
    await memory.close()
  })

  it("summarizationMiddleware: a placeholder is the summary, and the model was never asked", async () => {
    const asked = script()
    const sent = await withTheirs(asked)
    expect(said(sent)).toContain("Previous conversation was too long to summarize.")
    expect(said(sent)).not.toContain("KX-4471")
    expect(asked.summary.callCount).toBe(0)
  })
})

describe("replacement patterns in what was said", () => {
  const pattern = "The price is $& or $` or $' in the list of prices that I have here."
  const prompts: Array<string> = []
  const noting = () =>
    summarizing((prompt) => {
      prompts.push(prompt)
      return new AIMessage("Prices.")
    })
  const script = () => ({ turns: 12, question: () => pattern, summary: noting() })

  it("memfold: the prompt has them as they are", async () => {
    prompts.length = 0
    const { memory } = await withOurs(script())
    expect(prompts.length).toBeGreaterThan(0)
    for (const prompt of prompts) expect(prompt).toContain(pattern)
    await memory.close()
  })

  it("summarizationMiddleware: they put the prompt into itself", async () => {
    prompts.length = 0
    await withTheirs(script())
    expect(prompts.length).toBeGreaterThan(0)
    expect(prompts[0]).not.toContain(pattern)
    expect(prompts[0]!.split("Context Extraction Assistant").length).toBeGreaterThan(2)
  })
})

/** The results without a call before them, which providers answer with HTTP 400. */
const orphans = (messages: ReadonlyArray<BaseMessage>) => {
  const called = new Set<string>()
  return messages.filter((one) => {
    if (AIMessage.isInstance(one)) for (const { id } of one.tool_calls ?? []) called.add(id ?? "")
    return ToolMessage.isInstance(one) && !called.has(one.tool_call_id)
  })
}

describe("calls and their results (langchain#38352)", () => {
  const called = (id: string) =>
    new AIMessage({ content: "", tool_calls: [{ id, name: "search", args: { query: id } }] })
  const answered = (id: string) => new ToolMessage({ tool_call_id: id, content: `found ${id}` })
  // Two answers with calls, and then their results: as two requests at once leave them in one state.
  const before = [
    new HumanMessage("Both?"),
    called("a"),
    called("b"),
    answered("a"),
    answered("b"),
    new AIMessage("Both."),
  ]
  const script = (turns: number, keep: number) => ({
    turns,
    keep,
    before,
    question,
    summary: summarizing(() => new AIMessage("Orders.")),
  })

  it("memfold: no context has a result without its call", async () => {
    for (let turns = 1; turns <= 6; turns++) {
      const { memory, sent } = await withOurs(script(turns, 6))
      expect(orphans(sent)).toEqual([])
      expect((await logged(memory)).filter((one) => ToolMessage.isInstance(one))).toHaveLength(2)
      await memory.close()
    }
  })

  it("summarizationMiddleware: keeps a result, and summarizes its call away", async () => {
    const found: Array<number> = []
    for (let keep = 6; keep <= 11; keep++) {
      found.push(orphans(await withTheirs(script(4, keep))).length)
    }
    expect(Math.max(...found)).toBeGreaterThan(0)
  })
})
