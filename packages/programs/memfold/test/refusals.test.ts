/** What providers refuse with HTTP 400 although it was stored: a request has none of it, and the log keeps it (law L17). */
import * as Anthropic from "@memfold/anthropic"
import { anthropicViolations, chatViolations, responsesViolations } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import { createMemory, type CreateOptions } from "../src/index.js"

/** The violations of a context, sent as a request, by format. */
const violations = {
  openai: (messages: unknown) => chatViolations({ model: "m", messages }),
  "openai-responses": (input: unknown) => responsesViolations({ model: "m", input }),
  anthropic: (messages: unknown) =>
    anthropicViolations({ model: "m", max_tokens: 10, ...(messages as object) }),
}
type Format = keyof typeof violations

const memoryOf = (format: Format, options: Partial<CreateOptions<"openai">> = {}) =>
  createMemory({ store: "memory:", format: format as "openai", ...options })

/** The context behind these messages, each an append of its own, and what the provider refuses in it. */
const contextOf = async (
  format: Format,
  messages: ReadonlyArray<unknown>,
  options: Partial<CreateOptions<"openai">> = {},
) => {
  await using memory = memoryOf(format, options)
  for (const message of messages) await memory.append("s", message as never)
  const context = await memory.context("s")
  const stored = await memory.messages("s")
  return { ...context, stored: stored.messages as unknown, refused: violations[format](context.messages) }
}

const user = (content: unknown) => ({ role: "user", content })
const fn = (id: string, args = "{}") => ({ id, type: "function", function: { name: "f", arguments: args } })
const calling = (...calls: ReadonlyArray<unknown>) => ({
  role: "assistant",
  content: null,
  tool_calls: calls,
})
const answer = (id: string, content = "found") => ({ role: "tool", tool_call_id: id, content })

describe("fields that no request has", () => {
  const given = [
    { role: "system", content: "Be brief.", createdAt: "2026-01-01", name: null },
    { ...user("Hi"), id: "m1", createdAt: 1, cache_control: { type: "ephemeral" } },
    {
      ...calling({ ...fn("c"), index: 0, extra_content: { google: { thought_signature: "x" } } }),
      usage: { total_tokens: 12 },
      reasoning: "hm",
      reasoning_content: "hm",
      finish_reason: "tool_calls",
      model: "llama",
      created: 1,
      name: null,
      function_call: null,
      audio: null,
      refusal: null,
      annotations: [],
    },
    { ...answer("c"), createdAt: 2, name: null, is_error: true },
    user([{ type: "text", text: "Go on.", cache_control: { type: "ephemeral" } }]),
  ]

  it("are in the log, and in no request of Chat Completions", async () => {
    const { messages, stored, refused, layout } = await contextOf("openai", given)
    expect(refused).toEqual([])
    expect(stored).toEqual(given)
    expect(messages[2]).toEqual(calling(fn("c")))
    expect(layout).toContainEqual(
      expect.objectContaining({ section: "unsupported", from: 2, parts: ["reasoning"] }),
    )
  })

  it("are sent to a server that takes them", async () => {
    const extraFields = ["reasoning_content", "extra_content", "cache_control"]
    const { messages } = await contextOf("openai", given, { extraFields })
    expect(messages).toMatchObject([
      {},
      { cache_control: { type: "ephemeral" } },
      { reasoning_content: "hm", tool_calls: [{ extra_content: { google: {} } }] },
      {},
      { content: [{ cache_control: { type: "ephemeral" } }] },
    ])
    expect(JSON.stringify(messages)).not.toMatch(
      /usage|created|finish_reason|"reasoning"|annotations|null,"a/,
    )

    await using memory = memoryOf("openai")
    await memory.append("s", given as never)
    const once = await memory.context("s", { extraFields: ["reasoning_content"] })
    expect(once.messages[2]).toHaveProperty("reasoning_content", "hm")
    await expect(memory.context("s", { extraFields: "all" as never })).rejects.toMatchObject({
      _tag: "InvalidInput",
    })
    expect(() => memoryOf("openai", { extraFields: "all" as never })).toThrow('"extraFields" must be')
  })

  it("are in no request of Messages and of Responses", async () => {
    const said = await contextOf("anthropic", [
      { ...user("Hi"), id: "m1", createdAt: 1 },
      {
        role: "assistant",
        createdAt: 2,
        content: [
          { type: "text", text: "4", parsed_output: null, trace: 1 },
          { type: "tool_use", id: "t", name: "f", input: { trace: 1 }, partial_json: "" },
        ],
      },
      user([{ type: "tool_result", tool_use_id: "t", content: "found", tool_name: "f" }]),
    ])
    expect(said.refused).toEqual([])
    expect(JSON.stringify(said.messages)).toContain('"input":{"trace":1}')

    const items = await contextOf("openai-responses", [
      { ...user("Hi"), createdAt: 1 },
      {
        type: "message",
        role: "assistant",
        id: "msg_1",
        status: "completed",
        model: "m",
        content: [{ type: "output_text", text: "4", annotations: [], trace: 1 }],
      },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}", parsed_arguments: {}, index: 1 },
      { type: "function_call_output", call_id: "c", output: "found", createdAt: 3, is_error: true },
      user([{ type: "input_text", text: "Go on.", cache_control: { type: "ephemeral" } }]),
    ])
    expect(items.refused).toEqual([])
  })
})

