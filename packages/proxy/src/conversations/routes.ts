/** The routes of conversations and of stored responses, over Node's HTTP. */
import { type Fields, isFields } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Call, Calls } from "../Calls.js"
import { dialects, encodeAnswer } from "../dialects.js"
import { UpstreamUnreachable } from "../forward.js"
import { headersOf } from "../headers.js"
import { ApiError, apiErrorOf, invalid } from "./ApiError.js"
import { StoredConversations } from "./Conversations.js"
import { eventsOf } from "./events.js"
import { isConversationId, sessionOf } from "./ids.js"
import { includeOf, pageOf } from "./items.js"
import { type Answered, type Asker, namesOwn, StoredResponses } from "./Responses.js"
import { type ConversationMemory, storeOf } from "./Store.js"
import { type ConversationUpstream, type Refusal, type Sent, UpstreamBroke, Upstreams } from "./upstream.js"

/** What the routes work with. */
export interface ConversationOptions {
  /** Where conversations and responses are kept. */
  readonly memory: ConversationMemory
  /** Where models are asked. */
  readonly upstream: ConversationUpstream
  /** Gets the newest call of each session, so that its summaries are written by the same model with the same key. */
  readonly calls?: Calls
}

/** A request whose body has been read and parsed. */
export interface ConversationRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The parsed body; `undefined` without one. */
  readonly body: unknown
  /** What the ids of the sessions of this client begin with in the store; nothing by default. */
  readonly prefix?: string
}

/** The routes. */
export interface ConversationRoutes {
  /**
   * Whether a request is for these routes: below `/v1/conversations` and `/v1/responses`, unless it names something that is not kept
   * here. For `POST /v1/responses`, {@link ConversationRoutes.keeps} decides.
   */
  readonly serves: (method: string, path: string) => boolean
  /**
   * Whether the response to a `POST /v1/responses` is kept here: if it is to be stored, or continues a kept one. A response with
   * `store: false` that continues nothing is not, and neither is one in the background, or one that continues what the upstream keeps.
   */
  readonly keeps: (body: unknown) => boolean
  /** Answers such a request. It never rejects. */
  readonly answer: (asked: ConversationRequest) => Promise<void>
  /** Waits until the answers under way are stored. */
  readonly settled: () => Promise<void>
}

const partsOf = (path: string): ReadonlyArray<string> =>
  (path.split("?", 1)[0] ?? "").split("/").slice(2).map(decoded)

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new ApiError(404, "There is no such path.")
  }
}

/** Whether a response is to be kept here. */
const isKept = (body: unknown): boolean => {
  if (!isFields(body)) return false
  const { previous_response_id: previous = null, conversation = null, store, background } = body
  if (previous === null && conversation === null) return store !== false && background !== true
  return namesOwn(body)
}

const send = (response: ServerResponse, status: number, body: unknown): void => {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length })
  response.end(bytes)
}

const isRefusal = (answer: Refusal | Fields): answer is Refusal => answer["_tag"] === "Refusal"

/** An error of the upstream, as it came. */
const pass = (response: ServerResponse, { status, headers, body }: Refusal): void => {
  response.writeHead(status, headersOf(headers))
  response.end(body)
}

const sendOrPass = (response: ServerResponse, answer: Refusal | Fields): void =>
  isRefusal(answer) ? pass(response, answer) : send(response, 200, answer)

