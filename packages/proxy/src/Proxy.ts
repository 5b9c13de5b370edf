/** The proxy: each request goes upstream with the context of its session in place of its history. */
import { type Fields, isFields } from "@memfold/codec"
import type { Memory, Message, Render } from "@memfold/core"
import { Clock, Effect } from "effect"
import { createHash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { answerTap } from "./AnswerTap.js"
import type { Calls } from "./Calls.js"
import type { ConversationRoutes } from "./conversations/index.js"
import { compose, type Parsed } from "./compose.js"
import { keyOf } from "./conversation.js"
import { decode, type Dialect, dialects, encodeAnswer, type Provider, type Usage } from "./dialects.js"
import { type Followed, Follower, MayNotBegin, run } from "./Follower.js"
import { forward } from "./forward.js"
import { endToEnd, type Field } from "./headers.js"
import { type Named, ownHeaders, sessionOf } from "./names.js"
import { jsonOf, parse } from "./parse.js"
import type { ProxyRecord } from "./ProxyRecord.js"
import { BodyTooLarge, readBody, textOf } from "./readBody.js"
import { count } from "./metrics.js"
import type { Savings } from "./Savings.js"

/** The parts of a proxy. */
export interface ProxyParts {
  readonly memory: Memory.Service
  readonly calls: Calls
  readonly savings: Savings
  /** Where requests go, by whose API it is. */
  readonly upstreams: Readonly<Partial<Record<Provider, URL>>>
  /** The largest body of a request, in bytes; a larger one passes as it came. */
  readonly maxBody: number
  /** OpenAI's conversations and stored responses, for clients that name no session; without them, these requests pass. */
  readonly conversations?: ConversationRoutes
  readonly onRequest: (record: ProxyRecord) => void
}

/** How a request is handled. */
export interface HandleOptions {
  /** What the id of each session begins with in the store. */
  readonly prefix?: string
  /** Rejects if no more sessions may begin: the request passes as it came. */
  readonly mayBegin?: (session: string) => Promise<void>
}

/** The path without its query; `null` for an address that is no path. */
const pathOf = (url: string | undefined): string | null =>
  url?.startsWith("/") === true ? (url.split("?", 1)[0] ?? null) : null

/** Paths that one API alone has. */
const pathsOf: ReadonlyArray<readonly [RegExp, Provider]> = [
  [/^\/v1\/messages(?:\/|$)/, "anthropic"],
  [/^\/v1\/(?:chat|responses|conversations|completions|embeddings)(?:\/|$)/, "openai"],
]

/** Whose API a request speaks: by its path, or by the headers of its client. */
const providerOf = ({ headers }: IncomingMessage, path: string): Provider => {
  const [, provider] = pathsOf.find(([paths]) => paths.test(path)) ?? []
  const isAnthropic = headers["anthropic-version"] !== undefined || headers["x-api-key"] !== undefined
  return provider ?? (isAnthropic ? "anthropic" : "openai")
}

/** The address of the upstream with the path and the query of the request. */
const target = (upstream: URL, url: string): URL => {
  const found = new URL(upstream)
  const [path = "", query] = url.split(/\?(.*)/s, 2)
  found.pathname = `${upstream.pathname.replace(/\/+$/, "")}${path}`
  found.search = query === undefined ? "" : `?${query}`
  return found
}

/** A text as the value of a header. */
const headerText = (text: string): string =>
  /^[\x21-\x7e]{1,200}$/.test(text) ? text : encodeURIComponent(text.toWellFormed()).slice(0, 600)

/** The names of tools, also of those in a namespace. */
const toolNames = (tools: unknown): ReadonlyArray<unknown> =>
  (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) => {
    const { name, function: fn, type, tools: inside } = isFields(tool) ? tool : ({} as Fields)
    return [name ?? (isFields(fn) ? fn["name"] : type), ...toolNames(inside)]
  })

/** The names of the tools of a request. */
const toolsOf = ({ body, items, from }: Parsed): ReadonlyArray<unknown> => {
  const added = items.slice(0, from).map((item) => (isFields(item) ? item["tools"] : undefined))
  return [body["tools"], ...added].flatMap(toolNames)
}

