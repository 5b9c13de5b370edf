/** Anthropic's Messages through the proxy, with the official client: a whole conversation each time, as agents send it. */
import Anthropic from "@anthropic-ai/sdk"
import { Message } from "@memfold/core"
import { oddServer, sent } from "@memfold/harness/oddAnswers"
import { Prices } from "@memfold/prices"
import { type Answering, cacheMiss, providerServer, seeded, scripted } from "@memfold/strict-providers"
import { BreakEven } from "@memfold/strategy-break-even"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { afterEach, describe, expect, it } from "vitest"
import { proxied, type ProxiedOptions } from "./proxied.js"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** Every compaction is worth it: small blocks, few kept messages. */
const eager = BreakEven({
  prices: { ...Prices.presets["claude-sonnet-5.5"], input: 0, output: 0, cacheWrite: 0, cached: 1 },
  blockTokens: 800,
  keepTokens: 200,
  keepMessages: 4,
})

const start = async (options: ProxiedOptions = {}) => {
  const proxy = await proxied({ strategy: eager, ...options })
  open.push(proxy.close)
  const client = new Anthropic({
    baseURL: proxy.url,
    apiKey: "key-of-the-client",
    maxRetries: 0,
    defaultHeaders: { "x-session-id": "agent-1" },
  })
  return { ...proxy, client }
}

describe("a number that a double does not hold", () => {
  const id = "1234567890123456789"
  const call = (written: string) =>
    `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"id":${written}}}]}`
  const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}'
  const question = '{"role":"user","content":"Look."}'

  /** What clients make of it: some keep its digits, others have a double. */
  it.each([
    ["new", result],
    ["full", [question, call(id), result].join()],
    ["full", [question, call(JSON.stringify(JSON.parse(id))), result].join()],
  ])("keeps its digits in the memory, and its call goes on: %s", async (history, second) => {
    for (const stream of [true, false]) {
      const answers = [{ calls: [{ name: "read", id: "c1", arguments: `{"id":${id}}` }] }, { text: "ok" }]
      const provider = await providerServer({ answer: scripted(answers) })
      const upstream = await oddServer(provider.anthropicURL)
      open.push(provider.close, async () => upstream.close())
      // Where it does not stream, the strict server has such arguments as a text.
      const written = (body: Buffer) =>
        Buffer.from(String(body).replace(/\{"INVALID_JSON":"[^}]*\}"\}/, `{"id":${id}}`))
      upstream.next((given) => sent(given, written(given.body)))
      const { url, records, said } = await start({ upstream: upstream.url })
      const send = async (messages: string) => {
        const answer = await fetch(`${url}/v1/messages`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-session-id": "s", "x-memfold-history": history },
          body: `{"model":"claude-sonnet-5-5","max_tokens":100,"stream":${stream},"tools":${JSON.stringify(tools)},"messages":[${messages}]}`,
        })
        return answer.text()
      }
      await send(question)
      await send(second)
      expect(records.map(({ how }) => how)).toEqual(["append", "append"])
      expect(provider.refused).toEqual([])
      const parts = (await said("s")).flatMap((message) => message.parts)
      const kept = parts.flatMap((part) => (part.type === "tool-call" ? [part.arguments] : []))
      expect(kept).toEqual([`{"id":"${id}"}`])
      if (history === "new")
        expect(JSON.stringify(provider.received.at(-1)?.body)).toContain(`{"id":"${id}"}`)
    }
  })
})

const mark = { cache_control: { type: "ephemeral" as const } }
const system = [{ type: "text" as const, text: "You are a coding agent.", ...mark }]
const tools: Array<Anthropic.Tool> = [
  { name: "read", description: "Reads a file", input_schema: { type: "object", properties: {} } },
]

