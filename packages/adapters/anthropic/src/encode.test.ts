import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decodeMessage, decodeMessages, encodeMessages } from "./index.js"

describe("encodeMessages", () => {
  it("hoists every system message", () => {
    expect(
      encodeMessages([
        Message.system("One."),
        Message.user("hi"),
        Message.system("Two."),
        Message.user("there"),
      ]),
    ).toEqual({
      system: [
        { type: "text", text: "One." },
        { type: "text", text: "Two." },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "hi" },
            { type: "text", text: "there" },
          ],
        },
      ],
    })
    expect(encodeMessages([Message.user("hi")])).not.toHaveProperty("system")
  })

  it("gathers the results of parallel calls in one message, before what the user says", () => {
    const call = (id: string) => ({ id, name: "f", arguments: "{}" })
    const { messages } = encodeMessages([
      Message.call([call("a"), call("b")]),
      Message.result({ id: "a", output: "1" }),
      Message.user("Hurry!"),
      Message.result({ id: "b", output: "2", isError: true }),
    ])
    expect(messages).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "f", input: {} },
          { type: "tool_use", id: "b", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "1" },
          { type: "tool_result", tool_use_id: "b", content: "2", is_error: true },
          { type: "text", text: "Hurry!" },
        ],
      },
    ])
  })

  it("wraps arguments that are no JSON object", () => {
    const inputs = ["", ' { "a": 1 } ', "[1]", "7", '{"a":', "*** Begin Patch"].map((text) => {
      const { messages } = encodeMessages([Message.call([{ id: "c", name: "f", arguments: text }])])
      return (messages[0]!.content[0] as { input: unknown }).input
    })
    expect(inputs).toEqual([
      {},
      { a: 1 },
      { raw_arguments: "[1]" },
      { raw_arguments: "7" },
      { raw_arguments: '{"a":' },
      { raw_arguments: "*** Begin Patch" },
    ])
  })

  it("leaves out what Anthropic cannot carry, and messages of which nothing remains", () => {
    const file = (mediaType: string, uri: string) => ({ type: "file" as const, mediaType, uri })
    const { messages } = encodeMessages([
      {
        role: "user",
        parts: [
          { type: "text", text: "" },
          file("audio/wav", "data:audio/wav;base64,UklGRg=="),
          file("text/csv", "data:text/csv,a"),
          file("text/plain", "https://example.org/a.txt"),
          file("text/plain", "data:text/plain;charset=utf-8,%"),
          file("image/png", "data:text/plain;charset=utf-8,a"),
          { type: "tool-call", id: "c", name: "f", arguments: "{}" },
          { type: "opaque", provider: "openai", data: { type: "refusal", refusal: "No." } },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "unsigned" },
          file("image/png", "data:image/png;base64,AAAA"),
          { type: "text", text: " \n" },
        ],
      },
      Message.user("hi"),
    ])
    expect(messages).toEqual([{ role: "user", content: "hi" }])
  })

  it("sends results and text of a user message apart from each other", () => {
    const message: Message.Message = {
      role: "user",
      parts: [
        { type: "tool-result", id: "a", output: "1" },
        { type: "text", text: "there" },
      ],
    }
    expect(encodeMessages([message]).messages[0]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "1" },
      { type: "text", text: "there" },
    ])
  })

  it("sends or omits unknown fields of a message", () => {
    const messages = Either.getOrThrow(
      decodeMessages([
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: "1" },
            { type: "text", text: "x" },
          ],
          trace: 7,
        },
      ]),
    )
    expect(encodeMessages(messages).messages[0]).toHaveProperty("trace", 7)
    expect(encodeMessages(messages, { extraFields: "omit" }).messages[0]).not.toHaveProperty("trace")
  })

  it("joins the unknown fields of messages that travel as one", () => {
    const decoded = ["a", "b"].flatMap((field) =>
      Either.getOrThrow(decodeMessage({ role: "user", content: field, id: field, [field]: 1 })),
    )
    expect(encodeMessages(decoded).messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
        id: "a",
        a: 1,
        b: 1,
      },
    ])
  })

  it("writes the output of a result that came without content and has one now", () => {
    const [message] = Either.getOrThrow(
      decodeMessages([{ role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] }]),
    )
    const parts = [{ type: "tool-result" as const, id: "a", output: "late" }]
    expect(encodeMessages([{ ...message!, parts }]).messages[0]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "late" },
    ])
  })

  it("ignores a form it cannot read", () => {
    const message = Message.user("hi", { metadata: { anthropic: { blocks: 3 } } })
    expect(encodeMessages([message]).messages).toEqual([{ role: "user", content: "hi" }])
  })
})
