/** A page that edits, regenerates, reloads and goes back, with the client of the AI SDK, against a strict server. */
import { readFileSync } from "node:fs"
import { createAnthropic } from "@ai-sdk/anthropic"
import { type Memory as Core, Message } from "@memfold/core"
import { type Answering, providerServer } from "@memfold/strict-providers"
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  stepCountIs,
  streamText,
  tool,
  type ToolSet,
  type UIMessage,
} from "ai"
import { createMemory, Keep, Strategy, SummaryMode, Trigger } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { aiSdk } from "../src/index.js"
import { Page, saidIn } from "./Page.js"
import { routeOf } from "./route.js"

type Memory = Core.AnyMemory

type Subscribed = Pick<ReturnType<typeof createMemory>, "subscribe">

const plain = { store: "memory:", compaction: { mode: "off" } } as const

/** Compacts inline, after a few messages. */
const short = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(3),
  summaryMode: SummaryMode.rolling,
})

/** Says which answer it is, and to how many messages. */
const counting: Answering = ({ turn, body }) => ({
  thinking: "Hm.",
  text: `answer ${turn} to ${(body["messages"] as ReadonlyArray<unknown>).length}`,
})

const opened = async (memory: Memory, answer: Answering = counting) => {
  const server = await providerServer({ answer })
  const anthropic = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })
  const model = anthropic("claude-sonnet-5-5")
  const lookUp = tool({
    inputSchema: z.object({ request: z.string() }),
    execute: async ({ request }) => `about ${request}`,
  })
  const { POST, GET } = routeOf(memory, model, { tools: { lookUp }, stopWhen: stepCountIs(5) })
  const reload = async (): Promise<Page> =>
    new Page("chat", POST, (await (await GET("chat")).json()) as Array<UIMessage>)
  /** What the model got in the newest request, and what it had to get: all that the page shows, but the answer. */
  const received = () => {
    const sent = server.received.at(-1)?.body["messages"] as ReadonlyArray<{
      readonly role: string
      readonly content: string | ReadonlyArray<{ readonly type: string; readonly text?: string }>
    }>
    return sent.map(({ role, content }) =>
      typeof content === "string"
        ? `${role} ${content}`
        : [role, ...content.flatMap(({ type, text }) => (type === "text" ? [text] : []))].join(" "),
    )
  }
  return { server, POST, reload, received }
}

/** A promise, and the function that resolves it. */
const signal = () => {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Waits until the stored conversation is as expected, which a call in the background brings about. */
const ends = async (memory: Subscribed, is: (roles: ReadonlyArray<string>) => boolean) => {
  const roles: Array<string> = []
  for await (const { event } of memory.subscribe("chat", { pollInterval: "10 millis" })) {
    if (event._tag === "MessageAppended") roles.push(event.message.role)
    if (is(roles)) return
  }
}

describe("the route of the README", () => {
  it("is the route of these tests", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
    const tested = readFileSync(new URL("route.ts", import.meta.url), "utf8")
    const postOf = (text: string) => /const POST = async[\s\S]*?\n *\}\n/u.exec(text)?.[0]
    const plainOf = (text: string | undefined) => text?.replace(/\s+/gu, " ")
    expect(plainOf(postOf(tested))).toBe(
      plainOf(postOf(readme)?.replace('model: "openai/gpt-6.2-sol"', "model, ...options")),
    )
  })
})

