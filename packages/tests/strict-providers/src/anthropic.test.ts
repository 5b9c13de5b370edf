import { describe, expect, it } from "vitest"
import { type AnthropicOptions, anthropicViolations } from "./anthropic.js"
import { anthropicRules, type AnthropicRule } from "./anthropicRules.js"

const call = (id: string, more: object = {}) => ({ type: "tool_use", id, name: "search", input: {}, ...more })
const result = (id: string, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "found",
  ...more,
})
const text = (text: string, more: object = {}) => ({ type: "text", text, ...more })
const thinking = { type: "thinking", thinking: "", signature: "c2ln" }
const by = (code: string) => ({ caller: { type: "code_execution_20260120", tool_id: code } })
const serverCall = (id: string, name = "web_search") => ({ type: "server_tool_use", id, name, input: {} })
const serverResult = (id: string, type = "web_search_tool_result") => ({
  type,
  tool_use_id: id,
  content: [],
})
const user = (content: unknown, more: object = {}) => ({ role: "user", content, ...more })
const assistant = (content: unknown) => ({ role: "assistant", content })
const system = (content: unknown) => ({ role: "system", content })
const request = (messages: ReadonlyArray<unknown>, more: object = {}) => ({
  model: "claude-sonnet-5-5",
  max_tokens: 100,
  messages,
  ...more,
})
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
const sized = (size: number) => ({ ...image, source: { ...image.source, data: "A".repeat(size) } })
const marked = { cache_control: { type: "ephemeral" } }

const accepted: ReadonlyArray<readonly [string, unknown, AnthropicOptions?]> = [
  ["a question", request([user("Hello?")], { system: "Be brief.", stream: true })],
  [
    "a tool loop with parallel calls",
    request(
      [
        user([text("What?"), image]),
        assistant([thinking, text("Let me look."), call("a"), call("b")]),
        user([result("b"), result("a", { content: [text("found"), image] }), text("And?")]),
        assistant([thinking, call("c")]),
        user([result("c", { is_error: true, content: "no such file" })]),
      ],
      { thinking: { type: "enabled", budget_tokens: 1024 }, tools: [{ name: "search", input_schema: {} }] },
    ),
  ],
  [
    "results over two user messages, and neighbours of the same role",
    request([
      user("1"),
      user("2"),
      assistant("3"),
      assistant([call("a"), call("b")]),
      user([result("b")]),
      user([result("a")]),
    ]),
  ],
  ["an empty result", request([user("?"), assistant([call("a")]), user([result("a", { content: "" })])])],
  [
    "a system message after the user's, before the assistant's",
    request([user("1"), system("Read only now."), assistant("2"), user("3"), system([text("Go on.")])]),
  ],
  [
    "four marks",
    request([user([text("1", marked), text("2", marked)])], {
      system: [text("s", marked)],
      cache_control: {},
    }),
  ],
  [
    "an hour before five minutes",
    request([user([text("1", { cache_control: { type: "ephemeral", ttl: "1h" } }), text("2", marked)])]),
  ],
  [
    "a block of the API's own compaction first",
    request([assistant([{ type: "compaction", content: "…", signature: "c2ln" }]), user("Go on.")]),
  ],
  ["a prefill, where the model takes one", request([user("1"), assistant("It is")]), { prefill: "accepted" }],
  [
    "tool loop without thinking in adaptive mode",
    request([user("?"), assistant([call("a")]), user([result("a")])], { thinking: { type: "adaptive" } }),
  ],
  [
    "what a beta allows",
    request([user("1")], { compaction: { type: "summarize" } }),
    { betas: ["compact-2026-09-04"] },
  ],
  [
    "tools of Anthropic's own",
    request([
      user("?"),
      assistant([serverCall("s"), serverResult("s"), text("1")]),
      user("2"),
      assistant([serverCall("f", "web_fetch"), call("a")]),
      user([result("a")]),
      assistant([serverResult("f", "web_fetch_tool_result"), text("3")]),
      user("4"),
    ]),
  ],
  ["a paused turn", request([user("?"), assistant([text("1"), serverCall("s")])])],
  ["a deferred call", request([user("?"), assistant([serverCall("s"), call("a")]), user([result("a")])])],
  [
    "a tool reference in a result",
    request([
      user("?"),
      assistant([call("a")]),
      user([result("a", { content: [{ type: "tool_reference", tool_name: "f" }] })]),
    ]),
  ],
]

const refused: Readonly<
  Record<AnthropicRule, ReadonlyArray<readonly [path: string, request: unknown, options?: AnthropicOptions]>>
