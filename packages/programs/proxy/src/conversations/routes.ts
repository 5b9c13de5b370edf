/** Conversations and stored responses over Node's HTTP. */
import { type Fields, isFields } from "@memfold/codec"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { callOf, type Calls } from "../Calls.js"
import { dialects } from "../dialects.js"
import { beginning, type Begins } from "../begins.js"
import { breakOff } from "../forward.js"
import { markOf, speakerOf } from "../speaker.js"
import { tell } from "../tell.js"
import type { Answered } from "./answer.js"
import { ApiError, apiErrorOf, invalid } from "./ApiError.js"
import { StoredConversations } from "./Conversations.js"
import { Drafts } from "./Drafts.js"
import { checkSpeaker, namesOwn } from "./Places.js"
import { StoredResponses } from "./Responses.js"
import { type ConversationMemory, storeOf } from "./Store.js"
import { type Asked, find, type Kept, routeOf } from "./table.js"
import { type Asker, type ConversationUpstream, Upstreams } from "./upstream.js"

/** What the routes work with. */
export interface ConversationOptions {
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
  /** Rejects if no more sessions may begin: the request is refused with 429. */
  readonly mayBegin?: Begins
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

const isKept = (body: unknown): boolean => {
  if (!isFields(body)) return false
  const { previous_response_id: previous = null, conversation = null, store } = body
  if (previous === null && conversation === null) return store !== false
  return namesOwn(body)
}

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
    breakOff(response)
    return
  }
  response.end()
}

const isAnswered = (answer: Answered | Fields): answer is Answered => "_tag" in answer

const deliver = async (response: ServerResponse, answer: Answered | Fields): Promise<void> => {
  if (!isAnswered(answer)) tell(response, 200, answer)
  else if (answer._tag === "Stream") await stream(response, answer.events)
  else if (answer._tag === "Whole") tell(response, 200, answer.response)
  else {
    // An error of the upstream, as it came.
    response.writeHead(answer.status, answer.headers.flat())
    response.end(answer.body)
  }
}

const headerOf = ({ headers }: IncomingMessage, name: string): string | null => {
  const value = headers[name]
  return typeof value === "string" && value !== "" ? value : null
}

const askerOf = (
  { request, prefix = "", mayBegin }: ConversationRequest,
  upstream: ConversationUpstream,
): Asker => {
  const { rawHeaders } = request
  const key = headerOf(request, "idempotency-key")
  const speaker = speakerOf(rawHeaders)
  return {
    upstream,
    rawHeaders,
    // Behind a prefix, somebody has said already who it is.
    speaker: prefix === "" ? speaker : null,
    // Two clients may use one key: what they are allowed with tells them apart.
    key: key === null ? null : [markOf(speaker), key],
    mayBegin: beginning(mayBegin),
  }
}

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new ApiError(404, "There is no such path.")
  }
}

/** The route of a request, and the request in its parts. */
const parsed = (given: ConversationRequest, upstream: ConversationUpstream) => {
  const { method = "", url = "/" } = given.request
  const found = find(method, url)
  if (found === null)
    throw new ApiError(404, "There is no such path, or it has no such method.", { code: "unknown_url" })
  if (given.body !== undefined && !isFields(given.body))
    throw invalid("body", "The body is not a JSON object.")
  const asker = askerOf(given, upstream)
  checkSpeaker(found.id, given.body ?? {}, asker.speaker)
  const asked: Asked = {
    id: found.id,
    item: decoded(found.item),
    body: given.body ?? {},
    query: new URLSearchParams(url.split("?")[1] ?? ""),
    asker,
  }
  return { route: found.route, asked }
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
  const keptFor = (prefix: string): Kept => {
    const known = byPrefix.get(prefix)
    if (known !== undefined) return known
    const store = storeOf(memory, prefix)
    const responses = new StoredResponses(store, upstreams, (session, { path, body, ...sent }, answer) => {
      const call = { ...sent, dialect: dialects[path]!, body: JSON.stringify(body) }
      calls?.set(`${prefix}${session}`, callOf(call, answer))
    })
    const conversations = new StoredConversations(store, (id) => responses.underWay.checkFree(id))
    const kept = { responses, conversations, drafts: new Drafts(store, responses.places, upstreams) }
    byPrefix.set(prefix, kept)
    return kept
  }
  const answered = async (given: ConversationRequest): Promise<void> => {
    const { response, prefix = "" } = given
    try {
      const { route, asked } = parsed(given, upstream)
      await deliver(response, await route.answer(keptFor(prefix), asked))
    } catch (error) {
      const { status, body, retryAfter } = apiErrorOf(error, prefix)
      tell(response, status, body, retryAfter === null ? [] : [["Retry-After", String(retryAfter)]])
    }
  }
  const underWay = new Set<Promise<void>>()
  return {
    serves: (method, path) => {
      const route = routeOf(method, path)
      return route !== null && !(route.method === "POST" && route.path === "/v1/responses")
    },
    keeps: isKept,
    answer: async (given) => {
      const answer = answered(given)
      underWay.add(answer)
      await answer
      underWay.delete(answer)
    },
    stop: async () => {
      await Promise.all([...byPrefix.values()].map(({ responses }) => responses.background.stop()))
    },
    settled: async () => {
      await Promise.all(underWay)
      await Promise.all([...byPrefix.values()].map(({ responses }) => responses.background.settled()))
    },
  }
}
