/** Agents with real clients of the providers, against a server that is as strict as the providers (law L17). */
import { breaking, breaks, faults } from "@memfold/harness/brokenStreams"
import { createAnthropic } from "@ai-sdk/anthropic"
import { Agent, type AgentConfig } from "@mastra/core/agent"
import { Mastra } from "@mastra/core"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import { Message } from "@memfold/core"
import { type ProviderServer, providerServer, seeded } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { connected } from "@memfold/harness/connected"
import { deep, often } from "@memfold/harness/depth"
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import { createMemory } from "memfold"
import { loose } from "./loose.js"
import { memfold, messagesOf } from "../src/index.js"
import { quiet } from "./quiet.js"

quiet()

const inputSchema = z.object({ request: z.string(), depth: z.number() })
const lookUp = createTool({
  id: "lookUp",
  description: "Looks up what is known about a request.",
  inputSchema,
  execute: async ({ request, depth }) => (depth === 6 ? `only ${request}` : { request, depth }),
})

const anthropic = ({ anthropicURL }: ProviderServer): AgentConfig["model"] =>
  loose(createAnthropic({ apiKey: "local", baseURL: `${anthropicURL}/v1` })("claude-sonnet-5-5"))

const providers: ReadonlyArray<{
  readonly name: string
  readonly model: (server: ProviderServer) => AgentConfig["model"]
  readonly compactions: ReadonlyArray<"inline" | "background">
}> = [
  // In a quick run, each mode has one of the providers.
  { name: "Anthropic", model: anthropic, compactions: deep ? ["inline", "background"] : ["background"] },
  {
    name: "Chat Completions by Mastra's router",
    compactions: ["inline"],
    model: ({ openaiURL: url }) => ({ id: "local/gpt-6.2-sol", url, apiKey: "local" }),
  },
]

const short = { strategy: "rounds", settings: { fullContextTurns: 2, cachedContextTurns: 2 } } as const
const thread = {
  memory: { thread: "chat", resource: "ann" },
  // Otherwise the client describes tools in another way to a stream, and thinking is bound to the tools, too.
  providerOptions: { anthropic: { toolStreaming: false } },
}
const base = { id: "support", name: "Support", instructions: "Be brief.", tools: { lookUp } }

/** Questions to an agent: enough for several compactions, two reverts and a redaction. */
const turns = often(20, 40)

describe("an agent on one session", () => {
  for (const { name, model: make, compactions } of providers) {
    for (const compaction of compactions) {
      it(`is never refused: ${name}, compaction ${compaction}, reverts and a redaction`, async () => {
        const { server, model } = await connected(seeded(7), make)
        await using memory = createMemory({ store: "memory:", ...short, compaction: { mode: compaction } })
        const agent = new Agent({ ...base, model, ...memfold({ memory }) })
        for (let turn = 1; turn <= turns; turn++) {
          const text = `Question ${turn}?`
          if (turn % 2 === 0) await agent.generate(text, thread)
          else await (await agent.stream(text, thread)).consumeStream()
          if (turn % 9 === 0) await memory.revert("chat", { pauseFor: 4 })
          if (turn === 13) await memory.redact("chat", 3)
        }
        await server.close()
        expect(server.refused.map(({ violations }) => violations)).toEqual([])
        expect((await memory.summaries("chat")).length).toBeGreaterThan(3)
        const sent = JSON.stringify(server.received.at(-1)?.body)
        expect(sent.split("Be brief.")).toHaveLength(2)
        if (name === "Anthropic") {
          const signed = server.received.filter(({ body }) => JSON.stringify(body).includes('"signature"'))
          expect(signed.length).toBeGreaterThan(10)
        }
        const all = await messagesOf(memory, "chat")
        expect(all.filter(({ role }) => role === "user")).toHaveLength(turns)
      })
    }
  }
})

describe("generated loops of tools, compacted at every step", () => {
  for (const { name, model } of providers) {
    it(`are never refused, whatever the model says and calls: ${name}`, () =>
      expectNothingRefused(
        async ({ server, memory, text, output }) => {
          const finds = createTool({ ...lookUp, execute: async () => output() } as never) as typeof lookUp
          const tools = { lookUp: finds }
          const agent = new Agent({ ...base, tools, model: model(server), ...memfold({ memory }) })
          await agent.generate(text, { ...thread, maxSteps: 12 })
        },
        // Mastra leaves out what an answer says twice, and merges calls of an answer that have one id.
        { drops: "some", fetches: true },
      ))
  }
})

