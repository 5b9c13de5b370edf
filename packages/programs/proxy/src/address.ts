/** Where a request goes, and how its conversation is read. */
import type { IncomingMessage } from "node:http"
import { type Dialect, dialects, type Provider } from "./dialects.js"

/** A request with its upstream. */
export interface Addressed {
  readonly path: string
  /** The address of the upstream with the path and the query of the request. */
  readonly url: URL
  /** The path and the query of this address, byte for byte as the client has sent its part. */
  readonly target: string
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

/** A path or an address without slashes at its end. */
export const withoutSlashes = (path: string): string => path.replace(/(?<!\/)\/+$/, "")

export const addressOf = (request: IncomingMessage, upstream: URL): Addressed => {
  const path = pathOf(request)
  const base = withoutSlashes(upstream.pathname)
  const url = new URL(upstream)
  url.pathname = `${base}${path}`
  url.search = (request.url ?? "").slice(path.length)
  const target = `${base}${request.url}`
  return { path, url, target, dialect: dialectOf(request), isCounting: path === countingPath }
}

/** What servers read as a separator or a dot, percent-encoded once or again, or in more bytes of UTF-8 than it has. */
const encoded = /%(?:25)*(?:(2e|c0%(?:25)*ae)|2f|5c|3f|23|3b|c0%(?:25)*af|c1%(?:25)*9c)/gi
const nul = /%(?:25)*00/

/**
 * Whether a path goes back with `..`, in any writing that some server reads so: percent-encoded once or again, between backslashes,
 * before parameters or a fragment. It would leave the path that the upstream is given with. Neither a backslash nor a NUL is in a path.
 */
export const goesBack = (path: string): boolean =>
  path.includes("\\") ||
  nul.test(path) ||
  path
    .replaceAll(encoded, (_, dot) => (dot === undefined ? "/" : "."))
    .split(/[/;#]/)
    .includes("..")
