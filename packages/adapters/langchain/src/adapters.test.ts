/** A session in turn through several adapters. */
import { AIMessage, HumanMessage } from "@langchain/core/messages"
import { generateText } from "ai"
import { createAgent, fakeModel } from "langchain"
import { describe, expect, it } from "vitest"
import { aiSdk } from "@memfold/ai-sdk"
import { search, versions } from "@memfold/harness/aiSdkVersions"
import { createMemory } from "memfold"
import { langchain, MemfoldChatMessageHistory } from "./index.js"

describe("a session", () => {
  it("goes from Chat Completions to LangChain, to the AI SDK and back", async () => {
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    await memory.append("chat", [
      { role: "system", content: "Be brief." },
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
    const talk = async (text: string) => {
      const model = fakeModel().respond(new AIMessage(`heard ${text}`))
      const agent = createAgent({ model, middleware: [langchain(memory).middleware()] })
      await agent.invoke({ messages: [new HumanMessage(text)] }, { configurable: { thread_id: "chat" } })
      return model.calls[0]!.messages.map(({ type }) => type)
    }
    const before = ["system", "human", "ai", "tool", "ai", "human"]
    expect(await talk("two")).toEqual(before)
    const [, , seven] = versions
    const chat = aiSdk(memory).session("chat")
    const { model } = seven!.model((prompt) =>
      prompt.at(-1)?.role === "tool"
        ? { text: "found" }
        : { reasoning: "Hm.", calls: [{ id: "c3", input: { query: "three" } }] },
    )
    const result = await generateText({
      model,
      tools: { search },
      ...(await chat.messages("three")),
      prepareStep: chat.prepareStep,
      stopWhen: seven!.steps(3),
    })
    await chat.onEnd(result)
    expect(await talk("four")).toEqual([...before, "ai", "human", "ai", "tool", "ai", "human"])
    expect((await memory.context("chat")).messages).toHaveLength(13)
    const { layout } = await new MemfoldChatMessageHistory({
      memory,
      session: "chat",
      provider: "openai",
    }).context()
    // The reasoning of the other model, which only Anthropic reads.
    expect(layout.filter(({ section }) => section === "unsupported")).toMatchObject([
      { from: 8, to: 9, parts: ["reasoning"] },
    ])
  })
})
