import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { isExactMessage } from "./exact.js"
import { Message } from "./Message.js"

const decode = Schema.decodeUnknownEither(Message)

const providerData = { openai: { fields: { cache: 1 } } }
const text = { type: "text", text: "It rains.", providerData }
const file = { type: "file", mediaType: "image/png", uri: "https://example.org/a.png", name: "a" }
const opaque = {
  type: "opaque",
  provider: "openai",
  data: { a: [1] },
  replaces: "text-before",
  model: "m",
  bound: true,
}
const result = {
  type: "tool-result",
  id: "c1",
  name: "weather",
  output: "",
  content: [text, file, opaque],
  isError: false,
}

/** One message with everything that there is. */
const full = {
  role: "assistant",
  parts: [
    { type: "text", text: "It rains." },
    { type: "reasoning", text: "Look outside.", signature: "EqQB" },
    { type: "tool-call", id: "c1", name: "weather", arguments: "{}" },
    result,
    file,
    opaque,
  ],
  name: "Ann",
  time: 1.5,
  pinned: true,
  usage: { input: 3, output: 4 },
  metadata: { mine: { a: 1 } },
}

/** A copy in which the value at a position, counted through all fields and elements, is changed. */
const changed = (value: unknown, position: number, change: (value: unknown) => unknown): unknown => {
  let at = 0
  const walk = (one: unknown): unknown => {
    if (at++ === position) return change(one)
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== "object" || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, inside]) => [name, walk(inside)]))
  }
  return walk(value)
}

const edited = (value: unknown, edit: (entries: Array<[string, unknown]>) => Array<[string, unknown]>) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(edit(Object.entries(value)))
    : value

const changes = fc.oneof(
  fc.jsonValue().map((other) => () => other),
  fc.constantFrom("text", "file", "system", "__proto__", "", -1, 0.5, -0).map((other) => () => other),
  fc
    .nat(6)
    .map((gone) => (value: unknown) => edited(value, (all) => all.toSpliced(gone % (all.length || 1), 1))),
  fc.constant((value: unknown) => edited(value, (all) => all.toReversed())),
  fc
    .constantFrom("more", "name", "__proto__")
    .map((name) => (value: unknown) => edited(value, (all) => [...all, [name, "x"]])),
)

describe("the quick check of messages", () => {
  it("accepts each kind of part, with and without its optional fields", () => {
    expect(isExactMessage(full)).toBe(true)
    for (const part of full.parts) expect(isExactMessage({ role: "tool", parts: [part] })).toBe(true)
    expect(isExactMessage({ role: "user", parts: [{ type: "text", text: "" }] })).toBe(true)
    expect(isExactMessage({ role: "user", parts: [{ type: "tool-result", id: "", output: "" }] })).toBe(true)
  })

  it("asks the schema about a list with holes", () => {
    const parts: Array<unknown> = []
    parts[1] = text
    expect(isExactMessage({ role: "user", parts })).toBe(false)
    expect(Either.isRight(decode({ role: "user", parts }))).toBe(false)
  })

  it("accepts only what the schema decodes to the same value, fields in the same order", () => {
    let accepted = 0
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(60), changes), { maxLength: 2 }), (list) => {
        const value = list.reduce<unknown>((before, [at, change]) => changed(before, at, change), full)
        if (!isExactMessage(value)) return
        accepted++
        const decoded = decode(value)
        expect(Either.isRight(decoded)).toBe(true)
        expect(JSON.stringify(Either.getOrNull(decoded))).toBe(JSON.stringify(value))
        expect(Either.getOrNull(decoded)).toEqual(value)
      }),
      { numRuns: often(500, 2_000) },
    )
    expect(accepted).toBeGreaterThan(100)
  })
})
