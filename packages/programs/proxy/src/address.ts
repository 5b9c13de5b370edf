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

/** The address of a request; `null` if it has no upstream. */
export const addressOf = (
  request: IncomingMessage,
  upstreams: Readonly<Partial<Record<Provider, URL>>>,
): Addressed | null => {
  const [path = "", query] = (request.url ?? "").split(/\?(.*)/s, 2)
  const upstream = path.startsWith("/v1/") ? upstreams[providerOf(request, path)] : undefined
  if (upstream === undefined) return null
  const url = new URL(upstream)
  url.pathname = `${upstream.pathname.replace(/\/+$/, "")}${path}`
  url.search = query === undefined ? "" : `?${query}`
  const isCounting = path === "/v1/messages/count_tokens"
  const dialect = request.method === "POST" ? dialects[isCounting ? "/v1/messages" : path] : undefined
  return { path, url, dialect: dialect ?? null, isCounting }
}
