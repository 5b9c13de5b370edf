/** Other clients: curl, a script of Python's standard library, the Responses API of the official client, and clients that leave. */
import { Message } from "@memfold/core"
import { cacheMiss, scripted } from "@memfold/strict-providers"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer, request, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { promisify } from "node:util"
import OpenAI from "openai"
import { afterEach, describe, expect, it } from "vitest"
import { proxied, type ProxiedOptions } from "./proxied.js"

const execute = promisify(execFile)
const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const start = async (options: ProxiedOptions = {}) => {
  const proxy = await proxied(options)
  open.push(proxy.close)
  return proxy
}

const upstream = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  open.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const said = async (messages: Promise<ReadonlyArray<Message.Message>>) =>
  (await messages).map((message) => `${message.role}: ${Message.text(message)}`)

describe("curl", () => {
  it("names its session in a header, and reads the stream", async () => {
    const proxy = await start({ answer: scripted([{ text: "Hello Ann." }, { text: "You are Ann." }]) })
    const ask = async (content: string) => {
      const body = JSON.stringify({ model: "gpt-5", stream: true, messages: [{ role: "user", content }] })
      const { stdout } = await execute("curl", [
        "-sS",
        "-N",
        "-i",
        `${proxy.url}/v1/chat/completions`,
        "-H",
        "content-type: application/json",
        "-H",
        "authorization: Bearer key",
        "-H",
        "x-session-id: chat-1",
        "-d",
        body,
      ])
      return stdout
    }
    await ask("I am Ann.")
    const answer = await ask("Who am I?")
    expect(answer).toMatch(/^x-memfold: memory\r$/m)
    expect(answer).toMatch(/^x-memfold-tokens-before: \d+\r$/m)
    expect(answer).toContain("data: [DONE]")
    expect(await said(proxy.said("chat-1"))).toEqual([
      "user: I am Ann.",
      "assistant: Hello Ann.",
      "user: Who am I?",
      "assistant: You are Ann.",
    ])
    expect(proxy.provider.refused).toEqual([])
  })
})

/** A script without packages: two turns with a tool, the second streamed. */
const script = `
import json, sys, urllib.request
url = sys.argv[1] + "/v1/messages"
tools = [{"name": "weather", "description": "The weather", "input_schema": {"type": "object", "properties": {}}}]
def ask(content, stream=False):
    body = {"model": "claude-sonnet-5-5", "max_tokens": 1000, "stream": stream, "tools": tools,
            "messages": [{"role": "user", "content": content}]}
    sent = urllib.request.Request(url, json.dumps(body).encode(), {
        "content-type": "application/json", "x-api-key": "key", "anthropic-version": "2023-06-01", "x-session-id": "py-1"})
    return urllib.request.urlopen(sent, timeout=60)
called = json.load(ask("How is the weather in Graz?"))
use = [block for block in called["content"] if block["type"] == "tool_use"][0]
text = ""
for line in ask([{"type": "tool_result", "tool_use_id": use["id"], "content": "14 C"}], stream=True):
    if line.startswith(b"data: "):
        event = json.loads(line[6:])
        if event["type"] == "content_block_delta":
            text += event["delta"]["text"]
print(text)
`

describe("a script of Python's standard library", () => {
  it("calls a tool, and streams", async () => {
    const proxy = await start({
      answer: scripted([
        { calls: [{ name: "weather", arguments: { city: "Graz" } }] },
        { text: "It is 14 °C." },
      ]),
    })
    const { stdout } = await execute("python3", ["-c", script, proxy.url], {
      env: { ...process.env, PYTHONIOENCODING: "utf-8" },
    })
    expect(stdout.trim()).toBe("It is 14 °C.")
    expect(proxy.provider.refused).toEqual([])
    expect((await proxy.said("py-1")).length).toBe(4)
  })
})

