/** The proxy: each request goes upstream with the context of its session in place of its history. */
import { isTooMuch, type Measured, measured, mostMeasured } from "@memfold/codec"
import { Memory } from "@memfold/core"
import { inSteps } from "@memfold/log/breathe"
import type { IncomingMessage, ServerResponse } from "node:http"
import { addressOf, dialectOf, goesBack, upstreamOf, type Upstreams } from "./address.js"
import { beginning, type Begins } from "./begins.js"
import type { Calls } from "./Calls.js"
import type { ConversationRoutes } from "./conversations/index.js"
import { exchange } from "./exchange.js"
import { Follower } from "./Follower.js"
import { forward } from "./forward.js"
import { ambiguityIn, type Field } from "./headers.js"
import { count } from "./metrics.js"
import { ownHeaders, sessionOf } from "./names.js"
import { jsonOf, withExactItems } from "./parse.js"
import { type Incoming, prepare } from "./prepare.js"
import { passedRecord, type ProxyRecord } from "./ProxyRecord.js"
import { BodyTooLarge, readBody, textOf } from "./readBody.js"
import type { Savings } from "./Savings.js"
import { speakerOf } from "./speaker.js"
import { tell } from "./tell.js"

/** The parts of a proxy. */
export interface ProxyParts {
  readonly memory: Memory.Service
  readonly calls: Calls
  readonly savings: Savings
  /** Where requests go, by whose API it is. */
  readonly upstreams: Upstreams
  /** The largest body of a request, in bytes; a larger one passes as it came. */
  readonly maxBody: number
  /** OpenAI's conversations and stored responses, for clients that name no session; without them, these requests pass. */
  readonly conversations?: ConversationRoutes
  /** How long an upstream may be silent, in milliseconds; 15 minutes by default. */
  readonly patience?: number | undefined
  readonly onRequest: (record: ProxyRecord) => void
}

/** How a request is handled. */
export interface HandleOptions {
  /** What the id of each session begins with in the store, for whom it is; without it, sessions are bound to the key of their client. */
  readonly prefix?: string
  /** Rejects if no more sessions may begin: the request passes as it came. */
  readonly mayBegin?: Begins
  /** Whether there is time for a request: its text, and what is in it. */
  readonly mayWork?: (text: string, measured: Measured) => Promise<boolean>
  /** The body, if it was read already. */
  readonly body?: Buffer
}

/** A request of a client with what it is answered by. */
interface Answering extends Incoming {
  readonly response: ServerResponse
}

/** An error in the form of both APIs. */
const refuse = (
  response: ServerResponse,
  status: number,
  error: { readonly message: string; readonly type?: string; readonly code?: string },
): void =>
  tell(response, status, { type: "error", error: { type: "invalid_request_error", ...error } }, [
    ["Connection", "close"],
    ...(status === 429 ? ([["Retry-After", "1"]] as const) : []),
  ])

const answeredHere = ({ response: { statusCode: status, socket }, path }: Answering): ProxyRecord =>
  passedRecord(path, { _tag: "Complete", status, bytes: socket?.bytesWritten ?? 0 })

/** Sends a request on as it came: its bytes, if they were read, as they were, compressed or not. */
const asItCame = async (
  { request, response, url, target, patience, path, dialect }: Answering,
  doubt: string,
  body?: Buffer,
): Promise<ProxyRecord> => {
  const reason: ReadonlyArray<Field> = [
    ["x-memfold", "as-it-came"],
    ["x-memfold-reason", doubt],
  ]
  const ending = await forward({
    request,
    response,
    url,
    target,
    patience,
    body,
    keepEncoding: request.headers["content-encoding"] !== undefined,
    without: ownHeaders,
    answerHeaders: dialect === null ? [] : reason,
  })
  return passedRecord(path, ending, dialect === null ? null : doubt)
}

/** A proxy in front of one or several upstreams. */
export class Proxy {
  private readonly follower: Follower

  constructor(private readonly parts: ProxyParts) {
    this.follower = new Follower(parts.memory)
  }

  /** Whether a request has an upstream. */
  takes(request: IncomingMessage): boolean {
    return upstreamOf(request, this.parts.upstreams) !== null
  }

  /** Whether a request has a body that is looked at. One that says that it is larger than `maxBody` passes unread. */
  reads(request: IncomingMessage): boolean {
    const { conversations, maxBody } = this.parts
    if (request.method !== "POST") return false
    if (conversations?.serves(request.method, request.url ?? "/") === true) return true
    const isSmall = !(Number(request.headers["content-length"] ?? 0) > maxBody)
    return isSmall && dialectOf(request) !== null
  }

