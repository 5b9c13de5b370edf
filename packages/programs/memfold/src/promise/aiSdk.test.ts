/** The AI SDK refuses system messages among the messages, so a summary has to stand apart. */
import { generateText, InvalidPromptError, type ModelMessage } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { describe, expect, it } from "vitest"
import { createMemory, SummaryMode, Keep, Strategy, Trigger } from "../index.js"

const settings = {
  store: "memory:",
  summarizer: "echo",
  compaction: { mode: "inline" },
  strategy: Strategy.make({
    name: "all",
    when: Trigger.backlog({ messages: 1 }),
    keep: Keep.lastMessages(1),
    summaryMode: SummaryMode.rolling,
  }),
} as const

const chat = [
  { role: "user" as const, content: "one" },
  { role: "assistant" as const, content: "two" },
  { role: "user" as const, content: "three" },
]

const model = () =>
  new MockLanguageModelV4({
    doGenerate: {
      content: [{ type: "text", text: "four" }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    },
  })

describe("a context with a summary, given to the AI SDK", () => {
  it("is refused with its system messages among the others", async () => {
    await using memory = createMemory(settings)
    await memory.append("chat", chat)
    const { messages } = await memory.context("chat")
    await expect(
      generateText({ model: model(), messages: messages as ReadonlyArray<unknown> as Array<ModelMessage> }),
    ).rejects.toSatisfy(InvalidPromptError.isInstance)
  })

  it("is taken with them apart", async () => {
    await using memory = createMemory({ ...settings, systemMessages: "apart" })
    await memory.append("chat", chat)
    const { system = "", messages } = (await memory.context("chat")).messages
    const asked = model()
    const { text } = await generateText({
      model: asked,
      instructions: system,
      messages: messages as ReadonlyArray<unknown> as Array<ModelMessage>,
    })
    expect(text).toBe("four")
    expect(asked.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(["system", "user"])
  })
})