describe("arguments that are no JSON object", () => {
  it.each(['{"cmd": "git', "", "  ", "[1,2]", "null", '"x"', "NaN"])(
    "%j are sent as an object",
    async (text) => {
      const sent = text.trim() === "" ? {} : { raw_arguments: text }
      const chat = await contextOf("openai", [user("?"), calling(fn("c", text)), answer("c"), user("!")])
      expect(chat.refused).toEqual([])
      expect(chat.messages[1]).toEqual(calling(fn("c", JSON.stringify(sent))))
      expect(chat.stored).toMatchObject([{}, calling(fn("c", text)), {}, {}])

      const legacy = { role: "assistant", content: null, function_call: { name: "f", arguments: text } }
      const old = await contextOf("openai", [user("?"), legacy])
      expect(JSON.stringify(old.messages)).not.toContain(`"arguments":${JSON.stringify(text)}`)

      const call = { type: "function_call", call_id: "c", name: "f", arguments: text }
      const output = { type: "function_call_output", call_id: "c", output: "found" }
      const items = await contextOf("openai-responses", [user("?"), call, output, user("!")])
      expect(items.refused).toEqual([])
      expect(items.messages[1]).toEqual({ ...call, arguments: JSON.stringify(sent) })
    },
  )

  it("stay the text that the model wrote where they are an object", async () => {
    const text = '{ "id": 9007199254740993, "limit": 1e400 }'
    const { messages } = await contextOf("openai", [user("?"), calling(fn("c", text)), answer("c")])
    expect(messages[1]).toEqual(calling(fn("c", text)))
  })
})

