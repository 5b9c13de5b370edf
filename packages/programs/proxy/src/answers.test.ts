import { describe, expect, it } from "vitest"
import { type Assembly, chatAssembly, messagesAssembly, responsesAssembly } from "./answers.js"
import { ofModel, Unclear } from "./Unclear.js"

type Event = Readonly<Record<string, unknown>>

const assembled = (assembly: Assembly, events: ReadonlyArray<Event>) => {
  try {
    for (const event of events) assembly.take(event)
    return assembly.whole()
  } catch (error) {
    expect(error).toBeInstanceOf(Unclear)
    return null
  }
}

const delta = (delta: Event, finish: string | null = null): Event => ({
  id: "1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
})

describe("an answer of Chat Completions", () => {
  const call = (index: number, fields: Event) => delta({ tool_calls: [{ index, ...fields }] })
  it("has its text, its parallel calls, fields of other servers, and its usage", () => {
    const events = [
      delta({ role: "assistant", content: "", refusal: null, reasoning_content: "H" }),
      delta({ reasoning_content: "m." }),
      delta({ content: "I " }),
      delta({ content: "look." }),
      call(0, { id: "a", type: "function", function: { name: "f", arguments: "" } }),
      call(1, { id: "b", type: "function", function: { name: "g", arguments: '{"x"' } }),
      call(0, { function: { arguments: "{}" } }),
      call(1, { function: { arguments: ":1}" } }),
      delta({}, "tool_calls"),
      { id: "1", choices: [], usage: { prompt_tokens: 3 } },
    ]
    expect(assembled(chatAssembly(), events)).toMatchObject({
      id: "1",
      object: "chat.completion",
      choices: [
        {
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: "I look.",
            refusal: null,
            reasoning_content: "Hm.",
            tool_calls: [
              { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
              { id: "b", type: "function", function: { name: "g", arguments: '{"x":1}' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 3 },
    })
    expect(assembled(chatAssembly(), events.slice(0, 8))).toBeNull()
    expect(assembled(chatAssembly(), [...events, { error: { message: "overloaded" } }])).toBeNull()
  })
})

describe("an answer of Chat Completions with calls of no known form", () => {
  const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } }
  it.each<[string, ReadonlyArray<Event>]>([
    ["no list", [delta({ tool_calls: { index: 0, ...call } })]],
    ["a text", [delta({ tool_calls: "f()" })]],
    ["a list of texts", [delta({ tool_calls: ["f()"] })]],
    ["an old one that is a text", [delta({ function_call: "f()" })]],
    ["another name", [delta({ tool_call: call })]],
    ["none", []],
  ])("is none: %s", (_, events) => {
    for (const end of ["tool_calls", "function_call"]) {
      const found = () => {
        const assembly = chatAssembly()
        for (const event of [...events, delta({}, end)]) assembly.take(event)
        return ofModel(assembly.whole()!)
      }
      expect(found).toThrow(Unclear)
    }
  })

  it.each([{}, { content: "" }, { tool_call: call }, { tool_calls: [] }, { tool_calls: call }])(
    "is none where it is no stream: %j",
    (said) => {
      const message = { role: "assistant", content: null, ...said }
      expect(() => ofModel({ choices: [{ message, finish_reason: "tool_calls" }] })).toThrow(Unclear)
    },
  )

  it("is one where the end is wrong, or a place is empty", () => {
    const said = [delta({ content: "No call." }), delta({}, "tool_calls")]
    expect(assembled(chatAssembly(), said)).toMatchObject({
      choices: [{ message: { content: "No call." } }],
    })
    const empty = [delta({ tool_calls: [null, { index: 0, ...call }] }), delta({}, "tool_calls")]
    expect(assembled(chatAssembly(), empty)).toMatchObject({ choices: [{ message: { tool_calls: [call] } }] })
  })
})

describe("an answer of Messages", () => {
  const block = (
    index: number,
    content_block: Event,
    ...deltas: ReadonlyArray<Event>
  ): ReadonlyArray<Event> => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((one) => ({ type: "content_block_delta", index, delta: one })),
    { type: "content_block_stop", index },
  ]
  const start = {
    type: "message_start",
    message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 5, output_tokens: 1 } },
  }
  const end = [
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ]
  const result = {
    type: "web_search_tool_result",
    tool_use_id: "s1",
    content: [{ type: "web_search_result", encrypted_content: "x" }],
  }
  const content = [
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "H" },
      { type: "thinking_delta", thinking: "m." },
      { type: "signature_delta", signature: "sig" },
    ),
    ...block(
      1,
      { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
      { type: "input_json_delta", partial_json: '{"q":' },
      { type: "input_json_delta", partial_json: '"a"}' },
    ),
    ...block(2, result),
    ...block(
      3,
      { type: "text", text: "" },
      { type: "citations_delta", citation: { url: "u" } },
      { type: "text_delta", text: "Found." },
    ),
    ...block(
      4,
      { type: "tool_use", id: "t1", name: "now", input: {} },
      { type: "input_json_delta", partial_json: "" },
    ),
  ]

  it("has thinking, server tools and their results as they came", () => {
    expect(assembled(messagesAssembly(), [start, { type: "ping" }, ...content, ...end])).toEqual({
      id: "m",
      role: "assistant",
      stop_reason: "end_turn",
      usage: { input_tokens: 5, output_tokens: 9 },
      content: [
        { type: "thinking", thinking: "Hm.", signature: "sig" },
        { type: "server_tool_use", id: "s1", name: "web_search", input: { q: "a" } },
        result,
        { type: "text", text: "Found.", citations: [{ url: "u" }] },
        { type: "tool_use", id: "t1", name: "now", input: {} },
      ],
    })
  })

  it.each<[string, ReadonlyArray<Event>]>([
    ["it breaks off", [start, ...content]],
    ["the provider fails in it", [start, ...content, { type: "error", error: {} }, ...end]],
    [
      "a part is of an unknown kind",
      [start, ...block(0, { type: "text", text: "" }, { type: "new_delta", new: 1 }), ...end],
    ],
    [
      "arguments are no JSON",
      [
        start,
        ...block(0, { type: "tool_use", input: {} }, { type: "input_json_delta", partial_json: "{" }),
        ...end,
      ],
    ],
  ])("is none if %s", (_, events) => {
    expect(assembled(messagesAssembly(), events)).toBeNull()
  })
})

describe("an answer of Responses", () => {
  it.each(["failed", "cancelled"])("is none if its last event says that it has %s", (status) => {
    const output = [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] }]
    for (const type of ["response.completed", "response.incomplete"]) {
      expect(assembled(responsesAssembly(), [{ type, response: { status, output } }])).toBeNull()
      const response = { status: "completed", output, error: { code: "server_error", message: "No." } }
      expect(assembled(responsesAssembly(), [{ type, response }])).toBeNull()
    }
  })

  it("is what its last event has, and none if it failed", () => {
    const response = { id: "r", output: [] }
    expect(
      assembled(responsesAssembly(), [
        { type: "response.created", response: {} },
        { type: "response.completed", response },
      ]),
    ).toBe(response)
    expect(assembled(responsesAssembly(), [{ type: "response.failed", response }])).toBeNull()
  })
})
