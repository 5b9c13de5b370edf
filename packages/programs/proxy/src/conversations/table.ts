/** The routes of conversations and of stored responses: what each one asks for, and what answers it. */
import type { Fields } from "@memfold/codec"
import type { Answered } from "./answer.js"
import { ApiError, invalid } from "./ApiError.js"
import type { StoredConversations } from "./Conversations.js"
import type { Drafts } from "./Drafts.js"
import { isConversationId, sessionOf } from "./ids.js"
import { includeOf, pageOf } from "./items.js"
import type { StoredResponses } from "./Responses.js"
import type { Asker, Refusal } from "./upstream.js"

/** What a route asks for, for who checks it before the request is answered. */
export interface ConversationRoute {
  /** `*` is any method that no other route of this path has. */
  readonly method: string
  /** The path, with the names of its parts: `/v1/responses/:response`. `*` is whatever follows. */
  readonly path: string
  /** What the client must be allowed to, all of it. `erase` is asked for where a text leaves the store. */
  readonly rights: ReadonlyArray<"read" | "write" | "erase">
  /** Whether an answer may begin a session. */
  readonly begins: boolean
}

/** What is kept for the clients with one prefix. */
export interface Kept {
  readonly responses: StoredResponses
  readonly drafts: Drafts
  readonly conversations: StoredConversations
}

/** A request that was parsed. */
export interface Asked {
  /** The ids in its path: of the conversation or the response, and of an item. */
  readonly id: string
  readonly item: string
  readonly body: Fields
  readonly query: URLSearchParams
  readonly asker: Asker
}

type Answer = (kept: Kept, asked: Asked) => Promise<Answered | Refusal | Fields>

export interface AnsweredRoute extends ConversationRoute {
  readonly pattern: RegExp
  readonly answer: Answer
}

/** The ids that are given here: a path with another one is somebody else's. */
const own: Readonly<Record<string, (id: string) => boolean>> = {
  conversations: isConversationId,
  responses: (id) => sessionOf(id) !== null,
}

/** What a route asks for: its rights, whether it begins a session, and its answer. */
type Row = readonly [rights: ConversationRoute["rights"], begins: boolean, answer: Answer]

const asks =
  (...rights: ConversationRoute["rights"]) =>
  (answer: Answer, begins = false): Row => [rights, begins, answer]

const [reading, writing, erasing, both] = [asks("read"), asks("write"), asks("erase"), asks("read", "write")]

/** The number of the event that a client has seen last; -1 if it has seen none. */
const afterOf = (query: URLSearchParams): number => {
  const after = Number(query.get("starting_after") ?? -1)
  if (!Number.isInteger(after) || after < -1)
    throw invalid("starting_after", "Invalid 'starting_after': expected the number of an event.")
  return after
}

const nowhere = reading(() =>
  Promise.reject(
    new ApiError(404, "There is no such path, or it has no such method.", { code: "unknown_url" }),
  ),
)

/** A client that would rather have a WebSocket goes on with HTTP once it is told so. */
const noSockets = reading(() =>
  Promise.reject(
    new ApiError(426, "This server has no WebSockets; send requests over HTTP.", {
      code: "websockets_unsupported",
    }),
  ),
)

const rows: Readonly<Record<string, Row>> = {
  "POST /v1/conversations": writing((on, { body, asker }) => on.conversations.create(body, asker), true),
  "GET /v1/conversations/:conversation": reading((on, { id }) => on.conversations.retrieve(id)),
  "POST /v1/conversations/:conversation": writing((on, { id, body }) => on.conversations.update(id, body)),
  // Its items stay, and responses of it can still be read.
  "DELETE /v1/conversations/:conversation": writing((on, { id }) => on.conversations.delete(id)),
  "GET /v1/conversations/:conversation/items": reading((on, { id, query }) =>
    on.conversations.listItems(id, pageOf(query)),
  ),
  "POST /v1/conversations/:conversation/items": writing(
    (on, { id, body, query, asker }) => on.conversations.addItems(id, body, includeOf(query), asker),
    true,
  ),
  "GET /v1/conversations/:conversation/items/:item": reading((on, { id, item, query }) =>
    on.conversations.retrieveItem(id, item, includeOf(query)),
  ),
  "DELETE /v1/conversations/:conversation/items/:item": erasing((on, { id, item }) =>
    on.conversations.deleteItem(id, item),
  ),
  "POST /v1/responses": both((on, { body, asker }) => on.responses.create(body, asker), true),
  "GET /v1/responses": noSockets,
  "POST /v1/responses/input_tokens": both((on, { body, asker }) => on.drafts.inputTokens(body, asker), true),
  "POST /v1/responses/compact": both((on, { body, asker }) => on.drafts.compact(body, asker), true),
  "GET /v1/responses/:response": reading(async ({ responses }, { id, query }) =>
    query.get("stream") === "true"
      ? { _tag: "Stream", events: await responses.replay(id, afterOf(query)) }
      : responses.retrieve(id),
  ),
  "DELETE /v1/responses/:response": erasing((on, { id }) => on.responses.delete(id)),
  "POST /v1/responses/:response/cancel": writing((on, { id }) => on.responses.cancel(id)),
  "GET /v1/responses/:response/input_items": reading((on, { id, query }) =>
    on.responses.inputItems(id, pageOf(query)),
  ),
  "* /v1/conversations": nowhere,
  "* /v1/conversations/:conversation/*": nowhere,
  "* /v1/responses/:response/*": nowhere,
}

const answered: ReadonlyArray<AnsweredRoute> = Object.entries(rows).map(
  ([line, [rights, begins, answer]]) => {
    const [method = "", path = ""] = line.split(" ")
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "([^/]+)").replace("/*", "(?:/.*)?")}$`)
    return { method, path, pattern, rights, begins, answer }
  },
)

/** What each route asks for, in the order in which they are tried. */
export const routes: ReadonlyArray<ConversationRoute> = answered

/** The route of a request, with the ids in its path; `null` if there is none. */
export const find = (method: string, url: string) => {
  const [path = ""] = url.split("?", 1)
  for (const route of answered) {
    if (route.method !== method && route.method !== "*") continue
    const [found, id = "", item = ""] = route.pattern.exec(path) ?? []
    if (found !== undefined) return { route, id, item }
  }
  return null
}

/** The route of a request; `null` if the request is somebody else's. */
export const routeOf = (method: string, url: string): ConversationRoute | null => {
  const { route, id = "" } = find(method, url) ?? {}
  if (route === undefined) return null
  const [, , resource = ""] = route.path.split("/")
  return route.path.includes(":") && own[resource]?.(id) !== true ? null : route
}