/** The messages with a mark behind the last block, as Claude Code sends them. */
const marked = (history: ReadonlyArray<Anthropic.MessageParam>): Array<Anthropic.MessageParam> =>
  history.map((message, at): Anthropic.MessageParam => {
    const content =
      typeof message.content === "string"
        ? [{ type: "text" as const, text: message.content }]
        : message.content
    const behind = (block: object, place: number) =>
      place === content.length - 1 ? { ...block, ...mark } : block
    const written = at < history.length - 1 ? content : content.map(behind)
    return { ...message, content: written } as Anthropic.MessageParam
  })

/** An agent: it runs the tools that are called, and goes on with another question when there are none. */
const run = async (
  client: Anthropic,
  rounds: number,
  history: Array<Anthropic.MessageParam> = [{ role: "user", content: "Begin." }],
) => {
  const headers: Array<Headers> = []
  for (let round = 0; round < rounds; round++) {
    const { data, response } = await client.messages
      .create({
        model: "claude-sonnet-5-5",
        max_tokens: 20_000,
        thinking: { type: "adaptive" },
        system,
        tools,
        messages: marked(history),
        stream: true,
      })
      .withResponse()
    headers.push(response.headers)
    const events: Array<Anthropic.RawMessageStreamEvent> = []
    for await (const event of data) events.push(event)
    history.push(assembled(events))
    const calls = (history.at(-1)!.content as Array<Anthropic.ContentBlockParam>).filter(
      (block) => block.type === "tool_use",
    )
    history.push({
      role: "user",
      content:
        calls.length > 0
          ? calls.map(({ id }) => ({
              type: "tool_result" as const,
              tool_use_id: id,
              content: `file ${round} `.repeat(60),
            }))
          : `Go on with part ${round}. ${"It matters. ".repeat(20)}`,
    })
  }
  return { history, headers }
}

/** A model that answers by a seed, and writes summaries. */
const agent = (): Answering => {
  const model = seeded(3)
  return (asked) =>
    JSON.stringify(listOf(asked.body["messages"]).at(-1)).includes("Write the memory of the conversation")
      ? { text: "The agent read files and went on." }
      : model(asked)
}

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A message of a stream as a client keeps it. */
const assembled = (events: ReadonlyArray<Anthropic.RawMessageStreamEvent>): Anthropic.MessageParam => {
  const blocks: Array<Record<string, unknown>> = []
  for (const event of events) {
    if (event.type === "content_block_start") blocks.push({ ...event.content_block, json: "" })
    if (event.type !== "content_block_delta") continue
    const block = blocks[event.index]!
    const { delta } = event
    if (delta.type === "text_delta") block["text"] += delta.text
    if (delta.type === "thinking_delta") block["thinking"] += delta.thinking
    if (delta.type === "signature_delta") block["signature"] = delta.signature
    if (delta.type === "input_json_delta") block["json"] += delta.partial_json
  }
  const content = blocks.map(({ json, citations: _citations, caller: _caller, ...block }) =>
    block["type"] === "tool_use" ? { ...block, input: JSON.parse(String(json) || "{}") } : block,
  )
  return { role: "assistant", content: content as unknown as Array<Anthropic.ContentBlockParam> }
}

