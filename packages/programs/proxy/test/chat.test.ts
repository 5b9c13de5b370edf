/** Chat Completions through the proxy, with the official client. */
import { Message } from "@memfold/core"
import { cacheMiss, scripted } from "@memfold/strict-providers"
import OpenAI from "openai"
import { afterEach, describe, expect, it } from "vitest"
import { proxied, type ProxiedOptions } from "./proxied.js"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

const start = async (options: ProxiedOptions = {}) => {
  const proxy = await proxied(options)
  open.push(proxy.close)
  const client = (session?: string, more: Readonly<Record<string, string>> = {}) =>
    new OpenAI({
      baseURL: `${proxy.url}/v1`,
      apiKey: "key-of-the-client",
      maxRetries: 0,
      defaultHeaders: { ...(session === undefined ? {} : { "x-session-id": session }), ...more },
    })
  return { ...proxy, client }
}

const system = { role: "system" as const, content: "You are a travel agent." }
const user = (content: string) => ({ role: "user" as const, content })
const weather = {
  type: "function" as const,
  function: { name: "weather", description: "The weather", parameters: { type: "object", properties: {} } },
}
const texts = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => `${message.role}: ${Message.text(message)}`)

describe("a server that wants its reasoning back at calls", () => {
  it.each([
    ["deepseek", false],
    ["deepseek", true],
    ["kimi", false],
  ] as const)("gets it from a client that sends only what is new: %s, stream: %s", async (server, stream) => {
    const { client, provider } = await start({
      chat: { server },
      answer: scripted([
        { thinking: "It may rain.", calls: [{ name: "weather", arguments: { city: "Graz" } }] },
        { text: "14 °C" },
        { text: "Still." },
      ]),
    })
    const ask = async (messages: ReadonlyArray<OpenAI.ChatCompletionMessageParam>) => {
      const body = { model: "thinker", messages: [system, ...messages], tools: [weather] }
      if (!stream) return (await client("chat-1").chat.completions.create(body)).choices[0]!.message
      return await client("chat-1").chat.completions.stream(body).finalMessage()
    }
    const [call] = (await ask([user("How is the weather in Graz?")])).tool_calls ?? []
    await ask([{ role: "tool", tool_call_id: call!.id, content: "14 °C, rain" }])
    expect((await ask([user("And now?")])).content).toBe("Still.")
    expect(provider.refused.map(({ violations }) => violations)).toEqual([])
    expect(JSON.stringify(provider.received.at(-1)?.body)).toContain("It may rain.")
  })
})

