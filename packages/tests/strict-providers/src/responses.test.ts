import { describe, expect, it } from "vitest"
import { responsesViolations } from "./responses.js"
import { responsesRules, type ResponsesRule } from "./responsesRules.js"

const call = (id: string, more: object = {}) => ({
  type: "function_call",
  call_id: id,
  name: "search",
  arguments: "{}",
  ...more,
})
const output = (id: string, more: object = {}) => ({
  type: "function_call_output",
  call_id: id,
  output: "found",
  ...more,
})
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "c2ln" }
const user = (content: unknown) => ({ role: "user", content })
const said = (text: string, more: object = {}) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
  ...more,
})
const custom = (id: string) => ({ type: "custom_tool_call", call_id: id, name: "sql", input: "select 1" })
const searched = (id: string | null) => ({
  type: "tool_search_call",
  call_id: id,
  execution: "client",
  arguments: {},
})
const found = (id: string | null) => ({
  type: "tool_search_output",
  call_id: id,
  execution: "client",
  tools: [],
})
const shell = (callId: string, id: string) => ({
  type: "local_shell_call",
  call_id: callId,
  id,
  action: { type: "exec", command: ["ls"], env: {} },
  status: "completed",
})
const asked = (id: string) => ({
  type: "mcp_approval_request",
  id,
  server_label: "s",
  name: "f",
  arguments: "{}",
})
const approved = (id: string) => ({ type: "mcp_approval_response", approval_request_id: id, approve: true })
const by = (program: string) => ({ caller: { type: "program", caller_id: program } })
const program = (id: string) => ({ type: "program", id: "prg_1", call_id: id, code: "f()", fingerprint: "1" })
const request = (...input: ReadonlyArray<unknown>) => ({ model: "gpt-6.2-sol", input })

const accepted: ReadonlyArray<readonly [string, unknown, "compact"?]> = [
  ["a text", { model: "m", input: "Hello?", instructions: "Be brief.", stream: true }],
  [
    "a tool loop with reasoning",
    request(
      { role: "developer", content: "Be brief." },
      user([
        { type: "input_text", text: "?" },
        { type: "input_image", detail: "auto", image_url: "data:," },
      ]),
      reasoning,
      call("a", { id: "fc_1" }),
      call("b", { id: "fc_2" }),
      output("b"),
      output("a", { output: [{ type: "input_text", text: "found" }] }),
      { ...reasoning, id: "rs_2" },
      said("Done.", { id: "msg_1", status: "completed" }),
      { role: "assistant", content: "Really." },
      user("Thanks."),
    ),
  ],
  ["a compaction", request({ type: "compaction", id: "cmp_1", encrypted_content: "…" }, user("Go on."))],
  ["what continues a response", { model: "m", previous_response_id: "resp_1", input: [output("a")] }],
  ["a request to compact", { model: "m", input: [user("1"), said("2")] }, "compact"],
  [
    "every kind of call with its answer",
    request(
      user("1"),
      searched("a"),
      found("a"),
      searched(null),
      found(null),
      custom("b"),
      { type: "custom_tool_call_output", call_id: "b", output: "1" },
      shell("c", "lsh_1"),
      { type: "local_shell_call_output", id: "c", output: "ok" },
      shell("d", "lsh_2"),
      { type: "local_shell_call_output", id: "lsh_2", output: "ok" },
      asked("mcpr_1"),
      said("Wait."),
      approved("mcpr_1"),
      user("2"),
    ),
  ],
  ["a program that has called a tool", request(user("1"), program("p"), call("a"), output("a"))],
  [
    "a call that names its program, and so does its output",
    request(user("1"), program("p"), { ...call("a"), ...by("p") }, { ...output("a"), ...by("p") }),
  ],
  [
    "tools of OpenAI's own",
    request(user("1"), { type: "web_search_call", id: "ws_1", status: "completed" }, said("2")),
  ],
]

const refused: Readonly<
  Record<ResponsesRule, ReadonlyArray<readonly [path: string, request: unknown, method?: "compact"]>>