describe("a page", () => {
  it("gives the model what it shows: after an edit, another answer, and a reload of both", async () => {
    await using memory = createMemory(plain)
    const { server, reload, received } = await opened(memory)
    const agree = async (page: Page) => {
      expect(page.error).toBeUndefined()
      expect(received()).toEqual(page.said.slice(0, -1))
      expect((await reload()).said).toEqual(page.said)
    }
    let page = await reload()
    for (const text of ["one", "two", "three"]) {
      await page.sendMessage({ text })
      await agree(page)
    }
    expect(page.said).toHaveLength(6)
    await page.sendMessage({ text: "second", messageId: page.messages[2]!.id })
    expect(page.sent.at(-1)).toMatchObject({ trigger: "submit-message", messageId: page.messages[2]!.id })
    expect(page.said).toEqual([
      "user one",
      "assistant answer 0 to 1",
      "user second",
      "assistant answer 3 to 3",
    ])
    await agree(page)
    await page.regenerate()
    expect(page.said.at(-1)).toBe("assistant answer 4 to 3")
    await agree(page)
    page = await reload()
    await page.regenerate({ messageId: page.messages[1]!.id })
    expect(page.said).toEqual(["user one", "assistant answer 5 to 1"])
    await agree(page)
    await page.sendMessage({ text: "four" })
    await agree(page)
    // Text of an answer, of the question again, and of the same words on another branch.
    await page.sendMessage({ text: "two", messageId: page.messages[2]!.id })
    await page.sendMessage({ text: "four", messageId: page.messages[2]!.id })
    await page.sendMessage({ text: "two", messageId: page.messages[2]!.id })
    expect(page.said).toHaveLength(4)
    await agree(page)
    await server.close()
    expect(server.refused).toEqual([])
    // All that was said can be returned to.
    await memory.checkout("chat", 0)
    expect(saidIn(await aiSdk(memory).session("chat").uiMessages())).toEqual([
      "user one",
      "assistant answer 0 to 1",
      "user two",
      "assistant answer 1 to 3",
      "user three",
      "assistant answer 2 to 5",
    ])
  })

  it("goes on where it goes back to, and edits what is covered by a summary", async () => {
    await using memory = createMemory({
      store: "memory:",
      summarizer: "echo",
      strategy: short,
      compaction: { mode: "inline" },
    })
    const { server, reload } = await opened(memory)
    let page = await reload()
    for (let turn = 1; turn <= 12; turn++) await page.sendMessage({ text: `question ${turn}` })
    expect((await memory.summaries("chat")).length).toBeGreaterThan(2)
    await page.sendMessage({ text: "question 2b", messageId: page.messages[2]!.id })
    const sent = JSON.stringify(server.received.at(-1)?.body)
    expect(sent).toContain("question 2b")
    expect(sent).not.toMatch(/question [3-9]/u)
    expect((await reload()).said).toEqual(page.said)
    expect(page.said).toHaveLength(4)
    await memory.checkout("chat", 0)
    page = await reload()
    expect(page.said).toHaveLength(24)
    await page.sendMessage({ text: "question 13" })
    expect((await reload()).said).toEqual(page.said)
    expect(page.said).toHaveLength(26)
    await server.close()
    expect(server.refused).toEqual([])
  })

  it("sends a message without what the page took out of its list", async () => {
    await using memory = createMemory(plain)
    const { server, reload, received } = await opened(memory)
    const page = await reload()
    for (const text of ["one", "two", "three"]) await page.sendMessage({ text })
    page.messages = page.messages.toSpliced(2, 2)
    await page.sendMessage({ text: "four" })
    expect(received()).toEqual([
      "user one",
      "assistant answer 0 to 1",
      "user three",
      "assistant answer 2 to 5",
      "user four",
    ])
    expect((await reload()).said).toEqual(page.said)
    await server.close()
    expect(server.refused).toEqual([])
  })

  it("does not bring back what was redacted since it was loaded", async () => {
    await using memory = createMemory(plain)
    const { server, reload } = await opened(memory)
    const page = await reload()
    for (const text of ["one", "secret", "three"]) await page.sendMessage({ text })
    await memory.redact("chat", 2)
    await page.sendMessage({ text: "four" })
    await page.regenerate()
    await server.close()
    expect(server.refused).toEqual([])
    const stored = JSON.stringify((await memory.neutral.messages("chat")).messages)
    expect(stored).not.toContain("secret")
    expect(stored).toContain("three")
    expect(JSON.stringify(server.received.at(-1)?.body)).not.toContain("secret")
  })

  it("reads about as much for an edit near the end of a long conversation as of a short one", async () => {
    const reads: Array<number> = []
    for (const turns of [200, 2_000]) {
      await using memory = createMemory(plain)
      const pairs = Array.from({ length: turns }, (_, turn): ReadonlyArray<UIMessage> => [
        { id: `u${turn}`, role: "user", parts: [{ type: "text", text: `question ${turn}` }] },
        { id: `a${turn}`, role: "assistant", parts: [{ type: "text", text: `answer ${turn}` }] },
      ])
      await aiSdk(memory).session("chat").append(pairs.flat())
      let read = 0
      const counted = {
        neutral: {
          ...memory.neutral,
          messages: async (...args: Parameters<typeof memory.neutral.messages>) => {
            const page = await memory.neutral.messages(...args)
            read += page.messages.length
            return page
          },
        },
      }
      const chat = aiSdk(counted).session("chat")
      const edited = { ...pairs[turns - 3]![0]!, parts: [{ type: "text" as const, text: "edited" }] }
      await chat.messages(edited, { trigger: "submit-message", messageId: edited.id })
      await chat.messages({ id: "new", role: "user", parts: [{ type: "text", text: "new" }] })
      expect(saidIn((await chat.uiMessages({ limit: 4 })).slice(-2))).toEqual(["user edited", "user new"])
      reads.push(read)
    }
    expect(reads[1]).toBe(reads[0])
  })
})