describe("a client that sends only what is new", () => {
  it.each([false, true])("is given the conversation, stream: %s", async (stream) => {
    const { client, provider, said } = await start({
      answer: scripted([
        { text: "Hello Ann." },
        { calls: [{ name: "weather", arguments: { city: "Graz" } }] },
        { text: "14 °C" },
      ]),
    })
    const ask = async (messages: ReadonlyArray<OpenAI.ChatCompletionMessageParam>) => {
      const body = { model: "gpt-6.2-sol", messages: [system, ...messages], tools: [weather] }
      if (!stream) return (await client("chat-1").chat.completions.create(body)).choices[0]!.message
      const runner = client("chat-1").chat.completions.stream(body)
      return await runner.finalMessage()
    }
    expect((await ask([user("I am Ann.")])).content).toBe("Hello Ann.")
    const called = await ask([user("How is the weather in Graz?")])
    const [call] = called.tool_calls ?? []
    expect((await ask([{ role: "tool", tool_call_id: call!.id, content: "14 °C, rain" }])).content).toBe(
      "14 °C",
    )

    expect(provider.refused).toEqual([])
    const sent = provider.received.map(({ body }) => body)
    expect(sent[2]!["messages"]).toMatchObject([
      system,
      { role: "user", content: "I am Ann." },
      { role: "assistant", content: "Hello Ann." },
      { role: "user", content: "How is the weather in Graz?" },
      { role: "assistant", tool_calls: [{ id: call!.id, function: { name: "weather" } }] },
      { role: "tool", content: "14 °C, rain" },
    ])
    expect(cacheMiss(sent[0]!, sent[1]!)).toBeNull()
    expect(cacheMiss(sent[1]!, sent[2]!)).toBeNull()
    expect((await said("chat-1")).length).toBe(6)
  })

  it("passes a request without a session as it came, and says so", async () => {
    const { client, provider, records } = await start()
    const { response } = await client()
      .chat.completions.create({ model: "gpt-5", messages: [user("Hi")] })
      .withResponse()
    expect(response.headers.get("x-memfold")).toBe("as-it-came")
    expect(response.headers.get("x-memfold-reason")).toBe("no-session")
    expect(provider.received[0]!.body).toEqual({ model: "gpt-5", messages: [user("Hi")] })
    expect(records[0]).toMatchObject({ doubt: "no-session", ending: { _tag: "Complete", status: 200 } })
  })

  it("loses and doubles nothing when the upstream fails, dies in the middle, or the request is sent again", async () => {
    const { client, provider, said } = await start({
      answer: scripted([
        { text: "Hello." },
        { text: "half of it", cut: 2 },
        { text: "A whole one." },
        { text: "Bye." },
      ]),
    })
    const ask = (text: string) =>
      client("chat-1")
        .chat.completions.stream({ model: "gpt-5", messages: [user(text)] })
        .finalMessage()
    await ask("Hi")
    await expect(ask("Again")).rejects.toBeInstanceOf(Error)
    expect(texts(await said("chat-1"))).toEqual(["user: Hi", "assistant: Hello.", "user: Again"])
    await ask("Again")
    await ask("And now?")
    expect(texts(await said("chat-1"))).toEqual([
      "user: Hi",
      "assistant: Hello.",
      "user: Again",
      "assistant: A whole one.",
      "user: And now?",
      "assistant: Bye.",
    ])
    expect(provider.refused).toEqual([])
  })

  it("gets errors of the upstream as they are", async () => {
    const { client, provider } = await start()
    const bad = client("chat-1").chat.completions.create({
      model: "gpt-5",
      messages: [{ role: "tool", tool_call_id: "x", content: "?" }],
    })
    await expect(bad).rejects.toMatchObject({ status: 400, error: { type: "invalid_request_error" } })
    expect(provider.refused.length).toBe(1)
  })
})

describe("a client that sends the whole conversation", () => {
  const talk = async (
    ask: (
      messages: ReadonlyArray<OpenAI.ChatCompletionMessageParam>,
    ) => Promise<OpenAI.ChatCompletionMessage>,
    turns: number,
    history: Array<OpenAI.ChatCompletionMessageParam> = [],
  ) => {
    for (let turn = 0; turn < turns; turn++) {
      history.push(user(`Question ${turn}: ${"what about it? ".repeat(20)}`))
      const { role, content } = await ask(history)
      history.push({ role, content })
    }
    return history
  }

  it("goes up byte for byte as it came, as long as nothing is covered", async () => {
    const { client, provider, said } = await start({ answer: ({ turn }) => ({ text: `Answer ${turn}` }) })
    const ask = async (messages: ReadonlyArray<OpenAI.ChatCompletionMessageParam>) =>
      (await client("chat-1").chat.completions.create({ model: "gpt-5", messages: [system, ...messages] }))
        .choices[0]!.message
    const history = await talk(ask, 4)
    expect(provider.received.at(-1)!.body["messages"]).toEqual([system, ...history.slice(0, -1)])
    expect((await said("chat-1")).length).toBe(8)
  })

  it("begins a branch where a message was edited, and where an answer is asked for again", async () => {
    const { client, memory, said } = await start({ answer: ({ turn }) => ({ text: `Answer ${turn}` }) })
    const ask = async (messages: ReadonlyArray<OpenAI.ChatCompletionMessageParam>) => {
      const { data, response } = await client("chat-1")
        .chat.completions.create({ model: "gpt-5", messages: [...messages] })
        .withResponse()
      return { message: data.choices[0]!.message, how: response.headers.get("x-memfold-followed") }
    }
    const history = await talk(async (messages) => (await ask(messages)).message, 3)
    const edited = [...history.slice(0, 2), user("Something else")]
    expect((await ask(edited)).how).toBe("branch")
    expect(texts(await said("chat-1")).slice(2)).toEqual(["user: Something else", "assistant: Answer 3"])
    expect((await ask(edited)).how).toBe("branch")
    expect(texts(await said("chat-1")).slice(2)).toEqual(["user: Something else", "assistant: Answer 4"])
    const { length } = await import("effect").then(({ Effect }) =>
      Effect.runPromise(memory.branches("chat-1")),
    )
    expect(length).toBe(3)
  })
})
