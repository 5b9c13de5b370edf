/** What goes on goes on as it was: requests and answers byte for byte, and nothing beside the path that an upstream is given with. */
import { often } from "@memfold/harness/depth"
import * as fc from "fast-check"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { Agent, createServer, type IncomingMessage, request } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { buffer } from "node:stream/consumers"
import { describe, expect, it, onTestFinished } from "vitest"
import { ask, started } from "./services.js"

type Fields = ReadonlyArray<readonly [name: string, value: string]>

interface Said {
  /** `METHOD target` or `status reason`. */
  readonly line: string
  readonly fields: Fields
  readonly body: Buffer
}

/** Fields that each hop has for itself: its framing, its connection, and where it goes. */
const ofTheHop = /^(?:host|connection|keep-alive|transfer-encoding|content-length|date)$/i

/** One checksum of a message, without what belongs to its hop. */
const sumOf = ({ line, fields, body }: Said): string => {
  const hash = createHash("sha256").update(`${line}\n`, "latin1")
  for (const [name, value] of fields) if (!ofTheHop.test(name)) hash.update(`${name}: ${value}\n`, "latin1")
  return hash.update("\n").update(body).digest("hex")
}

const fieldsOf = (raw: ReadonlyArray<string>): Fields =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : []))

/** An upstream that keeps what it is sent, and answers what it is told. */
const upstreamOf = async () => {
  let answer: Said & { readonly isChunked: boolean } = {
    line: "200 OK",
    fields: [],
    body: Buffer.alloc(0),
    isChunked: false,
  }
  const received: Array<Said> = []
  const server = createServer((incoming, response) => {
    const reply = async (): Promise<void> => {
      const body = await buffer(incoming)
      const { method, url, rawHeaders } = incoming
      received.push({ line: `${method} ${url}`, fields: fieldsOf(rawHeaders), body })
      const [status = "200", ...reason] = answer.line.split(" ")
      const framing = answer.isChunked ? [] : ["Content-Length", String(answer.body.length)]
      response.writeHead(Number(status), reason.join(" "), [...answer.fields.flat(), ...framing])
      response.end(answer.body)
    }
    void reply()
  })
  server.maxHeadersCount = 0
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, received, answers: (next: typeof answer) => void (answer = next) }
}

const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9!#$%&'*+.^_|~-]{0,12}$/)
/** What one byte can say in a field, without space at its ends. */
const value = fc
  .array(fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })), {
    maxLength: 20,
  })
  .map((codes) => String.fromCodePoint(...codes))

/** Fields that name a session, speak to the proxy, frame the message, or choose another API. */
const notFree =
  /^(?:connection|content-length|transfer-encoding|host|expect|upgrade|te|trailer|keep-alive|date|proxy-.*|origin|session_id|conversation_id|if-match)$/i

const free = fc
  .tuple(token, value)
  .filter(([name]) => !notFree.test(name))
  .map(([name, text]) => [name, text] as const)

/** What clients send beside their body. */
const ofClients: ReadonlyArray<Fields> = [
  [
    ["Accept", "application/json"],
    ["User-Agent", "OpenAI/JS 6.2.0"],
    ["X-Stainless-Retry-Count", "0"],
    ["X-Stainless-Lang", "js"],
    ["Authorization", "Bearer sk-test"],
    ["Accept-Language", "*"],
    ["sec-fetch-mode", "cors"],
    ["accept-encoding", "gzip, deflate"],
  ],
  [
    ["anthropic-version", "2023-06-01"],
    ["anthropic-beta", "a-2026"],
    ["anthropic-beta", "b-2026"],
    ["X-Api-Key", "sk-ant"],
    ["Idempotency-Key", "stainless-node-retry-1"],
  ],
  [
    ["api-key", "azure"],
    ["Cookie", "a=1"],
    ["Cookie", "b=2"],
    ["traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ],
]

const paths = fc.oneof(
  fc.constantFrom(
    "/v1/models",
    "/v1/models/meta%2FLlama%203",
    "/v1/files?purpose=a&purpose=b%20c",
    "/v1//double/",
    "/v1/x/.well-known/...",
    "/v1/caf%C3%A9?q='\"<>{}|^`",
    "/v1/chat/completions",
    "/v1/messages",
    "/v1/embeddings?",
    "/v1/%41%zz",
  ),
  fc.stringMatching(/^\/v1\/x[A-Za-z0-9:@!$&'()*+,=%~-]{0,20}(?:\?[A-Za-z0-9/?&=.%]{0,20})?$/),
)

const bodies = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
      '{ "model" : "m",\n "messages":[ {"role":"user","content":"\\u0048i \ud83d\ude00"} ] }',
      "not json",
      "\uFEFF{}",
    )
    .map((text) => Buffer.from(text)),
  // A long one is short in the report of a failure.
  fc.constant(20_000).map((times) => Buffer.from("long ".repeat(times))),
)

const requests = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"),
  path: paths,
  fields: fc
    .tuple(fc.constantFrom(...ofClients, []), fc.array(free, { maxLength: 6 }))
    .map(([known, more]) => [...known, ...more]),
  body: bodies,
  isChunked: fc.boolean(),
})

