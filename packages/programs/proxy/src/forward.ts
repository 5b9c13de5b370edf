/** One request of a client, sent on to an upstream, and its answer sent back, byte for byte as they come. */
import { breathe } from "@memfold/log/breathe"
import { Effect } from "effect"
import {
  request as requestHttp,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http"
import { request as requestHttps } from "node:https"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import type { Transform, Writable } from "node:stream"
import { endToEnd, type Field } from "./headers.js"
import { tell } from "./tell.js"

/** A request to an upstream. */
export interface Outgoing {
  /** The whole address of the upstream, with path and query. */
  readonly url: URL
  /** The path and the query as they are to be sent; by default, as the address has them. */
  readonly target?: string | undefined
  readonly method: string
  readonly headers: ReadonlyArray<Field>
  /** The body: bytes, or a stream that is sent as it comes. */
  readonly body: Uint8Array | IncomingMessage | null
  /** Ends the exchange, before or within the answer. */
  readonly signal: AbortSignal
  /** How long the upstream may be silent, in milliseconds; {@link patience} by default. */
  readonly patience?: number | undefined
}

/** How long an upstream may be silent, before its answer and within it: 15 minutes, for a model that thinks before it says anything. */
export const patience = 15 * 60_000

/** The largest answer that is read, in bytes: 64 MiB. A larger one passes unread; what has to be read fails. */
export const mostRead = 64 * 2 ** 20

/** No answer came from the upstream: it cannot be reached, it closed the connection first, was silent, or what came is no answer. */
export class UpstreamUnreachable extends Error {
  override readonly name = "UpstreamUnreachable"
  /** The code of the system or of the parser, such as `ECONNREFUSED` or `HPE_INVALID_STATUS`. */
  readonly code: string
  constructor(url: URL, cause: unknown) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException
    super(`the upstream ${url.origin} did not answer (${code})`, { cause })
    this.code = code
  }
}

/** Waits until one of these happens, and leaves no listener behind. */
const oneOf = (stream: Writable, events: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      for (const event of events) stream.off(event, done)
      resolve()
    }
    for (const event of events) stream.on(event, done)
  })

/** Waits until a stream takes more. A broken one never drains. */
const room = (stream: Writable): Promise<void> | undefined =>
  stream.destroyed ? undefined : oneOf(stream, ["drain", "close"])

/** Sends a head before its body comes. Node's own way writes it in UTF-8, and its bytes beyond ASCII would be others. */
const flush = (message: ClientRequest | ServerResponse): void => void message.write(Buffer.alloc(0))

const writeBody = async (outgoing: ClientRequest, body: Outgoing["body"]): Promise<void> => {
  if (body === null || body instanceof Uint8Array) {
    outgoing.end(body ?? undefined)
    return
  }
  flush(outgoing)
  for await (const chunk of body) {
    if (outgoing.destroyed) return
    if (!outgoing.write(chunk)) await room(outgoing)
  }
  outgoing.end()
}

/**
 * What is wrong with the head of an answer, as a code; `null` for a head that can be passed on. Node's parser takes more than its writer:
 * other statuses, and control characters in the reason. It leaves codings of the transfer in the body that it does not know, and nobody
 * has asked for another protocol.
 */
const wrongIn = ({ statusCode = 0, statusMessage = "", headers }: IncomingMessage): string | null => {
  if (statusCode < 200 || statusCode > 999 || /[^\t\x20-\x7e\x80-\xff]/.test(statusMessage))
    return "HPE_INVALID_STATUS"
  const { "transfer-encoding": coding = "chunked" } = headers
  return coding.toLowerCase() === "chunked" ? null : "HPE_INVALID_TRANSFER_ENCODING"
}

/** The most answers of the kind 1xx before the answer itself. */
const mostInterim = 100

/** What a connection fails with that its other side has closed. */
const closings: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"])

/**
 * Sends a request once, over an idle connection if there is one and `isAlone` does not forbid it.
 *
 * @returns the head of the answer; `null` if the idle connection was closed before a byte of an answer came
 */