describe("an agent that sends the whole conversation", () => {
  it("is answered behind summaries, and the prefix upstream stays between compactions", async () => {
    const { client, provider, memory, savings, records } = await start({ answer: agent() })
    const { history, headers } = await run(client, 40)
    expect(provider.refused.map(({ violations }) => violations)).toEqual([])
    const summaries = await Effect.runPromise(memory.summaries("agent-1"))
    expect(summaries.length).toBeGreaterThan(1)

    // Each request begins with the one before it, but for one after each compaction. The questions for summaries, too.
    const sent = provider.received.map(({ body }) => body)
    const misses = sent.slice(1).filter((later, at) => cacheMiss(sent[at]!, later) !== null)
    expect(sent.length).toBeGreaterThan(40)
    expect(misses.length).toBeGreaterThan(0)
    expect(misses.length).toBeLessThanOrEqual(summaries.length)
    const last = headers.at(-1)!
    expect(Number(last.get("x-memfold-tokens-after"))).toBeLessThan(
      Number(last.get("x-memfold-tokens-before")) / 2,
    )
    expect(savings.of("agent-1").before).toBeGreaterThan(savings.of("agent-1").after)

    // Told for the log: what was charged, and that every answer was stored.
    expect(records.filter(({ isStored }) => isStored).length).toBe(40)
    expect(records.every(({ charged }) => charged !== null)).toBe(true)

    // What goes upstream ends with what the client sent, byte for byte.
    const newest = sent.findLast(({ stream }) => stream === true)!["messages"] as Array<unknown>
    const given = marked(history.slice(0, -2))
    expect(JSON.stringify(newest.at(-1))).toBe(JSON.stringify(given.at(-1)))
    expect(newest.length).toBeLessThan(given.length)
  })

  it("keeps marks, thinking, unknown fields and beta headers as they are while nothing is covered", async () => {
    const { client, provider } = await start({
      strategy: BreakEven(),
      answer: scripted([{ thinking: "Hm.", text: "Yes." }]),
    })
    const history: Array<Anthropic.MessageParam> = [{ role: "user", content: "Is it?" }]
    const first = await client.messages.create({
      model: "claude-sonnet-5-5",
      max_tokens: 10_000,
      thinking: { type: "adaptive" },
      system,
      messages: history,
    })
    history.push(
      { role: "assistant", content: first.content as unknown as Anthropic.ContentBlockParam[] },
      { role: "user", content: "Sure?" },
    )
    const body = {
      model: "claude-sonnet-5-5",
      max_tokens: 10_000,
      thinking: { type: "adaptive" as const },
      system,
      messages: marked(history),
      metadata: { user_id: "ann" },
    }
    await client.messages.create(body, { headers: { "anthropic-beta": "one-2026-01-01,two-2026-02-02" } })
    expect(provider.refused).toEqual([])
    expect(provider.received[1]!.body).toEqual(body)
  })

  it("is followed when it compacts by itself, and its other agents are apart", async () => {
    const { client, memory } = await start({
      strategy: BreakEven(),
      answer: ({ turn }) => ({ text: `Answer ${turn}` }),
    })
    const { history } = await run(client, 6)
    const ask = async (messages: Array<Anthropic.MessageParam>, more: object) => {
      const { response } = await client.messages
        .create({ model: "claude-sonnet-5-5", max_tokens: 10_000, system, tools, messages, ...more })
        .withResponse()
      return response.headers
    }
    const title = await ask(
      [
        { role: "user", content: "Write a title." },
        { role: "assistant", content: "{" },
        { role: "user", content: "Go" },
      ],
      { system: "You write titles.", tools: [] },
    )
    expect(title.get("x-memfold-followed")).toBe("aside")
    expect(title.get("x-memfold-session")).toMatch(/^agent-1~[0-9a-f]{12}$/)
    const compacted: Array<Anthropic.MessageParam> = [
      { role: "user", content: "This goes on from a conversation that was compacted: all is well." },
    ]
    expect((await ask(compacted, {})).get("x-memfold-followed")).toBe("compacted")
    const { messages } = await Effect.runPromise(memory.messages("agent-1"))
    expect(messages.map(Message.text)).toEqual([compacted[0]!.content, "Answer 7"])
    const branches = await Effect.runPromise(memory.branches("agent-1"))
    expect(branches.map(({ total }) => total)).toEqual([2, history.length - 1])
  })

  it("has the name of its session, also if it asks for a title first", async () => {
    const { provider, memory, url } = await start({ answer: ({ turn }) => ({ text: `Answer ${turn}` }) })
    // As opencode names its sessions, in which it asks for titles, too.
    const client = new Anthropic({
      baseURL: url,
      apiKey: "key",
      maxRetries: 0,
      defaultHeaders: { "x-session-id": "agent-2", "x-session-affinity": "agent-2" },
    })
    const ask = async (messages: ReadonlyArray<string>, more: object) => {
      const { response } = await client.messages
        .create({
          model: "claude-sonnet-5-5",
          max_tokens: 10_000,
          messages: messages.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
          ...more,
        })
        .withResponse()
      return [response.headers.get("x-memfold-session"), response.headers.get("x-memfold-followed")]
    }
    const [title] = await ask(["Write a title."], { system: "You write titles." })
    expect(title).toMatch(/^agent-2~/)
    const said = ["Is it?"]
    for (let turn = 1; turn < 6; turn++) {
      expect(await ask(said, { tools })).toEqual(["agent-2", "append"])
      said.push(`Answer ${turn}`, "Sure?")
    }
    expect(provider.received[1]!.body["messages"]).toEqual([{ role: "user", content: "Is it?" }])
    // Its own compaction is seen, although the title had other tools.
    expect(await ask(["All is well. Go on."], { tools })).toEqual(["agent-2", "compacted"])
    const { messages } = await Effect.runPromise(memory.messages("agent-2"))
    expect(messages.map(Message.text)).toEqual(["All is well. Go on.", "Answer 6"])
  })

  it("has its tokens counted as they go upstream", async () => {
    const counts: Array<Record<string, unknown>> = []
    const counter = createServer((request, response) => {
      const answer = async () => {
        counts.push((await json(request)) as Record<string, unknown>)
        response.writeHead(200, { "content-type": "application/json" }).end('{"input_tokens":7}')
      }
      void answer()
    })
    counter.listen(0, "127.0.0.1")
    await once(counter, "listening")
    open.push(async () => void counter.close())
    const { client, provider, memory, url } = await start({
      answer: agent(),
      counter: `http://127.0.0.1:${(counter.address() as AddressInfo).port}`,
    })
    const { history } = await run(client, 20)
    const { version } = await Effect.runPromise(memory.state("agent-1"))
    const counted = await client.messages.countTokens({
      model: "claude-sonnet-5-5",
      system,
      tools,
      messages: history,
    })
    expect(counted.input_tokens).toBe(7)
    const sent = counts[0]!["messages"] as Array<unknown>
    expect(sent.length).toBeLessThan(history.length)
    expect(sent.at(-1)).toEqual(history.at(-1))
    expect((await Effect.runPromise(memory.state("agent-1"))).version).toBe(version)
    expect(url).not.toBe(provider.anthropicURL)
  })
})

