/** Pages of an agent of Mastra: two that ask at once, and answers to tools of the page that come late. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { type Answering, providerServer } from "@memfold/strict-providers"
import { createMemory } from "memfold"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { memfold, messagesOf } from "../src/index.js"
import { loose } from "./loose.js"
import { quiet } from "./quiet.js"

quiet()

/** A message of a page. */
interface UIMessage {
  readonly id: string
  readonly role: string
  readonly parts: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }>
}

/** A promise, and the function that resolves it. */
const signal = () => {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const asked = (text: string): UIMessage => ({
  id: `id ${text}`,
  role: "user",
  parts: [{ type: "text", text }],
})

const ask = createTool({
  id: "ask",
  description: "Asks on the page.",
  inputSchema: z.object({ question: z.string() }),
})

/** An agent behind a strict server, and pages of it that send all that they show. */
const opened = async (answer: Answering) => {
  const server = await providerServer({ answer })
  const model = loose(
    createAnthropic({ apiKey: "local", baseURL: `${server.anthropicURL}/v1` })("claude-sonnet-5-5"),
  )
  const memory = createMemory({ store: "memory:", compaction: { mode: "off" } })
  // Each request may come to a process of its own.
  const agent = () =>
    new Agent({
      id: "support",
      name: "Support",
      instructions: "Be brief.",
      model,
      tools: { ask },
      ...memfold({ memory, session: "chat" }),
    })
  let pages = 0
  const page = (shown: ReadonlyArray<UIMessage> = []) => {
    const messages = [...shown]
    // Mastra lets streams of one thread in one process wait for each other; those of two processes do not.
    const thread = { memory: { thread: `page ${(pages += 1)}`, resource: "ann" } }
    return {
      messages,
      send: async (text: string) => {
        messages.push(asked(text))
        const stream = await agent().stream([...messages] as never, thread)
        await stream.consumeStream()
        messages.push(...(stream.messageList.get.response.aiV5.ui() as unknown as ReadonlyArray<UIMessage>))
      },
    }
  }
  const stored = async () =>
    (await memory.neutral.messages("chat", { limit: 100 })).messages.map(({ role, parts }) =>
      [role, ...parts.map((part) => ("text" in part ? part.text : "id" in part ? part.id : part.type))].join(
        " ",
      ),
    )
  return { server, memory, page, stored }
}

describe("two pages of one conversation", () => {
  it("that ask at once keep both questions and both answers, and each goes on with what it shows", async () => {
    const [first, released] = [signal(), signal()]
    const { server, memory, page, stored } = await opened(async ({ body }) => {
      const text = JSON.stringify((body["messages"] as ReadonlyArray<unknown>).at(-1))
      // The other one's context has both questions.
      if (text.includes("first") && !text.includes("second")) {
        first.resolve()
        await released.promise
      }
      return { text: `to ${[...text.matchAll(/first|second|begin|more \w/gu)].at(-1)?.[0]}` }
    })
    const begun = page()
    await begun.send("begin")
    const [one, other] = [page(begun.messages), page(begun.messages)]
    const waiting = one.send("first")
    await first.promise
    await other.send("second")
    released.resolve()
    await waiting
    const both = ["user begin", "assistant to begin", "user first", "user second"]
    expect(await stored()).toEqual(expect.arrayContaining(both))
    expect(await stored()).toHaveLength(6)
    await other.send("more a")
    await one.send("more b")
    const said = (await stored()).filter((text) => text.startsWith("user"))
    expect(said).toEqual(expect.arrayContaining(["user begin", "user first", "user second", "user more b"]))
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    await memory.close()
  })
})

describe("what a page answers late", () => {
  it("reaches the model behind its call, after the user went on", async () => {
    const { server, memory, page, stored } = await opened(({ turn, tools }) =>
      turn === 0 && tools.length > 0
        ? { calls: [{ name: "ask", arguments: { question: "Which colour?" } }] }
        : { text: `answer ${turn}` },
    )
    const shown = page()
    await shown.send("Paint it.")
    await shown.send("And be quick.")
    const late = shown.messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.type === "tool-ask" ? { ...part, state: "output-available", output: "green" } : part,
      ),
    })) as ReadonlyArray<UIMessage>
    const again = page(late)
    await again.send("Which colour was it?")
    const sent = JSON.stringify(server.received.at(-1)?.body)
    expect(sent).toContain("green")
    expect(sent).not.toContain("interrupted")
    const roles = ["user", "assistant", "tool", "user", "assistant", "user", "assistant"]
    expect((await stored()).map((text) => text.split(" ")[0])).toEqual(roles)
    expect(JSON.stringify(await messagesOf(memory, "chat"))).toContain("green")
    await again.send("Thanks.")
    expect((await stored()).map((text) => text.split(" ")[0])).toEqual([...roles, "user", "assistant"])
    await server.close()
    expect(server.refused.map(({ violations }) => violations)).toEqual([])
    await memory.close()
  })
})
