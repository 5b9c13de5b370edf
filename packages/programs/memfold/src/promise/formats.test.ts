/** What goes into a memory in a provider's format comes out of a context as it went in. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { createMemory, SummaryMode, Keep, Strategy, Trigger } from "../index.js"

const cached = { cache_control: { type: "ephemeral" } }

describe("a tool result of several parts", () => {
  it("comes out of a context of Chat Completions as it went in", async () => {
    await using memory = createMemory({ store: "memory:", extraFields: ["cache_control"] })
    const chat = [
      { role: "user" as const, content: "Weather in Graz and Linz?" },
      {
        role: "assistant" as const,
        content: null,
        tool_calls: ["a", "b"].map((id) => ({
          id,
          type: "function" as const,
          function: { name: "weather", arguments: "{}" },
        })),
      },
      {
        role: "tool" as const,
        tool_call_id: "a",
        content: [
          { type: "text" as const, text: "14 °C" },
          { type: "text" as const, text: "and rain", ...cached },
        ],
      },
      { role: "tool" as const, tool_call_id: "b", content: [{ type: "text" as const, text: "9 °C" }] },
      { role: "user" as const, content: "Thanks" },
    ]
    await memory.append("chat", chat)
    expect((await memory.context("chat")).messages).toEqual(chat)
  })

  it("comes out of a context of Anthropic as it went in", async () => {
    await using memory = createMemory({ store: "memory:", format: "anthropic" })
    const call = (id: string) => ({ type: "tool_use" as const, id, name: "look", input: {} })
    const image = {
      type: "image" as const,
      source: { type: "base64" as const, media_type: "image/png" as const, data: "AAAA" },
    }
    const messages = [
      { role: "user" as const, content: [{ type: "text" as const, text: "Look twice.", ...cached }] },
      { role: "assistant" as const, content: [call("a"), call("b"), call("c")] },
      {
        role: "user" as const,
        content: [
          {
            type: "tool_result" as const,
            tool_use_id: "a",
            content: [
              { type: "text" as const, text: "A page:" },
              image,
              { type: "text" as const, text: "and its title", ...cached },
            ],
          },
          {
            type: "tool_result" as const,
            tool_use_id: "b",
            content: [{ type: "text" as const, text: "no such page" }],
            is_error: true,
            ...cached,
          },
          { type: "tool_result" as const, tool_use_id: "c", is_error: false },
          { type: "text" as const, text: "Go on." },
        ],
      },
    ]
    await memory.append("chat", messages)
    expect((await memory.context("chat")).messages).toEqual({ messages })
  })
})

describe("what a format has no place for", () => {
  it("is named in the layout, and in nobody's mouth", async () => {
    const folder = mkdtempSync(join(tmpdir(), "memfold-formats-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = `sqlite:${join(folder, "chats.db")}`
    await using memory = createMemory({ store, format: "memfold" })
    const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/a.png" }
    const content = [{ type: "text" as const, text: "The page:" }, image]
    const said = [
      { role: "user" as const, parts: [{ type: "text" as const, text: "Look." }] },
      {
        role: "assistant" as const,
        parts: [
          { type: "reasoning" as const, text: "hm", signature: "s" },
          { type: "tool-call" as const, id: "a", name: "look", arguments: "{}" },
        ],
      },
      {
        role: "tool" as const,
        parts: [{ type: "tool-result" as const, id: "a", output: "The page:", content, isError: true }],
      },
    ]
    await memory.append("chat", said)
    expect((await memory.context("chat")).messages).toEqual(said)

    expect((await memory.context("chat")).layout.map(({ section }) => section)).toEqual(["uncovered"])
    const context = async (format: "openai" | "anthropic" | "openai-responses") => {
      await using other = createMemory({ store, format })
      return await other.context("chat")
    }
    const chat = await context("openai")
    expect(chat.messages).toEqual([
      { role: "user", content: "Look." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: [{ type: "text", text: "The page:" }] },
    ])
    expect(chat.layout.slice(1)).toEqual([
      { section: "unsupported", from: 1, to: 2, tokens: 0, parts: ["reasoning"] },
      { section: "unsupported", from: 2, to: 3, tokens: 0, parts: ["file", "is-error"] },
    ])
    expect((await context("openai-responses")).layout.slice(1)).toEqual([
      { section: "unsupported", from: 1, to: 2, tokens: 0, parts: ["reasoning"] },
      { section: "unsupported", from: 2, to: 3, tokens: 0, parts: ["is-error"] },
    ])
    // The Messages API takes an error in words alone.
    expect((await context("anthropic")).layout.slice(1)).toEqual([
      { section: "unsupported", from: 2, to: 3, tokens: 0, parts: ["file"] },
    ])
  })
})

describe("a message of another library", () => {
  it("is refused with an error that names what reads it, and nothing is stored", async () => {
    await using memory = createMemory({ store: "memory:" })
    const part = { type: "tool-call", toolCallId: "c", toolName: "f", input: {} }
    const message = { role: "assistant", content: [part] } as never
    await expect(memory.append("chat", message)).rejects.toMatchObject({
      _tag: "OpenAIDecodeError",
      use: "@memfold/ai-sdk",
    })
    expect((await memory.state("chat")).total).toBe(0)
  })
})

describe("system messages", () => {
  const strategy = Strategy.make({
    name: "all",
    when: Trigger.backlog({ messages: 1 }),
    keep: Keep.lastMessages(1),
    summaryMode: SummaryMode.rolling,
  })
  const settings = { store: "memory:", summarizer: "echo", strategy, compaction: { mode: "inline" } } as const
  const chat = [
    { role: "system" as const, content: "Be brief." },
    { role: "user" as const, content: "one" },
    { role: "assistant" as const, content: "two" },
    { role: "user" as const, content: "three" },
  ]
  const summary = "[Conversation Summary]\n[0,3)"

  it("stand among the messages", async () => {
    await using memory = createMemory(settings)
    await memory.append("chat", chat)
    expect((await memory.context("chat")).messages).toEqual([
      chat[0],
      { role: "system", content: summary },
      chat[3],
    ])
  })

  it("stand apart, the summary among them", async () => {
    await using memory = createMemory({ ...settings, systemMessages: "apart" })
    await memory.append("chat", chat)
    const { system, messages } = (await memory.context("chat")).messages
    expect(system).toBe(`Be brief.\n\n${summary}`)
    expect(messages).toEqual([chat[3]])
  })

  it("are instructions of the Responses API, and a field of the Messages API", async () => {
    await using memory = createMemory({
      ...settings,
      format: "openai-responses",
      systemMessages: "apart",
    })
    await memory.append("chat", chat)
    const { instructions, input } = (await memory.context("chat")).messages
    expect([instructions, input]).toEqual([`Be brief.\n\n${summary}`, [chat[3]]])

    await using anthropic = createMemory({ ...settings, format: "anthropic" })
    await anthropic.append("chat", chat)
    const [first, second] = [`Be brief.`, summary].map((text) => ({ type: "text", text }))
    expect((await anthropic.context("chat")).messages).toEqual({
      system: [first, second],
      messages: [chat[3]],
    })
  })

  it("cannot stand among the messages of the Messages API", () => {
    expect(() => createMemory({ store: "memory:", format: "anthropic", systemMessages: "inline" })).toThrow(
      '"systemMessages" must be apart',
    )
    expect(() => createMemory({ store: "memory:", systemMessages: "middle" as never })).toThrow(
      '"systemMessages" must be inline or apart',
    )
  })
})