describe("a client that sends only what is new", () => {
  it("gets marks of the prompt cache", async () => {
    const { client, provider } = await start({
      strategy: BreakEven(),
      answer: ({ turn }) => ({ text: `Answer ${turn}` }),
    })
    for (const text of ["One", "Two", "Three"])
      await client.messages.create({
        model: "claude-sonnet-5-5",
        max_tokens: 1_000,
        system: "Be brief.",
        messages: [{ role: "user", content: text }],
      })
    expect(provider.refused).toEqual([])
    const sent = provider.received.map(({ body }) => body)
    expect(cacheMiss(sent[1]!, sent[2]!)).toBeNull()
    expect(JSON.stringify(sent[2]!["messages"])).toContain('"cache_control"')
    expect((sent[2]!["messages"] as Array<unknown>).length).toBe(5)
  })

  it("may mark each message: a request has four marks at most", async () => {
    const { client, provider } = await start({
      strategy: BreakEven(),
      answer: ({ turn }) => ({ text: `Answer ${turn}` }),
    })
    for (let turn = 0; turn < 7; turn++)
      await client.messages.create({
        model: "claude-sonnet-5-5",
        max_tokens: 1_000,
        system,
        tools: [{ ...tools[0]!, ...mark }],
        messages: [{ role: "user", content: [{ type: "text", text: `Question ${turn}`, ...mark }] }],
      })
    expect(provider.refused).toEqual([])
    const last = provider.received.at(-1)!.body
    expect(JSON.stringify(last).split("cache_control").length - 1).toBe(4)
    expect(JSON.stringify((last["messages"] as Array<unknown>).at(-1))).toContain("cache_control")
  })
})
