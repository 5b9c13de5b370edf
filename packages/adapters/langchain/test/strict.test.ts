/** Agents with the real models of LangChain, against a server that is as strict as the providers (law L17). */
import { breaking, breaks, faults } from "@memfold/harness/brokenStreams"
import { ChatAnthropic } from "@langchain/anthropic"
import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { ChatOpenAI } from "@langchain/openai"
import { type ProviderServer, providerServer, seeded } from "@memfold/strict-providers"
import { Command, MemorySaver } from "@langchain/langgraph"
import { EventLog, Verify } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Effect } from "effect"
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  HumanMessage,
  humanInTheLoopMiddleware,
  initChatModel,
  tool,
} from "langchain"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { connected } from "@memfold/harness/connected"
import { deep, often } from "@memfold/harness/depth"
import { expectNothingRefused } from "@memfold/harness/toolLoops"
import { createMemory } from "memfold"
import { loose } from "./loose.js"
import { memfold, MemfoldChatMessageHistory } from "../src/index.js"

const lookUp = tool(
  async ({ request, depth }) => (depth === 6 ? `only ${request}` : JSON.stringify({ request, depth })),
  {
    name: "lookUp",
    description: "Looks up what is known about a request.",
    schema: z.object({ request: z.string(), depth: z.number() }),
  },
)

const anthropic = ({ anthropicURL }: ProviderServer) =>
  new ChatAnthropic({
    model: "claude-sonnet-5-5",
    apiKey: "local",
    anthropicApiUrl: anthropicURL,
    maxTokens: 4_000,
    maxRetries: 0,
  })

const openai =
  (useResponsesApi: boolean) =>
  ({ openaiURL }: ProviderServer) =>
    new ChatOpenAI({
      model: "gpt-6.2-sol",
      apiKey: "local",
      configuration: { baseURL: openaiURL },
      useResponsesApi,
      maxRetries: 0,
    })

const providers: ReadonlyArray<{
  readonly name: string
  readonly model: (server: ProviderServer) => BaseChatModel
}> = [
  { name: "Anthropic", model: anthropic },
  { name: "OpenAI Chat Completions", model: openai(false) },
  { name: "OpenAI Responses", model: openai(true) },
]

const short = { strategy: "rounds", settings: { fullContextTurns: 2, cachedContextTurns: 2 } } as const
const thread = { configurable: { thread_id: "chat" } }

/** Questions to an agent: enough for several compactions, two reverts and a redaction. */
const turns = often(20, 40)

/** A quick run has one pair of them; a session that goes through all providers follows below. */
const modes = deep ? (["inline", "background"] as const) : (["background"] as const)