/** Sends events as they come. If the client leaves, the rest is read all the same, so that the answer is stored. */
const stream = async (response: ServerResponse, events: AsyncIterable<Fields>): Promise<void> => {
  try {
    for await (const event of events) {
      if (response.destroyed) continue
      if (!response.headersSent)
        response.writeHead(200, {
          "content-type": "text/event-stream; charset=utf-8",
          "cache-control": "no-cache",
        })
      const goesOn = response.write(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`)
      if (!goesOn) await Promise.race([once(response, "drain"), once(response, "close")])
    }
  } catch (error) {
    if (!response.headersSent) throw error
    // A client must not take a part for the whole.
    response.destroy()
    return
  }
  response.end()
}

const deliver = async (response: ServerResponse, answer: Answered): Promise<void> => {
  if (answer._tag === "Stream") await stream(response, answer.events)
  else if (answer._tag === "Whole") send(response, 200, answer.response)
  else pass(response, answer)
}

const errorOf = (error: unknown): ApiError => {
  if (error instanceof UpstreamBroke || error instanceof UpstreamUnreachable)
    return new ApiError(502, error.message, { code: "upstream_unreachable", type: "server_error" })
  return apiErrorOf(error)
}

const headerOf = ({ headers }: IncomingMessage, name: string): string | null => {
  const value = headers[name]
  return typeof value === "string" && value !== "" ? value : null
}

/** The events of a stored response, behind the one that a client has seen last. */
async function* replayed(response: Fields, after: string | null): AsyncGenerator<Fields, void, void> {
  yield* eventsOf(response).slice(after === null ? 0 : Number(after) + 1)
}

/** A call of a model, for summaries in its context. A call that waits for its result cannot stand in front of a question. */
const callOf = ({ path, url, headers, body }: Sent, answer: ReadonlyArray<Message.Message>): Call => {
  const dialect = dialects[path]!
  const isOpen = answer.some(({ parts }) => parts.some(({ type }) => type === "tool-call"))
  return {
    dialect,
    url,
    headers,
    body: JSON.stringify(body),
    answer: isOpen ? [] : encodeAnswer(dialect, answer),
  }
}

/** What is kept for the clients with one prefix. */
interface Kept {
  readonly responses: StoredResponses
  readonly conversations: StoredConversations
}

/**
 * Makes the routes.
 *
 * @param options - the memory, and the upstream
 *
 * @example
 * ```ts
 * import { conversationRoutes } from "@memfold/proxy"
 * import type { Memory } from "@memfold/core"
 *
 * export const routesOver = (memory: Memory.Service) =>
 *   conversationRoutes({ memory, upstream: { url: new URL("https://api.openai.com/v1"), api: "auto" } })
 * ```
 */
export const conversationRoutes = ({ memory, upstream, calls }: ConversationOptions): ConversationRoutes => {
  const upstreams = new Upstreams()
  const byPrefix = new Map<string, Kept>()
  const partsFor = (prefix: string): Kept => {
    const known = byPrefix.get(prefix)
    if (known !== undefined) return known
    const store = storeOf(memory, prefix)
    const responses = new StoredResponses(store, upstreams, (session, sent, answer) =>
      calls?.set(`${prefix}${session}`, callOf(sent, answer)),
    )
    const conversations = new StoredConversations(store, (id) => responses.checkFree(id))
    byPrefix.set(prefix, { responses, conversations })
    return { responses, conversations }
  }
  const underWay = new Set<Promise<void>>()

  const askerOf = (request: IncomingMessage): Asker => {
    const key = headerOf(request, "idempotency-key")
    return {
      upstream,
      rawHeaders: request.rawHeaders,
      // Two clients may use one key: what they are allowed with tells them apart.
      key: key === null ? null : [headerOf(request, "authorization") ?? "", key],
    }
  }

  const onConversations = async (
    { conversations }: Kept,
    method: string,
    [id, items, item, ...more]: ReadonlyArray<string>,
    body: Fields,
    query: URLSearchParams,
  ): Promise<Fields | null> => {
    if (more.length > 0 || (items !== undefined && items !== "items")) return null
    if (id === undefined) return method === "POST" ? await conversations.create(body) : null
    if (items === undefined) {
      if (method === "GET") return await conversations.retrieve(id)
      if (method === "POST") return await conversations.update(id, body)
      return method === "DELETE" ? await conversations.delete(id) : null
    }
    if (item === undefined) {
      if (method === "GET") return await conversations.listItems(id, pageOf(query))
      return method === "POST" ? await conversations.addItems(id, body, includeOf(query)) : null
    }
    if (method === "GET") return await conversations.retrieveItem(id, item, includeOf(query))
    return method === "DELETE" ? await conversations.deleteItem(id, item) : null
  }

  const onResponses = async (
    { responses }: Kept,
    { request, response }: ConversationRequest,
    [id, what, ...more]: ReadonlyArray<string>,
    body: Fields,
    query: URLSearchParams,
  ): Promise<boolean> => {
    const { method } = request
    if (more.length > 0) return false
    if (id === undefined) {
      // A client that would rather have a WebSocket goes on with HTTP once it is told so.
      if (method === "GET")
        throw new ApiError(426, "This server has no WebSockets; send requests over HTTP.", {
          code: "websockets_unsupported",
        })
      if (method !== "POST") return false
      await deliver(response, await responses.create(body, askerOf(request)))
    } else if (method === "POST" && what === undefined && id === "input_tokens")
      sendOrPass(response, await responses.inputTokens(body, askerOf(request)))
    else if (method === "POST" && what === undefined && id === "compact")
      sendOrPass(response, await responses.compact(body, askerOf(request)))
    else if (method === "POST" && what === "cancel") {
      await responses.retrieve(id)
      throw new ApiError(400, "Cannot cancel a synchronous response.")
    } else if (method === "GET" && what === "input_items")
      send(response, 200, await responses.inputItems(id, pageOf(query)))
    else if (method === "GET" && what === undefined) {
      const stored = await responses.retrieve(id)
      if (query.get("stream") === "true")
        await stream(response, replayed(stored, query.get("starting_after")))
      else send(response, 200, stored)
    } else if (method === "DELETE" && what === undefined) send(response, 200, await responses.delete(id))
    else return false
    return true
  }

  const route = async (asked: ConversationRequest): Promise<void> => {
    const { request, body: given, response, prefix = "" } = asked
    const path = request.url ?? "/"
    const kept = partsFor(prefix)
    const [resource, ...rest] = partsOf(path)
    const query = new URLSearchParams(path.split("?")[1] ?? "")
    if (given !== undefined && !isFields(given)) throw invalid("body", "The body is not a JSON object.")
    const body = given ?? {}
    if (resource === "conversations") {
      const answer = await onConversations(kept, request.method ?? "", rest, body, query)
      if (answer !== null) return send(response, 200, answer)
    } else if (resource === "responses" && (await onResponses(kept, asked, rest, body, query))) return
    throw new ApiError(404, "There is no such path, or it has no such method.", { code: "unknown_url" })
  }

  return {
    serves: (method, path) => {
      const [, version, resource, id, ...rest] = path.split("?", 1)[0]?.split("/") ?? []
      if (version !== "v1") return false
      if (resource === "conversations") return id === undefined || isConversationId(id)
      if (resource !== "responses") return false
      if (id === undefined) return method === "GET"
      if (rest.length === 0 && (id === "input_tokens" || id === "compact")) return method === "POST"
      return sessionOf(id) !== null
    },
    keeps: isKept,
    answer: async (asked) => {
      const answered = route(asked).catch((error: unknown) => {
        const { response } = asked
        if (response.headersSent) response.destroy()
        else {
          const failure = errorOf(error)
          send(response, failure.status, failure.body)
        }
      })
      underWay.add(answered)
      await answered
      underWay.delete(answered)
    },
    settled: async () => {
      await Promise.all(underWay)
    },
  }
}
