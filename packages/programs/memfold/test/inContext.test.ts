/** Summaries asked for in context, with the official clients: what a provider's prompt cache has of the questions. */
import Anthropic from "@anthropic-ai/sdk"
import { providerServer, type ProviderServer } from "@memfold/strict-providers"
import OpenAI from "openai"
import { describe, expect, it } from "vitest"
import { conversing, missesOf, ownPrompts } from "@memfold/harness/inContext"
import { summarizerInContext, createMemory, type GivenSummarizer } from "../src/index.js"

const parameters = { type: "object" as const, properties: { request: { type: "string" } } }
const settings = { fullContextTurns: 2, cachedContextTurns: 2 }
const shared = { store: "memory:", strategy: "rounds", settings, compaction: { mode: "inline" } } as const
const turns = Array.from({ length: 16 }, (_, turn) => ({
  role: "user" as const,
  content: `Question ${turn}?`,
}))

/** Talks through a server, and returns it. */
const talked = async (talk: (server: ProviderServer) => Promise<number>) => {
  const server = await providerServer({ answer: conversing(7) })
  const summaries = await talk(server)
  await server.close()
  return { server, summaries }
}

const anthropic = (summarizerOf: (inContext: GivenSummarizer) => GivenSummarizer = (one) => one) =>
  talked(async ({ anthropicURL: baseURL }) => {
    const client = new Anthropic({ apiKey: "local", baseURL, maxRetries: 0 })
    const tools = [{ name: "lookUp", input_schema: parameters }]
    const common = { model: "claude-sonnet-5-5", max_tokens: 4_000, tools }
    const inContext = summarizerInContext(
      "anthropic",
      async (messages, { signal }) => {
        const { content } = await client.messages.create({ ...common, ...messages }, { signal })
        return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")
      },
      { cacheControl: true },
    )
    await using memory = createMemory({ ...shared, format: "anthropic", summarizer: summarizerOf(inContext) })
    for (const question of turns) {
      await memory.append("chat", question)
      for (;;) {
        const { messages, prefix } = await memory.context("chat", { cacheControl: true })
        const { content } = await client.messages.create({ ...common, ...messages })
        const calls = content.filter((block) => block.type === "tool_use")
        const results = calls.map(({ id }) => ({
          type: "tool_result" as const,
          tool_use_id: id,
          content: "found",
        }))
        const answer = [{ role: "assistant" as const, content }]
        const all = calls.length === 0 ? answer : [...answer, { role: "user" as const, content: results }]
        await memory.append("chat", all, { prefix })
        if (calls.length === 0) break
      }
    }
    return (await memory.summaries("chat")).length
  })

const chatCompletions = () =>
  talked(async ({ openaiURL: baseURL }) => {
    const client = new OpenAI({ apiKey: "local", baseURL, maxRetries: 0 })
    const tools = [{ type: "function" as const, function: { name: "lookUp", parameters } }]
    const common = { model: "gpt-6.2-sol", tools }
    const inContext = summarizerInContext("openai", async (messages, { signal }) => {
      const { choices } = await client.chat.completions.create({ ...common, messages }, { signal })
      return choices[0]?.message.content ?? ""
    })
    await using memory = createMemory({ ...shared, summarizer: inContext })
    for (const question of turns) {
      await memory.append("chat", question)
      for (;;) {
        const { messages } = await memory.context("chat")
        const { choices } = await client.chat.completions.create({ ...common, messages })
        const { message } = choices[0]!
        const calls = message.tool_calls ?? []
        const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "found" }))
        await memory.append("chat", [message, ...results])
        if (calls.length === 0) break
      }
    }
    return (await memory.summaries("chat")).length
  })

const responses = () =>
  talked(async ({ openaiURL: baseURL }) => {
    const client = new OpenAI({ apiKey: "local", baseURL, maxRetries: 0 })
    const tools = [{ type: "function" as const, name: "lookUp", parameters, strict: false }]
    const common = { model: "gpt-6.2-sol", tools, store: false }
    const inContext = summarizerInContext(
      "openai-responses",
      async (messages, { signal }) => {
        const answer = await client.responses.create(
          { ...common, ...messages, instructions: "Be brief." },
          { signal },
        )
        return answer.output_text
      },
      { systemMessages: "apart" },
    )
    await using memory = createMemory({
      ...shared,
      format: "openai-responses",
      systemMessages: "apart",
      summarizer: inContext,
    })
    for (const question of turns) {
      await memory.append("chat", question)
      for (;;) {
        const { messages, prefix } = await memory.context("chat")
        const { output } = await client.responses.create({
          ...common,
          ...messages,
          instructions: "Be brief.",
        })
        const calls = output.filter((item) => item.type === "function_call")
        const results = calls.map(({ call_id }) => ({
          type: "function_call_output" as const,
          call_id,
          output: "found",
        }))
        await memory.append("chat", [...output, ...results], { prefix })
        if (calls.length === 0) break
      }
    }
    return (await memory.summaries("chat")).length
  })

describe("a question in context", () => {
  it.each([
    ["Anthropic Messages", anthropic],
    ["OpenAI Chat Completions", chatCompletions],
    ["OpenAI Responses", responses],
  ])("begins with all that the call before it sent: %s", async (_, talk) => {
    const { server, summaries } = await talk()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const misses = missesOf(server)
    expect(misses.length).toBeGreaterThan(3)
    expect(misses.filter((miss) => miss !== null)).toEqual([])
    expect(ownPrompts(server)).toEqual([])
    expect(summaries).toBe(misses.length)
  })

  it("sets no mark of the cache behind itself", async () => {
    const { server } = await anthropic()
    const question = server.received.find(({ body }) =>
      JSON.stringify(body).includes("This message comes from"),
    )
    const { messages = [] } = (question?.body ?? {}) as { messages?: ReadonlyArray<{ content: unknown }> }
    expect(JSON.stringify(messages.at(-1))).not.toContain("cache_control")
    expect(JSON.stringify(messages.slice(0, -1))).toContain("cache_control")
  })

  it("is a prompt of its own where no cache has the context", async () => {
    const asked: Array<boolean> = []
    const summarizer = summarizerInContext("openai", async (messages, { inContext }) => {
      asked.push(inContext)
      expect(messages.map(({ role }) => role)).toEqual(["system", "user"])
      return "They talked."
    })
    await using memory = createMemory({
      store: "memory:",
      strategy: "sliding-window",
      settings: { tailKeepSize: 4, compressionWindowSize: 4 },
      compaction: { mode: "manual" },
      summarizer,
    })
    // No model has answered yet.
    await memory.append("chat", turns)
    expect((await memory.compact("chat"))._tag).toBe("Committed")
    expect(asked).toEqual([false])
  })
})
