/** Which header fields of a message belong to its connection alone. */

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
const fieldsIn = (rawHeaders: ReadonlyArray<string>): ReadonlyArray<Field> =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : []))

/** The fields that go on to the other side: neither hop-by-hop, nor named by `Connection`, nor in `without`. */
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
    return !hopByHop.has(lower) && !named.has(lower) && !without.has(lower)
  })
}

/** What Node's HTTP takes as headers: a field that came several times stays several fields. */
export const headersOf = (fields: ReadonlyArray<Field>): Record<string, string | Array<string>> => {
  // `__proto__` is a valid name of a header.
  const headers = Object.create(null) as Record<string, string | Array<string>>
  const spelling = new Map<string, string>()
  for (const [name, value] of fields) {
    const known = spelling.get(name.toLowerCase()) ?? name
    spelling.set(name.toLowerCase(), known)
    const before = headers[known]
    headers[known] = before === undefined ? value : [before, value].flat()
  }
  return headers
}
