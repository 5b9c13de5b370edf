/** A field with a wrong value: on every route, the answer names the field and says what is allowed. */
import { expect, it } from "vitest"
import { type Named, namedBy, operationsOf, type Shape } from "./document.js"
import { ask, started } from "./services.js"

/** The fields of a body, of each form that it may have. */
const fieldsOf = ({ $ref, properties = {}, anyOf = [] }: Shape, known: Named): ReadonlyArray<string> =>
  $ref !== undefined
    ? fieldsOf(namedBy($ref, known), known)
    : [...Object.keys(properties), ...anyOf.flatMap((one) => fieldsOf(one, known))]

it("is refused with what is allowed there, in one line", async () => {
  const { url } = await started()
  const { operations, known } = await operationsOf(url)
  const unclear: Array<string> = []
  let refused = 0
  for (const { method, path, to, query, bodies } of operations) {
    const said = async (field: string, value: string, answer: ReturnType<typeof ask>) => {
      const { status, body } = await answer
      expect(status).toBeLessThan(500)
      if (status !== 400) return
      refused++
      const { detail = JSON.stringify(body) } = body as { readonly detail?: string }
      if (/ is wrong(?!; allowed: )/.test(detail) || detail.includes("\n"))
        unclear.push(`${method} ${path} ${field} = ${value}: ${detail}`)
    }
    for (const name of query)
      for (const value of ["x", "-1", "1.5", ""])
        await said(name, value, ask(`${to}?${name}=${value}`, { method }))
    for (const field of bodies.flatMap((schema) => fieldsOf(schema, known)))
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