describe("ids", () => {
  it("are unique in a request, also where a server uses them again", async () => {
    const turn = [calling(fn("call_0")), answer("call_0"), user("Go on.")]
    const { messages, refused } = await contextOf("openai", [user("?"), ...turn, ...turn, ...turn])
    expect(refused).toEqual([])
    expect(messages).toHaveLength(10)
  })

  const response = (...output: ReadonlyArray<unknown>) => ({ object: "response", id: "resp_1", output })
  const message = (id: string) => ({
    type: "message",
    id,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "4", annotations: [] }],
  })
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" }
  const call = { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}" }
  const output = { type: "function_call_output", call_id: "c", output: "found" }

  it.each<readonly [string, Format, ReadonlyArray<unknown>]>([
    ["a message", "openai-responses", [response(message("msg_1"))]],
    ["reasoning and a message", "openai-responses", [[reasoning, message("msg_1")]]],
    ["a call", "openai-responses", [call, output]],
    ["reasoning and a call", "openai-responses", [[reasoning, call], output]],
    ["a call of Chat Completions", "openai", [calling(fn("c")), answer("c")]],
    [
      "a whole response",
      "openai",
      [
        {
          object: "chat.completion",
          id: "chatcmpl-1",
          choices: [{ message: { role: "assistant", content: "4" }, finish_reason: "stop" }],
        },
      ],
    ],
    [
      "a call of Messages",
      "anthropic",
      [
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
        user([{ type: "tool_result", tool_use_id: "t", content: "found" }]),
      ],
    ],
  ])("are sent once where %s was appended twice", async (_, format, [said, ...results]) => {
    const once = await contextOf(format, [user("?"), said, ...results, user("!")])
    const twice = await contextOf(format, [user("?"), said, said, ...results, user("!")])
    expect(twice.refused).toEqual([])
    expect(twice.messages).toEqual(once.messages)
    expect(twice.layout).toContainEqual(expect.objectContaining({ section: "left-out", from: 2, to: 3 }))
    expect(JSON.stringify(twice.messages)).not.toContain("interrupted")

    const waiting = await contextOf(format, [user("?"), said, said, ...results])
    expect(waiting.refused.filter(({ rule }) => rule !== "last-user")).toEqual([])
    expect(JSON.stringify(waiting.messages)).toContain(results.length > 0 ? "found" : "4")
  })

  it("are sent once where a question and its answer were appended twice", async () => {
    for (const turn of [
      [user("?"), message("msg_1")],
      [user("?"), reasoning, message("msg_1")],
      [user("?"), reasoning, call, output, message("msg_1")],
    ]) {
      const { refused, layout } = await contextOf("openai-responses", [turn, turn, user("!")])
      expect(refused).toEqual([])
      expect(layout).toContainEqual(expect.objectContaining({ section: "unsupported" }))
    }
  })

  it("of a server that gives each answer the same ones leave no answer out", async () => {
    const said = (text: string) => ({
      ...message("msg_0"),
      content: [{ type: "output_text", text, annotations: [] }],
    })
    const thought = (encrypted: string) => ({ ...reasoning, id: "rs_0", encrypted_content: encrypted })
    const turns = ["4", "5", "5", "6"].flatMap((text, at) => [
      user(`Question ${at}?`),
      response(thought(`gAAA${at}`), said(text)),
    ])
    const { messages, refused, layout } = await contextOf("openai-responses", [...turns, user("!")])
    expect(refused).toEqual([])
    const sent = messages as unknown as ReadonlyArray<{ type?: string; content?: Array<{ text: string }> }>
    const texts = sent.flatMap(({ type, content }) => (type === "message" ? [content?.[0]?.text] : []))
    expect(texts).toEqual(["4", "5", "5", "6"])
    expect(sent.filter(({ type }) => type === "reasoning")).toHaveLength(4)
    expect(layout.some(({ section }) => section === "unsupported")).toBe(false)
  })

  it("of a server that gives each answer the same ones leave none out of a loop that says the same again", async () => {
    const step = [
      { ...message("msg_0") },
      { ...call, id: "fc_0", call_id: "call_0" },
      { ...output, call_id: "call_0" },
    ]
    const { messages, refused } = await contextOf("openai-responses", [
      user("Wait for it."),
      ...step,
      ...step,
      ...step,
    ])
    expect(refused).toEqual([])
    expect(JSON.stringify(messages).split('"output_text"')).toHaveLength(4)
  })

  it("of reasoning that the provider does not keep are not sent without what was thought", async () => {
    const { encrypted_content: _encrypted, ...named } = reasoning
    for (const store of [true, false, undefined]) {
      const answered = { ...(response(named, message("msg_1")) as object), store }
      const { messages } = await contextOf("openai-responses", [user("?"), answered, user("!")])
      expect(JSON.stringify(messages).includes("rs_1")).toBe(store === true)
      expect(JSON.stringify(messages)).toContain('"4"')
      if (store !== true)
        expect(responsesViolations({ model: "m", store: false, input: messages })).toEqual([])
    }
  })

  it("stay with what is said twice without them", async () => {
    const said = { role: "assistant", content: "One moment …" }
    const { messages } = await contextOf("openai", [user("?"), said, said, user("!")])
    expect(messages).toHaveLength(4)
  })

  it("of a call that was abandoned answer the call that was made again", async () => {
    const { messages, refused } = await contextOf("openai", [
      user("?"),
      calling(fn("call_0", '{"city":"Graz"}')),
      calling(fn("call_0", '{"city":"Linz"}')),
      answer("call_0", "9 °C"),
    ])
    expect(refused).toEqual([])
    expect((messages as ReadonlyArray<object>).map((one) => ("content" in one ? one.content : null))).toEqual(
      ["?", null, "(No result: the call was interrupted.)", null, "9 °C"],
    )
  })
})

