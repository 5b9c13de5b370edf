/** A session in turn through several adapters. */
import { AIMessage, HumanMessage } from "@langchain/core/messages"
import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { createAgent, fakeModel } from "langchain"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { aiSdk } from "@memfold/ai-sdk"
import { versions } from "@memfold/harness/aiSdkVersions"
import { memfold as langchain } from "@memfold/langchain"
import { createMemory } from "memfold"
import { loose } from "../test/loose.js"
import { mastra } from "./index.js"

describe("a session", () => {
  it("goes from Chat Completions to Mastra, to the AI SDK, to LangChain and back", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    await memory.append("chat", [
      { role: "user", content: "one" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "search", arguments: '{"query":"one"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "found" },
      { role: "assistant", content: "Yes." },
    ])
    const search = createTool({
      id: "search",
      description: "Searches.",
      inputSchema: z.object({ query: z.string() }),
      execute: async ({ query }) => ({ found: query }),
    })
    const [, , seven] = versions
    const talk = async (text: string, id: string) => {
      const { model, prompts } = seven!.model((prompt) =>
        prompt.at(-1)?.role === "tool"
          ? { text: `heard ${text}` }
          : { calls: [{ id, input: { query: text } }] },
      )
      const agent = new Agent({
        id: "support",
        name: "Support",
        instructions: "Be brief.",
        model: loose(model as never),
        tools: { search },
        ...mastra(memory).processors(),
      })
      await agent.generate(text, { memory: { thread: "chat", resource: "ann" } })
      return prompts[0]!.map(({ role }) => role)
    }
    const turn = ["user", "assistant", "tool", "assistant"]
    expect(await talk("two", "c2")).toEqual(["system", ...turn, "user"])

    const chat = aiSdk(memory).session("chat")
    const { messages } = await chat.messages("three")
    expect(messages.map(({ role }) => role)).toEqual([...turn, ...turn, "user"])
    expect(messages[6]).toMatchObject({
      content: [{ toolCallId: "c2", output: { type: "json", value: { found: "two" } } }],
    })

    const model = fakeModel().respond(new AIMessage("heard three"))
    const agent = createAgent({ model, middleware: [langchain({ memory })] })
    await agent.invoke({ messages: [new HumanMessage("and four")] }, { configurable: { thread_id: "chat" } })
    expect(model.calls[0]!.messages.map(({ type }) => type).slice(4, 8)).toEqual([
      "human",
      "ai",
      "tool",
      "ai",
    ])

    expect(await talk("five", "c5")).toEqual([
      "system",
      ...turn,
      ...turn,
      "user",
      "user",
      "assistant",
      "user",
    ])
    const { prompt } = await mastra(memory).session("chat").context()
    expect(prompt).toHaveLength(15)
    const all = await mastra(memory).session("chat").messages()
    expect(all.map(({ role }) => role).join(" ")).toBe(
      "user assistant user assistant user user assistant user assistant",
    )
    expect(all.map(({ createdAt }) => createdAt.getTime())).toEqual(
      all.map(({ createdAt }) => createdAt.getTime()).toSorted((one, other) => one - other),
    )
  })
})