describe("a message far back", () => {
  const pairs = Array.from({ length: 900 }, (_, turn): ReadonlyArray<UIMessage> => [
    { id: `u${turn}`, role: "user", parts: [{ type: "text", text: `question ${turn}` }] },
    { id: `a${turn}`, role: "assistant", parts: [{ type: "text", text: `answer ${turn}` }] },
  ])
  const edited: UIMessage = { id: "u7", role: "user", parts: [{ type: "text", text: "edited" }] }

  for (const [name, given, options, last] of [
    ["the last message of the page", edited, { messageId: "u7" }, "user edited"],
    ["all that the page shows", [...pairs.slice(0, 7).flat(), edited], {}, "user edited"],
    [
      "the end of a list that ends with it",
      pairs.slice(5, 8).flat().slice(0, -1),
      { shows: "end" },
      "user question 7",
    ],
  ] as const) {
    it(`is found by ${name}`, async () => {
      await using memory = createMemory(plain)
      const chat = aiSdk(memory).session("chat")
      await chat.append(pairs.flat())
      const { messages } = await chat.messages(given as ReadonlyArray<UIMessage>, options)
      expect(messages).toHaveLength(15)
      const said = saidIn(await chat.uiMessages())
      expect(said).toHaveLength(15)
      expect(said.at(-1)).toBe(last)
    })
  }
})

describe("what a page takes out of the middle of its list", () => {
  it("is there again when the page shows it again", async () => {
    await using memory = createMemory(plain)
    const { reload, received } = await opened(memory)
    const page = await reload()
    for (const text of ["one", "two"]) await page.sendMessage({ text })
    const before = [...page.messages]
    page.messages = page.messages.filter((_, at) => at !== 1)
    await page.sendMessage({ text: "three" })
    page.messages = before
    await page.sendMessage({ text: "four" })
    expect(page.said).toHaveLength(6)
    expect(received()).toEqual(page.said.slice(0, -1))
    expect((await reload()).said).toEqual(page.said)
  })
})

describe("what a page takes back at its start", () => {
  const talk = async (memory: Memory) => {
    const { server, reload, received } = await opened(memory)
    const page = await reload()
    for (const text of ["My code is 4711", "two", "three"]) await page.sendMessage({ text })
    return { server, page, reload, received }
  }

  for (const [name, change] of [
    ["its first question", (shown: ReadonlyArray<UIMessage>) => shown.slice(1)],
    ["its first question and answer", (shown: ReadonlyArray<UIMessage>) => shown.slice(2)],
    ["everything", () => []],
  ] as const) {
    it(`stays away: ${name}`, async () => {
      await using memory = createMemory(plain)
      const { server, page, reload, received } = await talk(memory)
      page.messages = change(page.messages)
      await page.sendMessage({ text: "What is my code?" })
      expect(page.error).toBeUndefined()
      const opening = page.messages[0]!.role === "user" ? [] : ["user (The conversation goes on.)"]
      expect(received()).toEqual([...opening, ...page.said.slice(0, -1)])
      expect((await reload()).said).toEqual(page.said)
      // What was said stays in the log.
      expect(await memory.branches("chat")).toHaveLength(2)
      await page.sendMessage({ text: "And now?" })
      expect((await reload()).said).toEqual(page.said)
      await server.close()
      expect(server.refused).toEqual([])
    })
  }

  it("is not what a program said, nor what a list that shows the end does not have", async () => {
    await using memory = createMemory({ ...plain, format: "memfold" })
    await memory.append("chat", { role: "system", parts: [{ type: "text", text: "Be brief." }] })
    const { server, reload } = await opened(memory)
    await new Page("chat", (await opened(memory)).POST).sendMessage({ text: "one" })
    const chat = aiSdk(memory).session("chat")
    const added: UIMessage = { id: "n1", role: "user", parts: [{ type: "text", text: "two" }] }
    const { system } = await chat.messages([added], { shows: "end" })
    expect(system).toContain("Be brief.")
    expect((await reload()).said).toEqual(["system Be brief.", "user one", expect.any(String), "user two"])
    await server.close()
  })
})