  /**
   * Answers a request that {@link Proxy.takes}. It always ends the response, and never rejects.
   *
   * @param request - whose body nobody has read, unless the options have it
   * @returns what was told of the request; `null` if it could not be answered
   */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    { prefix = "", mayBegin, mayWork = async () => true, body }: HandleOptions = {},
  ): Promise<ProxyRecord | null> {
    const { upstreams, patience, onRequest } = this.parts
    try {
      const address = addressOf(request, upstreamOf(request, upstreams)!)
      // Behind a prefix, somebody has said already who it is.
      const speaker = prefix === "" ? speakerOf(request.rawHeaders) : null
      const begins = beginning(mayBegin)
      const left = new AbortController()
      response.once("close", () => left.abort(new Error("the client closed the connection")))
      const { signal } = left
      const incoming = { ...address, patience, request, response, prefix, speaker, mayBegin: begins, signal }
      const record = await this.answered(incoming, body, mayWork)
      count(record)
      onRequest(record)
      return record
    } catch (error) {
      // Otherwise, only a bug, or a client whose connection broke while it was read, comes here.
      if (response.headersSent || response.destroyed || request.errored !== null) response.destroy()
      else if (error instanceof BodyTooLarge) refuse(response, 413, { message: error.message })
      else refuse(response, 500, { type: "api_error", message: "the proxy has failed" })
      return null
    }
  }

  /** Answers a request by what it is for: a kept conversation, a session, or the upstream alone. */
  private async answered(
    incoming: Answering,
    given: Buffer | undefined,
    mayWork: NonNullable<HandleOptions["mayWork"]>,
  ): Promise<ProxyRecord> {
    const { request, response, path, dialect } = incoming
    const { conversations, maxBody, memory, calls, savings } = this.parts
    const ambiguous = ambiguityIn(request)
    if (goesBack(path) || ambiguous !== null) {
      const message =
        ambiguous === null
          ? "The path goes back, and could leave the upstream; send it without .. and without backslashes"
          : `The header ${ambiguous} can be read in two ways; send one, and no coding but chunked`
      refuse(response, 400, { code: ambiguous === null ? "invalid_path" : "invalid_header", message })
      return answeredHere(incoming)
    }
    if (/\bwebsocket\b/i.test(request.headers.upgrade ?? "")) {
      // A client that would rather have one goes on with HTTP once it is told so.
      const message = "The proxy has no WebSockets; send requests over HTTP"
      refuse(response, 426, { code: "websockets_unsupported", message })
      return answeredHere(incoming)
    }
    const bytes = given ?? (this.reads(request) ? await readBody(request, maxBody) : null)
    const text = textOf(bytes ?? Buffer.alloc(0), request.headers["content-encoding"], maxBody)
    if (text === null && conversations?.serves(request.method ?? "", request.url ?? "/") === true) {
      const message = `The body is no UTF-8 text, or is compressed in another way than gzip, br or deflate, or to more than ${maxBody} bytes; send it without Content-Encoding`
      refuse(response, 415, { code: "unsupported_body", message })
      return answeredHere(incoming)
    }
    // What passes unread is no work.
    if (text !== null && text !== "") {
      const amount = await Memory.asPromise(
        inSteps(() => measured(text)),
        incoming.signal,
      )
      if (!(await mayWork(text, amount))) {
        refuse(response, 429, {
          code: "TooManyRequests",
          message: "This is too much work at once; wait a second",
        })
        return answeredHere(incoming)
      }
      if (isTooMuch(amount)) return this.tooMuch(incoming, bytes)
    }
    if (this.isKept(request, text)) {
      const body = await Memory.asPromise(
        inSteps(() => withExactItems(text ?? "")),
        incoming.signal,
      )
      await conversations!.answer({ ...incoming, body })
      return answeredHere(incoming)
    }
    if (dialect === null) return asItCame(incoming, "no-conversation")
    if (bytes === null) return asItCame(incoming, "too-large")
    const prepared = await prepare({ memory, follower: this.follower }, { ...incoming, dialect }, text)
    return "doubt" in prepared
      ? asItCame(incoming, prepared.doubt, bytes)
      : exchange({ memory, calls, savings, follower: this.follower }, { ...incoming, dialect }, prepared)
  }

  /** A body with more items than are worked on goes on as it came, unless the upstream cannot answer it. */
  private async tooMuch(incoming: Answering, bytes: Buffer | null): Promise<ProxyRecord> {
    const { request, response } = incoming
    if (this.parts.conversations?.serves(request.method ?? "", request.url ?? "/") !== true)
      return asItCame(incoming, "too-large", bytes ?? undefined)
    const { longest, items } = mostMeasured
    const message = `A list in a body has at most ${longest} items, and all its lists and objects together ${items}; send them in several requests`
    refuse(response, 413, { message })
    return answeredHere(incoming)
  }

  /** Whether a request is for a conversation or a stored response that is kept here, and names no session of the proxy. */
  private isKept({ method = "", url = "/", headers }: IncomingMessage, text: string | null): boolean {
    const { conversations } = this.parts
    if (conversations === undefined) return false
    if (conversations.serves(method, url)) return true
    const isCreating = method === "POST" && url.split("?", 1)[0] === "/v1/responses"
    return isCreating && text !== null && conversations.keeps(jsonOf(text)) && sessionOf(headers, {}) === null
  }
}