const attempt = (
  { url, target, method, headers, body, signal, patience: timeout = patience }: Outgoing,
  isAlone: boolean,
): Promise<IncomingMessage | null> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? requestHttps : requestHttp
    const outgoing = request(url, {
      method,
      // As a list, they keep their order and their spelling.
      headers: headers.flat(),
      signal,
      timeout,
      ...(target === undefined ? {} : { path: target }),
      ...(isAlone ? { agent: false } : {}),
    })
    // All fields that its size allows: Node would leave out those behind the thousandth.
    outgoing.maxHeadersCount = 0
    let hasBegun = false
    const begin = (): void => void (hasBegun = true)
    outgoing.once("socket", (socket) => {
      socket.once("data", begin)
      outgoing.once("close", () => socket.off("data", begin))
    })
    // An error after the head is told by the answer itself.
    const fail = (error: NodeJS.ErrnoException): void => {
      if (signal.aborted) reject(signal.reason as Error)
      else if (outgoing.reusedSocket && !hasBegun && closings.has(error.code)) resolve(null)
      else reject(new UpstreamUnreachable(url, error))
    }
    const broken = (code: string): Error => Object.assign(new Error("the upstream broke off"), { code })
    outgoing.once("response", (answer) => {
      const wrong = wrongIn(answer)
      if (wrong === null) return resolve(answer)
      outgoing.destroy()
      fail(broken(wrong))
    })
    // Each of these is a sign of life, and none is an answer.
    let interim = 0
    outgoing.on("information", () => {
      if (++interim <= mostInterim) return
      fail(broken("HPE_TOO_MANY_INTERIM"))
      outgoing.destroy()
    })
    outgoing.once("timeout", () => outgoing.destroy(broken("ETIMEDOUT")))
    outgoing.on("error", fail)
    // A 101 ends the request without an answer and without an error.
    outgoing.once("close", () => fail(broken("ECONNRESET")))
    writeBody(outgoing, body).catch((error: unknown) => {
      outgoing.destroy(error instanceof Error ? error : new Error("the body of the client broke off"))
    })
  })

/**
 * Sends a request and waits for the head of its answer. The body of the answer is not read.
 *
 * An upstream may close an idle connection just when a request takes it. Such a request is sent again once, over a new connection. A
 * body that is sent as it comes cannot be sent twice, so it has a connection of its own from the beginning.
 *
 * @throws UpstreamUnreachable: no answer came
 * @throws the reason of `signal`, if it ended the request first
 */
export const ask = async (outgoing: Outgoing): Promise<IncomingMessage> => {
  const { url, body } = outgoing
  const answer = await attempt(outgoing, body !== null && !(body instanceof Uint8Array))
  const again = answer ?? (await attempt(outgoing, true))
  if (again === null) throw new UpstreamUnreachable(url, { code: "ECONNRESET" })
  return again
}

/** Sees a copy of an answer. Nothing that it throws reaches the client. */
export interface Tap {
  /** The head, before the first byte of the body. */
  readonly head?: (status: number, headers: IncomingMessage["headers"]) => void
  /**
   * Bytes of the body in their order, decompressed. A promise holds these bytes back from the client until it is settled: to
   * store an answer before the client knows that it is whole.
   */
  readonly chunk?: (bytes: Uint8Array) => void | Promise<void>
  /** The whole body has come; the client's answer ends once this is settled. */
  readonly end?: () => void | Promise<void>
}

/** How an exchange ended. `bytes` of the body went to the client, compressed as they came. */
export type Ending =
  /** The whole answer came, and went to the client. */
  | { readonly _tag: "Complete"; readonly status: number; readonly bytes: number }
  /** The client closed the connection first, and `dropped` bytes that came could not be sent any more. The upstream was told so. */
  | {
      readonly _tag: "ClientLeft"
      readonly status: number | null
      readonly bytes: number
      readonly dropped: number
    }
  /** The upstream broke off within the answer. The client sees a broken answer, too. */
  | { readonly _tag: "UpstreamBroke"; readonly status: number; readonly bytes: number }
  /** No answer came. The client got 502. */
  | { readonly _tag: "Unreachable"; readonly code: string }

