import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decodeMessages, encodeAndReport, encodeMessages } from "./index.js"

describe("encodeMessages", () => {
  it("writes no empty list where nothing of a result can be sent", () => {
    const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/page.png" }
    const shown = Message.result({ id: "c1", output: Message.outputOf([image]), content: [image] })
    const call = Message.call([{ id: "c1", name: "screenshot", arguments: "{}" }])
    expect(encodeMessages([call, shown])[1]).toEqual({ role: "tool", tool_call_id: "c1", content: "" })
  })

  it("leaves out a call that is not the assistant's, with its result", () => {
    const call = { type: "tool-call" as const, id: "c1", name: "search", arguments: "{}" }
    const given: ReadonlyArray<Message.Message> = [
      { role: "user", parts: [{ type: "text", text: "hi" }, call] },
      Message.result({ id: "c1", output: "found" }),
      Message.user("there"),
    ]
    const sent = JSON.stringify(encodeMessages(given))
    expect(sent).toContain("hi")
    expect(sent).toContain("there")
    expect(sent).not.toContain("c1")
    expect(encodeAndReport(given).omitted).toEqual([
      { message: 0, part: "tool-call" },
      { message: 1, part: "tool-result" },
    ])
  })

  it("writes no half of a surrogate pair, unless it is to be exact", () => {
    const given = [Message.user("half \ud83d")]
    expect(encodeMessages(given)[0]?.content).toBe("half \ufffd")
    expect(encodeMessages(given, { exact: true })[0]?.content).toBe("half \ud83d")
  })

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

  it("sends fields that the API does not document only to a server that takes them", () => {
    const wire = [{ role: "user", content: "hi", trace: 7 }]
    const messages = Either.getOrThrow(decodeMessages(wire))
    expect(encodeMessages(messages)).toEqual([{ role: "user", content: "hi" }])
    expect(encodeMessages(messages, { extraFields: ["trace"] })).toEqual(wire)
  })

  it("reports what it leaves out", () => {
    const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/a.png" }
    const content = [{ type: "text" as const, text: "The page:" }, image]
    const { messages, omitted } = encodeAndReport([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm", signature: "s" },
          { type: "opaque", provider: "anthropic", data: { type: "redacted_thinking", data: "…" } },
          { type: "tool-call", id: "a", name: "look", arguments: "{}" },
        ],
      },
      Message.result({ id: "a", output: Message.outputOf(content), content, isError: true }),
    ])
    expect(messages[1]).toEqual({
      role: "tool",
      tool_call_id: "a",
      content: [{ type: "text", text: "The page:" }],
    })
    expect(omitted).toEqual([
      { message: 0, part: "reasoning" },
      { message: 0, part: "opaque" },
      { message: 1, part: "file" },
      { message: 1, part: "is-error" },
    ])
  })

  it("writes what the API accepts: nothing empty, no ids that are too long, no fields of a response", () => {
    const long = "x".repeat(41)
    const call = {
      id: long,
      type: "function",
      function: { name: "f", arguments: "{}", parsed_arguments: {} },
    }
    const wire = [
      { role: "user", content: null },
      { role: "user", content: [] },
      { role: "assistant", content: null },
      { role: "assistant", content: "a", tool_calls: [], annotations: [], parsed: null },
      { role: "assistant", content: null, audio: { id: "audio_1", data: "AAAA", transcript: "hi" } },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: long, content: null },
    ]
    const messages = Either.getOrThrow(decodeMessages(wire))
    expect(encodeMessages(messages, { exact: true })).toEqual(wire)
    const id = expect.stringMatching(/^call_[0-9a-f]{16}$/)
    const written = encodeMessages(messages)
    expect(written).toEqual([
      { role: "assistant", content: "a" },
      { role: "assistant", content: null, audio: { id: "audio_1" } },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: "" },
    ])
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
