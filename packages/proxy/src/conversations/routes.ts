/** The routes of conversations and of stored responses, over Node's HTTP. */
import { type Fields, isFields } from "@memfold/codec"
import type { Message } from "@memfold/core"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Call, Calls } from "../Calls.js"
import { dialects, encodeAnswer } from "../dialects.js"
import { headersOf } from "../headers.js"
import { ApiError, apiErrorOf, invalid } from "./ApiError.js"
import { StoredConversations } from "./Conversations.js"
import { Drafts } from "./Drafts.js"
import { isConversationId, sessionOf } from "./ids.js"
import { includeOf, pageOf } from "./items.js"
import { namesOwn } from "./Places.js"
import { type Answered, type Asker, StoredResponses } from "./Responses.js"
import { type ConversationMemory, storeOf } from "./Store.js"
import { type ConversationUpstream, type Refusal, type Sent, Upstreams } from "./upstream.js"

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
   * `store: false` that continues nothing is not, and neither is one that continues what the upstream keeps.
   */
  readonly keeps: (body: unknown) => boolean
  /** Answers such a request. It never rejects. */
  readonly answer: (asked: ConversationRequest) => Promise<void>
  /** Waits until the answers under way are stored. */
  readonly settled: () => Promise<void>
  /** Gives up the responses in the background that are under way: they have failed. */
  readonly stop: () => Promise<void>
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
  const { previous_response_id: previous = null, conversation = null, store } = body
  if (previous === null && conversation === null) return store !== false
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

/** The number of the event that a client has seen last; -1 if it has seen none. */
const afterOf = (query: URLSearchParams): number => {
  const after = Number(query.get("starting_after") ?? -1)
  if (!Number.isInteger(after) || after < -1)
    throw invalid("starting_after", "Invalid 'starting_after': expected the number of an event.")
  return after
}

const headerOf = ({ headers }: IncomingMessage, name: string): string | null => {
  const value = headers[name]
  return typeof value === "string" && value !== "" ? value : null
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
  readonly drafts: Drafts
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
    const kept = { responses, conversations, drafts: new Drafts(store, responses.places, upstreams) }
    byPrefix.set(prefix, kept)
    return kept
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
    { responses, drafts }: Kept,
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
      sendOrPass(response, await drafts.inputTokens(body, askerOf(request)))
    else if (method === "POST" && what === undefined && id === "compact")
      sendOrPass(response, await drafts.compact(body, askerOf(request)))
    else if (method === "POST" && what === "cancel") send(response, 200, await responses.cancel(id))
    else if (method === "GET" && what === "input_items")
      send(response, 200, await responses.inputItems(id, pageOf(query)))
    else if (method === "GET" && what === undefined) {
      if (query.get("stream") === "true") await stream(response, await responses.replay(id, afterOf(query)))
      else send(response, 200, await responses.retrieve(id))
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
          const failure = apiErrorOf(error)
          send(response, failure.status, failure.body)
        }
      })
      underWay.add(answered)
      await answered
      underWay.delete(answered)
    },
    stop: async () => {
      await Promise.all([...byPrefix.values()].map(({ responses }) => responses.stop()))
    },
    settled: async () => {
      await Promise.all(underWay)
      await Promise.all([...byPrefix.values()].map(({ responses }) => responses.settled()))
    },
  }
}