/** One request of a client, and where it goes. */
export interface Exchange extends Pick<Outgoing, "url" | "target" | "patience"> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** What goes up instead of the body of the request, which then has been read; `undefined` sends the body as it comes. */
  readonly body?: Uint8Array | undefined
  /** Whether the body is still compressed as the client says. */
  readonly keepEncoding?: boolean
  /** Fields of the request that stay here, in lower case. */
  readonly without?: ReadonlySet<string>
  /** Fields that the answer gets besides its own. */
  readonly answerHeaders?: ReadonlyArray<Field>
  /** Fields that it gets behind its body, where it has trailers: asked for once the tap has seen all of it. */
  readonly answerTrailers?: () => ReadonlyArray<Field>
  readonly tap?: Tap
}

/** The encodings that Node takes apart. */
const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
])

/** A tap that may throw, behind what takes the encoding of the answer apart. */
const readerOf = (tap: Tap, encoding: string | undefined) => {
  const safely = async (look: () => void | Promise<void>): Promise<void> => {
    try {
      await look()
    } catch {
      // The client's answer does not depend on who looks on.
    }
  }
  // Node reads on while there is something: without a pause, the pieces of a fast upstream are one turn of the event loop.
  const see = async (bytes: Uint8Array): Promise<void> => {
    await safely(() => tap.chunk?.(bytes))
    await Effect.runPromise(breathe)
  }
  const end = (): Promise<void> => safely(() => tap.end?.())
  const name = (encoding ?? "identity").trim().toLowerCase()
  if (name === "identity") return { see, end, drop: (): void => {} }
  const decoder = decoders.get(name)?.()
  // The tap sees no body, and its end finds nothing whole.
  if (decoder === undefined) return { see: (): Promise<void> => Promise.resolve(), end, drop: (): void => {} }
  let [size, seen] = [0, Promise.resolve()]
  decoder.on("data", (bytes: Buffer) => {
    size += bytes.length
    seen = seen.then(() => see(bytes))
    // Few bytes can be a thousand times as many, and nobody reads more.
    if (size > mostRead) decoder.destroy()
  })
  decoder.on("error", () => {})
  return {
    see: async (bytes: Uint8Array): Promise<void> => {
      if (!decoder.destroyed && !decoder.write(bytes)) await room(decoder)
    },
    end: async (): Promise<void> => {
      const closed = decoder.closed ? null : oneOf(decoder, ["close"])
      decoder.end()
      await closed
      await seen
      await end()
    },
    drop: (): void => void decoder.destroy(),
  }
}

type Reader = ReturnType<typeof readerOf>

/** The error as both providers' clients read it. */
const unreachable = (
  response: ServerResponse,
  { message, code }: UpstreamUnreachable,
  fields: ReadonlyArray<Field>,
): Ending => {
  const error = { type: "api_error", code: "upstream_unreachable", message, reason: code }
  tell(response, 502, { type: "error", error }, fields)
  return { _tag: "Unreachable", code }
}

/** Begins the answer of the client. What the upstream says of its connection stays here; the time is the upstream's, or nobody's. */
const begin = (response: ServerResponse, answer: IncomingMessage, more: ReadonlyArray<Field>): void => {
  response.sendDate = false
  const fields = [...endToEnd(answer.rawHeaders), ...more]
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", fields.flat())
  flush(response)
}

/** Sends the body of the answer on as it comes, no faster than the client takes it. */
const passBody = async (answer: IncomingMessage, response: ServerResponse, reader: Reader | null) => {
  let [bytes, dropped] = [0, 0]
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (reader !== null) await reader.see(chunk)
      if (response.destroyed) {
        dropped += chunk.length
        break
      }
      bytes += chunk.length
      if (!response.write(chunk)) await room(response)
    }
  } catch {
    return { bytes, dropped, isWhole: false }
  }
  return { bytes, dropped, isWhole: answer.complete }
}

