/** Sessions with the real provider of Anthropic, against a server that checks signatures of reasoning (law L17). */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { breaking, breaks, faults } from "@memfold/harness/brokenStreams"
import { type Answering, type ProviderServer, providerServer, seeded } from "@memfold/strict-providers"
import {
  generateText,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
  ToolLoopAgent,
  wrapLanguageModel,
} from "ai"
import { describe, expect, it } from "vitest"
import { deep } from "@memfold/harness/depth"
import { z } from "zod"
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import { createMemory } from "memfold"
import { aiSdk } from "../src/index.js"

const lookUp = tool({
  inputSchema: z.object({ request: z.string(), depth: z.number() }),
  execute: async ({ request, depth }) => {
    if (depth === 7) throw new Error("nothing is known")
    return depth === 6 ? `only ${request}` : { request, depth }
  },
})

const connected = async (answer: Answering) => {
  const server = await providerServer({ answer })
  const anthropic = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })
  return { server, model: anthropic("claude-sonnet-5-5") }
}

describe("an agent that thinks, on one session", () => {
  // The middleware and the generated loops below compact inline.
  for (const compaction of deep ? (["inline", "background"] as const) : (["background"] as const)) {
    it(`is never refused, with compaction ${compaction}, reverts and a redaction`, async () => {
      const { server, model } = await connected(seeded(7))
      await using memory = createMemory({
        store: "memory:",
        strategy: "rounds",
        settings: { fullContextTurns: 2, cachedContextTurns: 2 },
        compaction: { mode: compaction },
      })
      for (let turn = 1; turn <= 40; turn++) {
        const chat = aiSdk(memory).session("chat", { instructions: "Be brief." })
        const { prepareStep, onEnd } = chat
        const context = await chat.messages(`Question ${turn}?`)
        const result = streamText({
          model,
          tools: { lookUp },
          ...context,
          prepareStep,
          onEnd,
          stopWhen: stepCountIs(8),
        })
        expect(await result.text).toEqual(expect.any(String))
        if (turn % 15 === 0) await memory.revert("chat", { pauseFor: 4 })
        if (turn === 25) await memory.redact("chat", 3)
      }
      await server.close()
      expect(server.refused.map(({ violations }) => violations)).toEqual([])
      expect((await memory.summaries("chat")).length).toBeGreaterThan(3)
      const sent = JSON.stringify(server.received.at(-1)?.body)
      expect(sent).toContain("Be brief.")
      const signed = server.received.filter(({ body }) => JSON.stringify(body).includes('"signature"'))
      expect(signed.length).toBeGreaterThan(10)
    })
  }
})

