/** One session in turn through several adapters, and looked at through MCP. */
import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import { run } from "@openai/agents"
import { expect, it } from "vitest"
import { createMemory } from "memfold"
import { aiSdk } from "@memfold/ai-sdk"
import { memoryServer } from "@memfold/mcp"
import { callsThenSays, clerk, serving, textOf } from "../test/agents.js"
import { openaiAgents } from "./index.js"

it("a session goes from Chat Completions and the AI SDK to the Agents SDK, and is looked at through MCP", async () => {
  await using server = await serving(callsThenSays())
  await using memory = createMemory({
    store: "memory:",
    strategy: "sliding-window",
    settings: { tailKeepSize: 6, compressionWindowSize: 4 },
    compaction: { mode: "manual" },
  })
  await memory.append("chat", [
    { role: "system", content: "Be brief." },
    { role: "user", content: "My order is KX-4471." },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "c1", type: "function", function: { name: "look_up", arguments: '{"order":4471}' } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "It left the warehouse." },
    { role: "assistant", content: "It is on its way." },
  ])
  await aiSdk(memory)
    .session("chat")
    .append([
      { role: "user", content: [{ type: "text", text: "And KX-4472?" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "EqQB" } } },
          { type: "tool-call", toolCallId: "c2", toolName: "look_up", input: { order: 4472 } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "look_up",
            output: { type: "json", value: { found: 2 } },
          },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Two parcels." }] },
    ])
  for (const question of ["And KX-4473?", "And KX-4474?"]) {
    await run(clerk(server), question, { session: openaiAgents(memory).session("chat") })
  }
  expect(server.refused).toEqual([])
  const asked = server.received[0]?.body["input"] as ReadonlyArray<Record<string, unknown>>
  expect(
    asked.filter(({ type }) => String(type).startsWith("function_call")).map((item) => item["call_id"]),
  ).toEqual(["c1", "c1", "c2", "c2"])

  const client = new Client({ name: "test", version: "1" })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await memoryServer(memory).connect(far)
  await client.connect(near)
  const look = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, isError } = await client.callTool({
      name,
      arguments: { session: "chat", ...args },
    })
    expect(isError).not.toBe(true)
    return structuredContent as { readonly messages: ReadonlyArray<Record<string, unknown>> }
  }
  const page = await look("read_messages", { limit: 100 })
  const said = page.messages.map(
    ({ message }) => message as { readonly role: string; readonly content: unknown },
  )
  expect(said.filter(({ role }) => role === "user").map(({ content }) => JSON.stringify(content))).toEqual([
    expect.stringContaining("KX-4471"),
    expect.stringContaining("KX-4472"),
    expect.stringContaining("KX-4473"),
    expect.stringContaining("KX-4474"),
  ])
  const found = await look("search_memory", { query: "KX-4473" })
  expect(found.messages.map(({ text }) => text).join("\n")).toContain("KX-4473")
  expect(await look("compact", {})).toMatchObject({ outcome: "committed" })
  const context = await look("get_context", {})

  // The Agents SDK is sent what MCP shows: the summary first, and the same texts behind it.
  const items = await openaiAgents(memory).session("chat").getItems()
  const texts = items.map(textOf)
  const shown = context.messages.filter(({ role }) => role === "user").map(({ content }) => content)
  // The library has models of other servers, too, and most of them want the user to begin.
  expect(items.flatMap((item, at) => ("role" in item && item.role === "user" ? [texts[at]] : []))).toEqual([
    "(The conversation goes on.)",
    ...shown,
  ])
  await run(clerk(server), "And now?", { session: openaiAgents(memory).session("chat") })
  expect(server.refused).toEqual([])
  await client.close()
})
