import type Anthropic from "@anthropic-ai/sdk"
import { jsonSchema, type ToolSet } from "ai"
import type OpenAI from "openai"
import { describe, expect, it } from "vitest"
import { createMemory, SlidingWindow } from "../index.js"

const strategy = SlidingWindow({ tailKeepSize: 4, compressionWindowSize: 4 })

/** A long conversation whose beginning is covered by a summary. */
const talk = [
  { role: "user" as const, content: "My order is KX-4471, and it goes to Graz." },
  { role: "assistant" as const, content: "I noted that down." },
  ...Array.from({ length: 30 }, (_, at) => ({
    role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: `Small talk number ${at}`,
  })),
]

const question = { role: "user" as const, content: "Where does order KX-4471 go?" }

describe("recall", () => {
  it("returns messages in the format of the memory", async () => {
    for (const format of ["openai", "anthropic", "openai-responses"] as const) {
      await using memory = createMemory({
        store: "memory:",
        format,
        strategy,
        compaction: { mode: "inline" },
      })
      await memory.append("s", talk)
      const found = await memory.recall("s", "kx-4471", { tokens: 100 })
      const first = found.messages.find(({ index }) => index === 0)
      expect(first).toMatchObject({ role: "user", text: talk[0]!.content, excerpt: false })
      expect(JSON.stringify(first?.message)).toContain("KX-4471")
      expect(found.tokens).toBeLessThanOrEqual(100)
    }
  })

  it("finds in all sessions of an owner, in every format", async () => {
    for (const format of ["openai", "anthropic", "openai-responses"] as const) {
      await using memory = createMemory({
        store: "memory:",
        format,
        strategy,
        compaction: { mode: "inline" },
      })
      await memory.append("s", talk, { owner: "ann" })
      await memory.append("t", { role: "user", content: "And where is KX-4471 now?" }, { owner: "ann" })
      await memory.append("u", { role: "user", content: "KX-4471 is mine!" }, { owner: "bob" })
      const found = await memory.recallOf("ann", "kx-4471", { tokens: 100 })
      const first = found.messages.find(({ index, session }) => index === 0 && session === "s")
      expect(first).toMatchObject({ role: "user", text: talk[0]!.content, excerpt: false })
      expect(JSON.stringify(first?.message)).toContain("KX-4471")
      expect(found.text).toContain("# Session t\n")
      expect(found.text).not.toContain("mine")
      expect(found.tokens).toBeLessThanOrEqual(100)
    }
  })

  it("adds to a context what fits the newest user message, in every format", async () => {
    for (const format of ["openai", "anthropic", "openai-responses"] as const) {
      await using memory = createMemory({
        store: "memory:",
        format,
        strategy,
        compaction: { mode: "inline" },
      })
      await memory.append("s", [...talk, question])
      const plain = await memory.context("s")
      const context = await memory.context("s", { recall: { tokens: 200 } })
      expect(JSON.stringify(plain.messages)).not.toContain("goes to Graz.\n")
      expect(JSON.stringify(context.messages)).toContain(
        "[0] user: My order is KX-4471, and it goes to Graz.",
      )
      expect(context.layout.map(({ section }) => section)).toContain("recalled")
      expect(context.tokens - plain.tokens).toBeLessThanOrEqual(200)
    }
  })
})

describe("tools", () => {
  it("have definitions that the official clients take", async () => {
    await using memory = createMemory({ store: "memory:" })
    const tools = memory.tools("s")
    const chat: Array<OpenAI.Chat.ChatCompletionTool> = tools.openai
    const responses: Array<OpenAI.Responses.Tool> = tools.responses
    const anthropic: Array<Anthropic.Tool> = tools.anthropic
    const sdk: ToolSet = tools.aiSdk((schema) => jsonSchema(schema))
    for (const list of [chat, responses, anthropic]) expect(list).toHaveLength(2)
    expect(Object.keys(sdk)).toEqual(["search_memory", "read_messages"])
  })

  it("answer the calls of a message, and their results are normal messages", async () => {
    await using memory = createMemory({ store: "memory:", strategy, compaction: { mode: "inline" } })
    await memory.append("s", [...talk, question])
    const call = (id: string, name: string, args: string) => ({
      id,
      type: "function" as const,
      function: { name, arguments: args },
    })
    const answer = {
      role: "assistant" as const,
      content: null,
      tool_calls: [
        call("a", "search_memory", '{"query":"KX-4471"}'),
        call("b", "read_messages", '{"from":0,"to":2}'),
        call("c", "read_messages", '{"from":-1}'),
        call("d", "weather", "{}"),
      ],
    }
    await memory.append("s", answer)
    const results = await memory.tools("s").answer(answer)
    expect(results).toMatchObject([
      { role: "tool", tool_call_id: "a" },
      { role: "tool", tool_call_id: "b" },
      { role: "tool", tool_call_id: "c" },
    ])
    const [search, read, wrong] = results.map((message) => JSON.stringify(message))
    expect(search).toContain("[0] user: My order is KX-4471, and it goes to Graz.")
    expect(read).toContain("[1] assistant: I noted that down.")
    expect(read).not.toContain("[2]")
    expect(wrong).toContain("Error: the arguments")
    await memory.append("s", [...results, { role: "tool", tool_call_id: "d", content: "rain" }])
    expect(JSON.stringify((await memory.context("s")).messages)).toContain("goes to Graz")
    // What the tools returned is not found again in place of what was said.
    const again = await memory.recall("s", "KX-4471")
    expect(again.messages.filter(({ text }) => text.includes("Recalled from earlier"))).toEqual([])
  })

  it("answer in the format of Anthropic, and for the AI SDK", async () => {
    await using memory = createMemory({
      store: "memory:",
      format: "anthropic",
      strategy,
      compaction: { mode: "inline" },
    })
    await memory.append("s", [...talk, question])
    const tools = memory.tools("s")
    const answer = {
      role: "assistant" as const,
      content: [{ type: "tool_use" as const, id: "a", name: "search_memory", input: { query: "KX-4471" } }],
    }
    await memory.append("s", answer)
    const results = await tools.answer(answer)
    expect(results).toMatchObject([{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }])
    await memory.append("s", results)
    expect(await tools.answer({ role: "assistant", content: "Nothing." })).toEqual([])
    expect(await tools.call("weather", {})).toBeNull()
    const { search_memory: search } = tools.aiSdk((schema) => jsonSchema(schema))
    expect(await search?.execute({ query: "kx-4471" })).toContain("goes to Graz")
    expect(await search?.execute({ query: "giraffe" })).toContain("Nothing was found")
  })
})
