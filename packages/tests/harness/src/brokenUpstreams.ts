/** Upstreams that answer with anything: the answers, a server that gives them, and the requests that it gets. */
import * as fc from "fast-check"
import { once } from "node:events"
import { type Agent, request } from "node:http"
import { type AddressInfo, createServer, type Socket } from "node:net"

/** What an upstream does with its connection once it has sent its bytes. */
export type End = "end" | "destroy" | "silent"

export interface Broken {
  readonly bytes: string
  /** Where the bytes are divided. */
  readonly cut: number
  readonly end: End
}

const statusLines = [
  "HTTP/1.1 200 OK",
  "HTTP/1.1 200 O\u0001K",
  "HTTP/1.1 200 caf\u00e9",
  "HTTP/1.1 200 \u007f",
  "HTTP/1.1 200",
  "HTTP/1.1 200 ",
  "HTTP/1.1 0 Nothing",
  "HTTP/1.1 099 Low",
  "HTTP/1.1 100 Continue",
  "HTTP/1.1 101 Switching Protocols",
  "HTTP/1.1 102 Processing",
  "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK",
  "HTTP/1.1 101 Switching\r\n\r\nHTTP/1.1 200 OK",
  "HTTP/1.1 204 No Content",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 500 \u0000",
  "HTTP/1.1 999 High",
  "HTTP/1.1 1000 Higher",
  "HTTP/1.0 200 OK",
  "HTTP/2 200",
  "ICY 200 OK",
  "",
  `HTTP/1.1 200 ${"x".repeat(20_000)}`,
  `HTTP/1.1 200 ${"\u0002".repeat(2_000)}`,
]

const fields = [
  "Content-Type: application/json",
  "Content-Type: text/event-stream",
  "Content-Length: 2",
  "Content-Length: 0",
  "Content-Length: 9",
  "Content-Length: 99999999999",
  "Content-Length: -1",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip",
  "Transfer-Encoding: gzip, chunked",
  "Content-Encoding: gzip",
  "Content-Encoding: br",
  "Content-Encoding: rot13",
  "Connection: close",
  "Connection: content-length, content-type",
  "Connection: upgrade",
  "Upgrade: websocket",
  "Trailer: X-Sum",
  "X-A: a\u0001b",
  "X-A: caf\u00e9",
  "X A: b",
  "__proto__: b",
  "Set-Cookie: a=1\r\nSet-Cookie: b=2",
  "X-Fold: a\r\n b",
  "Date: never",
  `X-Long: ${"y".repeat(20_000)}`,
  Array.from({ length: 300 }, (_, n) => `X-${n}: ${n}`).join("\r\n"),
]

const bodies = [
  "",
  "ok",
  "okokok",
  "2\r\nok\r\n0\r\n\r\n",
  "2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
  "2\r\nok\r\n0\r\nX-Sum: a\u0001\r\n\r\n",
  "2\r\nok\r\n0\r\nX\u0001: a\r\nContent-Length: 3\r\n\r\n",
  "2\r\nokok",
  "zz\r\nok",
  "ffffffffffffffffff\r\nok",
  'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  "data: {\n\n",
  '{"choices":[null]}',
]

export const brokenAnswers: fc.Arbitrary<Broken> = fc
  .record({
    status: fc.oneof(fc.constantFrom(...statusLines), fc.constant(statusLines[0]!)),
    fields: fc.array(fc.constantFrom(...fields), { maxLength: 4 }),
    body: fc.constantFrom(...bodies),
    noise: fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 4 }),
    cut: fc.nat(),
    end: fc.constantFrom<End>("end", "end", "destroy", "silent"),
  })
  .map(({ status, fields, body, noise, cut, end }) => {
    const head = [status, ...fields, "", ""].join("\r\n")
    const bytes = Buffer.from(head + body, "latin1")
    if (noise !== null && bytes.length > 0) bytes[noise[0] % bytes.length] = noise[1]
    return { bytes: bytes.toString("latin1"), cut: cut % (bytes.length + 1), end }
  })

/** An upstream that sends, to each request, the bytes it is told to. */
export const brokenUpstream = async () => {
  let broken: Broken = { bytes: "", cut: 0, end: "end" }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => sockets.delete(socket))
    socket.on("data", () => {
      const { bytes, cut, end } = broken
      socket.write(Buffer.from(bytes.slice(0, cut), "latin1"), () => {
        socket.write(Buffer.from(bytes.slice(cut), "latin1"), () => {
          if (end === "end") socket.end()
          else if (end === "destroy") socket.destroy()
        })
      })
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: `http://127.0.0.1:${port}`, answers: (next: Broken) => void (broken = next), close }
}

/** The status of a request, once its answer has ended, whole or not; `null` for a connection that was closed without one. */
export const statusOf = (
  url: string,
  agent: Agent,
  { method, path, body, headers }: ReturnType<typeof questions>[number],
): Promise<number | null> =>
  new Promise((resolve) => {
    const sent = request(`${url}${path}`, { method, agent, headers }, (answer) => {
      const { statusCode = 0 } = answer
      answer.on("error", () => resolve(statusCode)).on("close", () => resolve(statusCode))
      answer.resume()
    })
    sent.on("error", () => resolve(null))
    sent.end(body)
  })

const named = { "content-type": "application/json", "x-session-id": "s" }
const said = [{ role: "user", content: "Hi" }]

/** A request of each kind that has an upstream: one that passes, one with a session, and those that are answered in its place. */
export const questions = () =>
  [
    { method: "GET", path: "/v1/models", body: "", headers: {} },
    { method: "HEAD", path: "/v1/models", body: "", headers: {} },
    { method: "POST", path: "/v1/files", body: "x".repeat(100_000), headers: {} },
    ...[
      ["/v1/chat/completions", { model: "m", messages: said }],
      ["/v1/chat/completions", { model: "m", stream: true, messages: said }],
      ["/v1/messages", { model: "m", max_tokens: 9, messages: said }],
      ["/v1/responses", { model: "m", store: false, input: said }],
    ].map(([path, body]) => ({
      method: "POST",
      path: path as string,
      body: JSON.stringify(body),
      headers: named as Record<string, string>,
    })),
    ...[
      ["/v1/responses", { model: "m", input: "Hi" }],
      ["/v1/responses", { model: "m", input: "Hi", stream: true }],
      ["/v1/responses/input_tokens", { model: "m", input: "Hi" }],
      ["/v1/responses/compact", { model: "m", input: "Hi" }],
    ].map(([path, body]) => ({
      method: "POST",
      path: path as string,
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" } as Record<string, string>,
    })),
  ] as const
