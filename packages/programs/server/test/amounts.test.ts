/** What a request asks for so many of: each amount has a bound, in the service and in its tools. */
import { mcpHandler } from "@memfold/mcp"
import { expect, it } from "vitest"
import { type Named, namedBy, operationsOf, type Shape } from "./document.js"
import { ask, started } from "./services.js"

/** Numbers that name a place, a time, or a setting of a strategy: nothing becomes longer by them. */
const places = new Set(
  (
    "version total from to branch message atVersion asOfVersion fromVersion toVersion after before at until activeFrom activeTo pauseFor " +
    "fullContextTurns cachedContextTurns at_version from_version to_version as_of_version pause_for"
  ).split(" "),
)

/** The names of the amounts in a schema that have no bound. */
const unbounded = (schema: Shape, known: Named, name = ""): ReadonlyArray<string> => {
  const { $ref, type = "", properties = {}, items, anyOf = [], allOf = [] } = schema
  const hasBound = [schema, ...allOf].some(({ maximum = Number.MAX_SAFE_INTEGER }) => maximum <= 1_000_000)
  if ($ref !== undefined) return hasBound ? [] : unbounded(namedBy($ref, known), known, name)
  const isNumber = [type].flat().some((one) => one === "integer" || one === "number")
  return [
    ...(isNumber && !hasBound && !places.has(name) ? [name] : []),
    ...Object.entries(properties).flatMap(([field, one]) => unbounded(one, known, field)),
    ...(items === undefined ? [] : unbounded(items, known, name)),
    ...anyOf.flatMap((one) => unbounded(one, known, name)),
  ]
}

it("L19: an amount in a request has a bound, on every route", async () => {
  const { url } = await started()
  const { operations, known } = await operationsOf(url)
  let amounts = 0
  for (const { method, path, to, query, bodies } of operations) {
    for (const schema of bodies) expect([path, unbounded(schema, known)]).toEqual([path, []])
    for (const name of query.filter((one) => !places.has(one))) {
      // The document has a number of a query as a text.
      const { body } = await ask(`${to}?${name}=x`, { method })
      if (!JSON.stringify(body).includes("allowed: a number")) continue
      const { status } = await ask(`${to}?${name}=1000000000`, { method })
      expect([method, path, name, status]).toEqual([method, path, name, 400])
      amounts++
    }
  }
  expect(amounts).toBeGreaterThanOrEqual(5)
})

it("L19: an amount in the arguments of a tool has a bound", async () => {
  const { url } = await started({ mcp: mcpHandler })
  const headers = { accept: "application/json, text/event-stream" }
  const { body } = await ask(`${url}/mcp`, { headers, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } })
  const [, data = ""] = String(body).split("data: ")
  const { tools } = (
    JSON.parse(data) as { result: { tools: ReadonlyArray<{ name: string; inputSchema: Shape }> } }
  ).result
  expect(tools.length).toBeGreaterThan(5)
  for (const { name, inputSchema } of tools) expect([name, unbounded(inputSchema, {})]).toEqual([name, []])
})
