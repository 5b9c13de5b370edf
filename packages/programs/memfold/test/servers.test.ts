/** Servers that refuse what OpenAI takes: an agent with the official client, on one session, with compactions (law L17). */
import { serverNames, serverOf, servers } from "@memfold/codec"
import { type ChatServer, providerServer, seeded } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import { createMemory } from "../src/index.js"
import { gpt } from "./provider/agents.js"

const image = (at: number) => ({
  role: "user" as const,
  content: [{ type: "image_url" as const, image_url: { url: `https://example.org/${at}.png` } }],
})

const hosts: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1/",
  bedrock: "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1",
  deepseek: "https://api.deepseek.com",
  gemini: "https://generativelanguage.googleapis.com/v1beta/openai/",
  groq: "https://api.groq.com/openai/v1",
  kimi: "https://api.moonshot.cn/v1",
  mistral: "https://api.mistral.ai/v1",
  scaleway: "https://api.scaleway.ai/v1",
}

describe("each server that is known", () => {
  it.each(serverNames)("%s takes every request of a session", async (name) => {
    const server = await providerServer({ answer: seeded(7), chat: { server: name satisfies ChatServer } })
    await using memory = createMemory({
      store: "memory:",
      server: name,
      strategy: "sliding-window",
      settings: { tailKeepSize: 3, contextSize: 6, compressionWindowSize: 3 },
      compaction: { mode: "inline" },
    })
    // What another model said: it thought nothing, and made names and ids up.
    const call = {
      id: "call_of_another_model",
      type: "function",
      function: { name: "files.open", arguments: "" },
    }
    await memory.append("s", [
      { role: "user", content: "Hello?", name: "Ada" },
      { role: "assistant", content: null, tool_calls: [call as never] },
      { role: "tool", tool_call_id: "call_of_another_model", content: "There is no such tool." },
    ])
    const turn = gpt(memory, server)
    for (let at = 1; at <= 12; at++) await turn("s", `Question ${at}?`)
    expect((await memory.summaries("s")).length).toBeGreaterThan(3)
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  })

  it.each(serverNames)("%s gets as many images as it takes, the newest ones", async (name) => {
    const { images } = servers[name]
    if (images === undefined) return
    const server = await providerServer({ chat: { server: name } })
    await using memory = createMemory({ store: "memory:", server: name, compaction: { mode: "off" } })
    await memory.append(
      "s",
      Array.from({ length: images + 2 }, (_, at) => image(at)),
    )
    await gpt(memory, server)("s", "What is on the last one?")
    const { layout } = await memory.context("s")
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const sent = JSON.stringify(server.received.at(-1)?.body)
    expect(sent).toContain(`/${images + 1}.png`)
    expect(sent).not.toContain("/1.png")
    expect(layout.filter(({ section }) => section === "unsupported").map(({ from }) => from)).toEqual([0, 1])
  })

  it("is known by its address, too, and others are not", () => {
    for (const name of serverNames.filter((one) => one !== "any"))
      expect(serverOf(hosts[name])).toBe(servers[name])
    for (const address of [
      "https://openai.com.example.org",
      "http://127.0.0.1:8000/v1",
      "https://notmistral.ai/v1",
    ])
      expect(serverOf(address)).toBe(servers.any)
    expect(serverOf("mistral.chat")).toBe(servers.mistral)
    expect(serverOf("amazon-bedrock")).toBe(servers.bedrock)
    // The client of OpenAI has any base URL.
    expect(serverOf("openai.chat")).toBe(servers.any)
  })
})

describe("a server of which nothing is known", () => {
  it("gets a conversation that begins with the user, also behind a compaction within a loop of tools", async () => {
    const server = await providerServer({ answer: seeded(3), chat: { server: "any" } })
    await using memory = createMemory({
      store: "memory:",
      server: "any",
      strategy: "sliding-window",
      settings: { tailKeepSize: 1, contextSize: 2, compressionWindowSize: 1 },
      compaction: { mode: "inline" },
    })
    for (let at = 1; at <= 10; at++) await gpt(memory, server)("s", `Question ${at}?`)
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  })

  it("must be named as one that is known, or by an address", async () => {
    expect(() => createMemory({ store: "memory:", server: "depseek" })).toThrow(
      /"server" must be .*deepseek/u,
    )
    await using memory = createMemory({ store: "memory:" })
    await expect(memory.context("s", { server: "depseek" })).rejects.toMatchObject({ _tag: "InvalidInput" })
  })
})

describe("reasoning", () => {
  const call = { id: "c", type: "function" as const, function: { name: "f", arguments: "{}" } }
  const given = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: null, tool_calls: [call], reasoning_content: "Hm." },
    { role: "tool", tool_call_id: "c", content: "found" },
    { role: "assistant", content: "Found." },
  ]

  it.each([
    ["deepseek", "Hm."],
    ["kimi", "Hm."],
    ["openai", undefined],
  ])("goes back to %s at calls: %s", async (server, expected) => {
    await using memory = createMemory({ store: "memory:" })
    await memory.append("s", given as never)
    const { messages } = await memory.context("s", { server })
    expect(messages[1]).toMatchObject({ role: "assistant", ...(expected && { reasoning_content: expected }) })
    expect("reasoning_content" in messages[1]!).toBe(expected !== undefined)
    expect("reasoning_content" in messages[3]!).toBe(false)
  })
})