describe("two pages of one conversation", () => {
  it("that ask at once keep both questions and both answers, and each goes on with what it shows", async () => {
    await using memory = createMemory(plain)
    const [asked, released] = [signal(), signal()]
    const { server, reload } = await opened(memory, async ({ turn, body }) => {
      if (turn === 1) {
        asked.resolve()
        await released.promise
      }
      const text = JSON.stringify((body["messages"] as ReadonlyArray<unknown>).at(-1))
      return { text: `to ${/(first|second|begin|more \w)/u.exec(text)?.[0]}` }
    })
    await (await reload()).sendMessage({ text: "begin" })
    const [one, other] = [await reload(), await reload()]
    const first = one.sendMessage({ text: "first" })
    await asked.promise
    const second = other.sendMessage({ text: "second" })
    await second
    released.resolve()
    await first
    const stored = async () => (await reload()).said.toSorted()
    const both = ["user begin", "assistant to begin", "user first", "user second"]
    expect(await stored()).toEqual(expect.arrayContaining(both))
    expect((await reload()).said).toHaveLength(6)
    await other.sendMessage({ text: "more a" })
    await one.sendMessage({ text: "more b" })
    expect((await reload()).said.filter((text) => text.startsWith("user"))).toEqual(
      expect.arrayContaining(["user begin", "user first", "user second", "user more b"]),
    )
    await server.close()
    expect(server.refused).toEqual([])
  })
})

describe("a question whose answer is still written", () => {
  const takenBack = async (begin: number, goOn: (page: Page) => Promise<void>) => {
    await using memory = createMemory(plain)
    const [asked, released] = [signal(), signal()]
    const { server, reload } = await opened(memory, async ({ turn, body }) => {
      if (turn === begin) {
        asked.resolve()
        await released.promise
      }
      return counting({ turn, body } as Parameters<Answering>[0])
    })
    const page = await reload()
    for (let said = 0; said < begin; said++) await page.sendMessage({ text: "Hello." })
    const first = page.sendMessage({ text: "My code is 4711" })
    await asked.promise
    await page.stop()
    await goOn(page)
    released.resolve()
    await first
    await page.sendMessage({ text: "And now?" })
    await server.close()
    expect(server.refused).toEqual([])
    return JSON.stringify([server.received.at(-1)?.body, (await reload()).said]).includes("4711")
  }

  it("is gone when the page edits it, and at the start when the page takes it back", async () => {
    const questionOf = ({ messages }: Page) => messages.findLastIndex(({ role }) => role === "user")
    const edits = (page: Page) =>
      page.sendMessage({ text: "Paint it.", messageId: page.messages[questionOf(page)]!.id })
    const removes = (page: Page) => {
      page.messages = page.messages.slice(0, questionOf(page))
      return page.sendMessage({ text: "Paint it." })
    }
    expect(await takenBack(0, edits)).toBe(false)
    expect(await takenBack(1, edits)).toBe(false)
    expect(await takenBack(0, removes)).toBe(false)
    // Behind an answer, the list of another page that never saw it looks the same.
    expect(await takenBack(1, removes)).toBe(true)
  })
})

