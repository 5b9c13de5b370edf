import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { decodeMessage, decodeMessages, encodeMessages } from "./index.js"

const decoded = (wire: unknown): Message.Message => Either.getOrThrow(decodeMessage(wire))

/** Decodes, and checks on the way that the very same message comes out again. */
const both = (wire: unknown): Message.Message => {
  const message = decoded(wire)
  expect(encodeMessages([message], { exact: true })).toEqual([wire])
  return message
}

const failure = (input: unknown): string => {
  const result = decodeMessages(input)
  return Either.isLeft(result) ? result.left.message : "decoded"
}

describe("decodeMessage", () => {
  it("reads the plain roles", () => {
    expect(both({ role: "system", content: "Be brief." })).toEqual(Message.system("Be brief."))
    expect(both({ role: "user", content: "你好 👋", name: "沈若棠" })).toEqual(
      Message.user("你好 👋", { name: "沈若棠" }),
    )
    expect(both({ role: "assistant", content: "Hello." })).toEqual(Message.assistant("Hello."))
  })

  it("remembers developer", () => {
    const message = both({ role: "developer", content: "Be brief." })
    expect(message.role).toBe("system")
  })

  it("reads parallel calls and their results", () => {
    const asked = both({
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "get_order", arguments: '{ "id": "#W1" }' } },
        { id: "call_2", type: "function", function: { name: "get_user", arguments: "" } },
      ],
    })
    expect(asked).toEqual(
      Message.call([
        { id: "call_1", name: "get_order", arguments: '{ "id": "#W1" }' },
        { id: "call_2", name: "get_user", arguments: "" },
      ]),
    )
    expect(both({ role: "tool", tool_call_id: "call_1", name: "get_order", content: "{}" })).toEqual(
      Message.result({ id: "call_1", name: "get_order", output: "{}" }),
    )
  })

  it("knows a failed call by the two fields that programs add for that", () => {
    const answer = { role: "tool", tool_call_id: "c", content: "no such city" }
    expect(both(answer).parts[0]).not.toHaveProperty("isError")
    expect(both({ ...answer, is_error: true }).parts[0]).toMatchObject({ isError: true })
    expect(both({ ...answer, status: "error" }).parts[0]).toMatchObject({ isError: true })
    expect(both({ ...answer, status: "success" }).parts[0]).not.toHaveProperty("isError")
  })

  it("tells no content from empty content", () => {
    const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
    expect(both({ role: "assistant", content: null, tool_calls: calls }).parts).toHaveLength(1)
    expect(both({ role: "assistant", content: "", tool_calls: calls }).parts).toHaveLength(2)
    expect(both({ role: "assistant", tool_calls: calls }).parts).toHaveLength(1)
    both({ role: "assistant", content: null })
    both({ role: "assistant", content: [] })
    both({ role: "assistant" })
    both({ role: "user", content: "" })
    both({ role: "user", content: null })
    both({ role: "tool", tool_call_id: "c", content: null })
  })

  it("reads custom calls and the old function calls", () => {
    const custom = both({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "*** Begin" } }],
    })
    expect(Message.calls(custom)).toEqual([
      {
        type: "tool-call",
        id: "c",
        name: "patch",
        arguments: "*** Begin",
        providerData: { openai: { call: "custom" } },
      },
    ])
    const legacy = both({
      role: "assistant",
      content: null,
      function_call: { name: "f", arguments: '{"a":1}' },
    })
    expect(Message.calls(legacy)).toMatchObject([{ id: "", name: "f", arguments: '{"a":1}' }])
    const answer = both({ role: "function", name: "f", content: "done" })
    expect(answer).toMatchObject({ role: "tool", parts: [{ id: "", name: "f", output: "done" }] })
    both({ role: "function", name: "f", content: null })
  })

  it("reads images, audio and files of a user", () => {
    const message = both({
      role: "user",
      content: [
        { type: "text", text: "What is this?", cache_control: { type: "ephemeral" } },
        { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "input_audio", input_audio: { data: "UklGRg==", format: "mp3" } },
        { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" } },
      ],
    })
    expect(message.parts).toEqual([
      {
        type: "text",
        text: "What is this?",
        providerData: { openai: { fields: { cache_control: { type: "ephemeral" } } } },
      },
      {
        type: "file",
        mediaType: "image/*",
        uri: "https://example.org/a.png",
        providerData: { openai: { fields: { image_url: { detail: "low" } } } },
      },
      { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AAAA" },
      { type: "file", mediaType: "audio/mpeg", uri: "data:audio/mpeg;base64,UklGRg==" },
      {
        type: "file",
        mediaType: "application/pdf",
        uri: "data:application/pdf;base64,JVBERi0=",
        name: "a.pdf",
      },
    ])
  })

  it("keeps what it does not know as it came", () => {
    const strange = [
      { type: "file", file: { file_id: "file-1" } },
      { type: "file", file: { file_data: "data:image/png;base64,AAAA" } },
      { type: "image_url", image_url: { url: "data:application/pdf;base64,AAAA" } },
      { type: "image_url", image_url: "https://example.org/a.png" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "mpeg" } },
      { type: "video_url", video_url: { url: "https://example.org/a.mp4" } },
    ]
    const message = both({ role: "user", content: strange })
    expect(message.parts).toEqual(strange.map((data) => ({ type: "opaque", provider: "openai", data })))
  })

  it("reads refusals", () => {
    const refused = both({ role: "assistant", content: null, refusal: "I can't help with that." })
    expect(refused.parts).toEqual([
      { type: "opaque", provider: "openai", data: { refusal: "I can't help with that." } },
    ])
    both({ role: "assistant", content: [{ type: "refusal", refusal: "No." }], refusal: null })
  })

  it("reads reasoning of compatible servers", () => {
    const message = both({ role: "assistant", reasoning_content: "Let me see.", content: "42" })
    expect(message.parts[0]).toEqual({ type: "reasoning", text: "Let me see." })
    expect(Message.text(message)).toBe("42")
    both({ role: "assistant", reasoning: "Let me see.", content: null })
    both({ role: "assistant", reasoning: "Twice", reasoning_content: "Twice", content: "42" })
    both({ role: "assistant", reasoning: { effort: "low" }, reasoning_content: null, content: "42" })
  })

  it("keeps unknown fields at every level", () => {
    const message = both({
      role: "assistant",
      content: null,
      refusal: null,
      annotations: [],
      function_call: null,
      tool_calls: [
        {
          id: "c",
          index: 0,
          type: "function",
          function: { name: "f", arguments: "{}", strict: true },
          extra_content: { google: { thought_signature: "s" } },
        },
      ],
    })
    expect(message.metadata).toEqual({
      openai: { fields: { refusal: null, annotations: [], function_call: null } },
    })
    expect(message.parts[0]!.providerData).toEqual({
      openai: {
        fields: {
          index: 0,
          function: { strict: true },
          extra_content: { google: { thought_signature: "s" } },
        },
      },
    })
    both({ role: "assistant", content: "x", tool_calls: [] })
    both({ role: "user", content: "x", name: null, id: 7 })
  })

  it("keeps the parts of a tool's answer in its result", () => {
    const { parts } = both({
      role: "tool",
      tool_call_id: "c",
      content: [
        { type: "text", text: "first" },
        { type: "text", text: "second" },
        { type: "image_url", image_url: { url: "https://example.org/a.png" } },
      ],
    })
    expect(parts).toEqual([
      {
        type: "tool-result",
        id: "c",
        output: "first\nsecond",
        content: [
          { type: "text", text: "first" },
          { type: "text", text: "second" },
          {
            type: "opaque",
            provider: "openai",
            data: { type: "image_url", image_url: { url: "https://example.org/a.png" } },
          },
        ],
      },
    ])
    both({ role: "tool", tool_call_id: "c", content: [{ type: "text", text: "only" }] })
    both({ role: "tool", tool_call_id: "c", content: [{ type: "text", text: "" }] })
    both({ role: "tool", tool_call_id: "c", content: [] })
  })

  it("keeps half of an emoji", () => {
    expect(Message.text(both({ role: "user", content: "broken \ud83d" }))).toBe("broken \ud83d")
  })

  it("takes a call or result without an id, and a call without a type", () => {
    const call = decoded({ role: "assistant", tool_calls: [{ function: { name: "f", arguments: "{}" } }] })
    expect(Message.calls(call)[0]?.id).toBe("")
    expect(encodeMessages([call], { exact: true })).toEqual([
      {
        role: "assistant",
        tool_calls: [{ id: "", type: "function", function: { name: "f", arguments: "{}" } }],
      },
    ])
    expect(Message.results(decoded({ role: "tool", content: "x" }))[0]?.id).toBe("")
  })
})

