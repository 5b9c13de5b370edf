import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decodeMessage, decodeMessages, encodeMessages } from "./index.js"

/** Decodes, and checks on the way that the very same conversation comes out again. */
const both = (wire: { system?: unknown; messages: ReadonlyArray<unknown> }) => {
  const messages = Either.getOrThrow(decodeMessages(wire))
  expect(encodeMessages(messages, { exact: true })).toEqual(wire)
  return messages
}
const one = (...messages: ReadonlyArray<unknown>) => both({ messages })

const failure = (input: unknown): string => {
  const result = decodeMessages(input)
  return Either.isLeft(result) ? result.left.message : "decoded"
}

describe("decodeMessages", () => {
  it("reads plain text and the system field", () => {
    expect(
      both({
        system: "Be brief.",
        messages: [
          { role: "user", content: "你好 👋" },
          { role: "assistant", content: "Hello." },
        ],
      }),
    ).toEqual([Message.system("Be brief."), Message.user("你好 👋"), Message.assistant("Hello.")])
  })

  it("reads a bare list", () => {
    expect(Either.getOrThrow(decodeMessages([{ role: "user", content: "hi" }]))).toEqual([Message.user("hi")])
  })

  it("reads parallel calls, their results and what the user says next", () => {
    const messages = one(
      { role: "user", content: "Weather in Graz and Linz?" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Two cities.", signature: "c2ln" },
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Graz" } },
          { type: "tool_use", id: "toolu_2", name: "weather", input: { city: "Linz", days: [1, 2] } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "14 °C" },
          { type: "tool_result", tool_use_id: "toolu_2", content: "no such city", is_error: true },
          { type: "text", text: "In Fahrenheit, please." },
        ],
      },
    )
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "Two cities.", signature: "c2ln" },
          { type: "text", text: "Looking." },
          { type: "tool-call", id: "toolu_1", name: "weather", arguments: '{"city":"Graz"}' },
          { type: "tool-call", id: "toolu_2", name: "weather", arguments: '{"city":"Linz","days":[1,2]}' },
        ],
      },
      {
        role: "tool",
        parts: [
          { type: "tool-result", id: "toolu_1", output: "14 °C" },
          { type: "tool-result", id: "toolu_2", output: "no such city", isError: true },
        ],
      },
      Message.user("In Fahrenheit, please."),
    ])
  })

  it("keeps a result whole, whatever it consists of", () => {
    const [message] = one({
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "a",
          cache_control: { type: "ephemeral" },
          content: [
            { type: "text", text: "A screenshot:" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
            { type: "text", text: "done" },
            { type: "tool_reference", tool_name: "zoom" },
          ],
        },
        { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "only" }], is_error: false },
        { type: "tool_result", tool_use_id: "c" },
        { type: "tool_result", tool_use_id: "d", content: [] },
        { type: "tool_result", tool_use_id: "e", content: "" },
        { type: "tool_result", tool_use_id: "f", content: [{ type: "text", text: "" }] },
        {
          type: "tool_result",
          tool_use_id: "g",
          content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
        },
      ],
    })
    const inside = { anthropic: { fields: { cache_control: { type: "ephemeral" } } } }
    expect(message!.parts).toEqual([
      {
        type: "tool-result",
        id: "a",
        output: "A screenshot:\ndone",
        content: [
          { type: "text", text: "A screenshot:" },
          { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" },
          { type: "text", text: "done" },
          { type: "opaque", provider: "anthropic", data: { type: "tool_reference", tool_name: "zoom" } },
        ],
        providerData: inside,
      },
      {
        type: "tool-result",
        id: "b",
        output: "only",
        isError: false,
        providerData: { anthropic: { content: "blocks" } },
      },
      { type: "tool-result", id: "c", output: "", providerData: { anthropic: { content: "absent" } } },
      { type: "tool-result", id: "d", output: "", providerData: { anthropic: { content: "blocks" } } },
      { type: "tool-result", id: "e", output: "" },
      { type: "tool-result", id: "f", output: "", content: [{ type: "text", text: "" }] },
      {
        type: "tool-result",
        id: "g",
        output: "x",
        content: [{ type: "text", text: "x", providerData: inside }],
      },
    ])
  })

  it("reads images and documents of a user", () => {
    const [message] = one({
      role: "user",
      content: [
        { type: "image", source: { type: "url", url: "https://example.org/a.png" } },
        { type: "image", source: { type: "base64", media_type: "image/webp", data: "UklGRg==" } },
        {
          type: "document",
          title: "Terms",
          context: "signed",
          citations: { enabled: true },
          source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
        },
        { type: "document", title: null, source: { type: "url", url: "https://example.org/a.pdf" } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "50 % 你好" } },
      ],
    })
    expect(message!.parts).toEqual([
      { type: "file", mediaType: "image/*", uri: "https://example.org/a.png" },
      { type: "file", mediaType: "image/webp", uri: "data:image/webp;base64,UklGRg==" },
      {
        type: "file",
        mediaType: "application/pdf",
        uri: "data:application/pdf;base64,JVBERi0=",
        name: "Terms",
        providerData: { anthropic: { fields: { context: "signed", citations: { enabled: true } } } },
      },
      {
        type: "file",
        mediaType: "application/pdf",
        uri: "https://example.org/a.pdf",
        providerData: { anthropic: { fields: { title: null } } },
      },
      {
        type: "file",
        mediaType: "text/plain",
        uri: "data:text/plain;charset=utf-8,50%20%25%20%E4%BD%A0%E5%A5%BD",
      },
    ])
  })

  it("keeps what it does not know as it came", () => {
    const strange = [
      { type: "image", source: { type: "file", file_id: "file_1" } },
      { type: "image", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } },
      { type: "document", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "half \ud83d" } },
      { type: "document", source: { type: "content", content: "text" } },
      { type: "search_result", source: "https://example.org", title: "t", content: [] },
    ]
    const [message] = one({ role: "user", content: strange })
    expect(message!.parts).toEqual(strange.map((data) => ({ type: "opaque", provider: "anthropic", data })))
    const [, hidden] = one(
      { role: "user", content: "search" },
      {
        role: "assistant",
        content: [
          { type: "redacted_thinking", data: "…" },
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "fold" } },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
          { type: "text", text: "A fold.", citations: [{ type: "page_location", cited_text: "fold" }] },
          { type: "tool_use", id: "t", name: "f", input: {}, caller: { type: "direct" } },
        ],
      },
    )
    expect(hidden!.parts[0]).toMatchObject({ type: "opaque", bound: true })
    expect(hidden!.parts[1]).not.toHaveProperty("bound")
  })

  it("tells the ways of writing the same text apart", () => {
    const messages = one(
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [] },
      { role: "user", content: "" },
      { role: "assistant", content: [{ type: "text", text: "" }] },
      { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }] },
      { role: "assistant", content: [{ type: "thinking", thinking: "unsigned" }] },
    )
    expect(messages.map(Message.text)).toEqual(["hi", "", "", "", "hi", ""])
    both({ system: [{ type: "text", text: "Be brief." }], messages: [] })
    both({
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } },
      ],
      messages: [],
    })
  })

  it("keeps neighbours of the same role apart, and system messages in their place", () => {
    const messages = one(
      { role: "user", content: "Hello?" },
      { role: "user", content: "Anyone?" },
      { role: "system", content: "Answer in French." },
      { role: "assistant", content: "Oui." },
    )
    expect(messages.map((message) => message.role)).toEqual(["user", "user", "system", "assistant"])
  })

  it("moves results to the front of their message", () => {
    const messages = Either.getOrThrow(
      decodeMessages([
        {
          role: "user",
          content: [
            { type: "text", text: "Here." },
            { type: "tool_result", tool_use_id: "a", content: "14 °C" },
          ],
        },
      ]),
    )
    expect(messages.map((message) => message.role)).toEqual(["tool", "user"])
    expect(encodeMessages(messages).messages).toEqual([
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "14 °C" },
          { type: "text", text: "Here." },
        ],
      },
    ])
  })

  it("says where a message is wrong and what is allowed", () => {
    const content = (role: string, ...blocks: ReadonlyArray<unknown>) => failure([{ role, content: blocks }])
    const allowed = 'a list of messages, or an object with "messages" and perhaps "system"'
    expect(failure(5)).toBe(`the input is a number; allowed: ${allowed}`)
    expect(failure({ model: "m" })).toBe(`the input has no list of messages; allowed: ${allowed}`)
    expect(failure({ system: [{ type: "text" }], messages: [] })).toBe(
      "the input has no system[0].text; allowed: a string",
    )
    expect(failure([{ content: "hi" }])).toBe("message 0 has no role; allowed: user, assistant, system")
    expect(failure([{ role: "tool", content: "hi" }])).toMatch("message 0 has an unknown role; allowed: user")
    expect(failure([{ role: "user", content: null }])).toBe(
      "message 0 has null at content; allowed: a string or a list of content blocks",
    )
    expect(content("user", { type: "tool_result", content: "x" })).toBe(
      "message 0 has no content[0].tool_use_id; allowed: a string",
    )
    expect(
      content("user", { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: 1 }] }),
    ).toBe("message 0 has a number at content[0].content[0].text; allowed: a string")
    expect(content("assistant", { type: "tool_use", id: "a", name: "f", input: "{}" })).toBe(
      "message 0 has a string at content[0].input; allowed: a JSON object",
    )
    expect(content("assistant", { type: "tool_use", id: "a", name: "f", input: { n: 1n } })).toBe(
      "message 0 has an object at content[0].input; allowed: a JSON object",
    )
  })

  it("refuses messages of other libraries, and names what reads them", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
    const named = (input: unknown) => {
      const result = decodeMessages([{ role: "user", content: "hi" }, input])
      return Either.isLeft(result) ? result.left : undefined
    }
    expect(named({ role: "assistant", content: null, tool_calls: [call] })).toMatchObject({
      _tag: "AnthropicDecodeError",
      index: 1,
      use: '@memfold/openai (format "openai")',
      message:
        'message 1 is one of Chat Completions; allowed: messages of Anthropic Messages; for messages of Chat Completions, use @memfold/openai (format "openai")',
    })
    const use = (input: unknown) => named(input)?.use
    const said = (...content: ReadonlyArray<unknown>) => use({ role: "assistant", content })
    expect(use({ role: "tool", tool_call_id: "c", content: "x" })).toMatch('"openai"')
    expect(use({ object: "chat.completion", choices: [] })).toMatch('"openai"')
    expect(said({ type: "image_url", image_url: { url: "https://example.org/a.png" } })).toMatch('"openai"')
    expect(said({ type: "output_text", text: "hi" })).toMatch('"openai-responses"')
    expect(use({ type: "function_call", call_id: "c", name: "f", arguments: "{}" })).toMatch("responses")
    expect(said({ type: "tool-call", toolCallId: "c", toolName: "f", input: {} })).toBe("@memfold/ai-sdk")
    expect(said({ type: "reasoning", text: "hm" })).toBe("@memfold/ai-sdk")
    expect(use({ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] })).toBe("@memfold/ai-sdk")
    expect(use(Message.user("hi"))).toMatch('"memfold"')
    expect(use({ lc: 1, type: "constructor", id: ["AIMessage"], kwargs: {} })).toBe("@memfold/langchain")
  })

  it("never shows what was said", () => {
    const secret = "the password is hunter2"
    for (const wrong of [
      secret,
      { messages: secret },
      [{ role: secret }],
      [{ role: "user", content: { secret } }],
      [{ role: "user", content: [{ text: secret }] }],
      [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: { secret }, input: {} }] }],
    ]) {
      const result = decodeMessages(wrong)
      if (Either.isRight(result)) throw new Error("should not have been decoded")
      expect(`${result.left} ${JSON.stringify(result.left)}`).not.toMatch("hunter2")
    }
  })
})

describe("decodeMessage", () => {
  const response = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude",
    content: [{ type: "text", text: "Hello.", citations: null }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 2_000,
      output_tokens: 7,
      service_tier: "standard",
    },
  }

  it("reads a response with its usage, and does not send the response's fields back", () => {
    const [message] = Either.getOrThrow(decodeMessage(response))
    expect(message!.usage).toEqual({ input: 2_103, output: 7 })
    expect(encodeMessages([Message.user("Hi"), message!]).messages[1]).toEqual({
      role: "assistant",
      content: response.content,
    })
  })

  it("does without a usage it cannot read", () => {
    for (const usage of [null, {}, { input_tokens: -1, output_tokens: 2 }]) {
      const [message] = Either.getOrThrow(decodeMessage({ ...response, usage }))
      expect(message!.usage).toBeUndefined()
    }
  })
})