describe("the Responses API without state", () => {
  const tool = {
    type: "function" as const,
    name: "look",
    strict: false,
    parameters: { type: "object", properties: {} },
  }

  it.each([false, true])("goes on with reasoning and tools as they came, stream: %s", async (stream) => {
    const proxy = await start({
      answer: scripted([
        { thinking: "I look.", calls: [{ name: "look", arguments: { at: 1 } }] },
        { text: "Seen." },
        { text: "Bye." },
      ]),
    })
    const client = new OpenAI({
      baseURL: `${proxy.url}/v1`,
      apiKey: "key",
      maxRetries: 0,
      defaultHeaders: { session_id: "codex-1" },
    })
    const input: Array<OpenAI.Responses.ResponseInputItem> = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Look." },
    ]
    const ask = async () => {
      const body = {
        model: "gpt-5",
        input: [...input],
        tools: [tool],
        store: false,
        prompt_cache_key: "codex-1",
        include: ["reasoning.encrypted_content" as const],
      }
      const answer = stream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body)
      // The client adds what it has parsed, and no API takes it back.
      const output = JSON.parse(
        JSON.stringify(answer.output, (name, value: unknown) =>
          name.startsWith("parsed") ? undefined : value,
        ),
      ) as Array<OpenAI.Responses.ResponseInputItem>
      input.push(...output)
      return answer
    }
    const first = await ask()
    const [call] = first.output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []))
    input.push({ type: "function_call_output", call_id: call!, output: "a tree" })
    expect((await ask()).output_text).toBe("Seen.")
    input.push({ role: "user", content: "Bye" })
    await ask()
    expect(proxy.provider.refused).toEqual([])
    const sent = proxy.provider.received.map(({ body }) => body)
    expect(cacheMiss(sent[0]!, sent[1]!)).toBeNull()
    expect(cacheMiss(sent[1]!, sent[2]!)).toBeNull()
    expect((await proxy.said("codex-1")).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "assistant",
    ])
    expect(proxy.records.map(({ how }) => how)).toEqual(["append", "append", "append"])
  })

  it("follows an agent that has the provider compact, in which nothing stands twice", async () => {
    const proxy = await start({ answer: ({ turn }) => ({ text: `Answer ${turn}` }) })
    const client = new OpenAI({
      baseURL: `${proxy.url}/v1`,
      apiKey: "key",
      maxRetries: 0,
      defaultHeaders: { session_id: "codex-1" },
    })
    // As Codex sends them: tools in front of the conversation, with an id that another process makes anew.
    const front = (id: string): ReadonlyArray<OpenAI.Responses.ResponseInputItem> => [
      {
        type: "additional_tools",
        id: `at_${id}`,
        role: "developer",
        tools: [{ type: "namespace", name: "functions", description: "", tools: [tool] }],
      },
    ]
    type Input = ReadonlyArray<OpenAI.Responses.ResponseInputItem>
    const ask = async (id: string, input: Input): Promise<Input> => {
      const { output } = await client.responses.create({
        model: "gpt-5",
        input: [...front(id), ...input],
        store: false,
        prompt_cache_key: "codex-1",
      })
      return [...input, ...(output as Input)]
    }
    const trigger: Input = [{ type: "compaction_trigger" }]
    const asked = (content: string): Input => [{ role: "user", content }]
    const compacted = async (id: string, said: Input): Promise<Input> =>
      (await ask(id, [...said, ...trigger])).slice(-1)

    let said = await ask("one", asked("One"))
    const first = await compacted("one", said)
    expect(first).toMatchObject([{ type: "compaction" }])
    // It compacts while it works: the model goes on behind the compaction.
    said = await ask("one", [...asked("One"), ...first])
    said = await ask("one", [...said, ...asked("Two")])
    expect((await proxy.said("codex-1")).map(Message.text).filter((text) => text !== "")).toEqual([
      "One",
      "Answer 2",
      "Two",
      "Answer 3",
    ])
    expect(proxy.records.map(({ how }) => how)).toEqual(["append", "append", "branch", "append"])

    // Another process, another front, and what was asked first stands elsewhere.
    const second = await compacted("two", said)
    await ask("two", [...asked("Two"), ...asked("One"), ...second])
    expect(proxy.records.map(({ session, how }) => [session, how]).slice(4)).toEqual([
      ["codex-1", "append"],
      ["codex-1", "compacted"],
    ])
    expect(proxy.provider.refused).toEqual([])
  })

  it("is given the conversation by a client that sends a text", async () => {
    const proxy = await start({ answer: ({ turn }) => ({ text: `Answer ${turn}` }) })
    const client = new OpenAI({
      baseURL: `${proxy.url}/v1`,
      apiKey: "key",
      maxRetries: 0,
      defaultHeaders: { "x-session-id": "r-1" },
    })
    for (const input of ["One", "Two"]) await client.responses.create({ model: "gpt-5", input, store: false })
    const [first, second] = proxy.provider.received.map(({ body }) => body["input"])
    expect(first).toBe("One")
    expect(second).toMatchObject([
      { role: "user", content: "One" },
      { role: "assistant", content: [{ text: "Answer 0" }] },
      { role: "user", content: "Two" },
    ])
    expect(proxy.provider.refused).toEqual([])
  })

  it("passes a request of a state that the upstream has", async () => {
    const proxy = await start()
    const client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: "key", maxRetries: 0 })
    await client.responses
      .create(
        { model: "gpt-5", input: "Hi", previous_response_id: "resp_1" },
        { headers: { "x-session-id": "s" } },
      )
      .catch(() => null)
    expect(proxy.records[0]).toMatchObject({ doubt: "stateful" })
  })
})