describe("decodeMessages", () => {
  it("says where a message is wrong and what is allowed", () => {
    const fine = { role: "user", content: "hi" }
    const call = (given: object) => failure([fine, { role: "assistant", tool_calls: [given] }])
    expect(failure("hi")).toBe("the input is a string; allowed: a list of messages")
    expect(failure([fine, null])).toBe("message 1 is null; allowed: an object with role and content")
    expect(failure([{ content: "hi" }])).toBe(
      "message 0 has no role; allowed: system, developer, user, assistant, tool, function",
    )
    expect(failure([{ role: "bot", content: "hi" }])).toMatch(
      "message 0 has an unknown role; allowed: system",
    )
    expect(failure([{ role: "user" }])).toBe(
      "message 0 has no content; allowed: a string, null or a list of content parts",
    )
    expect(failure([fine, { role: "user", content: [{ type: "text", text: 5 }] }])).toBe(
      "message 1 has a number at content[0].text; allowed: a string",
    )
    expect(failure([{ role: "assistant", tool_calls: 3 }])).toBe(
      "message 0 has a number at tool_calls; allowed: a list or null",
    )
    expect(call({ id: "c", type: "function", function: { name: "f", arguments: {} } })).toBe(
      "message 1 has an object at tool_calls[0].function.arguments; allowed: a string of JSON, as the model wrote it",
    )
    expect(call({ id: "c", type: "magic" })).toBe(
      'message 1 has a string at tool_calls[0].type; allowed: "function" or "custom"',
    )
  })

  it("refuses messages of other libraries, and names what reads them", () => {
    const named = (input: unknown) => {
      const result = decodeMessages([{ role: "user", content: "hi" }, input])
      return Either.isLeft(result) ? result.left : undefined
    }
    const part = { type: "tool-call", toolCallId: "c", toolName: "f", input: {} }
    expect(named({ role: "assistant", content: [part] })).toMatchObject({
      _tag: "OpenAIDecodeError",
      index: 1,
      path: "content[0]",
      use: "@memfold/ai-sdk",
      message:
        "message 1 has a part of the AI SDK at content[0]; allowed: messages of Chat Completions; for messages of the AI SDK, use @memfold/ai-sdk",
    })
    const use = (input: unknown) => named(input)?.use
    const said = (...content: ReadonlyArray<unknown>) => use({ role: "user", content })
    expect(said({ type: "tool-result", toolCallId: "c", toolName: "f", output: {} })).toBe("@memfold/ai-sdk")
    expect(said({ type: "file", data: "AAAA", mediaType: "image/png" })).toBe("@memfold/ai-sdk")
    expect(said({ type: "image", image: "AAAA" })).toBe("@memfold/ai-sdk")
    expect(use({ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] })).toBe("@memfold/ai-sdk")
    expect(said({ type: "tool_result", tool_use_id: "c", content: "x" })).toMatch('"anthropic"')
    expect(said({ type: "thinking", thinking: "hm", signature: "s" })).toMatch('"anthropic"')
    expect(said({ type: "image", source: { type: "url", url: "https://example.org/a" } })).toMatch(
      '"anthropic"',
    )
    expect(use({ type: "message", role: "assistant", content: [], stop_reason: null })).toMatch('"anthropic"')
    expect(said({ type: "input_text", text: "hi" })).toMatch('"openai-responses"')
    expect(use({ type: "message", role: "user", content: "hi" })).toMatch('"openai-responses"')
    expect(use({ type: "function_call_output", call_id: "c", output: "x" })).toMatch('"openai-responses"')
    expect(use({ type: "reasoning", summary: [] })).toMatch('"openai-responses"')
    expect(use({ object: "response", output: [] })).toMatch('"openai-responses"')
    expect(use({ type: "function_call", callId: "c", name: "f", arguments: "" })).toBe(
      "@memfold/openai-agents",
    )
    expect(use({ id: "m", role: "user", content: { format: 2, parts: [] } })).toBe("@memfold/mastra")
    const invocation = { state: "result", toolCallId: "c", toolName: "f", args: {}, result: 1 }
    expect(use({ role: "assistant", content: "hi", toolInvocations: [invocation] })).toMatch(
      "readTranscripts",
    )
    const parts = [{ type: "tool-invocation", toolInvocation: invocation }]
    expect(use({ role: "assistant", content: "hi", parts })).toMatch("readTranscripts")
    expect(use({ role: "assistant", content: "hi", toolInvocations: [] })).toBeUndefined()
    expect(use({ lc_namespace: ["messages"], content: "hi", getType: () => "human" })).toBe(
      "@memfold/langchain",
    )
    expect(use(Message.user("hi"))).toMatch('"memfold"')
    // Plain text belongs to everyone, and a content type that nobody else has may be a new one.
    expect(use({ role: "user", content: [{ type: "text", text: "hi" }, { type: "video_url" }] })).toBe(
      undefined,
    )
  })

  it("never shows what was said", () => {
    const secret = "the password is hunter2"
    for (const wrong of [
      secret,
      [secret],
      [{ role: secret }],
      [{ role: "user", content: { secret } }],
      [{ role: "user", content: [{ text: secret }] }],
      [{ role: "user", content: "x", name: [secret] }],
      [{ role: "tool", content: "x", tool_call_id: { secret } }],
    ]) {
      const result = decodeMessages(wrong)
      if (Either.isRight(result)) throw new Error("should not have been decoded")
      expect(`${result.left} ${JSON.stringify(result.left)}`).not.toMatch("hunter2")
    }
  })
})