> = {
  unicode: [["messages[0].content", request([user("half \ud83d")])]],
  "field-required": [
    ["max_tokens", { model: "m", messages: [user("1")] }],
    ["messages.0.content", request([{ role: "user" }])],
    [
      "messages.1.content.0.signature",
      request([user("1"), assistant([{ type: "thinking", thinking: "" }, text("2")]), user("3")]),
    ],
  ],
  "field-unknown": [
    ["usage", request([user("1")], { usage: {} })],
    ["messages.1.id", request([user("1"), { ...assistant("2"), id: "msg_1" }, user("3")])],
    ["messages.0.content.0.name", request([user([text("1", { name: "x" })])])],
  ],
  "field-type": [
    ["system", request([user("1")], { system: 7 })],
    ["messages.0.content", request([user({ type: "text", text: "1" })])],
    ["messages.0.content.0.text", request([user([{ type: "text", text: null }])])],
  ],
  "beta-header": [
    ["compaction", request([user("1")], { compaction: { type: "summarize" } })],
    ["thinking.block_binding", request([user("1")], { thinking: { type: "adaptive", block_binding: {} } })],
  ],
  "messages-empty": [["messages", request([])]],
  role: [["messages.1.role", request([user("1"), { role: "tool", content: "2" }])]],
  "first-user": [["messages", request([assistant("Hello!"), user("Hi.")])]],
  "last-user": [["messages", request([user("1"), assistant("2")])]],
  "final-whitespace": [["messages", request([user("1"), assistant("2\n")]), { prefill: "accepted" }]],
  "system-role": [["messages.1.role", request([user("1"), system("2")]), { systemMessages: "refused" }]],
  "system-first": [["messages.0", request([system("1"), assistant("2"), user("3")])]],
  "system-after": [
    ["messages.2", request([user("1"), assistant("2"), system("3"), assistant("4"), user("5")])],
  ],
  "system-before": [["messages.1", request([user("1"), system("2"), user("3")])]],
  "content-empty": [
    ["messages.0", request([user("")])],
    ["messages.1", request([user("1"), assistant([]), user("3")])],
  ],
  "text-empty": [
    ["messages.0.content.0", request([user([text("")])])],
    ["system.0", request([user("1")], { system: [text("")] })],
    [
      "messages.2.content.0.content.0",
      request([user("?"), assistant([call("a")]), user([result("a", { content: [text("")] })])]),
    ],
  ],
  "text-blank": [
    ["messages.0.content.1", request([user([text("1"), text(" \n")])])],
    ["messages.0.content", request([user("  ")])],
  ],
  "block-type": [
    ["messages.0.content.0.type", request([user([{ type: "hologram_tool_result" }])])],
    ["messages.0.content.0.type", request([user([{ type: "web_search_result", url: "x" }])])],
    ["messages.0.content.0.type", request([user([{ type: "tool-call" }])])],
    ["messages.0.content.0", request([user(["1"])])],
    ["messages.0.content.0.type", request([user([thinking])])],
    ["messages.1.content.0.type", request([user("1"), assistant([image, text("2")]), user("3")])],
  ],
  "media-type": [
    [
      "messages.0.content.0.source.media_type",
      request([user([{ ...image, source: { ...image.source, media_type: "image/tiff" } }])]),
    ],
  ],
  "tool-use-id": [
    ["messages.1.content.0.id", request([user("?"), assistant([call("a|b")]), user([result("a|b")])])],
    ["messages.2.content.0.tool_use_id", request([user("?"), assistant([call("")]), user([result("")])])],
  ],
  "tool-use-id-unique": [
    [
      "messages.3.content.0",
      request([
        user("?"),
        assistant([call("a")]),
        user([result("a")]),
        assistant([call("a")]),
        user([result("a")]),
      ]),
    ],
  ],
  "tool-use-name": [
    [
      "messages.1.content.0.name",
      request([user("?"), assistant([call("a", { name: "fs.read" })]), user([result("a")])]),
    ],
  ],
  "tool-use-input": [
    [
      "messages.1.content.0.input",
      request([user("?"), assistant([call("a", { input: [1] })]), user([result("a")])]),
    ],
  ],
  "tool-result-missing": [
    ["messages.1", request([user("?"), assistant([call("a")]), user("And?")])],
    ["messages.1", request([user("?"), assistant([call("a")]), user([text("And?"), result("a")])])],
    [
      "messages.1",
      request([
        user("?"),
        assistant([call("a"), call("b")]),
        user([result("a"), text("!")]),
        user([result("b")]),
      ]),
    ],
    ["messages.1", request([user("?"), assistant([call("a")]), assistant("Hm."), user("And?")])],
  ],
  "tool-result-orphan": [
    ["messages.0.content.0", request([user([result("a")])])],
    [
      "messages.4.content.0",
      request([
        user("?"),
        assistant([call("a")]),
        user([result("a")]),
        assistant("Done."),
        user([result("a")]),
      ]),
    ],
  ],
  caller: [
    [
      "messages.1.content.0.caller",
      request([user("?"), assistant([{ ...call("a"), ...by("s") }]), user([result("a")])]),
    ],
  ],
  "server-tool-result-missing": [
    ["messages.1", request([user("?"), assistant([text("1"), serverCall("s")]), user("And?")])],
    [
      "messages.1",
      request([user("?"), assistant([serverCall("s"), call("a")]), user([result("a"), text("!")])]),
    ],
    [
      "messages.1",
      request([
        user("?"),
        assistant([serverCall("s", "web_fetch"), call("a")]),
        user([result("a")]),
        assistant("2"),
        user("3"),
      ]),
    ],
    [
      "messages.1",
      request([
        user("?"),
        assistant([{ type: "mcp_tool_use", id: "m", name: "f", server_name: "s", input: {} }]),
        user("And?"),
      ]),
    ],
  ],
  "server-tool-result-orphan": [
    ["messages.1.content.0", request([user("?"), assistant([serverResult("s")]), user("And?")])],
    [
      "messages.1.content.0",
      request([user("?"), assistant([serverResult("s", "mcp_tool_result")]), user("!")]),
    ],
    [
      "messages.1.content.2",
      request([user("?"), assistant([serverCall("s"), serverResult("s"), serverResult("s")]), user("!")]),
    ],
    [
      "messages.3.content.0",
      request([
        user("?"),
        assistant([call("a")]),
        user([result("a")]),
        assistant([serverResult("s", "web_fetch_tool_result"), text("1")]),
        user("2"),
      ]),
    ],
  ],
  "tool-result-twice": [
    ["messages.2.content.1", request([user("?"), assistant([call("a")]), user([result("a"), result("a")])])],
  ],
  "tool-result-error-empty": [
    [
      "messages.2.content.0",
      request([user("?"), assistant([call("a")]), user([result("a", { content: "", is_error: true })])]),
    ],
  ],
  "tool-result-error-text": [
    [
      "messages.2.content.0",
      request([user("?"), assistant([call("a")]), user([result("a", { content: [image], is_error: true })])]),
    ],
  ],
  "thinking-signature": [
    [
      "messages.1.content.0",
      request([user("1"), assistant([{ ...thinking, signature: "" }, text("2")]), user("3")]),
    ],
  ],
  "thinking-last": [["messages.1", request([user("1"), assistant([thinking])]), { prefill: "accepted" }]],
  "thinking-first": [
    [
      "messages.1.content.0.type",
      request([user("?"), assistant([text("Hm."), call("a")]), user([result("a")])], {
        thinking: { type: "enabled", budget_tokens: 1024 },
      }),
    ],
  ],
  "image-count": [
    ["messages", request([user(Array.from({ length: 101 }, () => image))])],
    [
      "messages",
      request([
        user("?"),
        assistant([call("a")]),
        user([
          result("a", { content: Array.from({ length: 60 }, () => image) }),
          ...Array.from({ length: 41 }, () => image),
        ]),
      ]),
    ],
  ],
  "image-size": [["messages", request([user([sized(5 * 2 ** 20 + 1)])])]],
  "request-size": [["", request([user(Array.from({ length: 7 }, () => sized(5_000_000)))])]],
  "cache-control-count": [
    [
      "",
      request([user([1, 2, 3, 4].map((n) => text(`${n}`, marked)))], {
        tools: [{ name: "a", input_schema: {}, ...marked }],
      }),
    ],
  ],
  "cache-control-order": [
    [
      "",
      request([user([text("1", marked), text("2", { cache_control: { type: "ephemeral", ttl: "1h" } })])]),
    ],
    ["", request([user("1")], { system: [text("s", marked)], cache_control: { ttl: "1h" } })],
  ],
  "cache-control-place": [
    ["messages.0.content.1", request([user([text("1"), text("", marked)])])],
    [
      "messages.1.content.0",
      request([user("1"), assistant([{ ...thinking, ...marked }, text("2")]), user("3")]),
    ],
  ],
}

describe("what the Messages API takes", () => {
  for (const [name, given, options] of accepted) {
    it(`accepts ${name}`, () => {
      expect(anthropicViolations(given, options)).toEqual([])
    })
  }
})

describe("what the Messages API refuses", () => {
  for (const [rule, examples] of Object.entries(refused)) {
    it(rule, () => {
      expect(examples.length).toBeGreaterThan(0)
      for (const [path, given, options] of examples) {
        const found = anthropicViolations(given, options)
        const { source } = anthropicRules[rule as AnthropicRule]
        expect(found).toContainEqual({ rule, path, source, message: expect.stringMatching(/./) })
      }
    })
  }

  it("survives whatever is sent", () => {
    for (const given of [null, [], 7, { messages: 7 }, request([null]), request([user([null])])]) {
      expect(anthropicViolations(given).length).toBeGreaterThan(0)
    }
  })
})
