import { describe, expect, it } from "vitest"
import { known, onlyKnown } from "./index.js"

describe("onlyKnown", () => {
  const allowed = known("role", {
    audio: known("id"),
    content: { types: { text: known("type text"), note: known("type", { content: known("said") }) } },
  })

  it("keeps the fields of a request, and those that are named, at every depth", () => {
    const message = { role: "user", content: [1], audio: { id: "a", data: "AAAA", trace: 1 }, trace: 2 }
    expect(onlyKnown(message, allowed)).toEqual({ role: "user", content: [1], audio: { id: "a" } })
    expect(onlyKnown(message, allowed, new Set(["trace"]))).toEqual({
      role: "user",
      content: [1],
      audio: { id: "a", trace: 1 },
      trace: 2,
    })
  })

  it("keeps in lists what each type has, and what is of another type as it came", () => {
    const content = [
      { type: "text", text: "Hi", trace: 1 },
      { type: "note", content: [{ said: "Hi", trace: 2 }] },
      { type: "new", trace: 3 },
    ]
    expect(onlyKnown({ content }, allowed)).toEqual({
      content: [
        { type: "text", text: "Hi" },
        { type: "note", content: [{ said: "Hi" }] },
        { type: "new", trace: 3 },
      ],
    })
  })

  it("gives the object itself where every field is known", () => {
    const message = { role: "user", content: [{ type: "text", text: "Hi" }], audio: { id: "a" } }
    expect(onlyKnown(message, allowed)).toBe(message)
  })

  it("knows no field that an object inherits", () => {
    const message = JSON.parse('{"role":"user","__proto__":{"a":1},"constructor":1}') as Record<
      string,
      unknown
    >
    expect(Object.keys(onlyKnown(message, allowed))).toEqual(["role"])
  })
})
