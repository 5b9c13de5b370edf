/** Which header fields of a message belong to its connection alone. */

import type { IncomingMessage } from "node:http"

/** Fields that hold for one connection (RFC 9110, 7.6.1), and those that its listener and its client set themselves. */
const hopByHop = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/** A name and a value, in the order and the spelling in which they came. */
export type Field = readonly [name: string, value: string]

/** The fields of Node's `rawHeaders`. */
export const fieldsIn = (rawHeaders: ReadonlyArray<string>): ReadonlyArray<Field> =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : []))

/**
 * The fields that go on to the other side: neither hop-by-hop, nor named by `Connection`, nor in `without`. What says how the body is to
 * be read belongs to no connection, whatever `Connection` names: a body without its length would be the next request.
 */
export const endToEnd = (
  rawHeaders: ReadonlyArray<string>,
  without: ReadonlySet<string> = new Set(),
): ReadonlyArray<Field> => {
  const fields = fieldsIn(rawHeaders)
  const named = new Set(
    fields
      .filter(([name]) => name.toLowerCase() === "connection")
      .flatMap(([, value]) => value.split(",").map((name) => name.trim().toLowerCase())),
  )
  return fields.filter(([name]) => {
    const lower = name.toLowerCase()
    const isOfConnection = named.has(lower) && !lower.startsWith("content-")
    return !hopByHop.has(lower) && !isOfConnection && !without.has(lower)
  })
}

/**
 * What in the fields of a request two servers may read in two ways, and it is not theirs to choose; `null` if there is nothing: two hosts,
 * or a coding of the transfer that would be left in the body.
 */
export const ambiguityIn = (request: Pick<IncomingMessage, "headers" | "rawHeaders">): string | null => {
  const { "transfer-encoding": coding = "chunked" } = request.headers
  if (coding.toLowerCase() !== "chunked") return "Transfer-Encoding"
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name))
  return hosts.length > 1 ? "Host" : null
}
