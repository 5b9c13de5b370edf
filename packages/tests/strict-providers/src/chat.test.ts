import { describe, expect, it } from "vitest"
import { chatViolations } from "./chat.js"
import { chatRules, type ChatRule } from "./chatRules.js"
import type { ChatServer } from "./chatServers.js"

const call = (id: string, called: object = {}) => ({
  id,
  type: "function",
  function: { name: "search", arguments: "{}", ...called },
})
const asking = (...calls: ReadonlyArray<object>) => ({ role: "assistant", content: null, tool_calls: calls })
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "found" })
const user = (content: unknown, more: object = {}) => ({ role: "user", content, ...more })
const request = (...messages: ReadonlyArray<unknown>) => ({ model: "gpt-6.2-sol", messages })

const accepted: ReadonlyArray<readonly [string, unknown]> = [
  ["a question", request({ role: "developer", content: "Be brief." }, user("Hello?", { name: "Ann" }))],
  [
    "a tool loop with parallel calls",
    request(
      user([
        { type: "text", text: "?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ]),
      asking(call("a"), call("b")),
      result("b"),
      result("a"),
      { role: "assistant", content: "Done." },
      user("Again."),
      asking(call("c")),
      result("c"),
    ),
  ],
  [
    "messages of any role in any order",
    request({ role: "assistant", content: "Hello!" }, { role: "system", content: "" }),
  ],
  ["a refusal", request(user("1"), { role: "assistant", content: null, refusal: "No." }, user("2"))],
  [
    "an old function call",
    request(
      user("1"),
      { role: "assistant", content: null, function_call: { name: "f", arguments: "" } },
      { role: "function", name: "f", content: "1" },
    ),
  ],
]

const turn = (fields: object = {}) =>
  request(user("1"), { ...asking(call("abcdefghi")), ...fields }, result("abcdefghi"))
const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } }

const refused: Readonly<
  Record<ChatRule, ReadonlyArray<readonly [path: string, request: unknown, server?: ChatServer]>>
> = {
  unicode: [["messages[0].content", request(user("\ude00 half"))]],
  "field-required": [["model", { messages: [user("1")] }]],
  "field-unknown": [
    ["messages[0].id", request(user("1", { id: 1 }))],
    ["usage", { ...request(user("1")), usage: {} }],
    ["messages[0].reasoning_content", request({ role: "assistant", content: "1", reasoning_content: "2" })],
    ["messages[0].tool_call_id", request(user("1", { tool_call_id: "a" }))],
    ["messages[0].content[0].cache_control", request(user([{ type: "text", text: "1", cache_control: {} }]))],
  ],
  "field-type": [
    ["messages[0].content", request(user(7))],
    [
      "messages[1].tool_calls[0].function.arguments",
      request(user("1"), asking(call("a", { arguments: {} })), result("a")),
    ],
  ],
  "field-null": [
    ["messages[0].name", request(user("1", { name: null }))],
    ["messages[0].function_call", request({ role: "assistant", content: "1", function_call: null })],
    ["messages[0].audio", request({ role: "assistant", content: "1", audio: null })],
  ],
  "function-arguments": ['{"cmd": "git', "", "[1,2]", "null"].map((text) => [
    "messages[1].tool_calls[0].function.arguments",
    request(user("1"), asking(call("a", { arguments: text })), result("a")),
  ]),
  "messages-empty": [["messages", request()]],
  role: [["messages[0].role", request({ role: "human", content: "1" })]],
  "content-null": [
    ["messages[0].content", request({ role: "assistant", content: null })],
    ["messages[0].content", request({ role: "user" })],
  ],
  "array-empty": [
    ["messages[0].content", request(user([]))],
    ["messages[1].tool_calls", request(user("1"), { role: "assistant", content: "2", tool_calls: [] })],
  ],
  "part-type": [
    ["messages[0].content[0].type", request(user([{ type: "tool_result" }]))],
    [
      "messages[0].content[0].type",
      request({ role: "system", content: [{ type: "image_url", image_url: {} }] }),
    ],
  ],
  name: [["messages[0].name", request(user("1", { name: "Ann Lee" }))]],
  "function-name": [
    [
      "messages[1].tool_calls[0].function.name",
      request(user("1"), asking(call("a", { name: "fs.read" })), result("a")),
    ],
  ],
  "call-id": [
    [
      "messages[1].tool_calls[0].id",
      request(user("1"), asking(call("i".repeat(41))), result("i".repeat(41))),
    ],
    ["messages[2].tool_call_id", request(user("1"), asking(call("")), result(""))],
  ],
  "call-id-unique": [
    ["messages[1].tool_calls[1].id", request(user("1"), asking(call("a"), call("a")), result("a"))],
    [
      "messages[4].tool_calls[0].id",
      request(user("1"), asking(call("a")), result("a"), user("2"), asking(call("a")), result("a")),
    ],
  ],
  "tool-result-missing": [
    ["messages[1].tool_calls", request(user("1"), asking(call("a")), user("2"))],
    [
      "messages[1].tool_calls",
      request(user("1"), asking(call("a"), call("b")), result("a"), user("2"), result("b")),
    ],
    ["messages[1].tool_calls", request(user("1"), asking(call("a")))],
  ],
  "tool-result-orphan": [
    ["messages[0].role", request(result("a"))],
    ["messages[4].role", request(user("1"), asking(call("a")), result("a"), user("2"), result("a"))],
  ],
  "tool-result-twice": [["messages[3]", request(user("1"), asking(call("a")), result("a"), result("a"))]],
  "first-user": [
    [
      "messages[1].role",
      request({ role: "system", content: "1" }, { role: "assistant", content: "2" }),
      "any",
    ],
  ],
  "reasoning-content": [
    ["messages[1]", turn(), "deepseek"],
    ["messages[1]", turn({ reasoning_content: "" }), "kimi"],
  ],
  "thought-signature": [["messages[1].tool_calls[0]", turn(), "gemini"]],
  "user-after-tool": [["messages[3].role", request(...turn().messages, user("2")), "mistral"]],
  "call-id-nine": [["messages[2]", request(user("1"), asking(call("a")), result("a")), "mistral"]],
  "image-count": [
    ["messages", request(user(Array.from({ length: 9 }, () => image))), "mistral"],
    ["messages", request(user(Array.from({ length: 6 }, () => image))), "groq"],
  ],
}

describe("what Chat Completions takes", () => {
  for (const [name, given] of accepted) {
    it(`accepts ${name}`, () => {
      expect(chatViolations(given)).toEqual([])
    })
  }
})

describe("what Chat Completions refuses", () => {
  for (const [rule, examples] of Object.entries(refused)) {
    it(rule, () => {
      expect(examples.length).toBeGreaterThan(0)
      for (const [path, given, server = "openai"] of examples) {
        const { source } = chatRules[rule as ChatRule]
        expect(chatViolations(given, { server })).toContainEqual({
          rule,
          path,
          source,
          message: expect.stringMatching(/./),
        })
      }
    })
  }
})
