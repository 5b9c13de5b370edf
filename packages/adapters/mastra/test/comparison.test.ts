/** Failures of Mastra's own memory, as the same script with it and with memfold. */
import { Agent, type MastraDBMessage } from "@mastra/core/agent"
import { InMemoryStore } from "@mastra/core/storage"
import { createTool } from "@mastra/core/tools"
import { Memory as MastraMemory } from "@mastra/memory"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemory } from "memfold"
import { type Answer, type Prompted, versions } from "@memfold/harness/aiSdkVersions"
import { memfold, messagesOf, summarizer } from "../src/index.js"
import { loose } from "./loose.js"
import { quiet } from "./quiet.js"

quiet()

const [, , seven] = versions
const thread = { memory: { thread: "chat", resource: "ann" } }
const search = createTool({
  id: "search",
  description: "Searches.",
  inputSchema: z.object({ query: z.string() }),
  execute: async ({ query }) => ({ found: query }),
})

type Script = (prompt: ReadonlyArray<Prompted>, request: number) => Answer

const said = (prompt: ReadonlyArray<Prompted> | undefined): string => JSON.stringify(prompt)
const config = (model: unknown) => ({
  id: "support",
  name: "Support",
  instructions: "Be brief.",
  model: loose(model as never),
  maxRetries: 0,
})

/** An agent with Mastra's memory, which observes with a model if there is one. */
const withTheirs = (answer: Script, summary?: Script) => {
  const { model, prompts } = seven!.model(answer)
  const observer = seven!.model(summary ?? (() => ({ text: "" })))
  const observationalMemory = {
    enabled: true,
    model: loose(observer.model as never) as never,
    observation: { messageTokens: 300, bufferTokens: false as const },
  }
  const memory = new MastraMemory({
    storage: new InMemoryStore(),
    options: { lastMessages: 100, ...(summary === undefined ? {} : { observationalMemory }) },
  })
  const agent = new Agent({ ...config(model), tools: { search }, memory })
  const stored = async () => {
    const { messages } = await memory.recall({ threadId: "chat", resourceId: "ann", perPage: false })
    return messages
  }
  return { agent, prompts, stored, summarized: observer.prompts }
}

/** The same agent with memfold, which summarizes with the same model. */
const withOurs = (answer: Script, summary?: Script) => {
  const { model, prompts } = seven!.model(answer)
  const writer = seven!.model(summary ?? (() => ({ text: "" })))
  const memory = createMemory({
    store: "memory:",
    strategy: "rounds",
    settings: { fullContextTurns: 1, cachedContextTurns: 1 },
    compaction: { mode: summary === undefined ? "off" : "inline" },
    summarizer: summarizer({ agent: new Agent(config(writer.model)) }),
  })
  const agent = new Agent({ ...config(model), tools: { search }, ...memfold({ memory }) })
  return { agent, prompts, stored: () => messagesOf(memory, "chat"), summarized: writer.prompts }
}

type Memories = typeof withTheirs | typeof withOurs

/** The texts of the answers that are stored. */
const answersOf = (messages: ReadonlyArray<MastraDBMessage>) =>
  messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.parts.map((part) => (part.type === "text" ? part.text : "")).join(""))

describe("a stream that is aborted", () => {
  const aborted = async (memories: Memories) => {
    const { agent, stored } = memories(() => ({ text: "One, two, three." }))
    const controller = new AbortController()
    const stream = await agent.stream("Count.", { ...thread, abortSignal: controller.signal })
    for await (const chunk of stream.fullStream) if (chunk.type === "text-delta") controller.abort()
    return answersOf(await stored())
  }

  it("memfold: what was said is stored once", async () => {
    expect(await aborted(withOurs)).toEqual(["One, two, three."])
  })

  it("Mastra: what was said is stored twice", async () => {
    expect(await aborted(withTheirs)).toEqual(["One, two, three.", "One, two, three."])
  })
})

const long = (text: string): string => `${text} ${"All of it is about the same matter. ".repeat(12)}`