/** What the model is set to: agents under one session name differ in it. A date or a path in an instruction does not count. */
const settingOf = ({ body, items, from }: Parsed, names: ReadonlyArray<unknown>): string => {
  const instructions = body["system"] ?? body["instructions"] ?? items.slice(0, from)
  const beginning = JSON.stringify(instructions ?? "")
    .replaceAll(/[^a-z]+/gi, " ")
    .slice(0, 400)
  return createHash("sha256")
    .update(JSON.stringify([names, names.length > 0 ? "" : beginning]))
    .digest("hex")
}

/** A request with its session followed, as it goes upstream. */
interface Prepared {
  readonly session: string
  /** Its id as the client knows it. */
  readonly name: string
  readonly followed: Followed
  readonly context: Render.Context
  readonly text: string
  /** What goes upstream, if the list in `text` was written in a shorter way. */
  readonly sent: string
  readonly before: number
  /** What the conversation said when the model was asked. */
  readonly asked: ReadonlyArray<string>
}

/** A proxy in front of one or several upstreams. */
export class Proxy {
  private readonly follower: Follower

  private readonly parts: ProxyParts

  constructor(parts: ProxyParts) {
    this.follower = new Follower(parts.memory)
    const onRequest = (record: ProxyRecord): void => {
      count(record)
      parts.onRequest(record)
    }
    this.parts = { ...parts, onRequest }
  }

  /** Whether a request has an upstream. */
  takes(request: IncomingMessage): boolean {
    const path = pathOf(request.url)
    return (
      path !== null &&
      path.startsWith("/v1/") &&
      this.parts.upstreams[providerOf(request, path)] !== undefined
    )
  }

