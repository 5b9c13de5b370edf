/** Upstreams that answer with anything: each request gets an answer or a closed connection, and the service lives. */
import {
  brokenAnswers,
  brokenUpstream,
  type End,
  questions,
  statusOf,
} from "@memfold/harness/brokenUpstreams"
import { cpuTime } from "@memfold/harness/cpuTime"
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import { ask, started } from "./services.js"

const upstreamOf = async () => {
  const upstream = await brokenUpstream()
  onTestFinished(upstream.close)
  return upstream
}

describe("an upstream that answers with anything", () => {
  it("L19: ends no process and leaves no client waiting", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url, upstreamTimeout: "100 millis" })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const statuses = new Map<number | null, number>()
    const tried = fc.tuple(brokenAnswers, fc.constantFrom(...questions()))
    await fc.assert(
      fc.asyncProperty(tried, async ([broken, question]) => {
        upstream.answers(broken)
        const status = await statusOf(url, agent, question)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
      { numRuns: often(400, 10_000) },
    )
    expect((await ask(`${url}/health`)).status).toBe(200)
    // Good answers go on, and what is no answer is told.
    expect(statuses.get(200)).toBeGreaterThan(20)
    expect(statuses.get(502)).toBeGreaterThan(20)
  })

  it("L19: says what came in place of an answer", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url, upstreamTimeout: "100 millis" })
    const codes = async (bytes: string, end: End = "end") => {
      upstream.answers({ bytes, cut: 0, end })
      const { status, body } = await ask(`${url}/v1/models`)
      return [status, (body as { readonly error?: { readonly reason?: string } }).error?.reason]
    }
    const whole = "Content-Length: 2\r\n\r\nok"
    expect(await codes(`HTTP/1.1 200 O\u0001K\r\n${whole}`)).toEqual([502, "HPE_INVALID_STATUS"])
    expect(await codes(`HTTP/1.1 099 Low\r\n${whole}`)).toEqual([502, "HPE_INVALID_STATUS"])
    const switching = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    expect(await codes(switching, "silent")).toEqual([502, "ECONNRESET"])
    expect(await codes(`HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx`)).toEqual([
      502,
      "HPE_INVALID_TRANSFER_ENCODING",
    ])
    expect(await codes("HTTP/1.1 200 OK\r\n", "silent")).toEqual([502, "ETIMEDOUT"])
    expect(await codes("")).toEqual([502, "ECONNRESET"])
    // A client would wait for ever: each of these says that the upstream lives.
    const early = (count: number) =>
      `${"HTTP/1.1 102 Processing\r\n\r\n".repeat(count)}HTTP/1.1 200 OK\r\n${whole}`
    expect(await codes(early(100))).toEqual([200, undefined])
    expect(await codes(early(101))).toEqual([502, "HPE_TOO_MANY_INTERIM"])
  })
})

const mebi = 2 ** 20
const items = "{},".repeat(7 * mebi)
const nested = "[".repeat(10 * mebi)
/** An event of a stream, and what an answer says about itself. */
const event = (data: string) => `data: ${data}\n\n`
const stream = "Content-Type: text/event-stream"
const whole = "Content-Type: application/json"

/** Answers that are little to send on, and would be much to read: what is asked, the fields, and the body. */
const heavy: Readonly<Record<string, readonly [fields: string, body: () => string, why: string]>> = {
  "many items": [whole, () => `{"choices":[${items}{}]}`, "too-large"],
  "lists in lists": [whole, () => `{"choices":${nested}`, "too-large"],
  "many items in an event": [stream, () => event(`{"choices":[${items}{}]}`), "too-large"],
  "lists in lists in an event": [stream, () => event(`{"choices":${nested}`), "too-large"],
  "many items in arguments": [
    stream,
    () => {
      const called = { index: 0, id: "c", function: { name: "look", arguments: `{"a":[${items}{}]}` } }
      const again = { index: 0, function: { name: "look", arguments: "" } }
      return [called, again]
        .map((one) => event(JSON.stringify({ choices: [{ delta: { tool_calls: [one] } }] })))
        .join("")
    },
    "broken-off",
  ],
  "empty lines, and a carriage return behind each read": [
    stream,
    () => `${"\n".repeat(65_535)}\r`.repeat(300),
    "broken-off",
  ],
  "bytes that are a thousand times as many": [
    `${whole}\r\nContent-Encoding: gzip`,
    () =>
      gzipSync(Buffer.alloc(16 * mebi))
        .toString("latin1")
        .repeat(300),
    "too-large",
  ],
}

describe("an answer that is much to read", () => {
  it.each(Object.entries(heavy))("L19: goes on, and is left unread: %s", async (_, [fields, body, why]) => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url })
    const text = body()
    const asked = async (bytes: string) => {
      upstream.answers({ bytes, cut: 0, end: "end" })
      const sent = request(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-session-id": "s" },
      })
      sent.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] }))
      const [answer] = (await once(sent, "response")) as [IncomingMessage]
      const { length } = await buffer(answer)
      return { length, why: answer.trailers["x-memfold-not-stored"] }
    }
    await asked(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n`)
    const passed = cpuTime()
    const answer = await asked(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${text}`)
    // To read it would take seconds; to send it on takes a part of one.
    expect({ ...answer, isQuick: passed() < 2_000 }).toEqual({ length: text.length, why, isQuick: true })
  })
})
