/** Requests that no client of good will sends, over raw sockets: what a listener has to survive. */
import { connect } from "node:net"
import { random } from "./random.js"

/** Where the requests go, and how many there are. */
export interface Attack {
  readonly port: number
  readonly count: number
  readonly seed: number
  /** The paths that the listener answers; half of the targets are made of them. */
  readonly paths: ReadonlyArray<string>
  /** A body that the listener answers; some bodies are made of it. */
  readonly body: unknown
}

/** What became of the requests. Their sum is the count. */
export interface Survived {
  /** How many got a status line, by the status. */
  readonly answered: ReadonlyMap<number, number>
  /** How many got none: the listener closed the connection, or the client was gone first. */
  readonly dropped: number
}

type Dice = <A>(choices: ReadonlyArray<A>) => A

const methods = [
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "HEAD",
  "PATCH",
  "TRACE",
  "CONNECT",
  "get",
  "M-SEARCH",
]
const wrongMethods = ["", " ", "GÉT", "POST\u0000", "PRI", "A".repeat(3_000), "../../../", "{}"]
const wrongTargets = [
  "//",
  "///",
  "//@",
  "//:0",
  "/\\",
  "/%",
  "/%zz",
  "/%00",
  "/?",
  "/#",
  "*",
  "",
  "http://",
  "http:///",
  "http://[::1/",
  "http://a:b:c/",
  "https://user:pass@localhost/",
  "//localhost:99999/",
  "javascript:alert(1)",
  "localhost:80",
  "/../../../../etc/passwd",
  "/__proto__",
  "/constructor",
  "/\u0001",
  `/${"a".repeat(20_000)}`,
  `/?${"x=1&".repeat(3_000)}`,
]
const versions = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/0.9",
  "HTTP/2.0",
  "HTTP/9.9",
  "HTTP",
  "",
]
const hosts = [
  "localhost",
  "localhost",
  "127.0.0.1:80",
  "",
  "[::1",
  "a:b:c",
  "localhost, localhost",
  "\u0000",
  "%",
  "//",
]
const headers = [
  "Origin: null",
  "Origin: http://",
  "Origin: ://",
  "Origin: http://page.example",
  "Content-Type: text/plain",
  "Content-Type: application/json; charset=utf-16",
  "Content-Type: ;;;=",
  "Content-Type: multipart/form-data",
  "Content-Encoding: gzip",
  "Content-Encoding: br, gzip, deflate",
  "Transfer-Encoding: gzip",
  "Transfer-Encoding: chunked, identity",
  "Content-Length: -1",
  "Content-Length: 1e9",
  "Content-Length: 99999999999999999999",
  "Content-Length: 3\r\nContent-Length: 4",
  "Expect: 100-continue",
  "Expect: nothing",
  "Connection: upgrade\r\nUpgrade: websocket",
  "Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: x",
  "Accept: ",
  "Accept: */*;q=x",
  "Accept: text/event-stream",
  "Mcp-Session-Id: \u00ff",
  "Mcp-Protocol-Version: __proto__",
  "Last-Event-ID: -1",
  "Authorization: Basic \u00ff",
  "Anthropic-Beta: ,,,",
  "Cookie: =;=;=",
  ": no name",
  "no colon",
  " folded: line",
  "Bad Name: x",
  "X: \u0000",
  `X: ${"a".repeat(20_000)}`,
  Array.from({ length: 3_000 }, (_, at) => `X${at}: 1`).join("\r\n"),
]
const wrongBodies = [
  "",
  "null",
  "0",
  '"text"',
  "[]",
  "[[]]",
  "{}",
  "{",
  "{]",
  "nothing",
  "\uFEFF{}",
  '{"__proto__":null}',
  '{"constructor":{"prototype":{}}}',
  '{"toString":1,"valueOf":1}',
  '"\\ud800"',
  "1e999",
  `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  `{"messages":${"[".repeat(20_000)}`,
  "x".repeat(100_000),
]
const wrongValues: ReadonlyArray<unknown> = [null, 0, -1, "", "x", [], {}, [null], [[]], { a: null }, true]

/** A body with one value of it, at any depth, replaced by something else. */
const altered = (value: unknown, next: () => number, pick: Dice): unknown => {
  if (typeof value !== "object" || value === null || next() < 0.2) return pick(wrongValues)
  const keys = Object.keys(value)
  if (keys.length === 0) return pick(wrongValues)
  const chosen = pick(keys)
  const changed = altered((value as Record<string, unknown>)[chosen], next, pick)
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === chosen ? changed : one))
  return next() < 0.2
    ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== chosen))
    : { ...value, [chosen]: changed }
}

const chunked = (body: string, pick: Dice): string =>
  pick([
    `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    `zz\r\n${body}\r\n0\r\n\r\n`,
    `ffffffffffffffff\r\n${body}`,
    `${Buffer.byteLength(body).toString(16)};${"x".repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`,
    `-1\r\n${body}`,
    `3\r\n${body}`,
    `0\r\nTrailer: ${"x".repeat(100)}\r\n\r\n`,
  ])

