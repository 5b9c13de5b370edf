/** What passes as it came, and says so: in a header, in the record for the log, in the metrics. And what the numbers say otherwise. */
import { type EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Metric } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, request } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer, json } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, it } from "vitest"
import { proxied, type ProxiedOptions } from "./proxied.js"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const usage = {
  prompt_tokens: 5_000,
  completion_tokens: 100,
  prompt_tokens_details: { cached_tokens: 3_000, cache_write_tokens: 1_500 },
}

/** A proxy in front of an upstream that notes each body, and answers every request alike. */
const start = async (options: ProxiedOptions = {}) => {
  const bodies: Array<Buffer> = []
  const server = createServer((asked, response) => {
    const answer = async (): Promise<void> => {
      bodies.push(await buffer(asked))
      response.setHeader("content-type", "application/json")
      response.end(
        JSON.stringify({
          id: "c1",
          object: "chat.completion",
          model: "gpt-6.2-sol",
          choices: [
            { index: 0, message: { role: "assistant", content: "An answer." }, finish_reason: "stop" },
          ],
          usage,
        }),
      )
    }
    void answer()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  open.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const proxy = await proxied({ upstream, ...options })
  open.push(proxy.close)
  const send = async (
    path: string,
    body: Uint8Array | string,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const answer = await fetch(`${proxy.url}${path}`, {
      method: "POST",
      body: typeof body === "string" ? body : Buffer.from(body),
      headers: { "content-type": "application/json", "x-session-id": "s", ...headers },
    })
    await answer.arrayBuffer()
    return answer.headers
  }
  return { ...proxy, bodies, send }
}

/** How many requests were counted with these tags, by every proxy of this process. */
const counted = (tags: Readonly<Record<string, string>>): number =>
  Effect.runSync(Metric.snapshot)
    .filter(
      ({ metricKey }) =>
        metricKey.name === "memfold_proxy_requests" &&
        Object.entries(tags).every(([key, value]) =>
          metricKey.tags.some((tag) => tag.key === key && tag.value === value),
        ),
    )
    .reduce((sum, { metricState }) => sum + (metricState as unknown as { count: number }).count, 0)

/** The value of a counter, by its kind. */
const amount = (name: string, kind: string | null = null): number =>
  Effect.runSync(Metric.snapshot)
    .filter(
      ({ metricKey }) =>
        metricKey.name === name &&
        (kind === null || metricKey.tags.some((tag) => tag.key === "kind" && tag.value === kind)),
    )
    .reduce((sum, { metricState }) => sum + (metricState as unknown as { count: number }).count, 0)

const user = { role: "user", content: "Where is it?" }
const chat = "/v1/chat/completions"

describe("a doubt", () => {
  it.each<readonly [string, string, unknown]>([
    ["unknown-shape", chat, { messages: [{ role: "oracle", content: 7 }] }],
    ["unknown-shape", chat, '{"messages":[{"role":"user","content":"a"}],"messages":[]}'],
    ["unknown-shape", "/v1/messages", { messages: [{ role: "user", content: [{ type: 3 }] }] }],
    ["no-messages", chat, { messages: "none" }],
    ["no-messages", chat, { messages: [{ role: "system", content: "Be brief." }] }],
    ["no-messages", "/v1/responses", { store: false }],
    ["not-json", chat, '{"messages": ['],
    ["not-json", chat, "[]"],
    ["not-text", chat, Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ["several-choices", chat, { n: 2, messages: [user] }],
    ["stateful", "/v1/responses", { input: [user], previous_response_id: "resp_1" }],
    ["stateful", "/v1/responses", { input: [user], conversation: "conv_1" }],
    ["background", "/v1/responses", { input: [user], background: true }],
    ["provider-compacts", "/v1/messages", { messages: [user], compaction: { type: "summarize" } }],
    [
      "provider-compacts",
      "/v1/messages",
      { messages: [user], context_management: { edits: [{ type: "compact_20260112" }] } },
    ],
    [
      "provider-compacts",
      "/v1/responses",
      { input: [user], context_management: [{ type: "compaction", compact_threshold: 1_000 }] },
    ],
    ["not-stored", "/v1/messages/count_tokens", { messages: [user] }],
    ["too-large", chat, { messages: [{ role: "user", content: "x".repeat(3_000) }] }],
  ])("%s passes as it came: %s", async (reason, path, given) => {
    const body =
      given instanceof Uint8Array
        ? given
        : Buffer.from(typeof given === "string" ? given : JSON.stringify(given))
    const { send, bodies, records, memory } = await start({ maxBody: 2_000 })
    const before = counted({ outcome: "as it came", reason })
    const headers = await send(path, body)
    expect([headers.get("x-memfold"), headers.get("x-memfold-reason")]).toEqual(["as-it-came", reason])
    expect(headers.get("x-memfold-session")).toBeNull()
    expect(bodies).toHaveLength(1)
    expect(bodies[0]!.equals(body)).toBe(true)
    expect(records).toMatchObject([{ path, doubt: reason, session: null, tokens: null, isStored: false }])
    expect(counted({ outcome: "as it came", reason })).toBe(before + 1)
    expect((await Effect.runPromise(memory.state("s"))).total).toBe(0)
  })

  it("passes compressed bytes as they came, too", async () => {
    const { send, bodies } = await start()
    const body = gzipSync('{"messages": [')
    const headers = await send(chat, body, { "content-encoding": "gzip" })
    expect(headers.get("x-memfold-reason")).toBe("not-json")
    expect(bodies[0]!.equals(body)).toBe(true)
  })

  it("about a session that cannot be read: the request passes, and the session is as it was", async () => {
    const log = await Effect.runPromise(InMemoryEventLog.make)
    let isDamaged = false
    const damaged: EventLog.Service = {
      ...log,
      read: (...given) => {
        if (isDamaged) throw new Error("a stored event is damaged")
        return log.read(...given)
      },
      head: ((...given: Parameters<typeof log.head>) =>
        isDamaged
          ? Effect.die(new Error("a stored event is damaged"))
          : log.head(...given)) as typeof log.head,
    }
    const { send, bodies, records, said } = await start({ log: damaged })
    await send(chat, JSON.stringify({ messages: [user] }))
    isDamaged = true
    const next = JSON.stringify({ messages: [{ role: "user", content: "And now?" }] })
    const headers = await send(chat, next)
    expect([headers.get("x-memfold"), headers.get("x-memfold-reason")]).toEqual([
      "as-it-came",
      "memory-failed",
    ])
    expect(String(bodies[1])).toBe(next)
    expect(records[1]).toMatchObject({ doubt: "memory-failed", ending: { _tag: "Complete", status: 200 } })
    isDamaged = false
    expect(await said("s")).toHaveLength(2)
    expect((await send(chat, next)).get("x-memfold")).toBe("memory")
    expect(await said("s")).toHaveLength(4)
  })
})

describe("the numbers", () => {
  it("are in the headers of the answers, the records and the metrics, before and behind a compaction", async () => {
    const { send, records, savings, memory } = await start({ compaction: { mode: "manual" } })
    const names = [
      "x-memfold-tokens-before",
      "x-memfold-tokens-after",
      "x-memfold-session-cached",
      "x-memfold-session-written",
      "x-memfold-session-saved-usd",
    ]
    const numbers = async (content: string) => {
      const headers = await send(
        chat,
        JSON.stringify({ model: "gpt-6.2-sol", messages: [{ role: "user", content }] }),
      )
      return names.map((name) => Number(headers.get(name)))
    }
    const at = ["before", "after", "cached", "written", "fresh", "output"].map((kind) =>
      amount("memfold_proxy_tokens", kind),
    )
    const savedAt = amount("memfold_proxy_saved_usd")
    const [before = 0, after = 0, ...first] = await numbers("one ".repeat(50))
    expect(first).toEqual([0, 0, 0])
    expect(before).toBeGreaterThan(30)
    expect(after).toBe(before)
    expect(await numbers("two")).toEqual([expect.any(Number), expect.any(Number), 3_000, 1_500, 0])
    for (let turn = 0; turn < 30; turn++) await numbers(`turn ${turn} ${"and so on ".repeat(40)}`)
    expect(await Effect.runPromise(memory.compact("s"))).toMatchObject({ _tag: "Committed" })
    const [whole = 0, short = 0] = await numbers("three")
    expect(short).toBeLessThan(whole / 2)
    const [, , cached, written, saved] = await numbers("four")
    expect([cached, written]).toEqual([33 * 3_000, 33 * 1_500])
    const last = records.at(-1)!.charged!.saved
    expect(saved).toBeCloseTo(savings.of("s").saved - last, 5)
    expect(last).not.toBe(0)

    expect(records.at(-1)).toMatchObject({
      charged: { fresh: 500, cached: 3_000, written: 1_500, output: 100 },
      isStored: true,
    })
    const sums = records.reduce(
      (sum, { tokens }) => [sum[0]! + tokens!.before, sum[1]! + tokens!.after],
      [0, 0],
    )
    const grown = ["before", "after", "cached", "written", "fresh", "output"].map(
      (kind, index) => amount("memfold_proxy_tokens", kind) - at[index]!,
    )
    expect(grown).toEqual([...sums, 34 * 3_000, 34 * 1_500, 34 * 500, 34 * 100])
    const told = records.reduce((sum, { charged }) => sum + charged!.saved, 0)
    expect(amount("memfold_proxy_saved_usd") - savedAt).toBeCloseTo(told, 9)
  })
})

describe("a request for a WebSocket", () => {
  it.each(["/v1/responses", "/v1/realtime"])("is refused, and goes nowhere: %s", async (path) => {
    const { url, bodies, records } = await start()
    const outgoing = request(`${url}${path}`, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
    })
    outgoing.end()
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage]
    expect(answer.statusCode).toBe(426)
    expect(await json(answer)).toMatchObject({ error: { code: "websockets_unsupported" } })
    expect(bodies).toEqual([])
    expect(records).toMatchObject([{ path, ending: { status: 426 } }])
  })
})

describe("a stream of calls that the server numbers alike", () => {
  const piece = (tool_calls: ReadonlyArray<object> | null, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { tool_calls }, finish_reason: finish }] })}\n\n`
  const call = (more: object, name?: string, args?: string) =>
    piece([{ index: 0, ...more, function: { name, arguments: args } }])
  const asked = async (stream: ReadonlyArray<string>) => {
    const body = [...stream, piece(null, "tool_calls"), "data: [DONE]\n\n"].join("")
    const server = createServer((_, response) => {
      response.setHeader("content-type", "text/event-stream")
      response.write(body.slice(0, 100))
      response.end(body.slice(100))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    open.push(async () => {
      server.close()
      server.closeAllConnections()
    })
    const proxy = await proxied({
      upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    })
    open.push(proxy.close)
    const outgoing = request(`${proxy.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "x-session-id": "s", "content-type": "application/json" },
    })
    outgoing.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Look." }] }))
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage]
    expect((await buffer(answer)).toString()).toBe(body)
    return { trailers: answer.trailers, records: proxy.records, said: await proxy.said("s") }
  }

  it("is stored call by call where their ids say which is which", async () => {
    const { trailers, records, said } = await asked([
      call({ id: "a" }, "ls", "{}"),
      call({ id: "b" }, "cat", ""),
      call({}, undefined, '{"p":1}'),
    ])
    expect(said.at(-1)!.parts).toMatchObject([
      { type: "tool-call", id: "a", name: "ls", arguments: "{}" },
      { type: "tool-call", id: "b", name: "cat", arguments: '{"p":1}' },
    ])
    expect(trailers).toEqual({})
    expect(records).toMatchObject([{ isStored: true, notStored: null }])
  })

  it("passes byte for byte and is not stored where nothing says it; the reason is in a trailer and in the record", async () => {
    const { trailers, records, said } = await asked([call({}, "ls", ""), call({}, "cat", "")])
    expect(said).toHaveLength(1)
    expect(trailers).toEqual({ "x-memfold-not-stored": "unclear-calls" })
    expect(records).toMatchObject([{ isStored: false, notStored: "unclear-calls" }])
  })
})