describe("a model with the middleware", () => {
  it("is never refused what it is sent, and gets its thinking back", async () => {
    const { server, model } = await connected(seeded(7))
    await using memory = createMemory({
      store: "memory:",
      strategy: "rounds",
      settings: { fullContextTurns: 2, cachedContextTurns: 2 },
      compaction: { mode: "inline" },
    })
    for (let turn = 1; turn <= 40; turn++) {
      const middleware = aiSdk(memory).session("chat").middleware()
      const result = streamText({
        model: wrapLanguageModel({ model, middleware }),
        tools: { lookUp },
        instructions: "Be brief.",
        prompt: `Question ${turn}?`,
        stopWhen: stepCountIs(12),
      })
      expect(await result.text).toEqual(expect.any(String))
      if (turn % 15 === 0) await memory.revert("chat", { pauseFor: 4 })
      if (turn === 25) await memory.redact("chat", 3)
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    expect((await memory.summaries("chat")).length).toBeGreaterThan(3)
    const signed = server.received.filter(({ body }) => JSON.stringify(body).includes('"signature"'))
    expect(signed.length).toBeGreaterThan(10)
    const { messages } = await memory.neutral.messages("chat", { limit: 1_000 })
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(40)
    expect(messages.filter(({ role }) => role === "assistant")).toHaveLength(server.received.length)
  })
})

describe("an agent of AI SDK 7", () => {
  it("keeps its own instructions in front of the summary", async () => {
    const { server, model } = await connected(seeded(3))
    await using memory = createMemory({
      store: "memory:",
      strategy: "rounds",
      settings: { fullContextTurns: 1, cachedContextTurns: 1 },
      compaction: { mode: "inline" },
    })
    for (let turn = 1; turn <= 12; turn++) {
      const chat = aiSdk(memory).session("chat")
      const { prepareStep } = chat
      const agent = new ToolLoopAgent({
        model,
        tools: { lookUp },
        instructions: "You are a clerk.",
        prepareStep,
      })
      const { messages } = await chat.messages(`Question ${turn}?`)
      await chat.onEnd(await agent.generate({ messages }))
    }
    await server.close()
    expect(server.refused).toEqual([])
    const systems = server.received.map(({ body }) => JSON.stringify(body["system"]))
    expect(systems.every((system) => system.split("You are a clerk.").length === 2)).toBe(true)
    expect(systems.at(-1)).toMatch(/You are a clerk\.\\n\\n\[Session Memory\]/u)
  })

  it("keeps the options of its instructions, such as a cache mark", async () => {
    const { server, model } = await connected(seeded(3))
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    await memory.append("chat", { role: "system", content: "Pinned." })
    const chat = aiSdk(memory).session("chat")
    const { prepareStep } = chat
    const agent = new ToolLoopAgent({
      model,
      instructions: {
        role: "system",
        content: "You are a clerk.",
        providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
      },
      prepareStep,
    })
    const { messages } = await chat.messages("Hello?")
    await chat.onEnd(await agent.generate({ messages }))
    await server.close()
    expect(server.received.at(-1)?.body["system"]).toEqual([
      { type: "text", text: "You are a clerk.", cache_control: { type: "ephemeral" } },
      { type: "text", text: "Pinned." },
    ])
  })
})

describe("a long loop of tools, compacted while it runs", () => {
  const large = tool({
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => `${path} ${"line of a file. ".repeat(1_400)}`,
  })

  for (const way of ["prepareStep", "middleware"] as const) {
    it(`begins with the user, and has no name that the model made up: ${way}`, async () => {
      const { server, model } = await connected(({ turn }) =>
        turn < 40
          ? { calls: [{ name: turn % 5 === 4 ? "files.open" : "read", arguments: { path: `${turn}.ts` } }] }
          : { text: "Done." },
      )
      await using memory = createMemory({
        store: "memory:",
        strategy: "break-even",
        settings: { contextLimit: 30_000 },
        compaction: { mode: "inline" },
      })
      const chat = aiSdk(memory).session("chat")
      const tools = { read: large }
      const stopWhen = stepCountIs(60)
      const { text } =
        way === "middleware"
          ? await generateText({
              model: wrapLanguageModel({ model, middleware: chat.middleware() }),
              prompt: "Read all files.",
              tools,
              stopWhen,
            })
          : await generateText({
              model,
              ...(await chat.messages("Read all files.")),
              prepareStep: chat.prepareStep,
              tools,
              stopWhen,
            })
      await server.close()
      expect(server.refused.map(({ violations }) => violations)).toEqual([])
      expect(text).toBe("Done.")
      expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
    })
  }
})

describe("generated loops of tools, compacted at every step", () => {
  const providers: Readonly<Record<string, (server: ProviderServer) => LanguageModel>> = {
    Anthropic: ({ anthropicURL }) =>
      createAnthropic({ baseURL: `${anthropicURL}/v1`, apiKey: "local" })("claude-sonnet-5-5"),
    "Chat Completions": ({ openaiURL: baseURL }) =>
      createOpenAI({ baseURL, apiKey: "local" }).chat("gpt-6.2-sol"),
    Responses: ({ openaiURL: baseURL }) =>
      createOpenAI({ baseURL, apiKey: "local" }).responses("gpt-6.2-sol"),
  }
  for (const [name, model] of Object.entries(providers)) {
    it(`are never refused, whatever the model says and calls: ${name}`, () =>
      expectNothingRefused(async ({ server, memory, text, output }) => {
        const finds = tool({
          inputSchema: z.object({ request: z.string(), depth: z.number() }),
          execute: async () => output(),
        })
        const chat = aiSdk(memory).session("chat")
        const { prepareStep } = chat
        await chat.onEnd(
          await generateText({
            model: model(server),
            tools: { lookUp: finds },
            ...(await chat.messages(text)),
            prepareStep,
            stopWhen: stepCountIs(12),
            maxRetries: 0,
            providerOptions: { openai: { store: false } },
          }),
        )
      }))
  }
})

describe("a stream that breaks", () => {
  it("leaves a session that goes on", async () => {
    let cut = true
    const { server, model } = await connected(({ turn, afterResult }) => {
      if (!afterResult)
        return { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: `${turn}`, depth: 1 } }] }
      const answer = { text: "The answer is seven.", ...(cut ? { cut: 3 } : {}) }
      cut = false
      return answer
    })
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const run = async (text?: string) => {
      const chat = aiSdk(memory).session("chat")
      const { prepareStep, onEnd, onAbort } = chat
      const context = await chat.messages(text)
      const result = streamText({
        model,
        tools: { lookUp },
        ...context,
        prepareStep,
        onEnd,
        onAbort,
        maxRetries: 0,
        stopWhen: stepCountIs(4),
        onError: () => undefined,
      })
      await result.consumeStream({ onError: () => undefined })
    }
    await run("How many?")
    const broken = (await memory.messages("chat")).messages
    await run()
    await run("And now?")
    await server.close()
    expect(server.refused).toEqual([])
    const all = (await memory.messages("chat")).messages
    expect(broken.slice(0, 3).map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
    expect(all.map(({ role }) => role).slice(-5)).toEqual([
      "assistant",
      "user",
      "assistant",
      "tool",
      "assistant",
    ])
    expect(all.filter(({ role }) => role === "user")).toHaveLength(2)
  })

  it("leaves a session that goes on, at whichever event it breaks or is aborted", async () => {
    const places = [...breaks, ...Array.from({ length: 24 }, (_, chunks) => ({ chunks }))]
    let continued = 0
    for (const at of places) {
      const { server, model } = await connected(breaking("of" in at ? at : null, "lookUp"))
      await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
      const run = async (text?: string, abortAfter = Number.POSITIVE_INFINITY) => {
        const chat = aiSdk(memory).session("chat")
        const { prepareStep, onEnd, onAbort } = chat
        const stop = new AbortController()
        let chunks = 0
        const result = streamText({
          model,
          tools: { lookUp },
          ...(await chat.messages(text)),
          abortSignal: stop.signal,
          onChunk: () => {
            if (++chunks > abortAfter) stop.abort()
          },
          prepareStep,
          onEnd,
          onAbort,
          maxRetries: 0,
          stopWhen: stepCountIs(4),
          onError: () => undefined,
        })
        await result.consumeStream({ onError: () => undefined })
      }
      const stored = async () => (await memory.neutral.messages("chat")).messages
      await run("How many?", "chunks" in at ? at.chunks : undefined)
      if ((await stored()).at(-1)?.role !== "assistant") {
        continued++
        await run()
      }
      await run("And now?")
      await server.close()
      const refused = server.refused.map(({ violations }) => violations)
      expect([at, refused, faults(await stored(), ["How many?", "And now?"])]).toEqual([at, [], []])
    }
    expect(continued).toBeGreaterThan(10)
  })
})