> = {
  unicode: [["input", { model: "m", input: "half \ud83d" }]],
  "field-required": [
    ["model", { input: "1" }],
    [
      "input[1].arguments",
      request(user("1"), { type: "function_call", call_id: "a", name: "f" }, output("a")),
    ],
  ],
  "field-unknown": [
    ["messages", { ...request(user("1")), messages: [] }],
    ["input[0].name", request({ ...user("1"), name: "Ann" })],
    ["input[0].parsed_arguments", request(call("a", { parsed_arguments: null }), output("a"))],
    ["store", { ...request(user("1")), store: false }, "compact"],
  ],
  "field-type": [
    ["input", { model: "m", input: 7 }],
    ["input[0].content", request(user(7))],
    ["input[0].arguments", request(call("a", { arguments: {} }), output("a"))],
  ],
  "input-empty": [
    ["input", request()],
    ["input", { model: "m", input: "" }],
  ],
  "item-type": [
    ["input[0].type", request({ type: "tool_use" })],
    ["input[0].type", request({ type: "time_travel_call" })],
    ["input[0].type", request({ type: "input_text", text: "1" })],
  ],
  role: [["input[0].role", request({ role: "tool", content: "1" })]],
  "part-type": [
    ["input[0].content[0].type", request(user([{ type: "text", text: "1" }]))],
    [
      "input[0].content[0].type",
      request({ role: "assistant", content: [{ type: "input_text", text: "1" }] }),
    ],
    [
      "input[1].output[0].type",
      request(call("a"), output("a", { output: [{ type: "output_text", text: "1" }] })),
    ],
  ],
  "function-arguments": ['{"cmd": "git', "", "[1,2]", "null"].map((text) => [
    "input[0].arguments",
    request(call("a", { arguments: text }), output("a")),
  ]),
  "function-name": [["input[0].name", request(call("a", { name: "fs.read" }), output("a"))]],
  "call-id": [
    ["input[0].call_id", request(call("i".repeat(65)), output("i".repeat(65)))],
    ["input[1].call_id", request(call(""), output(""))],
  ],
  "call-id-unique": [["input[2]", request(call("a"), output("a"), call("a"))]],
  "item-id": [
    ["input[0].id", request(said("1", { id: "chatcmpl_1" }))],
    ["input[0].id", request(call("a", { id: "fc_a|b" }), output("a"))],
  ],
  "item-id-unique": [["input[1]", request(said("1", { id: "msg_1" }), said("2", { id: "msg_1" }))]],
  "tool-result-missing": [
    ["input[0]", request(call("a"), user("And?"))],
    ["input[0]", request(searched("a"), user("And?"))],
    ["input[0]", request(custom("a"))],
    ["input[0]", request(shell("a", "lsh_1"), user("And?"))],
    ["input[0]", request(asked("mcpr_1"), user("And?"))],
    ["input[0]", request({ type: "computer_call", call_id: "a", action: { type: "click" } }, user("?"))],
    ["input[0]", request(program("a"), user("And?"))],
  ],
  "tool-result-orphan": [
    // An answer of another type answers nothing, and its call stays open, which another rule says.
    ["input[1]", request(custom("a"), output("a"))],
    ["input[0]", request(found("a"))],
    ["input[0]", request({ type: "local_shell_call_output", id: "a", output: "" })],
    ["input[0]", request(approved("mcpr_1"), user("?"))],
    [
      "input[0]",
      request({ type: "program_output", id: "po_1", call_id: "a", result: "", status: "completed" }),
    ],
    ["input[0]", request(output("a"))],
    ["input[0]", request(output("a"), call("a"))],
  ],
  "tool-result-twice": [["input[2]", request(call("a"), output("a"), output("a"))]],
  caller: [
    ["input[0].caller", request({ ...call("a"), ...by("p") }, { ...output("a"), ...by("p") })],
    ["input[3].caller", request(user("1"), program("p"), { ...call("a"), ...by("p") }, output("a"))],
  ],
  "compaction-trigger": [["input[0]", request({ type: "compaction_trigger" }, user("Go on."))]],
  "reasoning-following": [
    ["input[1]", request(user("1"), reasoning, user("2"))],
    ["input[1]", request(user("1"), reasoning)],
  ],
  "reasoning-content": [
    ["input[0]", { ...request({ type: "reasoning", id: "rs_1", summary: [] }, said("1")), store: false }],
  ],
}

describe("what Responses takes", () => {
  for (const [name, given, method] of accepted) {
    it(`accepts ${name}`, () => {
      expect(responsesViolations(given, method)).toEqual([])
    })
  }
})

describe("what Responses refuses", () => {
  for (const [rule, examples] of Object.entries(refused)) {
    it(rule, () => {
      expect(examples.length).toBeGreaterThan(0)
      for (const [path, given, method] of examples) {
        const { source } = responsesRules[rule as ResponsesRule]
        expect(responsesViolations(given, method)).toContainEqual({
          rule,
          path,
          source,
          message: expect.stringMatching(/./),
        })
      }
    })
  }
})