  /**
   * Answers a request that {@link Proxy.takes}. It always ends the response, and never rejects.
   *
   * @param request - whose body nobody has read
   */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    options: HandleOptions = {},
  ): Promise<void> {
    const path = pathOf(request.url) ?? "/"
    try {
      await this.answer(request, response, path, options)
    } catch {
      // Only a bug, or a client whose connection broke while it was read, comes here.
      if (response.headersSent) response.destroy()
      else {
        response.writeHead(500, { "content-type": "application/json", connection: "close" })
        response.end(
          JSON.stringify({ type: "error", error: { type: "api_error", message: "the proxy has failed" } }),
        )
      }
    }
  }

  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    options: HandleOptions,
  ): Promise<void> {
    const { upstreams, maxBody, onRequest } = this.parts
    const url = target(upstreams[providerOf(request, path)]!, request.url ?? "/")
    const counting = path === "/v1/messages/count_tokens"
    const dialect = request.method === "POST" ? dialects[counting ? "/v1/messages" : path] : undefined
    const asItCame = async (doubt: string, body?: Buffer): Promise<void> => {
      const answerHeaders: ReadonlyArray<Field> =
        dialect === undefined
          ? []
          : [
              ["x-memfold", "as-it-came"],
              ["x-memfold-reason", doubt],
            ]
      const headers = request.headers["content-encoding"]
      // Bytes that were read go up as they were, compressed or not.
      const ending = await forward({
        request,
        response,
        url,
        body,
        keepEncoding: headers !== undefined,
        without: ownHeaders,
        answerHeaders,
      })
      onRequest({
        path,
        session: null,
        doubt: dialect === undefined ? null : doubt,
        how: null,
        ending,
        tokens: null,
        charged: null,
        isStored: false,
      })
    }
    if (/\bwebsocket\b/i.test(request.headers.upgrade ?? "")) return this.refuseSocket(response, path)
    if (await this.kept(request, response, path, options)) return
    if (dialect === undefined) return asItCame("no-conversation")
    if (Number(request.headers["content-length"] ?? 0) > maxBody) return asItCame("too-large")
    let bytes: Buffer
    try {
      bytes = await readBody(request, maxBody)
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) {
        response.destroy()
        return
      }
      response.writeHead(413, { "content-type": "application/json", connection: "close" })
      response.end(
        JSON.stringify({
          type: "error",
          error: {
            type: "invalid_request_error",
            message: `${error.message}; send its length, and it passes as it came`,
          },
        }),
      )
      return
    }
    const text = textOf(bytes, request.headers["content-encoding"], maxBody)
    if (
      path === "/v1/responses" &&
      text !== null &&
      (await this.keptResponse(request, response, text, options))
    )
      return
    const prepared =
      text === null ? { doubt: "not-text" } : await this.prepare(request, dialect, text, options, counting)
    if ("doubt" in prepared) return asItCame(prepared.doubt, bytes)
    return this.exchange(request, response, { path, url, dialect, counting }, prepared)
  }

  /** A client that would rather have a WebSocket goes on with HTTP once it is told so. */
  private refuseSocket(response: ServerResponse, path: string): void {
    response.writeHead(426, { "content-type": "application/json", connection: "close" })
    response.end(
      JSON.stringify({
        type: "error",
        error: {
          type: "invalid_request_error",
          code: "websockets_unsupported",
          message: "The proxy has no WebSockets; send requests over HTTP",
        },
      }),
    )
    this.keptRecord(response, path)
  }

  /** Answers a request for a conversation or a stored response that is kept here; `false` if it is none. */
  private async kept(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    { prefix = "" }: HandleOptions,
  ): Promise<boolean> {
    const { conversations, maxBody } = this.parts
    const { method = "GET", url = "/" } = request
    if (conversations?.serves(method, url) !== true) return false
    try {
      const bytes = method === "POST" ? await readBody(request, maxBody) : Buffer.alloc(0)
      const text = textOf(bytes, request.headers["content-encoding"], maxBody) ?? "not text"
      await conversations.answer({ request, response, body: text === "" ? undefined : jsonOf(text), prefix })
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error
      response.writeHead(413, { "content-type": "application/json", connection: "close" })
      response.end(JSON.stringify({ error: { type: "invalid_request_error", message: error.message } }))
    }
    this.keptRecord(response, path)
    return true
  }

  /** Answers a request whose response is kept here; `false` if it is not, or names a session of the proxy. */
  private async keptResponse(
    request: IncomingMessage,
    response: ServerResponse,
    text: string,
    { prefix = "" }: HandleOptions,
  ): Promise<boolean> {
    const { conversations } = this.parts
    const body = jsonOf(text)
    if (conversations === undefined || !conversations.keeps(body) || sessionOf(request.headers, {}) !== null)
      return false
    await conversations.answer({ request, response, body, prefix })
    this.keptRecord(response, "/v1/responses")
    return true
  }

  private keptRecord({ statusCode: status, socket }: ServerResponse, path: string): void {
    const bytes = socket?.bytesWritten ?? 0
    const ending = { _tag: "Complete", status, bytes } as const
    this.parts.onRequest({
      path,
      session: null,
      doubt: null,
      how: null,
      ending,
      tokens: null,
      charged: null,
      isStored: false,
    })
  }

  /** Follows the session of a request, and writes what goes upstream. */
  private async prepare(
    request: IncomingMessage,
    dialect: Dialect,
    text: string,
    { prefix = "", mayBegin = () => Promise.resolve() }: HandleOptions,
    counting: boolean,
  ): Promise<Prepared | { readonly doubt: string }> {
    try {
      const body = jsonOf(text)
      if (!isFields(body)) return { doubt: "not-json" }
      const named = sessionOf(request.headers, body)
      if (named === null) return { doubt: "no-session" }
      const parsed = parse(dialect, text)
      if ("doubt" in parsed) return parsed
      const messages = parsed.units.flatMap((unit) => unit.messages)
      const history = historyOf(request, named)
      const tools = toolsOf(parsed)
      const given = {
        session: `${prefix}${named.session}`,
        messages,
        history,
        setting: settingOf(parsed, tools),
        isAside: named.isAgent && tools.length === 0,
        isRetry: Number(request.headers["x-stainless-retry-count"] ?? 0) > 0,
        idempotencyKey: [request.headers["idempotency-key"]].flat()[0],
        mayBegin: (id: string) => mayBegin(id.slice(prefix.length)),
      }
      const { memory } = this.parts
      if (counting) return await this.counted(parsed, given.session, messages, prefix)
      const followed = await this.follower.follow(given)
      const { session } = followed
      const asked = await this.follower.said(session)
      const context = await run(memory.context(session))
      const composed = compose(parsed, context, followed.isWhole)
      if (composed === null) return { doubt: "not-sayable" }
      const { appendedTokens } = await run(memory.state(session))
      const name = session.slice(prefix.length)
      return {
        session,
        name,
        followed,
        context,
        text: composed,
        sent: composed === parsed.text ? text : composed,
        before: appendedTokens,
        asked,
      }
    } catch (error) {
      if (error instanceof MayNotBegin) return { doubt: "too-many-sessions" }
      // A session that cannot be read, a message that the memory refuses: the client gets its answer without the memory.
      return { doubt: "memory-failed" }
    }
  }

  /** Sends a request that was prepared, and stores its answer. */
  private async exchange(
    request: IncomingMessage,
    response: ServerResponse,
    {
      path,
      url,
      dialect,
      counting,
    }: { readonly path: string; readonly url: URL; readonly dialect: Dialect; readonly counting: boolean },
    prepared: Prepared,
  ): Promise<void> {
    const { session, name, followed, context, sent, before } = prepared
    const { savings, onRequest } = this.parts
    const { tokens } = context
    const { cached, written, saved } = savings.of(session)
    const answerHeaders: ReadonlyArray<Field> = [
      ["x-memfold", "memory"],
      ["x-memfold-session", headerText(name)],
      ["x-memfold-followed", followed.how],
      ["x-memfold-tokens-before", String(before)],
      ["x-memfold-tokens-after", String(tokens)],
      // Of this answer they are known when it has ended.
      ["x-memfold-session-cached", String(cached)],
      ["x-memfold-session-written", String(written)],
      ["x-memfold-session-saved-usd", saved.toFixed(6)],
    ]
    let [charged, isStored]: [Usage | null, boolean] = [null, false]
    const store = async (answer: Fields): Promise<void> => {
      charged = dialect.usage(answer)
      try {
        isStored = await this.store(answer, request, { url, dialect }, prepared)
      } catch {
        // The client has its answer. One that sends the whole conversation brings it with the next request.
      }
    }
    const ending = await forward({
      request,
      response,
      url,
      body: Buffer.from(sent),
      without: ownHeaders,
      answerHeaders,
      ...(counting ? {} : { tap: answerTap(dialect, store) }),
    })
    const usage = charged as Usage | null
    if (isStored && ending._tag === "ClientLeft" && ending.dropped > 0) this.follower.notHeard(session)
    onRequest({
      path,
      session,
      doubt: null,
      how: followed.how,
      ending,
      tokens: { before, after: tokens },
      charged: usage === null ? null : { ...usage, saved: savings.of(session).saved - saved },
      isStored,
    })
  }

  private async store(
    answer: Fields,
    request: IncomingMessage,
    { url, dialect }: { readonly url: URL; readonly dialect: Dialect },
    { session, context, text, before, asked }: Prepared,
  ): Promise<boolean> {
    const { calls, savings } = this.parts
    const messages = decode(dialect, [answer])
    if (messages === null) return false
    const usage = dialect.usage(answer)
    const { model } = JSON.parse(text) as { model?: unknown }
    const time = Effect.runSync(Clock.currentTimeMillis)
    if (usage !== null) savings.call({ session, model, usage, before, after: context.tokens, time })
    // A call that waits for its result cannot stand in front of a question.
    const isOpen = messages.some(({ parts }) => parts.some(({ type }) => type === "tool-call"))
    calls.set(session, {
      dialect,
      url,
      headers: endToEnd(request.rawHeaders, new Set([...ownHeaders, "host", "expect"])),
      body: text,
      answer: isOpen ? [] : encodeAnswer(dialect, messages),
    })
    return this.follower.answered(session, asked, messages, context.prefix)
  }

  /** A request that only counts tokens: nothing is stored. */
  private async counted(
    parsed: Parsed,
    session: string,
    messages: ReadonlyArray<Message.Message>,
    prefix: string,
  ): Promise<Prepared | { readonly doubt: string }> {
    const asked = await this.follower.said(session)
    const keys = messages.map(keyOf)
    // Only what is stored word for word is known to go up in another form.
    const isStored =
      asked.length > 0 && asked.length <= keys.length && asked.every((key, at) => key === keys[at])
    if (!isStored) return { doubt: "not-stored" }
    const context = await run(this.parts.memory.context(session))
    const composed = compose(parsed, context, true)
    const { appendedTokens } = await run(this.parts.memory.state(session))
    return composed === null
      ? { doubt: "not-sayable" }
      : {
          session,
          name: session.slice(prefix.length),
          followed: { session, how: "append", isWhole: true },
          context,
          text: composed,
          sent: composed,
          before: appendedTokens,
          asked,
        }
  }
}

/** What a client sends: its conversation, or only what is new. */
const historyOf = ({ headers }: IncomingMessage, { sendsAll }: Named): "new" | "full" | "auto" => {
  const said = headers["x-memfold-history"]
  if (said === "new" || said === "full") return said
  return sendsAll ? "full" : "auto"
}
