import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decodeMessages, encodeMessages } from "./index.js"

describe("encodeMessages", () => {
  it("writes one tool message for each of several results", () => {
    const message: Message.Message = {
      role: "tool",
      parts: [
        { type: "tool-result", id: "a", output: "14 °C" },
        { type: "text", text: "and rain" },
        { type: "tool-result", id: "b", output: "", isError: true },
        { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" },
      ],
    }
    expect(encodeMessages([message])).toEqual([
      {
        role: "tool",
        tool_call_id: "a",
        content: [
          { type: "text", text: "14 °C" },
          { type: "text", text: "and rain" },
        ],
      },
      { role: "tool", tool_call_id: "b", content: "" },
    ])
  })

  it("writes results that stand in a user message before it", () => {
    const message: Message.Message = {
      role: "user",
      parts: [
        { type: "text", text: "Here you are." },
        { type: "tool-result", id: "a", output: "14 °C" },
      ],
    }
    expect(encodeMessages([message])).toEqual([
      { role: "tool", tool_call_id: "a", content: "14 °C" },
      { role: "user", content: "Here you are." },
    ])
  })

  it("leaves out what OpenAI cannot carry", () => {
    const message: Message.Message = {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm", signature: "s" },
        { type: "reasoning", text: "hm" },
        { type: "opaque", provider: "anthropic", data: { type: "redacted_thinking", data: "…" } },
        { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" },
        { type: "text", text: "42" },
      ],
    }
    expect(encodeMessages([message])).toEqual([{ role: "assistant", content: "42" }])
    const nothing = { ...message, parts: message.parts.slice(0, 4) }
    expect(encodeMessages([nothing, { role: "user", parts: [] }, { role: "tool", parts: [] }])).toEqual([])
  })

  it("sends files of a user where the API takes them", () => {
    const file = (mediaType: string, uri: string): Message.Message => ({
      role: "user",
      parts: [{ type: "file", mediaType, uri }],
    })
    expect(
      encodeMessages([
        file("image/jpeg", "https://example.org/a.jpg"),
        file("audio/wav", "data:audio/wav;base64,UklGRg=="),
        file("audio/wav", "https://example.org/a.wav"),
        file("application/pdf", "https://example.org/a.pdf"),
        file("text/plain", "data:text/plain,hi"),
      ]),
    ).toEqual([
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.org/a.jpg" } }] },
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }] },
      { role: "user", content: [{ type: "file", file: { file_data: "data:text/plain,hi" } }] },
    ])
  })

  it("sends or omits fields that the API does not document", () => {
    const wire = [{ role: "user", content: "hi", trace: 7 }]
    const messages = Either.getOrThrow(decodeMessages(wire))
    expect(encodeMessages(messages)).toEqual(wire)
    expect(encodeMessages(messages, { extraFields: "omit" })).toEqual([{ role: "user", content: "hi" }])
  })

  it("ignores a form it cannot read", () => {
    const message = Message.user("hi", { metadata: { openai: { content: "sideways", parts: 3 } } })
    expect(encodeMessages([message])).toEqual([{ role: "user", content: "hi" }])
  })

  it("does not write reasoning under an old form once the parts changed", () => {
    const [message] = Either.getOrThrow(
      decodeMessages([
        { role: "assistant", reasoning_content: "hm", content: [{ type: "text", text: "42" }] },
      ]),
    )
    expect(encodeMessages([{ ...message!, parts: [{ type: "text", text: "43" }] }])).toEqual([
      { role: "assistant", content: [{ type: "text", text: "43" }] },
    ])
  })
})
