import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { atOnce } from "@memfold/log/breathe"
import { listIn, withItems } from "./jsonText.js"

/** JSON with spaces wherever they may stand. */
const spaced = (value: unknown, space: string): string => {
  const pad = (text: string): string => `${space}${text}${space}`
  if (Array.isArray(value)) return `[${value.map((one) => pad(spaced(one, space))).join(",")}${space}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, one]) => `${pad(JSON.stringify(name))}:${pad(spaced(one, space))}`,
  )
  return `{${fields.join(",")}${space}}`
}

describe("a list in a text of JSON", () => {
  it("is found with the text of each of its items, whatever stands around it", () => {
    const body = fc.record({
      before: fc.jsonValue(),
      messages: fc.array(fc.jsonValue()),
      'af"ter\\': fc.jsonValue(),
    })
    fc.assert(
      fc.property(body, fc.constantFrom("", " ", "\n\t "), (value, space) => {
        const text = `${space}${spaced(value, space)}`
        const list = atOnce(listIn(text, "messages"))!
        expect(list.items.map(([from, to]) => JSON.parse(text.slice(from, to)) as unknown)).toEqual(
          JSON.parse(JSON.stringify(value.messages)),
        )
        const parsed = JSON.parse(withItems(text, list, ['{"new":1}', "2"])) as Record<string, unknown>
        expect(parsed).toEqual({ ...(JSON.parse(text) as object), messages: [{ new: 1 }, 2] })
      }),
    )
  })

  it.each([
    '{"messages":{}}',
    '{"messages":[],"messages":[]}',
    "{}",
    '{"other":{"messages":[]}}',
    '{"messages":"[]"}',
  ])("is not found in %s", (text) => {
    expect(atOnce(listIn(text, "messages"))).toBeNull()
  })

  it("leaves numbers as they were written", () => {
    const text = '{ "id": 12345678901234567890, "messages": [1e400, 0.10] }'
    const list = atOnce(listIn(text, "messages"))!
    expect(list.items.map(([from, to]) => text.slice(from, to))).toEqual(["1e400", "0.10"])
    expect(withItems(text, list, ["3"])).toBe(
      '{ "id": 12345678901234567890, "messages": [3] }'.replace("[3]", "[3]"),
    )
  })
})