describe("a question whose answer waits for the page", () => {
  const asks: Answering = ({ turn, tools }) =>
    tools.length > 0 && turn === 1
      ? { calls: [{ name: "ask", arguments: { question: "Which colour?" } }] }
      : { text: `answer ${turn}` }

  const waiting = async (memory: Memory) => {
    const server = await providerServer({ answer: asks })
    const model = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })(
      "claude-sonnet-5-5",
    )
    const ask = tool({ inputSchema: z.object({ question: z.string() }) })
    const tools = { ask } as unknown as ToolSet
    const { POST, GET } = routeOf(memory, model, { tools, stopWhen: stepCountIs(3) })
    const reload = async () => new Page("chat", POST, (await (await GET("chat")).json()) as Array<UIMessage>)
    const page = await reload()
    await page.sendMessage({ text: "Hello." })
    await page.sendMessage({ text: "My code is 4711" })
    return { server, page, reload }
  }

  for (const [name, goOn] of [
    ["edits it", (page: Page) => page.sendMessage({ text: "Paint it.", messageId: page.messages[2]!.id })],
    [
      "takes it back",
      (page: Page) => {
        page.messages = page.messages.slice(0, 2)
        return page.sendMessage({ text: "Paint it." })
      },
    ],
  ] as const) {
    it(`is gone when the page ${name}`, async () => {
      await using memory = createMemory(plain)
      const { server, page, reload } = await waiting(memory)
      await goOn(page)
      expect(page.error).toBeUndefined()
      expect(JSON.stringify(server.received.at(-1)?.body)).not.toContain("4711")
      expect((await reload()).said).toEqual(page.said)
      expect(page.said).toHaveLength(4)
      await server.close()
      expect(server.refused).toEqual([])
    })
  }

  it("keeps the result of one of its tools when the page takes something else back", async () => {
    await using memory = createMemory(plain)
    const { server, page, reload } = await waiting(memory)
    const call = page.messages[3]!.parts.find(({ type }) => type === "tool-ask") as { toolCallId: string }
    await page.addToolOutput({ tool: "ask", toolCallId: call.toolCallId, output: "green" } as never)
    page.messages = page.messages.slice(2)
    await page.sendMessage({ text: "Paint it." })
    expect(JSON.stringify(server.received.at(-1)?.body)).toContain("green")
    expect(JSON.stringify((await reload()).messages[1])).toContain("green")
    await server.close()
    expect(server.refused).toEqual([])
  })
})

describe("pages that loaded the conversation at different times", () => {
  it("each go on with the answers that they show, and all are on a branch", async () => {
    await using memory = createMemory(plain)
    const { server, reload, received } = await opened(memory)
    const pages = [await reload(), await reload(), await reload()]
    for (const round of ["one", "two", "three"]) {
      for (const [at, page] of pages.entries()) {
        await page.sendMessage({ text: `${round} of page ${at}` })
        expect(received()).toEqual(page.said.slice(0, -1))
        expect((await reload()).said).toEqual(page.said)
      }
    }
    expect(pages.map(({ said }) => said.length)).toEqual([6, 6, 6])
    const branches = await memory.branches("chat")
    expect(branches).toHaveLength(3)
    const onBranches = await Promise.all(
      branches.map(({ id }) => memory.neutral.messages("chat", { branch: id, limit: 100 })),
    )
    const texts = onBranches.map(({ messages }) => messages.map((one) => `${one.role} ${Message.text(one)}`))
    expect(texts.toSorted()).toEqual(pages.map(({ said }) => said).toSorted())
    await server.close()
    expect(server.refused).toEqual([])
  })

  it("or an earlier answer that the page shows again", async () => {
    await using memory = createMemory(plain)
    const { server, reload, received } = await opened(memory)
    const page = await reload()
    await page.sendMessage({ text: "one" })
    const before = page.messages
    await page.regenerate()
    page.messages = before
    await page.sendMessage({ text: "two" })
    expect(received()).toEqual(["user one", "assistant answer 0 to 1", "user two"])
    expect((await reload()).said).toEqual(page.said)
    await server.close()
    expect(server.refused).toEqual([])
  })
})

describe("a message of the user without a word", () => {
  it("is asked, first and behind an answer, and what is thought behind it goes back", async () => {
    await using memory = createMemory(plain)
    const { server, reload } = await opened(memory, ({ afterResult }) =>
      afterResult
        ? { text: "Seven." }
        : { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: "it" } }] },
    )
    const page = await reload()
    for (const text of [" ", "How many?", "", "\n"]) {
      await page.sendMessage({ parts: [{ type: "text", text }] })
      expect(page.error).toBeUndefined()
    }
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    expect(JSON.stringify(server.received.at(-1)?.body)).toContain("(This message has no text.)")
  })
})

