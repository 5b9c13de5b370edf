import { describe, expect, it } from "vitest"
import { items } from "./items.js"
import * as Message from "./Message.js"
import * as Origin from "./Origin.js"

const file: Message.File = { type: "file", mediaType: "text/plain", uri: "data:text/plain,hi" }
const opaque = (provider: string, data: unknown): Message.Opaque => ({ type: "opaque", provider, data })
const of = (role: Message.Role, ...parts: ReadonlyArray<Message.Part>) => Origin.of({ role, parts })

describe("the origin of a message", () => {
  it("is its role for what is said", () => {
    for (const role of ["system", "user", "assistant"] as const) {
      expect(of(role, { type: "text", text: "hi" })).toBe(role)
      expect(of(role)).toBe(role)
    }
    expect(Origin.of(Message.call([{ id: "c1", name: "f", arguments: "{}" }]))).toBe("assistant")
  })

  it("is the lowest of its parts", () => {
    expect(Origin.of(Message.result({ id: "c1", output: "hi" }))).toBe("tool")
    expect(of("user", { type: "text", text: "hi" }, file)).toBe("retrieved")
    expect(of("assistant", { type: "text", text: "hi" }, file)).toBe("assistant")
    const cited = opaque("anthropic", { type: "search_result", title: "t", source: "s", content: [] })
    expect(
      Origin.of({
        role: "tool",
        parts: [{ type: "tool-result", id: "c1", output: "", content: [cited] }],
      }),
    ).toBe("retrieved")
  })

  it("is what the message says, if it says one", () => {
    expect(Origin.of(Message.user("hi", { origin: "external" }))).toBe("external")
    expect(Origin.of(Message.result({ id: "c1", output: "hi" }, { origin: "system" }))).toBe("system")
  })

  it("is the one of the type for each item of a provider, and never above its role", () => {
    for (const [provider, types] of Object.entries(items))
      for (const [type, { origin }] of Object.entries(types)) {
        const part = opaque(provider, { type, text: "hi" })
        expect([type, of("system", part)]).toEqual([type, origin ?? "system"])
        expect([type, of("tool", part)]).toEqual([
          type,
          origin !== undefined && Origin.isBelow(origin, "tool") ? origin : "tool",
        ])
      }
  })

  it("is external for data of a type that nobody knows, if it has text", () => {
    expect(of("user", opaque("somebody", { type: "new_item", note: "hi" }))).toBe("external")
    expect(of("user", opaque("somebody", { type: "new_item" }))).toBe("user")
  })

  it("gives material to every answer of a tool that a provider runs", () => {
    for (const [provider, types] of Object.entries(items))
      for (const [type, { answer }] of Object.entries(types)) {
        if (answer === undefined || type === "mcp_approval_response") continue
        expect([type, Origin.isMaterial(of("assistant", opaque(provider, { type })))]).toEqual([type, true])
      }
  })
})