describe("marks of the prompt cache", () => {
  const mark = { cache_control: { type: "ephemeral" } }
  const turns = Array.from({ length: 7 }, (_, n) => [
    user([{ type: "text", text: `Question ${n}?`, ...mark }]),
    { role: "assistant", content: `Answer ${n}.` },
  ]).flat()

  it("are four at most, the newest", async () => {
    await using memory = memoryOf("anthropic")
    await memory.append("s", turns.slice(0, -1) as never)
    for (const cacheControl of [undefined, true] as const) {
      const { messages } = await memory.context("s", cacheControl === undefined ? {} : { cacheControl })
      expect(violations.anthropic(messages)).toEqual([])
      const text = JSON.stringify(messages)
      expect(text.split("cache_control")).toHaveLength(5)
      expect(
        text.match(/"cache_control":\{"type":"ephemeral"\},"type":"text","text":"Question [3-6]/g),
      ).toHaveLength(4)
    }
    expect(JSON.stringify((await memory.messages("s")).messages).split("cache_control")).toHaveLength(8)
  })

  it("count within results, too", async () => {
    const within = Array.from({ length: 6 }, (_, n) => ({ type: "text", text: `Line ${n}`, ...mark }))
    const { messages, refused } = await contextOf("anthropic", [
      user("?"),
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
      user([{ type: "tool_result", tool_use_id: "t", content: within, ...mark }]),
    ])
    expect(refused).toEqual([])
    const sent = JSON.stringify(messages)
    expect(sent.split("cache_control")).toHaveLength(5)
    expect(
      sent.match(/"cache_control":\{"type":"ephemeral"\},"type":"text","text":"Line [3-5]/g),
    ).toHaveLength(3)
  })
})

describe("reasoning", () => {
  const claude = (model: string, id: string, ...content: ReadonlyArray<unknown>) => ({
    id,
    type: "message",
    role: "assistant",
    model,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
    content,
  })
  const thinking = (signature?: string) => ({ type: "thinking", thinking: "hm", signature })
  const text = { type: "text", text: "4" }

  it("of another model than that of the request is left out, and the layout names it", async () => {
    await using memory = memoryOf("anthropic")
    const talk = [
      user("?"),
      claude("claude-opus-5-20260101", "msg_1", thinking("EqQB"), text),
      user("And?"),
      claude("claude-sonnet-5-5", "msg_2", thinking("EqQC"), { type: "redacted_thinking", data: "x" }, text),
      user("!"),
    ]
    for (const message of talk) await memory.append("s", message as never)
    const signatures = async (model?: string) => {
      const { messages, layout } = await memory.context("s", model === undefined ? {} : { model })
      expect(violations.anthropic(messages)).toEqual([])
      return {
        sent: JSON.stringify(messages).match(/EqQ.|redacted_thinking/g) ?? [],
        leftOut: layout.flatMap((section) => (section.section === "unsupported" ? [section] : [])),
      }
    }
    const section = { section: "unsupported", tokens: 0 }
    expect(await signatures("claude-opus-5")).toEqual({
      sent: ["EqQB"],
      leftOut: [{ ...section, from: 3, to: 4, parts: ["reasoning", "opaque"] }],
    })
    expect(await signatures("claude-sonnet-5-5")).toEqual({
      sent: ["EqQC", "redacted_thinking"],
      leftOut: [{ ...section, from: 1, to: 2, parts: ["reasoning"] }],
    })
    expect((await signatures()).sent).toHaveLength(3)
  })

  it("of another model is left out of Responses, too", async () => {
    await using memory = memoryOf("openai-responses")
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" }
    const said = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: "4" }],
    }
    await memory.append("s", user("?") as never)
    await memory.append("s", { object: "response", id: "r", model: "gpt-6", output: [item, said] } as never)
    await memory.append("s", user("!") as never)
    for (const [model, count] of [
      ["gpt-6", 4],
      ["gpt-6-2026-01-01", 4],
      ["gpt-6-mini", 3],
    ] as const) {
      const { messages } = await memory.context("s", { model })
      expect([model, messages.length, violations["openai-responses"](messages)]).toEqual([model, count, []])
    }
  })

  it.each<readonly [string, Format, unknown]>([
    ["unsigned", "anthropic", [thinking(), text]],
    ["with an empty signature", "anthropic", [thinking(""), text]],
    ["redacted without data", "anthropic", [{ type: "redacted_thinking", data: "" }, text]],
    ["without id and content", "openai-responses", { type: "reasoning", summary: [] }],
    [
      "that is incomplete",
      "openai-responses",
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gA", status: "incomplete" },
    ],
  ])("%s is not valid", async (_, format, content) => {
    const said =
      format === "anthropic"
        ? [{ role: "assistant", content }]
        : [[content, { role: "assistant", content: "4" }]]
    const { messages, refused, layout } = await contextOf(format, [user("?"), ...said, user("!")])
    expect(refused).toEqual([])
    expect(JSON.stringify(messages)).not.toMatch(/thinking|reasoning/)
    expect(layout).toContainEqual(expect.objectContaining({ section: "unsupported", from: 1 }))
  })
})

it("a denied approval of the Responses API is sent as the denial", async () => {
  const denial = {
    type: "mcp_approval_response",
    approval_request_id: "mcpr_1",
    approve: false,
    reason: "Too much.",
  }
  const { messages, refused } = await contextOf("openai-responses", [
    user("?"),
    { type: "mcp_approval_request", id: "mcpr_1", server_label: "s", name: "f", arguments: "{}" },
    denial,
    user("!"),
  ])
  expect(refused).toEqual([])
  expect(messages).toContainEqual(denial)
})

describe("numbers that a double does not hold", () => {
  const written = '{"id":9007199254740993,"limit":1e400,"city":"Graz"}'
  const kept = { id: "9007199254740993", limit: "1e400", city: "Graz" }

  it("keep their digits on the way to Anthropic", async () => {
    await using memory = memoryOf("openai")
    await memory.append("s", [user("?"), calling(fn("c", written)), answer("c")] as never)
    const { messages } = await memory.neutral.context("s")
    const { messages: sent } = Anthropic.encodeMessages(messages)
    expect(violations.anthropic({ messages: sent })).toEqual([])
    expect(JSON.parse(JSON.stringify(sent[1]))).toMatchObject({ content: [{ input: kept }] })
  })
})