describe("another answer behind a compaction", () => {
  it("is to the question, also where a summary has covered it", async () => {
    const every = Strategy.make({
      name: "every",
      when: Trigger.backlog({ messages: 1 }),
      keep: Keep.lastMessages(1),
      summaryMode: SummaryMode.rolling,
    })
    await using memory = createMemory({
      store: "memory:",
      summarizer: "echo",
      strategy: every,
      compaction: { mode: "inline" },
    })
    const { server, reload } = await opened(memory)
    const page = await reload()
    for (const text of ["one", "two", "three"]) {
      await page.sendMessage({ text })
      await page.regenerate()
      expect(page.error).toBeUndefined()
      expect(JSON.stringify(server.received.at(-1)?.body["messages"])).toContain(text)
    }
    await page.regenerate({ messageId: page.messages[1]!.id })
    expect(JSON.stringify(server.received.at(-1)?.body["messages"])).toContain("one")
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
  })
})

describe("what a page answers late", () => {
  const asking: Answering = ({ turn, tools }) =>
    turn === 0 && tools.length > 0
      ? { calls: [{ name: "ask", arguments: { question: "Which colour?" } }] }
      : { text: `answer ${turn}` }

  for (const [name, answer] of [
    ["a result", { output: "green" }],
    ["an error", { state: "output-error", errorText: "green is gone" }],
  ] as const) {
    it(`reaches the model after the user went on: ${name}`, async () => {
      await using memory = createMemory(plain)
      const server = await providerServer({ answer: asking })
      const model = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })(
        "claude-sonnet-5-5",
      )
      const ask = tool({ inputSchema: z.object({ question: z.string() }) })
      const { POST, GET } = routeOf(memory, model, {
        tools: { ask } as unknown as ToolSet,
        stopWhen: stepCountIs(3),
      })
      const reload = async () =>
        new Page("chat", POST, (await (await GET("chat")).json()) as Array<UIMessage>)
      const page = await reload()
      await page.sendMessage({ text: "Paint it." })
      await page.sendMessage({ text: "And be quick." })
      const call = page.messages[1]!.parts.find(({ type }) => type === "tool-ask") as { toolCallId: string }
      await page.addToolOutput({ tool: "ask", toolCallId: call.toolCallId, ...answer } as never)
      await page.sendMessage({ text: "Which colour was it?" })
      expect(page.error).toBeUndefined()
      const sent = JSON.stringify(server.received.at(-1)?.body)
      expect(sent).toContain("green")
      expect(sent).not.toContain("interrupted")
      expect(JSON.stringify((await reload()).messages[1])).toContain("green")
      expect((await reload()).said).toEqual(page.said)
      await page.sendMessage({ text: "Thanks." })
      expect((await reload()).said).toEqual(page.said)
      await server.close()
      expect(server.refused).toEqual([])
    })
  }
})

describe("data of the application", () => {
  const written = (part: object): UIMessage => ({ id: "d1", role: "user", parts: [part as never] })
  const order = { type: "data-order", data: { id: "KX-4471" } }

  it("is nothing to the model, or what the application makes of it, and no turn is lost", async () => {
    await using memory = createMemory(plain)
    const chat = aiSdk(memory).session("chat")
    expect((await chat.messages([written(order)])).messages).toEqual([
      { role: "user", content: "(This message has no text.)" },
    ])
    const convertDataPart = ({ data }: { readonly data: unknown }) =>
      ({ type: "text", text: `Order ${(data as { id: string }).id}` }) as const
    const told = aiSdk(memory, { convertDataPart }).session("chat")
    expect((await told.messages([written(order)])).messages).toEqual([
      { role: "user", content: "Order KX-4471" },
    ])
  })

  it("beside the steps of a loop is stored with them, and no step is stored twice", async () => {
    await using memory = createMemory(plain)
    const server = await providerServer({
      answer: ({ turn }) =>
        turn < 2 ? { calls: [{ name: "lookUp", arguments: { request: `${turn}` } }] } : { text: "Done." },
    })
    const model = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })(
      "claude-sonnet-5-5",
    )
    const lookUp = tool({ inputSchema: z.object({ request: z.string() }), execute: async () => "found" })
    const chat = aiSdk(memory).session("chat")
    const given: Array<UIMessage> = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Go." }] }]
    const context = await chat.messages(given)
    const stream = createUIMessageStream({
      originalMessages: given,
      generateId: chat.generateMessageId,
      execute: ({ writer }) => {
        writer.write({ type: "data-progress", data: { percent: 10 } })
        const result = streamText({
          model,
          tools: { lookUp },
          stopWhen: stepCountIs(5),
          ...context,
          prepareStep: chat.prepareStep,
        })
        writer.merge(result.toUIMessageStream({ messageMetadata: () => ({ cost: 7 }) }))
      },
      onEnd: chat.onEnd,
    })
    for await (const _ of stream);
    await server.close()
    const { messages } = await memory.neutral.messages("chat")
    expect(messages.flatMap(Message.calls)).toHaveLength(2)
    expect(messages.flatMap(Message.results)).toHaveLength(2)
    const [, shown] = await chat.uiMessages()
    expect(shown?.metadata).toEqual({ cost: 7 })
    expect(shown?.parts.filter(({ type }) => type === "data-progress")).toEqual([
      { type: "data-progress", data: { percent: 10 } },
    ])
    expect(saidIn([shown!])[0]).toContain("Done.")
  })
})

