/**
 * The page `/docs`: what each operation takes and answers, as HTML without a script. It is made from the OpenAPI document, which
 * viewers of that format can load from `/openapi.json`.
 */
import { HttpApi, HttpApiBuilder, HttpServerResponse, OpenApi } from "@effect/platform"
import { Effect } from "effect"
import { createHash } from "node:crypto"

/** The parts of a JSON schema that the document has. */
interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly description?: string
}

interface Operation {
  readonly tags?: ReadonlyArray<string>
  readonly operationId?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
  }>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Document {
  readonly info: { readonly title: string; readonly description?: string }
  readonly tags?: ReadonlyArray<{ readonly name: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
}

/** A text of the document as HTML: what is between backticks is code. */
const text = (plain: string): string =>
  plain
    .replace(/[&<>"]/gu, (character) => escapes[character] ?? character)
    .replace(/`([^`]+)`/gu, "<code>$1</code>")

const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1)

/** The type of a value in the notation of TypeScript; fields begin on new lines, `indent` deep. */
const typeOf = (schema: Schema, indent = ""): string => {
  const { $ref, anyOf, allOf, items, properties = {}, required = [] } = schema
  if ($ref !== undefined) return `<a href="#${text(nameIn($ref))}">${text(nameIn($ref))}</a>`
  if (schema.enum !== undefined) return schema.enum.map((value) => text(JSON.stringify(value))).join(" | ")
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, indent)).join(" | ")
  if (allOf !== undefined) return allOf.map((one) => typeOf(one, indent)).join(" & ")
  if (items !== undefined) return `Array&lt;${typeOf(items, indent)}&gt;`
  if (schema.type !== "object") return text(schema.type ?? "unknown")
  const fields = Object.entries(properties)
  if (fields.length === 0) return "object"
  const inner = `${indent}  `
  const lines = fields.map(([name, field]) => {
    const comment = text(field.description ?? "")
    const optional = required.includes(name) ? "" : "?"
    return `${inner}${text(name)}${optional}: ${typeOf(field, inner)}${comment === "" ? "" : ` <i>${comment}</i>`}\n`
  })
  return `{\n${lines.join("")}${indent}}`
}

const contentOf = (content: Content): string =>
  Object.entries(content)
    .map(([type, { schema }]) => `<p>${text(type)}</p><pre>${typeOf(schema)}</pre>`)
    .join("")

const parametersOf = ({ parameters = [] }: Operation): string =>
  parameters.length === 0
    ? ""
    : `<table><tr><th>name</th><th>in</th><th>type</th><th>what it is</th></tr>${parameters
        .map(
          ({ name, in: place, required, schema }) =>
            `<tr><td><code>${text(name)}</code></td><td>${text(place)}${required === true ? "" : ", optional"}</td>` +
            `<td>${typeOf(schema)}</td><td>${text(schema.description ?? "")}</td></tr>`,
        )
        .join("")}</table>`

const operationOf = (path: string, method: string, operation: Operation): string => {
  const { operationId = `${method}${path}`, description, requestBody, responses } = operation
  const statuses = Object.entries(responses)
  const good = statuses.filter(([status]) => status < "300")
  const bad = statuses.filter(([status]) => status >= "300")
  return [
    `<details id="${text(operationId)}"><summary><b>${method.toUpperCase()}</b> <code>${text(path)}</code> `,
    `${text(description ?? "")}</summary>${parametersOf(operation)}`,
    requestBody === undefined ? "" : `<h3>Body</h3>${contentOf(requestBody.content)}`,
    ...good.map(([status, { content }]) => `<h3>${status}</h3>${contentOf(content ?? {})}`),
    bad.length === 0 ? "" : "<h3>Errors</h3><ul>",
    ...bad.map(([status, { description: why = "" }]) => `<li>${status}: ${text(why)}</li>`),
    bad.length === 0 ? "" : "</ul>",
    "</details>\n",
  ].join("")
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
summary { cursor: pointer; padding: .25rem 0 }
details[open] { margin-bottom: 1rem; padding-left: 1rem; border-left: 2px solid currentColor }
summary b { display: inline-block; min-width: 4.5rem }
pre, table { overflow-x: auto; font-size: .875rem }
table { display: block; border-spacing: 1rem .25rem; text-align: left }
td { vertical-align: top }
pre i { opacity: .75 }
`

/** The page about an OpenAPI document. */
export const documentationOf = ({ info, tags = [], paths, components }: Document): string => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name) === true)
    return `<h2>${text(name)}</h2>\n${own.map(({ path, method, operation }) => operationOf(path, method, operation)).join("")}`
  })
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<h3 id="${text(name)}">${text(name)}</h3><p>${text(schema.description ?? "")}</p><pre>${typeOf(schema)}</pre>\n`,
  )
  return [
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${text(info.title)}</title>`,
    `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head><body>\n`,
    `<h1>${text(info.title)}</h1><p>${text(info.description ?? "")}</p>`,
    `<p>The same as a document for programs: <a href="/openapi.json">openapi.json</a></p>\n`,
    ...groups,
    "<h2>Types</h2>\n",
    ...schemas,
    "</body></html>\n",
  ].join("")
}

/** The page may show itself, and load, run and send nothing. */
const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Serves the page. */
export const documentation = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const { api } = yield* HttpApi.Api
    const page = documentationOf(OpenApi.fromApi(api) as Document)
    yield* router.get(
      "/docs",
      HttpServerResponse.html(page).pipe(
        HttpServerResponse.setHeader("content-security-policy", policy),
        Effect.succeed,
      ),
    )
  }),
)
