/** Summaries asked for in the context of an agent: what a provider's prompt cache has of the questions. */
import { ChatAnthropic } from "@langchain/anthropic"
import { ChatOpenAI } from "@langchain/openai"
import { type ProviderServer, providerServer } from "@memfold/strict-providers"
import { createAgent, HumanMessage, tool } from "langchain"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { conversing, missesOf, ownPrompts } from "@memfold/harness/inContext"
import { createMemory } from "memfold"
import { memfold, summarizer } from "../src/index.js"

const lookUp = tool(async ({ request }) => request, {
  name: "lookUp",
  description: "Looks up what is known about a request.",
  schema: z.object({ request: z.string(), depth: z.number() }),
})

const openai = ({ openaiURL: baseURL }: ProviderServer, useResponsesApi: boolean) =>
  new ChatOpenAI({
    model: "gpt-6.2-sol",
    apiKey: "local",
    configuration: { baseURL },
    useResponsesApi,
    maxRetries: 0,
  })

const providers = [
  {
    name: "Anthropic",
    model: ({ anthropicURL: anthropicApiUrl }: ProviderServer) =>
      new ChatAnthropic({
        model: "claude-sonnet-5-5",
        apiKey: "local",
        anthropicApiUrl,
        maxTokens: 4_000,
        maxRetries: 0,
      }),
  },
  { name: "OpenAI Chat Completions", model: (server: ProviderServer) => openai(server, false) },
  { name: "OpenAI Responses", model: (server: ProviderServer) => openai(server, true) },
]

const systemPrompt = "Be brief."
const thread = { configurable: { thread_id: "chat" } }

describe("a summarizer that asks in context", () => {
  it.each(providers)("begins with all that the call before it sent: $name", async ({ model: make }) => {
    const server = await providerServer({ answer: conversing(7) })
    const model = make(server)
    await using memory = createMemory({
      store: "memory:",
      strategy: "rounds",
      settings: { fullContextTurns: 2, cachedContextTurns: 2 },
      compaction: { mode: "inline" },
      summarizer: summarizer({ model: model.bindTools([lookUp]), askInContext: { systemPrompt } }),
    })
    const agent = createAgent({ model, tools: [lookUp], systemPrompt, middleware: [memfold({ memory })] })
    for (let turn = 1; turn <= 20; turn++) {
      await agent.invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, thread)
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const misses = missesOf(server)
    expect(misses.length).toBeGreaterThan(3)
    expect(misses.filter((miss) => miss !== null)).toEqual([])
    expect(ownPrompts(server)).toEqual([])
    expect(await memory.summaries("chat")).toHaveLength(misses.length)
  })
})