const answers = fc.record({
  status: fc.constantFrom(200, 201, 207, 299, 400, 404, 429, 500, 529),
  reason: fc.constantFrom("OK", "", "Fine by me", "caf\u00e9", "a\tb"),
  fields: fc.array(free, { maxLength: 6 }),
  body: bodies,
  isChunked: fc.boolean(),
})

/** Sends a request as it is written, and answers with what came back. */
const send = async (
  url: string,
  agent: Agent,
  { line, fields, body }: Said,
  isChunked: boolean,
): Promise<Said> => {
  const [method = "", path = ""] = line.split(" ")
  const framing = isChunked ? ["Transfer-Encoding", "chunked"] : ["Content-Length", String(body.length)]
  const own = ["Host", new URL(url).host, ...(body.length > 0 ? framing : [])]
  const sent = request(url, {
    method,
    path,
    headers: [...fields.flat(), ...own],
    agent,
  })
  sent.maxHeadersCount = 0
  sent.end(body)
  const [answer] = (await once(sent, "response")) as [IncomingMessage]
  const { statusCode, statusMessage, rawHeaders } = answer
  const came = await buffer(answer)
  return { line: `${statusCode} ${statusMessage}`, fields: fieldsOf(rawHeaders), body: came }
}

/** What the proxy says beside an answer, in its own name. */
const isTold = ([name]: Fields[number]): boolean => /^x-memfold/i.test(name)