/** Turns without tools, and the prompt of the last one. */
const talked = async (memories: Memories, turns: number, summary: Script) => {
  const talk = memories((_prompt, request) => ({ text: long(`This is answer ${request}.`) }), summary)
  const ends: Array<string | undefined> = []
  for (let turn = 1; turn <= turns; turn++) {
    const { finishReason } = await talk.agent.generate(long(`This is question ${turn}.`), thread)
    ends.push(finishReason)
  }
  return { ...talk, ends }
}

/** A summary as an observer of Mastra has to write it. */
const observed = (text: string): Answer => ({
  text: `<observations>\nDate: Nov 23, 2026\n* 🔴 (14:30) ${text}\n</observations>`,
})

describe("a summary with brackets", () => {
  const summary = () => observed("The order [KX-4471] is in Graz.")

  it("memfold: the model gets it as it was written", async () => {
    const { prompts, summarized } = await talked(withOurs, 6, summary)
    expect(summarized.length).toBeGreaterThan(0)
    expect(said(prompts.at(-1))).toContain("The order [KX-4471] is in Graz.")
  })

  it("Mastra: what stands in brackets is left out", async () => {
    const { prompts, summarized } = await talked(withTheirs, 6, summary)
    expect(summarized.length).toBeGreaterThan(0)
    expect(said(prompts.at(-1))).toContain("The order is in Graz.")
    expect(said(prompts.at(-1))).not.toContain("KX-4471")
  })
})

describe("a summarizer that fails (mastra#21849)", () => {
  const fails = (): Answer => {
    throw Object.assign(new Error("quota exceeded"), { statusCode: 400, isRetryable: false })
  }

  it("memfold: the conversation goes on, and its messages stay", async () => {
    const { ends, prompts, summarized } = await talked(withOurs, 6, fails)
    expect(summarized.length).toBeGreaterThan(0)
    expect(ends).toEqual(Array.from({ length: 6 }, () => "stop"))
    for (let turn = 1; turn <= 6; turn++) expect(said(prompts.at(-1))).toContain(`question ${turn}.`)
  })

  it("Mastra: nothing is answered any more", async () => {
    const { ends, prompts } = await talked(withTheirs, 6, fails)
    expect(ends.slice(2)).toEqual(["other", "other", "other", "other"])
    expect(prompts.length).toBeLessThan(3)
  })
})

describe("a compaction in the middle of a turn", () => {
  /** Whether each request of a turn has the question of the turn. */
  const asked = async (memories: Memories) => {
    const question = (turn: number) => `This is question ${turn}.`
    const talk = memories(
      (_prompt, request) =>
        request % 4 < 3
          ? { calls: [{ id: `c${request}`, input: { query: long(`Query ${request}.`) } }] }
          : { text: "Done." },
      () => observed("Something was asked."),
    )
    for (let turn = 0; turn < 4; turn++) await talk.agent.generate(long(question(turn)), thread)
    expect(talk.prompts).toHaveLength(16)
    expect(talk.summarized.length).toBeGreaterThan(0)
    return talk.prompts.filter((prompt, request) => said(prompt).includes(question(Math.floor(request / 4))))
      .length
  }

  it("memfold: each request has the question that is being answered", async () => {
    expect(await asked(withOurs)).toBe(16)
  })

  it("Mastra: the question is gone from later steps of its own turn", async () => {
    expect(await asked(withTheirs)).toBeLessThan(16)
  })
})

describe("a message of a turn with several steps (mastra#13089)", () => {
  it("memfold: is stored once; so it is in this version of Mastra", async () => {
    for (const memories of [withOurs, withTheirs]) {
      const talk = memories(
        (_prompt, request) =>
          request < 5
            ? { calls: [{ id: `c${request}`, input: { query: long("Query.") } }] }
            : { text: "Done." },
        () => observed("Something was asked."),
      )
      await talk.agent.generate("Question?", thread)
      expect((await talk.stored()).filter(({ role }) => role === "user")).toHaveLength(1)
    }
  })
})
