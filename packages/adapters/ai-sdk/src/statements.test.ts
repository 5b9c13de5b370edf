/** What a turn of an agent asks the store for. */
import { type Answer, type Version, versions } from "@memfold/harness/aiSdkVersions"
import { often } from "@memfold/harness/depth"
import { type Statements, statementsOfTurns } from "@memfold/harness/statements"
import type * as ai from "ai"
import { createMemory } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { aiSdk, type AiSdkSession } from "./index.js"

type Memory = ReturnType<typeof createMemory>

const open = (store: Parameters<typeof createMemory>[0]["store"] = "memory:"): Memory =>
  createMemory({ store, compaction: { mode: "off" } })

/** A turn: its session, what it is called by, what the page showed before it, and how the model is made. */
interface Turn {
  readonly session: AiSdkSession
  readonly question: string
  readonly shown: Array<ai.UIMessage>
  /** The options that every call has. */
  readonly asked: { readonly model: ai.LanguageModel; readonly tools: object; readonly stopWhen: never }
}

type Ask = (turn: Turn, version: Version, options?: object) => PromiseLike<unknown>

interface Way {
  /** What the model says, by the number of the request in the turn; a text by default. */
  readonly says?: (question: string) => (request: number) => Answer
  readonly ask: Ask
  readonly takes: Statements
}

const onPage = (id: string, role: "user" | "assistant", text: string): ai.UIMessage => ({
  id,
  role,
  parts: [{ type: "text", text }],
})

/** A model that calls a tool, then a tool three times at once, and then answers. */
const inSteps = (question: string) => (request: number) =>
  request === 2
    ? { text: "Found." }
    : {
        calls: Array.from({ length: 1 + 2 * request }, (_, at) => ({
          id: `${question} ${request}.${at}`,
          input: {},
        })),
      }

/** A model that answers in a structure. */
const structured = () => () => ({ text: '{"answer":"Found."}' })

/** The option for an answer in a structure; version 5 has it under another name. */
const inStructure = ({ sdk }: Version) => {
  const { Output } = sdk as unknown as Pick<typeof ai, "Output">
  const output = Output.object({ schema: z.object({ answer: z.string() }) })
  return { output, experimental_output: output }
}

const generating: Ask = async ({ session, question, asked }, { sdk }, options = {}) => {
  const context = await session.messages(question)
  const call = { ...asked, ...context, ...options, prepareStep: session.prepareStep }
  await session.onFinish(await sdk.generateText(call as never))
}

const streaming: Ask = async ({ session, question, asked }, { sdk }, options = {}) => {
  const context = await session.messages(question)
  const call = { ...asked, ...context, ...session.callbacks, ...options }
  await sdk.streamText(call as never).consumeStream()
}

/** A stream that ends when the model begins to speak. */
const aborting: Ask = (turn, version) => {
  const stop = new AbortController()
  const onChunk = ({ chunk }: { readonly chunk: { readonly type: string } }) => {
    if (chunk.type === "text-delta") stop.abort()
  }
  return streaming(turn, version, { abortSignal: stop.signal, onChunk })
}

/** A page that sends a list of what it shows. */
const listing =
  (shows: "all" | "end"): Ask =>
  async ({ session, question, shown, asked }, { sdk }) => {
    shown.push(onPage(question, "user", question))
    const context = await session.messages(shows === "all" ? [...shown] : shown.slice(-5), { shows })
    const { text } = sdk.streamText({ ...asked, ...context, ...session.callbacks } as never)
    shown.push(onPage(session.generateMessageId(), "assistant", await text))
  }

const withMiddleware = ({ session, asked: { model, ...asked } }: Turn, { sdk }: Version) => ({
  ...asked,
  model: sdk.wrapLanguageModel({ model: model as never, middleware: session.middleware() }),
})

/** A question, and its answer: an append each, and a look at the head for the call of the model. */
const least = { appends: 2, heads: 1, pages: 0 }
/** A turn in three steps. */
const threeSteps = { appends: 4, heads: 3, pages: 0 }

