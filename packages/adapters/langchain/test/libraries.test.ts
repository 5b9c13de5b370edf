/** A session that is edited through one library after the other, each time in a new process, against the strict server. */
import { ChatOpenAI } from "@langchain/openai"
import { Responses } from "@memfold/openai"
import { MemfoldSession } from "@memfold/openai-agents"
import { providerServer } from "@memfold/strict-providers"
import { Agent, OpenAIResponsesModel, run, setTracingDisabled } from "@openai/agents"
import { createAgent, HumanMessage } from "langchain"
import { createMemory } from "memfold"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI from "openai"
import { expect, it } from "vitest"
import { memfold } from "../src/index.js"

setTracingDisabled(true)

const name = "gpt-6.2-sol"

it("each library goes on where another one has gone back, and returns", async () => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-libraries-"))
  const server = await providerServer({ answer: ({ turn }) => ({ thinking: "Hm.", text: `answer ${turn}` }) })
  const client = new OpenAI({ apiKey: "local", baseURL: server.openaiURL, maxRetries: 0 })
  const open = () =>
    createMemory({
      store: `sqlite:${join(folder, "chats.db")}`,
      format: "openai-responses",
      compaction: { mode: "off" },
    })
  type Memory = ReturnType<typeof open>
  const inProcess = async <A>(work: (memory: Memory) => Promise<A>): Promise<A> => {
    await using memory = open()
    return await work(memory)
  }

  const responses = (input: string, previousResponseId?: string) =>
    inProcess(async (memory) => {
      await Responses.append(memory, "chat", input, { previousResponseId })
      const { messages, prefix } = await memory.context("chat")
      const include = ["reasoning.encrypted_content" as const]
      const answer = await client.responses.create({ model: name, input: messages, store: false, include })
      await memory.append("chat", answer, { prefix })
      return answer.id
    })
  const langchain = (content: string, id: string) =>
    inProcess(async (memory) => {
      const model = new ChatOpenAI({
        model: name,
        apiKey: "local",
        configuration: { baseURL: server.openaiURL },
        useResponsesApi: true,
        zdrEnabled: true,
        maxRetries: 0,
      })
      const agent = createAgent({ model, middleware: [memfold({ memory })] })
      const messages = [new HumanMessage({ content, id })]
      await agent.invoke({ messages }, { configurable: { thread_id: "chat" } })
    })
  const agents = (input: string, { instead = false } = {}) =>
    inProcess(async (memory) => {
      const session = new MemfoldSession(memory, "chat")
      // The newest question and its answer.
      if (instead) while (((await session.popItem()) as { role?: string }).role !== "user");
      const agent = new Agent({
        name: "clerk",
        model: new OpenAIResponsesModel(client as never, name),
        modelSettings: { store: false, providerData: { include: ["reasoning.encrypted_content"] } },
      })
      await run(agent, input, { session })
    })
  /** What the model got the last time, and its answer. */
  const conversation = () => {
    const items = server.received.at(-1)!.body["input"] as ReadonlyArray<{ role?: string; content?: unknown }>
    const sent = items.flatMap(({ role, content }) => {
      if (role === undefined) return []
      return Array.isArray(content) ? content.map(({ text }: { text: string }) => text) : [content]
    })
    return [...sent, `answer ${server.received.length - 1}`]
  }
  const stored = () =>
    inProcess(async (memory) =>
      (await memory.neutral.messages("chat")).messages.map(({ parts }) =>
        parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
      ),
    )

  try {
    const first = await responses("q1")
    await responses("q2", first)
    await langchain("q3", "3")
    await agents("q4")
    const start = ["q1", "answer 0", "q2", "answer 1", "q3", "answer 2"]
    expect(conversation()).toEqual([...start, "q4", "answer 3"])
    await agents("q4, please", { instead: true })
    expect(conversation()).toEqual([...start, "q4, please", "answer 4"])
    expect(await stored()).toEqual(conversation())
    // The answer again, in front of what the other library said behind it.
    await langchain("q3", "3")
    expect(conversation()).toEqual([...start.slice(0, 5), "answer 5"])
    await responses("another q2", first)
    expect(conversation()).toEqual(["q1", "answer 0", "another q2", "answer 6"])
    await agents("q3")
    expect(conversation()).toEqual(["q1", "answer 0", "another q2", "answer 6", "q3", "answer 7"])
    expect(await stored()).toEqual(conversation())
    await inProcess(async (memory) => {
      for (const { id, total } of await memory.branches("chat")) {
        const { messages } = await memory.neutral.messages("chat", { branch: id, limit: 2 })
        if (total === 8 && JSON.stringify(messages).includes("please")) await memory.checkout("chat", id)
      }
    })
    await langchain("q5", "5")
    expect(conversation()).toEqual([...start, "q4, please", "answer 4", "q5", "answer 8"])
    expect(await stored()).toEqual(conversation())
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  } finally {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