describe("an answer that goes on after a tool of the page", () => {
  it("is stored with the data before each of its steps, in their places", async () => {
    await using memory = createMemory(plain)
    const server = await providerServer({
      answer: ({ turn }) =>
        turn === 0
          ? { calls: [{ name: "ask", arguments: { question: "Which colour?" } }] }
          : { text: "Done." },
    })
    const model = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })(
      "claude-sonnet-5-5",
    )
    const ask = tool({ inputSchema: z.object({ question: z.string() }) })
    const POST = async (request: Request) => {
      const { id, messages } = (await request.json()) as { id: string; messages: Array<UIMessage> }
      const chat = aiSdk(memory).session(id)
      const context = await chat.messages(messages)
      const stream = createUIMessageStream({
        originalMessages: messages,
        generateId: chat.generateMessageId,
        execute: ({ writer }) => {
          writer.write({ type: "data-step", data: messages.length })
          const { prepareStep } = chat
          writer.merge(
            streamText({
              model,
              tools: { ask } as unknown as ToolSet,
              ...context,
              prepareStep,
            }).toUIMessageStream(),
          )
        },
        onEnd: chat.onEnd,
      })
      return createUIMessageStreamResponse({ stream })
    }
    const page = new Page("chat", POST)
    await page.sendMessage({ text: "Paint it." })
    const call = page.messages[1]!.parts.find(({ type }) => type === "tool-ask") as { toolCallId: string }
    await page.addToolOutput({ tool: "ask", toolCallId: call.toolCallId, output: "green" } as never)
    await page.sendMessage()
    await server.close()
    expect(server.refused).toEqual([])
    const stored = await aiSdk(memory).session("chat").uiMessages()
    const kinds = (messages: ReadonlyArray<UIMessage>) =>
      messages.map(({ parts }) => parts.map(({ type }) => type))
    expect(saidIn(stored)).toEqual(["user Paint it.", "assistant Done."])
    expect(kinds(stored)).toEqual(kinds(page.messages))
  })

  it("shows an approval that came after the user went on as given", async () => {
    await using memory = createMemory(plain)
    const server = await providerServer({
      answer: ({ turn }) =>
        turn === 0 ? { calls: [{ name: "pay", arguments: { request: "it" } }] } : { text: `answer ${turn}` },
    })
    const model = createAnthropic({ baseURL: `${server.anthropicURL}/v1`, apiKey: "local" })(
      "claude-sonnet-5-5",
    )
    const pay = tool({
      inputSchema: z.object({ request: z.string() }),
      needsApproval: true,
      execute: () => "paid",
    })
    const POST = async (request: Request) => {
      const { id, messages } = (await request.json()) as { id: string; messages: Array<UIMessage> }
      const chat = aiSdk(memory).session(id)
      const context = await chat.messages(messages)
      const result = streamText({ model, tools: { pay }, ...context, prepareStep: chat.prepareStep })
      const { generateMessageId, onEnd } = chat
      return result.toUIMessageStreamResponse({ originalMessages: messages, generateMessageId, onEnd })
    }
    const page = new Page("chat", POST)
    await page.sendMessage({ text: "Pay it." })
    await page.sendMessage({ text: "Well?" })
    const { approval } = page.messages[1]!.parts.at(-1) as unknown as { approval: { id: string } }
    await page.addToolApprovalResponse({ id: approval.id, approved: false })
    await page.sendMessage({ text: "Good." })
    await server.close()
    expect(server.refused).toEqual([])
    const [, stored] = await aiSdk(memory).session("chat").uiMessages()
    expect(stored?.parts.at(-1)).toMatchObject({ state: "approval-responded", approval: { approved: false } })
  })
})

