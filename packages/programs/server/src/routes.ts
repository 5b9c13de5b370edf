/**
 * What each route asks for: its rights, its limits, its headers. The service's own routes are read from the declaration; those of
 * OpenAI's conversations stand beside what answers them.
 */
import { HttpApi } from "@effect/platform"
import { api, Begins, Erasing, Reading, type Right, Writing } from "@memfold/client/api"
import { type ConversationRoute, conversationRouteOf, conversationRouteTable } from "@memfold/proxy"
import { Context, Option, SchemaAST } from "effect"

/** A route, as the guard needs to know it. */
export interface Route {
  /** `*` is any method. */
  readonly method: string
  readonly path: string
  /** What a token must allow, all of it. Without one, anybody may ask. */
  readonly rights: ReadonlyArray<Right>
  /**
   * Which session it may begin: the one in its path, one that its body names, or one that is found while it is answered; or the group of
   * the feed in its path. A route that does not say so begins none.
   */
  readonly begins: "session" | "to" | "found" | "group" | null
  /** The headers about a write that it takes. With another one, a request is refused: who sends it counts on what it says. */
  readonly takes: ReadonlySet<string>
}

/** The headers that only some routes take. */
export const heeded: ReadonlySet<string> = new Set(["if-match", "idempotency-key"])

const rightsBy: ReadonlyArray<readonly [key: string, right: Right]> = [
  [Reading.key, "read"],
  [Writing.key, "write"],
  [Erasing.key, "erase"],
]

const declared = (): ReadonlyArray<Route> => {
  const routes: Array<Route> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { method, path, headersSchema, annotations }, middleware }) => {
      const asked = new Set([...middleware].map(({ key }) => key))
      const headers = Option.match(headersSchema, {
        onNone: () => [],
        onSome: ({ ast }) => SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)),
      })
      routes.push({
        method,
        path,
        rights: rightsBy.flatMap(([key, right]) => (asked.has(key) ? [right] : [])),
        begins: Option.getOrNull(Context.getOption(annotations, Begins)),
        takes: new Set(headers.map(({ name }) => String(name))),
      })
    },
  })
  return routes
}

/** The pages beside the operations: anybody may look at them, and none has a word of a session. */
const pages = ["/docs", "/openapi.json", "/studio/*"].map((path): Route => ({
  method: "GET",
  path,
  rights: [],
  begins: null,
  takes: new Set(),
}))

/** The tools of MCP: a token without the right to write has those that only read. */
const tools = ["GET", "POST", "DELETE"].map((method): Route => ({
  method,
  path: "/mcp",
  rights: ["read"],
  begins: "found",
  takes: new Set(),
}))

/** The routes of the service itself. */
export const ownRoutes: ReadonlyArray<Route> = [...declared(), ...pages, ...tools]

const patterns = ownRoutes.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+").replace("/*", "/.*")}$`),
}))

/** The methods that a path of the service has. */
export const methodsOf = (path: string): ReadonlyArray<string> => {
  const methods = patterns.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : []))
  // The router answers it, too.
  return methods.includes("GET") ? [...methods, "HEAD"] : methods
}

/** What goes on to an upstream may store what was asked and answered, and takes the headers of its API. */
const proxied: Route = {
  method: "*",
  path: "/v1/*",
  rights: ["read", "write"],
  begins: "found",
  takes: heeded,
}

const stored = ({ method, path, rights, begins }: ConversationRoute): Route => ({
  ...proxied,
  method,
  path,
  rights,
  begins: begins ? "found" : null,
})

const conversations: ReadonlyMap<ConversationRoute, Route> = new Map(
  conversationRouteTable.map((route) => [route, stored(route)]),
)

/** The routes of other APIs, with an upstream: OpenAI's conversations, and whatever goes on. */
export const foreignRoutes: ReadonlyArray<Route> = [...conversations.values(), proxied]

/** The route of a request to another API. Without an upstream of OpenAI, there are no conversations. */
export const foreignRouteOf = (method: string, url: string, hasConversations: boolean): Route => {
  const found = hasConversations ? conversationRouteOf(method, url) : null
  return found === null ? proxied : conversations.get(found)!
}

/** How paths begin that the service has itself, with an upstream or without. */
const ownPaths: ReadonlySet<string> = new Set(
  ownRoutes.map(({ path }) => path.split("/").slice(0, 3).join("/")),
)

/** Whether a path is one of the service itself. */
export const isOwnPath = (path: string): boolean => ownPaths.has(path.split("/").slice(0, 3).join("/"))
