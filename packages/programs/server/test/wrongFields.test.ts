/** A field with a wrong value: on every route, the answer names the field and says what is allowed. */
import { expect, it } from "vitest"
import { ask, started } from "./services.js"

interface Shape {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly anyOf?: ReadonlyArray<Shape>
}

interface Operation {
  readonly parameters?: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly description?: string
  }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

const documentAt = async (url: string): Promise<Document> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as Document

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      ...operation,
    })),
  )

/** The fields of a body, of each form that it may have. */
const fieldsOf = (schema: Shape, { components }: Document): ReadonlyArray<string> => {
  const { $ref, properties = {}, anyOf = [] } = schema
  if ($ref !== undefined)
    return fieldsOf(components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}, { paths: {}, components })
  return [...Object.keys(properties), ...anyOf.flatMap((one) => fieldsOf(one, { paths: {}, components }))]
}

it("is refused with what is allowed there, in one line", async () => {
  const { url } = await started()
  const document = await documentAt(url)
  const unclear: Array<string> = []
  let refused = 0
  for (const { method, path, parameters = [], requestBody } of operationsOf(document)) {
    const to = `${url}${path.replaceAll(/\{\w+\}/g, "one")}`
    const said = async (field: string, value: string, answer: ReturnType<typeof ask>) => {
      const { status, body } = await answer
      expect(status).toBeLessThan(500)
      if (status !== 400) return
      refused++
      const { detail = JSON.stringify(body) } = body as { readonly detail?: string }
      if (/ is wrong(?!; allowed: )/.test(detail) || detail.includes("\n"))
        unclear.push(`${method} ${path} ${field} = ${value}: ${detail}`)
    }
    for (const { name } of parameters.filter((one) => one.in === "query"))
      for (const value of ["x", "-1", "1.5", ""])
        await said(name, value, ask(`${to}?${name}=${value}`, { method }))
    for (const { schema } of Object.values(requestBody?.content ?? {}))
      for (const field of fieldsOf(schema, document))
        for (const value of [{ wrong: 1 }, -1.5, "", null]) {
          const body = { messages: [{ role: "user", content: "Hi" }], from: 0, [field]: value }
          await said(field, JSON.stringify(value), ask(to, { method, body }))
        }
  }
  expect(unclear).toEqual([])
  expect(refused).toBeGreaterThan(200)
})

it("is documented with what it is for, and not with how it is read", async () => {
  const { url } = await started()
  for (const path of ["openapi.json", "docs"]) {
    const page = await (await fetch(`${url}/${path}`)).text()
    // The platform's words for types and errors of its own.
    expect(page.match(/.{0,80}(to be decoded|HttpApiDecodeError).{0,20}/g) ?? []).toEqual([])
  }
})
