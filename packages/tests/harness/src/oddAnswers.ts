/** Answers of a model that go wrong on their way: how each is framed, breaks, says too much or says that it has failed. */
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"

/** A good answer, as a server gave it. */
export interface GoodAnswer {
  readonly type: string
  readonly body: Buffer
  /** Where its last event, or its end, begins. */
  readonly end: number
}

/** What is sent in place of it. */
export interface OddAnswer {
  /** All bytes, with the head. */
  readonly bytes: Buffer
  /** What is done with the connection: at once, or, for `reset`, when the client has what has come. */
  readonly after: "end" | "reset" | "silent"
  /** The body that a client gets of it. */
  readonly came: Buffer
  /** Whether the client has to see that it broke off. */
  readonly isBroken: boolean
  /** Whether it says all that the model has answered, and no failure. */
  readonly isWhole: boolean
}

const chunk = (bytes: Buffer, length = bytes.length): Buffer =>
  bytes.length === 0
    ? bytes
    : Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")])

const head = ({ type }: GoodAnswer, ...fields: ReadonlyArray<string>): Buffer =>
  Buffer.from(["HTTP/1.1 200 OK", `Content-Type: ${type}`, ...fields, "", ""].join("\r\n"))

const chunks = "Transfer-Encoding: chunked"
const sized = (length: number): string => `Content-Length: ${length}`
const last = Buffer.from("0\r\n\r\n")

/** A body in place of that of a good answer. */
export const sent = (
  given: GoodAnswer,
  body: Buffer,
  how: Partial<Omit<OddAnswer, "bytes">> & {
    readonly fields?: ReadonlyArray<string>
    readonly raw?: Buffer
  } = {},
): OddAnswer => {
  const { fields = [chunks], raw = Buffer.concat([chunk(body), last]), ...rest } = how
  const bytes = Buffer.concat([head(given, ...fields), raw])
  return { after: "end", came: body, isBroken: false, isWhole: false, ...rest, bytes }
}

const isEvents = ({ type }: GoodAnswer): boolean => type.startsWith("text/event-stream")
const whole = { isWhole: true }
const event = (data: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
const failure = { type: "error", error: { type: "overloaded_error", code: "overloaded", message: "Later." } }

/** The events before the last one, as far as a place. */
const before = ({ body, end }: GoodAnswer, place: number): Buffer => {
  const text = body.subarray(0, Math.min(place, end)).toString("latin1")
  return body.subarray(0, text.lastIndexOf("\n\n") + 2)
}

const gzipped = (
  given: GoodAnswer,
  make: (zipped: Buffer) => Buffer,
  how: Partial<OddAnswer> = {},
): OddAnswer =>
  sent(given, make(gzipSync(given.body)), { fields: [chunks, "Content-Encoding: gzip"], ...how })

const isOfChat = ({ body }: GoodAnswer): boolean => body.includes('"choices"')

const changed = ({ body }: GoodAnswer, change: (text: string) => string): Buffer =>
  Buffer.from(change(body.toString("utf8")))

const withoutReasons = (text: string): string => text.replaceAll('"finish_reason":null', '"finish_reason":""')

/** The answer with another role in its messages, or with none. */
const withRole = ({ body }: GoodAnswer, role: string | null): Buffer => {
  const text = body.toString("utf8")
  const [said] = /"role":\s*"assistant"\s*,?\s*/.exec(text) ?? [""]
  return Buffer.from(text.replaceAll(said, role === null ? "" : said.replace("assistant", role)))
}

/** What goes wrong, by name: made of a good answer, and of a place before its end. */
export const oddities: Readonly<Record<string, (given: GoodAnswer, place: number) => OddAnswer | null>> = {
  "a connection that is reset": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, { raw: chunk(body), after: "reset", isBroken: true })
  },
  "a connection that ends within chunks": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, { raw: chunk(body), isBroken: true })
  },
  "a connection that ends within a chunk": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, {
      raw: chunk(given.body).subarray(0, given.body.length.toString(16).length + 2 + place),
      isBroken: true,
    })
  },
  "a body that ends with its connection": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, { fields: ["Connection: close"], raw: body })
  },
  "a length that is too long": (given) =>
    sent(given, given.body, {
      fields: [sized(given.body.length + 7)],
      raw: given.body,
      isBroken: true,
      isWhole: isEvents(given),
    }),
  "a length that is too short": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, { fields: [sized(place)], raw: given.body })
  },
  "a chunk that is none": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, {
      raw: Buffer.concat([chunk(body), Buffer.from("zz\r\n"), given.body]),
      isBroken: true,
    })
  },
  "a chunk that is longer than it says": (given, place) => {
    const body = given.body.subarray(0, place)
    return place === 0 ? null : sent(given, body, { raw: chunk(given.body, place), isBroken: true })
  },
  trailers: (given) =>
    sent(given, given.body, {
      raw: Buffer.concat([chunk(given.body), Buffer.from("0\r\nX-Sum: 1\r\n\r\n")]),
      ...whole,
    }),
  "trailers that are none": (given) =>
    sent(given, given.body, {
      raw: Buffer.concat([chunk(given.body), Buffer.from("0\r\nX\u0001: 1\r\n\r\n")]),
      isBroken: true,
      isWhole: isEvents(given),
    }),
  "a body behind the end": (given) =>
    sent(given, given.body, {
      fields: [sized(given.body.length)],
      raw: Buffer.concat([given.body, given.body]),
      ...whole,
    }),
  "another answer behind the end": (given) => {
    const { bytes } = sent(given, given.body)
    return sent(given, given.body, {
      fields: [sized(given.body.length)],
      raw: Buffer.concat([given.body, bytes]),
      after: "silent",
      ...whole,
    })
  },
  gzip: (given) => gzipped(given, (zipped) => zipped, whole),
  "gzip that breaks off": (given) => gzipped(given, (zipped) => zipped.subarray(0, zipped.length / 2)),
  "gzip that is damaged": (given) =>
    gzipped(given, (zipped) =>
      Buffer.concat([zipped.subarray(0, 40), Buffer.alloc(40, 0xff), zipped.subarray(80)]),
    ),
  "a stall": (given, place) => {
    const body = given.body.subarray(0, place)
    return sent(given, body, { raw: chunk(body), after: "silent", isBroken: true })
  },
  "a mark of the byte order": (given) =>
    sent(given, Buffer.concat([Buffer.from("\ufeff"), given.body]), whole),
  "an answer without a role": (given) => sent(given, withRole(given, null), whole),
  "an answer with an empty role": (given) => sent(given, withRole(given, ""), whole),
  "words of the user": (given) => sent(given, withRole(given, "user")),
  "words of a system": (given) => sent(given, withRole(given, "system")),
  "words of a tool": (given) => sent(given, withRole(given, "tool")),
  "contents in lists": (given) =>
    isOfChat(given)
      ? sent(
          given,
          changed(given, (text) =>
            text.replaceAll(/"content":("(?:[^"\\]|\\.)+")/g, '"content":[{"type":"text","text":$1}]'),
          ),
          whole,
        )
      : null,
  "an end that is no reason": (given, place) =>
    isOfChat(given) && isEvents(given)
      ? sent(given, changed({ ...given, body: before(given, place) }, withoutReasons))
      : null,
  "another choice before the first one": (given) =>
    isOfChat(given) && isEvents(given)
      ? sent(
          given,
          changed(given, (text) =>
            text.replaceAll('"choices":[', '"choices":[{"index":1,"delta":{"content":"No."}},'),
          ),
          whole,
        )
      : null,
  "a failure in place of the answer": (given) =>
    sent(given, isEvents(given) ? event(failure) : Buffer.from(JSON.stringify(failure))),
  "an object that is no answer": (given) => (isEvents(given) ? null : sent(given, Buffer.from("{}"))),
  "a failure in the middle": (given, place) =>
    isEvents(given) ? sent(given, Buffer.concat([before(given, place), event(failure)])) : null,
  "a failure before the last event": (given) =>
    isEvents(given)
      ? sent(
          given,
          Buffer.concat([given.body.subarray(0, given.end), event(failure), given.body.subarray(given.end)]),
        )
      : null,
  "two last events": (given) =>
    isEvents(given) ? sent(given, Buffer.concat([given.body, given.body.subarray(given.end)]), whole) : null,
  "an answer behind the last event": (given) =>
    isEvents(given) ? sent(given, Buffer.concat([given.body, given.body]), whole) : null,
  "lines that end as in mails": (given) =>
    isEvents(given)
      ? sent(given, Buffer.from(given.body.toString("utf8").replaceAll("\n", "\r\n")), whole)
      : null,
  "comments between the lines": (given) =>
    isEvents(given)
      ? sent(given, Buffer.from(given.body.toString("utf8").replaceAll("data:", ": alive\ndata:")), whole)
      : null,
}