describe("a request that the memory does not change", () => {
  it("L22: reaches its upstream byte for byte, and so does the answer its client", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: `${upstream.url}/base/` })
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    onTestFinished(() => agent.destroy())
    await fc.assert(
      fc.asyncProperty(requests, answers, async (asked, answered) => {
        const { method, path, fields, body, isChunked } = asked
        const { status, reason, ...told } = answered
        const answer = { line: `${status} ${reason}`, ...told }
        upstream.answers(answer)
        const said = { line: `${method} ${path}`, fields, body }
        const { fields: heard, ...got } = await send(url, agent, said, isChunked)
        expect(sumOf(upstream.received.at(-1)!)).toBe(sumOf({ ...said, line: `${method} /base${path}` }))
        expect(sumOf({ ...got, fields: heard.filter((one) => !isTold(one)) })).toBe(sumOf(answer))
      }),
      { numRuns: often(300, 5_000) },
    )
  })

  it("L22: keeps all fields that a head has room for, and so does its answer", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    // Node leaves out what is behind the thousandth field, without a word.
    const many = Array.from({ length: 1_500 }, (_, at): Fields[number] => [`y${at.toString(36)}`, ""])
    upstream.answers({ line: "200 OK", fields: many, body: Buffer.from("ok"), isChunked: false })
    const said = { line: "POST /v1/files", fields: many, body: Buffer.from("a file") }
    const { fields: heard, ...got } = await send(url, agent, said, true)
    expect(sumOf(upstream.received.at(-1)!)).toBe(sumOf(said))
    expect([got.line, heard.filter((one) => !isTold(one) && !ofTheHop.test(one[0])).length]).toEqual([
      "200 OK",
      many.length,
    ])
  })

  it("L22: leaves no path that an upstream is given with", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: `${upstream.url}/base` })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const steps = `.. %2e%2e .%2E %2e. %252e%252e %25252e. ..;a=1 ..; ..%3b
      ..# ..%23 %c0%ae. %C0%AE%c0%ae %25c0%25ae. ..%00 .%00. .%2500.`.split(/\s+/)
    const back = fc
      .tuple(
        fc.constantFrom(...steps),
        fc.constantFrom("/", "\\", "%2f", "%5C", "%252f", "/./", "//", "#/", "%c0%af", "%C1%9C"),
        fc.constantFrom("/v1/", "/v1/models/", "/v1/responses/", "/v1/x%2Fy/"),
        fc.constantFrom("GET", "POST", "DELETE"),
      )
      .map(([step, separator, start, method]) => `${method} ${start}${step}${separator}admin`)
    await fc.assert(
      fc.asyncProperty(back, async (line) => {
        const { line: status } = await send(url, agent, { line, fields: [], body: Buffer.alloc(0) }, false)
        expect([line, status]).toEqual([line, "400 Bad Request"])
      }),
      { numRuns: often(200, 2_000) },
    )
    expect(upstream.received).toEqual([])
    // A slash within a name is a name.
    for (const path of ["/v1/models/a%2Fb", "/v1/a..b", "/v1/...", "/v1/x?to=../../y", "/v1/x;v=1"]) {
      await send(url, agent, { line: `GET ${path}`, fields: [], body: Buffer.alloc(0) }, false)
      expect(upstream.received.at(-1)?.line).toBe(`GET /base${path}`)
    }
  })

  it("L22: is the same under a whole address as under its path, and the host of the address counts", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: `${upstream.url}/base` })
    const statusAt = async (target: string): Promise<string | undefined> => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1")
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
      return (await buffer(socket)).toString("latin1").split(" ", 2)[1]
    }
    for (const path of ["/health", "/v1/sessions?limit=1", "/v1/models?a=http://b"]) {
      expect([path, await statusAt(`http://127.0.0.1:1${path}`)]).toEqual([path, "200"])
      expect([path, await statusAt(`HTTPS://elsewhere.example${path}`)]).toEqual([path, "403"])
    }
    expect(upstream.received.map(({ line }) => line)).toEqual(["GET /base/v1/models?a=http://b"])
    expect(await statusAt("http://localhost?a")).toBe("404")
  })

  it("L22: is one request, whatever its fields say of the body", async () => {
    const upstream = await upstreamOf()
    const { url } = await started({ upstream: upstream.url })
    const { port } = new URL(url)
    const smuggled = "GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
    const length = `Content-Length: ${smuggled.length}`
    const raw = async (head: ReadonlyArray<string>, body: string): Promise<string> => {
      const socket = connect(Number(port), "127.0.0.1")
      socket.write(Buffer.from([...head, "", body].join("\r\n"), "latin1"))
      return (await buffer(socket)).toString("latin1").split("\r\n", 1)[0] ?? ""
    }
    const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
    const line = "GET /v1/models HTTP/1.1"
    const host = "Host: localhost"
    const cases: ReadonlyArray<readonly [head: ReadonlyArray<string>, body: string]> = [
      [[line, host, length, "Connection: close, content-length"], smuggled],
      [["POST /v1/files HTTP/1.1", host, length, "Connection: content-length, close"], smuggled],
      [
        [
          "DELETE /v1/files/f HTTP/1.1",
          host,
          "Transfer-Encoding: chunked",
          "Connection: transfer-encoding, close",
        ],
        chunked,
      ],
      [[line, host, "Host: other", "Connection: close"], ""],
      [[line, host, "hOST: localhost", "Connection: close"], ""],
      [[line, host, length, "Content-Length: 0", "Connection: close"], smuggled],
      [[line, host, length, "Transfer-Encoding: chunked", "Connection: close"], chunked],
      [[line, host, "Transfer-Encoding: gzip, chunked", "Connection: close"], chunked],
      [
        [line, host, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "Connection: close"],
        chunked,
      ],
      [[line, host, "Transfer-Encoding: xchunked", "Connection: close"], chunked],
      [[line, host, "Transfer-Encoding : chunked", "Connection: close"], chunked],
      [["POST /v1/files HTTP/1.0", host, length, "Connection: content-length"], smuggled],
    ]
    const statuses: Array<string> = []
    for (const [head, body] of cases) {
      const before = upstream.received.length
      statuses.push((await raw(head, body)).split(" ")[1] ?? "")
      for (const { line: got, body: came } of upstream.received.slice(before)) {
        expect(got).not.toContain("smuggled")
        expect(came.toString()).toBe(smuggled)
      }
      expect(upstream.received.length - before).toBeLessThanOrEqual(1)
    }
    expect(statuses).toEqual(["200", "200", "200", ...Array.from({ length: 8 }, () => "400"), "200"])
    // The connections to the upstream have nothing left in them.
    await ask(`${url}/v1/models`)
    expect(upstream.received.at(-1)?.line).toBe("GET /v1/models")
  })
})