describe("a session", () => {
  it("goes from one provider to the next and back", async () => {
    const server = await providerServer({ answer: seeded(5) })
    await using memory = createMemory({ store: "memory:", ...short, compaction: { mode: "inline" } })
    for (let turn = 1; turn <= 18; turn++) {
      const model = providers[turn % providers.length]!.model(server)
      await new Agent({ ...base, model, ...memfold({ memory }) }).generate(`Question ${turn}?`, thread)
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    expect(new Set(server.received.map(({ api }) => api)).size).toBe(2)
  })

  it("takes pictures and files", async () => {
    const { server, model } = await connected(() => ({ text: "Nice." }), anthropic)
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const agent = new Agent({ ...base, model, ...memfold({ memory }) })
    const image = Buffer.from("89504e470d0a1a0a", "hex")
    const content = [
      { type: "text" as const, text: "What is it?" },
      { type: "image" as const, image, mediaType: "image/png" },
      { type: "file" as const, data: "https://example.org/a.pdf", mediaType: "application/pdf" },
    ]
    await agent.generate([{ role: "user", content }], thread)
    await agent.generate("And now?", thread)
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const [, last] = server.received.map(
      ({ body }) => body as { messages: Array<{ content: Array<object> }> },
    )
    expect(last!.messages[0]!.content).toMatchObject([
      { type: "text", text: "What is it?" },
      { type: "image", source: { type: "base64", data: image.toString("base64") } },
      { type: "document", source: { type: "url", url: "https://example.org/a.pdf" } },
    ])
  })
})

describe("a stream that breaks", () => {
  for (const { name, model: make } of providers) {
    it(`leaves a session that goes on: ${name}`, async () => {
      let cut = true
      const { server, model } = await connected(({ turn, afterResult }) => {
        if (!afterResult) {
          const call = { name: "lookUp", arguments: { request: `${turn}`, depth: 1 } }
          return { thinking: "Hm.", calls: [call] }
        }
        const answer = { text: "The answer is seven.", ...(cut ? { cut: 3 } : {}) }
        cut = false
        return answer
      }, make)
      await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
      const agent = new Agent({ ...base, model, maxRetries: 0, ...memfold({ memory }) })
      const run = async (text?: string) => {
        const stream = await agent.stream(text ?? [], thread)
        await stream.consumeStream()
        return stream.error
      }
      const roles = async () => (await memory.neutral.messages("chat")).messages.map(({ role }) => role)
      const broken = await run("How many?")
      expect(broken).toBeDefined()
      expect(await roles()).toEqual(["user", "assistant", "tool"])
      await run()
      await run("And now?")
      await server.close()
      expect(server.refused.map(({ violations }) => violations)).toEqual([])
      expect(await roles()).toEqual([1, 2].flatMap(() => ["user", "assistant", "tool", "assistant"]))
    })

    it(`leaves a session that goes on, at whichever event it breaks: ${name}`, async () => {
      for (const at of breaks) {
        const { server, model } = await connected(breaking(at, "lookUp"), make)
        await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
        const agent = new Agent({ ...base, model, maxRetries: 0, ...memfold({ memory }) })
        const run = async (text?: string) => (await agent.stream(text ?? [], thread)).consumeStream()
        const stored = async () => (await memory.neutral.messages("chat")).messages
        await run("How many?")
        if ((await stored()).at(-1)?.role !== "assistant") await run()
        await run("And now?")
        await server.close()
        const refused = server.refused.map(({ violations }) => violations)
        expect([at, refused, faults(await stored(), ["How many?", "And now?"])]).toEqual([at, [], []])
      }
    })
  }

  it("has what was said before it was aborted", async () => {
    const { server, model } = await connected(() => ({ text: "One two three four five six." }), anthropic)
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    const agent = new Agent({ ...base, model, ...memfold({ memory }) })
    const controller = new AbortController()
    const stream = await agent.stream("Count.", { ...thread, abortSignal: controller.signal })
    let heard = ""
    for await (const chunk of stream.fullStream) {
      if (chunk.type !== "text-delta") continue
      heard += chunk.payload.text
      controller.abort()
    }
    const said = async () =>
      (await memory.neutral.messages("chat")).messages.map((one) => `${one.role}: ${Message.text(one)}`)
    // Mastra's own list has it twice.
    expect(stream.messageList.get.response.db()).toHaveLength(2)
    const whole = "One two three four five six."
    expect(whole.startsWith(heard) && heard !== "" && heard !== whole).toBe(true)
    expect(await said()).toEqual(["user: Count.", `assistant: ${heard}`])
    await agent.generate("And now?", thread)
    expect((await said()).slice(2)).toEqual(["user: And now?", `assistant: ${whole}`])
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  })
})

describe("a call that waited for a person", () => {
  it("goes on in another process behind a compaction, without the thinking of before", async () => {
    const { server, model } = await connected(
      ({ turn, afterResult }) =>
        afterResult
          ? { text: `This is answer ${turn}.` }
          : { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: `${turn}`, depth: 1 } }] },
      anthropic,
    )
    await using memory = createMemory({ store: "memory:", ...short, compaction: { mode: "manual" } })
    const storage = new InMemoryStore()
    // Each process has processors of its own, and the snapshots in common.
    const agent = () => {
      const asks = createTool({ ...lookUp, requireApproval: true } as never) as typeof lookUp
      const agents = { agent: new Agent({ ...base, tools: { lookUp: asks }, model, ...memfold({ memory }) }) }
      return new Mastra({ agents, storage, logger: false }).getAgent("agent")
    }
    for (let turn = 1; turn <= 6; turn++) {
      const stream = await agent().stream(`Question ${turn}?`, thread)
      let toolCallId = ""
      for await (const chunk of stream.fullStream) {
        if (chunk.type === "tool-call-approval") ({ toolCallId } = chunk.payload)
      }
      const asked = JSON.stringify(server.received.at(-1)?.body)
      // Up to here, nothing came in between: the thinking is sent back with the result.
      expect(asked.includes('"signature"')).toBe(turn > 1)
      if (turn === 6) {
        expect((await memory.compact("chat"))._tag).toBe("Committed")
        await memory.append("chat", { role: "user", content: "Are you there?" })
      }
      await (await agent().approveToolCall({ ...thread, runId: stream.runId, toolCallId })).consumeStream()
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const { messages } = await memory.neutral.messages("chat", { limit: 100 })
    const turn = ["user", "assistant", "tool", "assistant"]
    expect(messages.map(({ role }) => role)).toEqual([
      ...Array.from({ length: 5 }, () => turn).flat(),
      "user",
      ...turn,
    ])
    expect(JSON.stringify(server.received.at(-1)?.body)).not.toContain('"signature"')
  })
})