describe("what has no conversation", () => {
  it("passes with its query, and without headers of the proxy", async () => {
    const url = await upstream((request, response) => {
      response.setHeader("content-type", "application/json")
      response.end(
        JSON.stringify({
          url: request.url,
          key: request.headers.authorization,
          session: request.headers["x-session-id"] ?? null,
        }),
      )
    })
    const proxy = await start({ upstream: `${url}/base/` })
    const models = await fetch(`${proxy.url}/v1/models?limit=1`, {
      headers: { authorization: "Bearer key", "x-session-id": "s" },
    })
    expect(await models.json()).toEqual({ url: "/base/v1/models?limit=1", key: "Bearer key", session: null })
    expect(models.headers.get("x-memfold")).toBeNull()
  })
})

describe("a client that leaves, and comes again", () => {
  const chat = (url: string, content: string, headers: Readonly<Record<string, string>> = {}) => {
    const outgoing = request(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-session-id": "chat-1", ...headers },
    })
    outgoing.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] }))
    return outgoing
  }
  const piece = (content: string, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: finish }] })}\n\n`

  it("ends the request to the upstream, and its question is stored once", async () => {
    const closed: Array<Promise<unknown>> = []
    let count = 0
    const url = await upstream((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      if (count++ === 0) {
        closed.push(once(response, "close"))
        response.write(piece("half"))
      } else response.end(`${piece("whole", "stop")}data: [DONE]\n\n`)
    })
    const proxy = await start({ upstream: url })
    const first = chat(proxy.url, "Hello?")
    const [answer] = await once(first, "response")
    await once(answer, "data")
    first.destroy()
    await Promise.all(closed)
    const [second] = await once(chat(proxy.url, "Hello?"), "response")
    await once(second.resume(), "end")
    expect(await said(proxy.said("chat-1"))).toEqual(["user: Hello?", "assistant: whole"])
  })

  it("gets another answer when it says that it asks again, although the first one was stored", async () => {
    let count = 0
    const url = await upstream((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.end(`${piece(`answer ${count++}`, "stop")}data: [DONE]\n\n`)
    })
    const proxy = await start({ upstream: url })
    for (const retry of ["0", "1"]) {
      const [answer] = await once(chat(proxy.url, "Hello?", { "x-stainless-retry-count": retry }), "response")
      await once(answer.resume(), "end")
    }
    expect(await said(proxy.said("chat-1"))).toEqual(["user: Hello?", "assistant: answer 1"])
    for (const key of ["k", "k"]) {
      const [answer] = await once(chat(proxy.url, "And?", { "idempotency-key": key }), "response")
      await once(answer.resume(), "end")
    }
    expect(await said(proxy.said("chat-1"))).toEqual([
      "user: Hello?",
      "assistant: answer 1",
      "user: And?",
      "assistant: answer 3",
    ])
  })

  it("has its answer in the memory by the time it has read it", async () => {
    const url = await upstream((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(piece("whole", "stop"))
      // The connection stays open behind the last event.
      response.write("data: [DONE]\n\n")
    })
    const proxy = await start({ upstream: url })
    const outgoing = chat(proxy.url, "Hello?")
    const [answer] = await once(outgoing, "response")
    let read = ""
    for await (const chunk of answer) {
      read += String(chunk)
      if (read.includes("[DONE]")) break
    }
    const { total } = await Effect.runPromise(proxy.memory.state("chat-1"))
    expect(total).toBe(2)
  })
})
