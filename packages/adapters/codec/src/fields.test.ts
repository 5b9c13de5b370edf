import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { agrees, isFields, rest, restore, type Fields } from "./fields.js"

const fields = fc.jsonValue().filter(isFields) as fc.Arbitrary<Fields>

describe("fields", () => {
  it("gives back what was taken apart", () => {
    fc.assert(
      fc.property(fields, fc.func(fc.boolean()), (raw, keeps) => {
        const known = Object.fromEntries(Object.entries(raw).filter(([key]) => keeps(key)))
        expect(restore(known, rest(raw, known))).toEqual(raw)
      }),
    )
  })

  it("takes nested objects apart as well", () => {
    const raw = { type: "image_url", image_url: { url: "u", detail: "low" } }
    const known = { type: "image_url", image_url: { url: "u" } }
    expect(rest(raw, known)).toEqual({ image_url: { detail: "low" } })
    expect(restore(known, rest(raw, known))).toEqual(raw)
  })

  it("keeps a field called __proto__", () => {
    const raw = JSON.parse('{"a":1,"__proto__":{"b":2}}') as Fields
    expect(JSON.stringify(restore({ a: 1 }, rest(raw, { a: 1 })))).toBe('{"__proto__":{"b":2},"a":1}')
    expect(rest({ constructor: 1 }, {})).toEqual({ constructor: 1 })
    expect(agrees({}, { toString: Object.prototype.toString })).toBe(false)
  })

  it("tells agreement from difference", () => {
    expect(agrees({ a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } })).toBe(true)
    expect(agrees({ b: { c: 2 } }, { b: { c: 3 } })).toBe(false)
    expect(agrees({ b: 1 }, { b: { c: 3 } })).toBe(false)
  })

  it("does not keep what is undefined", () => {
    expect(rest({ a: undefined }, {})).toBeUndefined()
  })
})
