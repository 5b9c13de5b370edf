/** Where a request goes, and how its conversation is read. */
import type { IncomingMessage } from "node:http"
import { type Dialect, dialects, type Provider } from "./dialects.js"

/** A request with its upstream. */
export interface Addressed {
  /** The path without its query. */
  readonly path: string
  /** The address of the upstream with the path and the query of the request. */
  readonly url: URL
  /** `null` for a request without a conversation. */
  readonly dialect: Dialect | null
  /** Whether tokens are to be counted, and nothing is to be answered or stored. */
  readonly isCounting: boolean
}

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

/** The upstreams, by whose API they have. */
export type Upstreams = Readonly<Partial<Record<Provider, URL>>>

const pathOf = ({ url = "" }: IncomingMessage): string => url.split("?", 1)[0] ?? ""

/** The upstream of a request, without the request's path; `null` if it has none. */
export const upstreamOf = (request: IncomingMessage, upstreams: Upstreams): URL | null => {
  const path = pathOf(request)
  return path.startsWith("/v1/") ? (upstreams[providerOf(request, path)] ?? null) : null
}

const countingPath = "/v1/messages/count_tokens"

/** How the conversation of a request is read; `null` for a request without one. */
export const dialectOf = (request: IncomingMessage): Dialect | null => {
  if (request.method !== "POST") return null
  const path = pathOf(request)
  return dialects[path === countingPath ? "/v1/messages" : path] ?? null
}

/** The address of a request at its upstream. */
export const addressOf = (request: IncomingMessage, upstream: URL): Addressed => {
  const path = pathOf(request)
  const url = new URL(upstream)
  url.pathname = `${upstream.pathname.replace(/\/+$/, "")}${path}`
  url.search = (request.url ?? "").slice(path.length)
  return { path, url, dialect: dialectOf(request), isCounting: path === countingPath }
}
