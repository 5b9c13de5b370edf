import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { objectOf, parseExactly } from "./index.js"

describe("parseExactly", () => {
  it.each([
    "9007199254740993",
    "-9007199254740993",
    "123456789012345678901234567890",
    "1e400",
    "-1E+400",
    "1e-400",
    "3.14159265358979323846",
    "1.00000000000000000001",
    "0.12345678901234567890123",
  ])("keeps the digits of %s", (number) => {
    expect(parseExactly(number)).toBe(number)
    expect(parseExactly(`{"a":[${number},"${number}",{"b":${number}}]}`)).toEqual({
      a: [number, number, { b: number }],
    })
  })

  it.each([
    "0",
    "-0.0",
    "1.50",
    "1e3",
    "1E-7",
    "9007199254740991",
    "1e21",
    "100000000000000000000",
    "0.1",
    "1.5e300",
  ])("reads %s as a number", (number) => {
    expect(parseExactly(`{"a":${number}}`)).toEqual(JSON.parse(`{"a":${number}}`))
  })

  it("leaves texts alone, whatever is in them", () => {
    const text = '{"1e400":"say \\"9007199254740993\\" and 1e400","b":9007199254740993}'
    expect(parseExactly(text)).toEqual({
      "1e400": 'say "9007199254740993" and 1e400',
      b: "9007199254740993",
    })
  })

  it("reads a long text, with whatever is in it", () => {
    const content = '1e5 "\\\n'.repeat(2_000_000)
    const text = JSON.stringify({ content })
    expect(objectOf(text)?.["content"]).toBe(content)
    expect(parseExactly(`{"a":1e400,${text.slice(1)}`)).toEqual({ a: "1e400", content })
  })

  it("makes no JSON of what is none", () => {
    for (const number of [
      "12345678901234567e",
      "-",
      "1e400.",
      "012345678901234567890",
      "1".repeat(10_000) + "-",
    ])
      expect(() => parseExactly(`{"a":${number}}`)).toThrow(SyntaxError)
    const long = "9".repeat(100_000)
    expect(parseExactly(`[${long}]`)).toEqual([long])
  })

  it("reads all else as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseExactly(text)).toEqual(JSON.parse(text))
      }),
    )
    expect(() => parseExactly('{"a":12345678901234567')).toThrow(SyntaxError)
    expect(objectOf('{"a":12345678901234567')).toBeUndefined()
  })
})