const ways: Readonly<Record<string, Way>> = {
  "generateText with the callbacks": { ask: generating, takes: least },
  "streamText with the callbacks": { ask: streaming, takes: least },
  "generateText in steps": { ask: generating, says: inSteps, takes: threeSteps },
  "streamText in steps": { ask: streaming, says: inSteps, takes: threeSteps },
  "an answer in a structure": {
    ask: (turn, version) => generating(turn, version, inStructure(version)),
    says: structured,
    takes: least,
  },
  "an answer in a structure that streams": {
    ask: (turn, version) => streaming(turn, version, inStructure(version)),
    says: structured,
    takes: least,
  },
  "a stream that is aborted": { ask: aborting, takes: { appends: 1, heads: 1, pages: 0 } },
  "a stream that is aborted in its last step": {
    ask: aborting,
    says: inSteps,
    takes: { appends: 3, heads: 3, pages: 0 },
  },
  "a model that fails": {
    ask: (turn, version) =>
      expect(generating(turn, version, { maxRetries: 0 })).rejects.toThrow("the model is down"),
    says: () => () => {
      throw new Error("the model is down")
    },
    takes: { appends: 1, heads: 1, pages: 0 },
  },
  "a stream for a page, which is stored as the page has it": {
    ask: async ({ session, question, asked }, { sdk }) => {
      const context = await session.messages(onPage(question, "user", question), { shows: "end" })
      const { generateMessageId, onEnd, onFinish, prepareStep } = session
      const stream = sdk.streamText({ ...asked, ...context, prepareStep } as never)
      const options = { generateMessageId, onEnd, onFinish }
      await stream.toUIMessageStreamResponse(options as never).text()
    },
    takes: least,
  },
  "a page that sends all": { ask: listing("all"), takes: least },
  "a page that sends its end": { ask: listing("end"), takes: least },
  "a page that asks for another answer": {
    ask: async ({ session, question, asked, shown }, { sdk }) => {
      const again = { trigger: "regenerate-message" }
      const context = await (shown.length === 0
        ? session.messages(question)
        : session.messages(undefined, again))
      shown.push(onPage(question, "user", question))
      await sdk.streamText({ ...asked, ...context, ...session.callbacks } as never).consumeStream()
    },
    // Which answer is the newest, the store says.
    takes: { appends: 2, heads: 2, pages: 0 },
  },
  "the middleware": {
    ask: (turn, version) =>
      version.sdk.generateText({ ...withMiddleware(turn, version), prompt: turn.question } as never),
    takes: least,
  },
  "the middleware in steps that stream": {
    ask: (turn, version) =>
      version.sdk
        .streamText({ ...withMiddleware(turn, version), prompt: turn.question } as never)
        .consumeStream(),
    says: inSteps,
    takes: threeSteps,
  },
}

const says = () => () => ({ text: "Found." })

/** Asks in a way; each turn begins with what is called before it. */
const asking = (memory: Memory, version: Version, way: Way) => {
  const sessions = aiSdk(memory, { major: version.major })
  const shown: Array<ai.UIMessage> = []
  const search = version.sdk.tool({ inputSchema: z.object({}), execute: async () => "found" })
  return async (turn: number) => {
    const question = `Question ${turn}?`
    const script = (way.says ?? says)(question)
    const { model } = version.model((_prompt, request) => script(request))
    const asked = { model, tools: { search }, stopWhen: version.steps(5) as never }
    return way.ask({ session: sessions.session("chat"), question, shown, asked }, version)
  }
}

/** A memory that counts the contexts that are read of it, whoever is asked for them. */
const countingContexts = (memory: Memory) => {
  const counts = { contexts: 0 }
  const counted = <Reads extends Pick<Memory["neutral"], "context">>(reads: Reads): Reads => ({
    ...reads,
    context: ((session, options) => {
      counts.contexts++
      return reads.context(session, options)
    }) satisfies Reads["context"],
  })
  const neutral = { ...counted(memory.neutral), known: counted(memory.neutral.known!) }
  return { counts, memory: { ...memory, neutral } }
}

describe.each(versions)("a turn with $name", (version) => {
  /** How long a session may become before its turns cost more is the same with each version. */
  const turns = version === versions.at(-1) ? 70 : often(12, 70)

  it.each(Object.entries(ways))(
    "is no more than its appends and looks at the head: %s",
    async (_name, way) => {
      const asked = await statementsOfTurns((store) => asking(open(store), version, way), turns)
      expect(asked).toEqual(asked.map(() => way.takes))
    },
  )

  it.each(Object.entries(ways))("reads a context once for each call of the model: %s", async (_name, way) => {
    await using own = open()
    const { counts, memory } = countingContexts(own)
    let requests = 0
    const counting: Way = {
      ...way,
      says: (question) => (request) => {
        requests++
        return (way.says ?? says)(question)(request)
      },
    }
    const ask = asking(memory, version, counting)
    for (let turn = 0; turn < 3; turn++) await ask(turn)
    expect(counts.contexts).toBe(requests)
  })

  it("goes on with what this process has written since the call began", async () => {
    await using memory = open()
    const session = aiSdk(memory, { major: version.major }).session("chat")
    const context = await session.messages("What is my order?")
    await memory.append("chat", { role: "system", content: "The order is KX-4471." })
    const { model, prompts } = version.model(() => ({ text: "KX-4471." }))
    const { prepareStep } = session
    await session.onFinish(await version.sdk.generateText({ model, ...context, prepareStep } as never))
    expect(JSON.stringify(prompts[0])).toContain("The order is KX-4471.")
  })
})