describe("a whole response", () => {
  const response = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "gpt",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        logprobs: null,
        message: { role: "assistant", content: "Hello.", refusal: null, annotations: [] },
      },
    ],
    usage: {
      prompt_tokens: 2_103,
      completion_tokens: 40,
      total_tokens: 2_143,
      prompt_tokens_details: { cached_tokens: 2_000 },
      completion_tokens_details: { reasoning_tokens: 33 },
    },
  }

  it("is its message with its usage, and nothing else of it is sent back", () => {
    const message = decoded(response)
    expect(message.usage).toEqual({ input: 2_103, output: 7 })
    expect(message.metadata).toMatchObject({ openai: { response: { id: "chatcmpl-1", model: "gpt" } } })
    expect(encodeMessages([message])).toEqual([{ role: "assistant", content: "Hello." }])
  })

  it("does without a usage it cannot read", () => {
    for (const usage of [undefined, null, {}, { prompt_tokens: -1, completion_tokens: 2 }]) {
      expect(decoded({ ...response, usage })).not.toHaveProperty("usage")
    }
  })

  it("has one choice", () => {
    const [choice] = response.choices
    expect(failure([{ ...response, choices: [choice, choice] }])).toBe(
      "message 0 has 2 choices; allowed: one choice; append the message of the choice that you use",
    )
    expect(failure([{ ...response, choices: [{ message: { role: "assistant", tool_calls: 3 } }] }])).toMatch(
      "message 0 has a number at tool_calls",
    )
  })
})