describe("a client that goes away", () => {
  it("leaves the whole answer with its tool steps in the session", async () => {
    await using memory = createMemory(plain)
    const { server, POST, reload } = await opened(memory, ({ afterResult }) =>
      afterResult
        ? { text: "The answer is seven." }
        : { thinking: "Hm.", calls: [{ name: "lookUp", arguments: { request: "it" } }] },
    )
    const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "How many?" }] }]
    const body = JSON.stringify({ id: "chat", messages, trigger: "submit-message" })
    const response = await POST(new Request("http://page/api/chat", { method: "POST", body }))
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    await ends(memory, (roles) => roles.length === 4)
    expect((await reload()).said).toEqual(["user How many?", "assistant The answer is seven."])
    await server.close()
    expect(server.refused).toEqual([])
  })

  for (const [change, during] of [
    ["edit", "a loop"],
    ["regenerate", "a loop"],
    ["edit", "the first step"],
    ["regenerate", "the first step"],
  ] as const) {
    it(`in ${during}, and then asks again (${change}), does not get both answers`, async () => {
      await using memory = createMemory(plain)
      const [asked, released] = [signal(), signal()]
      const late = during === "a loop" ? 1 : 0
      const { server, reload, received } = await opened(memory, async ({ turn }) => {
        if (turn < late) return { calls: [{ name: "lookUp", arguments: { request: "it" } }] }
        if (turn > late) return { text: `answer ${turn}` }
        asked.resolve()
        await released.promise
        return { text: "too late" }
      })
      const page = await reload()
      const first = page.sendMessage({ text: "one" })
      await asked.promise
      await page.stop()
      await first
      if (change === "edit") await page.sendMessage({ text: "won", messageId: page.messages[0]!.id })
      else await page.regenerate()
      const text = change === "edit" ? "user won" : "user one"
      released.resolve()
      await page.sendMessage({ text: "two" })
      expect(received()).toEqual([text, `assistant answer ${late + 1}`, "user two"])
      expect(page.said).toEqual([...received(), `assistant answer ${late + 2}`])
      expect((await reload()).said).toEqual(page.said)
      await server.close()
      expect(server.refused).toEqual([])
    })
  }

  it("and then says something else, does not get the first answer behind it", async () => {
    await using memory = createMemory(plain)
    const [asked, released] = [signal(), signal()]
    const { server, reload, received } = await opened(memory, async ({ turn, body }) => {
      if (turn === 0) return { calls: [{ name: "lookUp", arguments: { request: "it" } }] }
      if (JSON.stringify(body).includes("two")) return { text: `answer ${turn}` }
      asked.resolve()
      await released.promise
      return { text: "too late" }
    })
    const page = await reload()
    const first = page.sendMessage({ text: "one" })
    await asked.promise
    await page.stop()
    await first
    await page.sendMessage({ text: "two" })
    released.resolve()
    await page.sendMessage({ text: "three" })
    // The page shows the call, too; its result is in one message with what the user says next.
    expect(received()).toEqual(["user one", "assistant", "user two", "assistant answer 2", "user three"])
    expect((await reload()).said).toEqual(page.said)
    await server.close()
    expect(server.refused).toEqual([])
  })
})

describe("an answer that breaks off", () => {
  it("is what the page shows of it when the user goes on", async () => {
    await using memory = createMemory(plain)
    const { server, reload, received } = await opened(memory, ({ turn }) =>
      turn === 0 ? { text: "The answer is seven, as everybody knows.", cut: 4 } : { text: `answer ${turn}` },
    )
    const page = await reload()
    await page.sendMessage({ text: "one" })
    const [, partial] = page.said
    expect(partial).toMatch(/^assistant The/u)
    expect(page.error).toBeDefined()
    expect((await reload()).said).toEqual(["user one"])
    await page.sendMessage({ text: "two" })
    expect(received()).toEqual(["user one", partial, "user two"])
    expect((await reload()).said).toEqual(page.said)
    await server.close()
    expect(server.refused).toEqual([])
  })
})