/** A server in front of another one: it sends on what it gets, and makes answers odd that it is told to. */
export const oddServer = async (behind: string) => {
  let odd: ((given: GoodAnswer) => OddAnswer) | null = null
  let has = (): void => undefined
  const server = createServer((asked, response) => {
    const answer = async (): Promise<void> => {
      const body: Array<Buffer> = []
      for await (const piece of asked as AsyncIterable<Buffer>) body.push(piece)
      const good = await fetch(`${behind}${asked.url}`, { method: "POST", body: Buffer.concat(body) })
      const bytes = Buffer.from(await good.arrayBuffer())
      const type = good.headers.get("content-type") ?? ""
      const make = odd
      odd = null
      if (make === null || good.status !== 200) {
        response.writeHead(good.status, { "content-type": type, "content-length": bytes.length })
        response.end(bytes)
        return
      }
      const { socket } = asked as IncomingMessage
      const made = make({ type, body: bytes, end: endIn(type, bytes) })
      const half = Math.floor(made.bytes.length / 2)
      socket.write(made.bytes.subarray(0, half), () => {
        socket.write(made.bytes.subarray(half), () => {
          if (made.after === "end") socket.end()
        })
      })
      has = () => void (made.after === "reset" && socket.resetAndDestroy())
    }
    void answer()
  })
  server.on("clientError", (_, socket) => socket.destroy())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Makes the next answer odd. */
    next: (make: (given: GoodAnswer) => OddAnswer): void => void (odd = make),
    /** The client has what has come of it. */
    hasCome: (): void => has(),
    close: (): void => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The events from the first one on that says that an answer is whole. */
const ends = /(?:event: \S+\n)?data: [^\n]*(?:"(?:finish|stop)_reason":"|"type":"response\.completed")[^]*$/

/** Where the last event begins that says that an answer is whole; the last byte of one that is no stream. */
const endIn = (type: string, bytes: Buffer): number => {
  if (!type.startsWith("text/event-stream")) return bytes.length - 1
  const text = bytes.toString("latin1")
  const [found] = ends.exec(text) ?? [""]
  return bytes.length - found.length
}
