/** The page that documents the operations. */
import { expect, it } from "vitest"
import { documentationOf } from "../src/documentation.js"
import { started } from "./services.js"

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: object }
}

it("names each operation and each type of the OpenAPI document, and is small", async () => {
  const { url } = await started()
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  const response = await fetch(`${url}/docs`)
  expect(response.headers.get("content-type")).toMatch(/^text\/html/)
  const page = await response.text()
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  expect(operations.length).toBeGreaterThan(30)
  for (const { operationId } of operations) expect(page).toContain(`<details id="${operationId}">`)
  for (const name of Object.keys(document.components.schemas)) expect(page).toContain(`<h3 id="${name}">`)
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/gu)].map(([, id]) => id))
  const links = [...page.matchAll(/ href="#([^"]+)"/gu)].map(([, id]) => id)
  expect(links.filter((id) => !ids.has(id))).toEqual([])
  expect(page.length).toBeLessThan(200_000)
})

it("runs nothing and loads nothing", async () => {
  const { url } = await started()
  const response = await fetch(`${url}/docs`)
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/)
  expect(await response.text()).not.toMatch(/<script|<link|<img| src=| style="| on\w+=/iu)
})

it("has the texts of the document as texts", () => {
  const page = documentationOf({
    info: { title: "a < b & c" },
    tags: [{ name: "one" }],
    paths: {
      "/a/{b}": {
        get: {
          tags: ["one"],
          operationId: "one.a",
          description: "See `next`, not <script>",
          parameters: [
            { name: "b", in: "path", required: true, schema: { type: "string", description: "an id" } },
            { name: "c", in: "query", schema: { enum: ["x", 1] } },
          ],
          responses: {
            200: {
              content: {
                "application/json": {
                  schema: {
                    type: "object",
                    required: ["d"],
                    properties: {
                      d: { type: "array", items: { $ref: "#/components/schemas/D" } },
                      e: { anyOf: [{ type: "number" }, { type: "null" }], description: "how many" },
                    },
                  },
                },
              },
            },
            404: { description: "There is none" },
          },
        },
      },
    },
    components: { schemas: { D: { type: "string", description: "A day" } } },
  })
  expect(page).toContain("<h1>a &lt; b &amp; c</h1>")
  expect(page).toContain("See <code>next</code>, not &lt;script&gt;")
  expect(page).toContain("<td><code>b</code></td><td>path</td><td>string</td><td>an id</td>")
  expect(page).toContain(
    '<td><code>c</code></td><td>query, optional</td><td>"x" | 1</td>'.replaceAll('"', "&quot;"),
  )
  expect(page).toContain('d: Array&lt;<a href="#D">D</a>&gt;')
  expect(page).toContain("e?: number | null <i>how many</i>")
  expect(page).toContain("<li>404: There is none</li>")
})
