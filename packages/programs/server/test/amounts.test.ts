/** What a request asks for so many of: each amount has a bound, in the service and in its tools. */
import { mcpHandler } from "@memfold/mcp"
import { expect, it } from "vitest"
import { ask, started } from "./services.js"

/** A schema of JSON, as far as it is read. */
interface Shape {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: ReadonlyArray<Shape>
  readonly allOf?: ReadonlyArray<Shape>
}

interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Shape }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

/** Numbers that name a place, a time, or a setting of a strategy: nothing becomes longer by them. */
const places = new Set(
  (
    "version total from to branch message atVersion asOfVersion fromVersion toVersion after before at until activeFrom activeTo pauseFor " +
    "fullContextTurns cachedContextTurns at_version from_version to_version as_of_version pause_for"
  ).split(" "),
)

/** The names of the amounts in a schema that have no bound. */
const unbounded = (
  schema: Shape,
  known: Document["components"]["schemas"],
  name = "",
): ReadonlyArray<string> => {
  const { $ref, type = "", properties = {}, items, anyOf = [], allOf = [] } = schema
  const hasBound = [schema, ...allOf].some(({ maximum = Number.MAX_SAFE_INTEGER }) => maximum <= 1_000_000)
  if ($ref !== undefined)
    return hasBound ? [] : unbounded(known[$ref.split("/").at(-1) ?? ""] ?? {}, known, name)
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
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      ...operation,
    })),
  )
  let amounts = 0
  for (const { method, path, parameters = [], requestBody } of operations) {
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      expect([path, unbounded(schema, document.components.schemas)]).toEqual([path, []])
    for (const { name } of parameters.filter((one) => one.in === "query" && !places.has(one.name))) {
      const to = `${url}${path.replaceAll(/\{\w+\}/g, "one")}?${name}=`
      // The document has a number of a query as a text.
      const { body } = await ask(`${to}x`, { method })
      if (!JSON.stringify(body).includes("allowed: a number")) continue
      expect([method, path, name, (await ask(`${to}1000000000`, { method })).status]).toEqual([
        method,
        path,
        name,
        400,
      ])
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
