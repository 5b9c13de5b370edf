/** Law L16 for the AI SDK. */
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { modelMessage, uiMessages } from "../test/arbitrary.js"
import { decodeMessages, encodeMessages, encodeUIMessages } from "./index.js"

const stored = Schema.parseJson(Message.Message)
const throughLog = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => Schema.decodeSync(stored)(Schema.encodeSync(stored)(message)))

const decoded = (wire: ReadonlyArray<unknown>) => Either.getOrThrow(decodeMessages(wire))
const exact = { exact: true } as const

describe("L16: a codec reads back what it wrote", () => {
  it("model messages come out of a log as they went in", () => {
    fc.assert(
      fc.property(fc.array(modelMessage, { maxLength: 4 }), (wire) => {
        const written = encodeMessages(throughLog(decoded(wire)), exact)
        expect(written).toEqual(wire)
        // toEqual does not look at own fields called __proto__, their text does.
        expect(JSON.stringify(written).length).toBe(JSON.stringify(wire).length)
      }),
      { numRuns: often(200, 1_000) },
    )
  })

  it("decode, encode, decode gives the same messages", () => {
    fc.assert(
      fc.property(fc.array(modelMessage, { maxLength: 4 }), (wire) => {
        const messages = decoded(wire)
        expect(decoded(encodeMessages(messages, exact))).toEqual(messages)
      }),
      { numRuns: often(100, 500) },
    )
  })

  it("messages of a page come out of a log as they went in", () => {
    fc.assert(
      fc.property(uiMessages, (wire) => {
        const written = encodeUIMessages(throughLog(decoded(wire)))
        expect(written).toEqual(wire)
        expect(JSON.stringify(written).length).toBe(JSON.stringify(wire).length)
      }),
      { numRuns: often(200, 1_000) },
    )
  })
})

describe("a file in a tool result", () => {
  it.each([
    { type: "file", data: "https://example.org/a.png", mediaType: "image/png" },
    {
      type: "file",
      data: { type: "url", url: new URL("https://example.org/a.png") },
      mediaType: "image/png",
    },
    { type: "file-url", url: "https://example.org/a.png" },
    { type: "file-data", data: "AAAA", mediaType: "image/png" },
    { type: "image-data", data: "AAAA", mediaType: "image/png" },
    { type: "media", data: "AAAA", mediaType: "image/png" },
    { type: "image-url", url: "https://example.org/a.png" },
  ])("comes back as the type that it was: $type", (part) => {
    const output = { type: "content", value: [{ type: "text", text: "The page:" }, part] }
    const wire = [
      { role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "look", output }] },
    ]
    const messages = decoded(wire)
    expect(Message.results(messages[0]!)[0]?.content?.map(({ type }) => type)).toEqual(["text", "file"])
    expect(encodeMessages(throughLog(messages), exact)).toEqual(wire)
  })
})