describe("an agent on one session", () => {
  for (const { name, model: make } of deep ? providers : providers.slice(0, 1)) {
    for (const compaction of modes) {
      it(`is never refused: ${name}, compaction ${compaction}, reverts and a redaction`, async () => {
        const { server, model } = await connected(seeded(7), make)
        await using memory = createMemory({ store: "memory:", ...short, compaction: { mode: compaction } })
        const agent = createAgent({
          model,
          tools: [lookUp],
          systemPrompt: "Be brief.",
          middleware: [memfold({ memory })],
        })
        for (let turn = 1; turn <= turns; turn++) {
          const given = { messages: [new HumanMessage(`Question ${turn}?`)] }
          if (turn % 2 === 0) await agent.invoke(given, thread)
          else for await (const _ of await agent.stream(given, { ...thread, streamMode: "messages" }));
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
        const all = await new MemfoldChatMessageHistory({ memory, session: "chat" }).allMessages()
        expect(all.filter(({ type }) => type === "human")).toHaveLength(turns)
      })
    }
  }
})

describe("generated loops of tools, compacted at every step", () => {
  for (const { name, model } of providers) {
    it(`are never refused, whatever the model says and calls: ${name}`, () =>
      expectNothingRefused(async ({ server, memory, text, output }) => {
        const finds = tool(async () => output(), {
          name: "lookUp",
          description: "Looks up what is known about a request.",
          schema: z.object({ request: z.string(), depth: z.number() }),
        })
        const agent = createAgent({ model: model(server), tools: [finds], middleware: [memfold({ memory })] })
        await agent.invoke({ messages: [new HumanMessage(text)] }, { ...thread, recursionLimit: 60 })
      }))
  }
})

describe("a session", () => {
  it("goes from one provider to the next and back", async () => {
    const server = await providerServer({ answer: seeded(5) })
    await using memory = createMemory({ store: "memory:", ...short, compaction: { mode: "inline" } })
    for (let turn = 1; turn <= 18; turn++) {
      const model = providers[turn % providers.length]!.model(server)
      const agent = createAgent({ model, tools: [lookUp], middleware: [memfold({ memory })] })
      await agent.invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, thread)
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    expect(new Set(server.received.map(({ api }) => api)).size).toBe(3)
  })
})

describe("a page that edits, cuts and asks again", () => {
  for (const [place, { name, model: make }] of providers.entries()) {
    for (const ids of deep ? [true, false] : [place % 2 === 0]) {
      it(`shows what the session has, ${ids ? "with" : "without"} ids, and is never refused: ${name}`, async () => {
        const { server, model } = await connected(seeded(11), make)
        const folder = mkdtempSync(join(tmpdir(), "memfold-langchain-"))
        const open = () =>
          createMemory({
            store: `sqlite:${join(folder, "chats.db")}`,
            ...short,
            compaction: { mode: "inline" },
          })
        /** How many branches the page has left. */
        let left = 0
        /** What the page shows: questions and texts of answers. */
        let page: ReadonlyArray<HumanMessage | AIMessage> = []
        const shownIn = (messages: ReadonlyArray<BaseMessage>) =>
          messages.filter(
            (one): one is HumanMessage | AIMessage =>
              one.type === "human" || (one.type === "ai" && (one as AIMessage).tool_calls?.length === 0),
          )
        const texts = (messages: ReadonlyArray<BaseMessage>) => messages.map(({ text }) => text)
        for (let turn = 1; turn <= turns; turn++) {
          // Each request may come to a new process.
          await using memory = open()
          const agent = createAgent({ model, tools: [lookUp], middleware: [memfold({ memory })] })
          const question = new HumanMessage({ content: `Question ${turn}?`, id: `question-${turn}` })
          const kept = turn % 5 === 4 ? -1 : turn % 7 === 6 ? -4 : page.length
          page = [...page.slice(0, kept), ...(kept === -1 ? [] : [question])]
          if (kept < 0) left++
          const sent = page.map((one) =>
            ids ? one : one.type === "human" ? new HumanMessage(one.text) : new AIMessage(one.text),
          )
          const state = await agent.invoke({ messages: sent }, thread)
          page = [...page, shownIn(state.messages).at(-1)!]
          const history = new MemfoldChatMessageHistory({ memory, session: "chat" })
          expect(texts(shownIn(await history.allMessages()))).toEqual(texts(page))
        }
        await using memory = open()
        await server.close()
        expect(server.refused.map(({ violations }) => violations)).toEqual([])
        expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
        expect((await memory.branches("chat")).length).toBe(1 + left)
        const findings = await Effect.runPromise(
          Effect.flatMap(EventLog.EventLog, (log) => Verify.session(log, "chat")).pipe(
            Effect.provide(SqliteEventLog.layer({ filename: join(folder, "chats.db") })),
          ),
        )
        expect(findings).toEqual([])
        rmSync(folder, { recursive: true, force: true })
      })
    }
  }
})

describe("a model by its name, which LangChain makes when it is called", () => {
  it("gets its own thinking back, and none of another provider", async () => {
    const server = await providerServer({ answer: seeded(5) })
    const { anthropicURL: anthropicApiUrl, openaiURL: baseURL } = server
    const local = { apiKey: "local", maxRetries: 0 }
    const models = [
      await initChatModel("anthropic:claude-sonnet-5-5", { ...local, anthropicApiUrl, maxTokens: 4_000 }),
      await initChatModel("openai:gpt-6.2-sol", { ...local, configuration: { baseURL } }),
    ]
    await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
    for (let turn = 0; turn < 12; turn++) {
      const model = models[turn < 6 ? 0 : turn % 2]!
      const agent = createAgent({ model, tools: [lookUp], middleware: [memfold({ memory })] })
      await agent.invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, thread)
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const signed = (api: string) =>
      server.received.some((one) => one.api === api && JSON.stringify(one.body).includes('"signature"'))
    expect([signed("anthropic"), signed("openai")]).toEqual([true, false])
  })
})

describe("a stream that breaks", () => {
  for (const { name, model: make } of providers) {
    it(`leaves a session that goes on: ${name}`, async () => {
      let cut = true
      const { server, model } = await connected(({ turn, afterResult }) => {
        if (!afterResult)
          return {
            thinking: "Hm.",
            calls: [{ name: "lookUp", arguments: { request: `${turn}`, depth: 1 } }],
          }
        const answer = { text: "The answer is seven.", ...(cut ? { cut: 3 } : {}) }
        cut = false
        return answer
      }, make)
      await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
      const agent = createAgent({ model, tools: [lookUp], middleware: [memfold({ memory })] })
      const run = async (...texts: ReadonlyArray<string>) => {
        const given = { messages: texts.map((text) => new HumanMessage(text)) }
        for await (const _ of await agent.stream(given, { ...thread, streamMode: "messages" }));
      }
      const roles = async () => (await memory.neutral.messages("chat")).messages.map(({ role }) => role)
      // Some clients end a stream that was cut as if it were complete; then the half answer is stored.
      const broken = await run("How many?").then(
        () => false,
        () => true,
      )
      expect((await roles()).slice(0, 3)).toEqual(["user", "assistant", "tool"])
      if (broken) await run()
      await run("And now?")
      await server.close()
      expect(server.refused).toEqual([])
      expect(await roles()).toEqual([1, 2].flatMap(() => ["user", "assistant", "tool", "assistant"]))
    })

    it(`leaves a session that goes on, at whichever event it breaks: ${name}`, async () => {
      for (const at of breaks) {
        const { server, model } = await connected(breaking(at, "lookUp"), make)
        await using memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
        const agent = createAgent({ model, tools: [lookUp], middleware: [memfold({ memory })] })
        const run = async (...texts: ReadonlyArray<string>) => {
          const given = { messages: texts.map((text) => new HumanMessage(text)) }
          for await (const _ of await agent.stream(given, { ...thread, streamMode: "messages" }));
        }
        const stored = async () => (await memory.neutral.messages("chat")).messages
        await run("How many?").catch(() => undefined)
        if ((await stored()).at(-1)?.role !== "assistant") await run()
        await run("And now?")
        await server.close()
        const refused = server.refused.map(({ violations }) => violations)
        expect([at, refused, faults(await stored(), ["How many?", "And now?"])]).toEqual([at, [], []])
      }
    })
  }
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
    const checkpointer = new MemorySaver()
    const approve = new Command({ resume: { decisions: [{ type: "approve" }] } })
    // Each process has a middleware of its own, and the checkpoints in common.
    const agent = () =>
      createAgent({
        model,
        tools: [lookUp],
        checkpointer,
        middleware: [memfold({ memory }), loose(humanInTheLoopMiddleware, { interruptOn: { lookUp: true } })],
      })
    for (let turn = 1; turn <= 6; turn++) {
      await agent().invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, thread)
      // Up to here, nothing came in between: the thinking is sent back with the result.
      const asked = JSON.stringify(server.received.at(-1)?.body)
      expect(asked.includes('"signature"')).toBe(turn > 1)
      if (turn === 6) {
        expect((await memory.compact("chat"))._tag).toBe("Committed")
        await memory.append("chat", { role: "user", content: "Are you there?" })
      }
      await agent().invoke(approve, thread)
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    const all = await new MemfoldChatMessageHistory({ memory, session: "chat" }).allMessages()
    const turn = ["human", "ai", "tool", "ai"]
    expect(all.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 5 }, () => turn).flat(),
      "human",
      ...turn,
    ])
    expect(JSON.stringify(server.received.at(-1)?.body)).not.toContain('"signature"')
  })
})