/**
 * Breaks an answer off once the client has what came before. For HTTP/1.0, a connection that ends is the end of a body, and only a reset
 * is none.
 */
export const breakOff = (response: ServerResponse): void => {
  const { socket, req } = response
  if (socket === null) response.destroy()
  else if (req.httpVersion === "1.0") socket.write("", () => socket.resetAndDestroy())
  else socket.destroySoon()
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** What goes up: the fields of the client, and those of the connection to the upstream. */
const outgoingOf = (exchange: Exchange) => {
  const { request, url, target, body, keepEncoding, without = new Set(), tap, patience } = exchange
  // Who expects a 100 has got it from the listener. A tap can hold bytes back that are not compressed.
  const replaced = [
    "host",
    "expect",
    ...(body === undefined ? [] : ["content-length"]),
    ...(body === undefined || keepEncoding === true ? [] : ["content-encoding"]),
    ...(tap === undefined ? [] : ["accept-encoding"]),
  ]
  const headers: Array<Field> = [
    ["Host", url.host],
    ...endToEnd(request.rawHeaders, new Set([...without, ...replaced])),
  ]
  if (tap !== undefined) headers.push(["Accept-Encoding", "identity"])
  if (body !== undefined) headers.push(["Content-Length", String(body.length)])
  else if (request.headers["transfer-encoding"] !== undefined) headers.push(["Transfer-Encoding", "chunked"])
  const sent = body ?? (hasBody(request) ? request : null)
  return { url, target, method: request.method ?? "GET", headers, body: sent, patience }
}

/**
 * Sends one request of a client on to an upstream, and the answer back, both byte for byte and as they come: no part of a stream waits
 * for the next one. Fields that belong to a connection stay behind, all others pass, known or not. If the client leaves, the
 * request to the upstream ends; if the upstream breaks off, the client's answer breaks off, too, and is not taken for a whole one.
 *
 * @param exchange - the request, the response, and where it goes
 * @returns how it ended, once the answer has gone to the client and the tap has seen it
 */
export const forward = async (exchange: Exchange): Promise<Ending> => {
  const { request, response, answerHeaders = [], answerTrailers = () => [], tap } = exchange
  const left = new AbortController()
  const leave = (): void => {
    if (!response.writableFinished) left.abort(new Error("the client closed the connection"))
  }
  response.once("close", leave)
  if (response.destroyed) leave()
  let answer: IncomingMessage
  try {
    answer = await ask({ ...outgoingOf(exchange), signal: left.signal })
    if (!left.signal.aborted) begin(response, answer, answerHeaders)
  } catch (error) {
    const isLeft = left.signal.aborted || request.errored !== null || response.destroyed
    if (isLeft) return { _tag: "ClientLeft", status: null, bytes: 0, dropped: 0 }
    // Whatever is wrong with the request or its answer, the client is told, and nobody waits for the rest.
    left.abort(error)
    const reason = error instanceof UpstreamUnreachable ? error : new UpstreamUnreachable(exchange.url, error)
    return unreachable(response, reason, answerHeaders)
  }
  const status = answer.statusCode ?? 502
  try {
    tap?.head?.(status, answer.headers)
  } catch {
    // As with the body: the client's answer does not depend on who looks on.
  }
  const reader = tap === undefined ? null : readerOf(tap, answer.headers["content-encoding"])
  const { bytes, dropped, isWhole } = await passBody(answer, response, reader)
  if (isWhole) await reader?.end()
  else reader?.drop()
  if (left.signal.aborted) {
    answer.destroy()
    return { _tag: "ClientLeft", status, bytes, dropped }
  }
  if (!isWhole) {
    breakOff(response)
    return { _tag: "UpstreamBroke", status, bytes }
  }
  const trailers = [...endToEnd(answer.rawTrailers), ...answerTrailers()]
  response.addTrailers(trailers as Array<[string, string]>)
  response.end()
  if (!response.writableFinished && !response.closed) await oneOf(response, ["finish", "close"])
  return left.signal.aborted
    ? { _tag: "ClientLeft", status, bytes, dropped }
    : { _tag: "Complete", status, bytes }
}