/** A request that the listener answers: what the others leave behind must not keep it from that. */
const wellFormed = ({ paths: [path], body }: Attack): Buffer => {
  const text = JSON.stringify(body)
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ]
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${text}`)
}

/** One request, as bytes; a few are `well`. */
const malformed = (next: () => number, target: Attack, well: Buffer): Buffer => {
  const { paths, body: good } = target
  const pick: Dice = (choices) => choices[Math.floor(next() * choices.length)]!
  const kind = next()
  if (kind > 0.97) return well
  if (kind < 0.03) return Buffer.from(Array.from({ length: 200 }, () => Math.floor(next() * 256)))
  const method = next() < 0.5 ? "POST" : next() < 0.8 ? pick(methods) : pick(wrongMethods)
  const place =
    next() < 0.6 ? `${pick(paths)}${pick(["", "", "", "?", "?a=%", "#x", "/", "/.."])}` : pick(wrongTargets)
  const given = next()
  const body =
    given < 0.4
      ? JSON.stringify(altered(good, next, pick))
      : given < 0.5
        ? JSON.stringify(good)
        : pick(wrongBodies)
  const inChunks = next() < 0.15
  const length = next() < 0.85 ? Buffer.byteLength(body) : pick([0, 1, Buffer.byteLength(body) + 10, "x"])
  const head = [
    `${method} ${place} ${next() < 0.8 ? "HTTP/1.1" : pick(versions)}`,
    ...(next() < 0.95 ? [`Host: ${next() < 0.8 ? "localhost" : pick(hosts)}`] : []),
    ...(next() < 0.8
      ? ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
      : []),
    inChunks ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
    ...Array.from({ length: next() < 0.5 ? 0 : Math.ceil(next() * 3) }, () => pick(headers)),
  ]
  const encoding = pick(["utf8", "utf8", "utf8", "latin1", "utf16le"] as const)
  const whole = Buffer.from(
    `${head.join(next() < 0.95 ? "\r\n" : "\n")}\r\n\r\n${inChunks ? chunked(body, pick) : body}`,
    encoding === "utf16le" && next() < 0.8 ? "utf8" : encoding,
  )
  const fate = next()
  if (fate < 0.1) return whole.subarray(0, Math.floor(next() * whole.length))
  if (fate < 0.2 && whole.length > 0) {
    const flipped = Buffer.from(whole)
    for (let n = 0; n < 3; n++)
      flipped[Math.floor(next() * Math.min(flipped.length, 300))] = Math.floor(next() * 256)
    return flipped
  }
  // A second request in the same packet.
  if (fate < 0.23) return Buffer.concat([whole, whole])
  return whole
}

/** What a client does once its bytes are sent: it leaves in the middle of the answer, or ends its side, or waits. */
type Manner = "leaves" | "ends" | "waits"

/** Sends the bytes, and returns when the connection is closed. */
const send = (port: number, bytes: Buffer, manner: Manner): Promise<number | null> =>
  new Promise((resolve) => {
    let status: number | null = null
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      if (manner === "ends") socket.end(bytes)
      else socket.write(bytes, () => void (manner === "leaves" && socket.resetAndDestroy()))
    })
    socket.on("data", (chunk: Buffer) => {
      const line = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1"))
      if (line !== null) status ??= Number(line[1])
    })
    // The listener may reset the connection: that is an answer, too.
    socket.on("error", () => undefined)
    socket.on("close", () => resolve(status))
  })

/**
 * Sends malformed requests to a listener of this machine: wrong targets, methods, headers, bodies, encodings and lengths,
 * cut and flipped bytes, headers beyond every limit, and clients that leave before the answer. It returns when the
 * listener has ended each connection, so a request that is never answered shows as a test that does not end.
 */
export const attack = async (target: Attack): Promise<Survived> => {
  const next = random(target.seed)
  const well = wellFormed(target)
  const answered = new Map<number, number>()
  let dropped = 0
  let sent = 0
  const line = async (): Promise<void> => {
    while (sent < target.count) {
      sent++
      const bytes = malformed(next, target, well)
      const leaves = next() < 0.05
      // Node drops an answer that is late to a client that has ended its side: on a busy machine, each may be late.
      const status = await send(target.port, bytes, leaves ? "leaves" : bytes === well ? "waits" : "ends")
      if (status === null) dropped++
      else answered.set(status, (answered.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 32 }, line))
  return { answered, dropped }
}
