import { generateText, type ModelMessage } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { describe, expect, it } from "vitest"
import { modelMessageViolations } from "./aiSdk.js"
import { aiSdkRules, type AiSdkRule } from "./aiSdkRules.js"

const call = (id: string) => ({ type: "tool-call", toolCallId: id, toolName: "search", input: {} }) as const
const result = (id: string, output: object = { type: "text", value: "found" }) => ({
  type: "tool-result",
  toolCallId: id,
  toolName: "search",
  output,
})
const user = (content: unknown) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })
const tool = (...content: ReadonlyArray<unknown>) => ({ role: "tool", content })

const accepted: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
  ["a question", [user("Hello?")]],
  [
    "a tool loop with parallel calls",
    [
      user([
        { type: "text", text: "?" },
        { type: "file", data: "AAAA", mediaType: "image/png" },
      ]),
      assistant({ type: "reasoning", text: "Hm." }, { type: "text", text: "" }, call("a"), call("b")),
      tool(result("b", { type: "error-text", value: "" })),
      tool(result("a", { type: "content", value: [{ type: "text", text: "found" }] })),
      { role: "assistant", content: "Done." },
    ],
  ],
]

const refused: Readonly<
  Record<AiSdkRule, ReadonlyArray<readonly [path: string, messages: ReadonlyArray<unknown>]>>
> = {
  "messages-empty": [["messages", []]],
  "system-message": [["messages[1]", [user("1"), { role: "system", content: "2" }]]],
  role: [["messages[0].role", [{ role: "developer", content: "1" }]]],
  "field-unknown": [
    ["messages[0].id", [{ ...user("1"), id: "1" }]],
    ["messages[0].content[0].args", [assistant({ ...call("a"), args: {} }), tool(result("a"))]],
  ],
  "field-type": [
    ["messages[0].content", [{ role: "tool", content: "1" }]],
    ["messages[0].content[0].text", [user([{ type: "text", text: 7 }])]],
    [
      "messages[1].content[0].toolName",
      [assistant(call("a")), tool({ ...result("a"), toolName: undefined })],
    ],
  ],
  "part-type": [
    ["messages[0].content[0].type", [user([{ type: "tool-result" }])]],
    ["messages[0].content[0].type", [assistant({ type: "tool_use" })]],
  ],
  "content-empty": [
    ["messages[0].content", [user("")]],
    ["messages[0].content", [user([{ type: "text", text: "" }])]],
    ["messages[1].content", [user("1"), assistant()]],
  ],
  "call-id-unique": [
    ["messages[2]", [assistant(call("a")), tool(result("a")), assistant(call("a")), tool(result("a"))]],
  ],
  "tool-result-missing": [
    ["messages[0]", [assistant(call("a")), user("1")]],
    ["messages[0]", [assistant(call("a"))]],
  ],
  "tool-result-orphan": [["messages[1].content[0]", [user("1"), tool(result("a"))]]],
  "tool-result-twice": [["messages[1].content[1]", [assistant(call("a")), tool(result("a"), result("a"))]]],
  "tool-result-output": [
    ["messages[1].content[0].output", [assistant(call("a")), tool({ ...result("a"), output: "found" })]],
    ["messages[1].content[0].output", [assistant(call("a")), tool(result("a", { type: "text", value: {} }))]],
  ],
}

describe("what the AI SDK takes", () => {
  for (const [name, messages] of accepted) {
    it(`accepts ${name}`, () => {
      expect(modelMessageViolations({ messages })).toEqual([])
    })
  }

  it("accepts system messages where it is told to", () => {
    const messages = [{ role: "system", content: "1" }, user("2")]
    expect(modelMessageViolations({ messages }, { allowSystemInMessages: true })).toEqual([])
  })
})

describe("what the AI SDK refuses", () => {
  for (const [rule, examples] of Object.entries(refused)) {
    it(rule, () => {
      expect(examples.length).toBeGreaterThan(0)
      for (const [path, messages] of examples) {
        const { source } = aiSdkRules[rule as AiSdkRule]
        expect(modelMessageViolations({ messages })).toContainEqual({
          rule,
          path,
          source,
          message: expect.stringMatching(/./),
        })
      }
    })
  }
})

describe("the AI SDK itself", () => {
  const generate = (messages: ReadonlyArray<unknown>) =>
    generateText({
      model: new MockLanguageModelV4({
        doGenerate: async () => ({
          content: [{ type: "text", text: "ok" }],
          finishReason: { unified: "stop", raw: "stop" },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        }),
      }),
      messages: messages as Array<ModelMessage>,
    })

  it("takes what is accepted", async () => {
    for (const [, messages] of accepted) expect((await generate(messages)).text).toBe("ok")
  })

  it("refuses empty prompts, system messages and calls without results", async () => {
    for (const rule of ["messages-empty", "system-message", "tool-result-missing"] as const) {
      for (const [, messages] of refused[rule]) await expect(generate(messages)).rejects.toThrow(/./)
    }
  })
})
