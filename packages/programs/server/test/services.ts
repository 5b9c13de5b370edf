/** Services for the tests: each on a free port, over a store of its own, ended with its test. */
import { serve, type ServeOptions, type Service } from "../src/index.js"
import { onTestFinished } from "vitest"

/** Starts a service for one test. */
export const started = async (options: ServeOptions = {}): Promise<Service> => {
  const service = await serve({ store: "memory:", port: 0, log: "none", ...options })
  onTestFinished(service.close)
  return service
}

/** A request without a client, as any language sends it, and what came back. */
export const ask = async (
  url: string,
  { headers, body, ...init }: Omit<RequestInit, "body"> & { readonly body?: unknown } = {},
) => {
  const response = await fetch(url, {
    ...init,
    ...(body === undefined ? {} : { method: init.method ?? "POST", body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
  })
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.includes("json") === true
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as Record<string, unknown>) : text,
  }
}

/** A question and its answer. */
export const turn = (n: number): Array<Record<string, unknown>> => [
  { role: "user", content: `Question ${n}: where is order KX-${4_470 + n}? `.repeat(20) },
  { role: "assistant", content: `Answer ${n}: it was sent on day ${n}. `.repeat(20) },
]
