/** What requests have of items and blocks of every type, and ids that come again: no API refuses a context for either (law L17). */
import { requestFields } from "@memfold/codec"
import type * as Codec from "@memfold/codec"
import { anthropicViolations, responsesViolations } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import { createMemory } from "../src/index.js"

const violations = {
  "openai-responses": (input: unknown) => responsesViolations({ model: "m", input }),
  anthropic: (messages: unknown) =>
    anthropicViolations({ model: "m", max_tokens: 10, ...(messages as object) }),
}
type Format = keyof typeof violations

const contextOf = async (format: Format, given: ReadonlyArray<unknown>) => {
  await using memory = createMemory({
    store: "memory:",
    format: format as "openai-responses",
    summarizer: "extractive",
  })
  for (const message of given) await memory.append("s", message as never)
  const { messages, layout } = await memory.context("s")
  const stored: unknown = (await memory.messages("s")).messages
  return { sent: messages as unknown, layout, stored, refused: violations[format](messages) }
}

const user = (content: unknown) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })

/** A value with each field that the table knows, and one that it does not. */
const filled = (inside: Codec.KnownInside, type?: string): unknown => {
  if (inside === true) return type ?? "x"
  if ("types" in inside) return Object.entries(inside.types).map(([name, one]) => filled(one, name))
  return {
    ...Object.fromEntries(
      Object.entries(inside.fields).map(([name, one]) => [
        name,
        name === "type" ? (type ?? "x") : filled(one),
      ]),
    ),
    trace_of_mine: 1,
  }
}

const object = (value: unknown) => value as Readonly<Record<string, unknown>>

describe("fields that no request has", () => {
  // Those that stand alone: what a pair needs is in other tests.
  const alone =
    `mcp_list_tools mcp_call web_search_call file_search_call code_interpreter_call image_generation_call
    additional_tools configuration_update`.split(/\s+/u)

  it.each(alone)("are in no %s of Responses, at any depth, and in the log", async (type) => {
    const item = { ...object(filled(requestFields["openai-responses"].types[type]!, type)), id: "i_1" }
    const { sent, stored, refused } = await contextOf("openai-responses", [user("?"), item, user("!")])
    expect(refused).toEqual([])
    expect(JSON.stringify(sent)).toContain(`"${type}"`)
    expect(JSON.stringify(sent)).not.toContain("trace_of_mine")
    expect(stored).toContainEqual(item)
  })

  it.each([
    ["local_shell_call", { action: { type: "exec", command: ["ls"], env: {} } }, { output: "a.txt" }],
    [
      "shell_call",
      { action: { commands: ["ls"] } },
      {
        output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0, trace_of_mine: 1 } }],
      },
    ],
    [
      "apply_patch_call",
      { operation: { type: "update_file", path: "a", diff: "+", trace_of_mine: 1 } },
      { status: "completed" },
    ],
    [
      "computer_call",
      { action: { type: "click", button: "left", x: 1, y: 1, trace_of_mine: 1 }, pending_safety_checks: [] },
      { output: { type: "computer_screenshot", image_url: "https://example.org/1.png", trace_of_mine: 1 } },
    ],
    ["custom_tool_call", { name: "f", input: "x" }, { output: [{ type: "input_text", text: "r" }] }],
  ])("are in no %s and in no output of it", async (type, call, output) => {
    const pair = { call_id: "c", trace_of_mine: 1 }
    const { sent, refused } = await contextOf("openai-responses", [
      user("?"),
      { type, id: "lsh_1", status: "completed", ...pair, ...call },
      { type: `${type}_output`, ...pair, ...output },
      user("!"),
    ])
    expect(refused.filter(({ rule }) => rule !== "item-id")).toEqual([])
    expect(sent).toHaveLength(4)
    expect(JSON.stringify(sent)).not.toContain("trace_of_mine")
  })

  it("are in no tool of Messages that the provider runs, in no result, and in no citation", async () => {
    const use = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { trace_of_mine: 1 } }
    const found = {
      type: "web_search_result",
      title: "t",
      url: "u",
      encrypted_content: "e",
      page_age: null,
      trace_of_mine: 1,
    }
    const { sent, refused } = await contextOf("anthropic", [
      user("?"),
      assistant(
        { ...use, trace_of_mine: 1 },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: [found],
          trace_of_mine: 1,
        },
        {
          type: "text",
          text: "400 euros",
          citations: [
            {
              type: "web_search_result_location",
              cited_text: "c",
              encrypted_index: "i",
              title: "t",
              url: "u",
              trace_of_mine: 1,
            },
          ],
        },
        { type: "mcp_tool_use", id: "mcptoolu_1", name: "f", server_name: "s", input: {}, trace_of_mine: 1 },
        {
          type: "mcp_tool_result",
          tool_use_id: "mcptoolu_1",
          is_error: false,
          content: [{ type: "text", text: "r", trace_of_mine: 1 }],
        },
      ),
      user("!"),
    ])
    expect(refused).toEqual([])
    // What the model gave the tool is its own.
    expect(JSON.stringify(sent).split("trace_of_mine")).toHaveLength(2)
    expect(JSON.stringify(sent)).toContain('"input":{"trace_of_mine":1}')
  })
})

describe("texts within reasoning", () => {
  const said = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    content: [{ type: "output_text", text: "4" }],
  }

  it.each([
    [{ summary: [{ type: "text", text: "hm" }] }, { summary: [{ type: "summary_text", text: "hm" }] }],
    [
      { summary: [{ type: "output_text", text: "hm" }], content: [{ type: "text", text: "2 + 2" }] },
      {
        summary: [{ type: "summary_text", text: "hm" }],
        content: [{ type: "reasoning_text", text: "2 + 2" }],
      },
    ],
    [{ summary: "hm" }, { summary: [{ type: "summary_text", text: "hm" }] }],
    [{ summary: ["hm", { type: "image" }] }, { summary: [{ type: "summary_text", text: "hm" }] }],
    [{ summary: null }, { summary: [] }],
    [{}, { summary: [] }],
  ])("%j are sent under the type of their place", async (given, expected) => {
    const reasoning = { type: "reasoning", id: "rs_1", encrypted_content: "gAAA" }
    const { sent, refused, stored } = await contextOf("openai-responses", [
      user("?"),
      [{ ...reasoning, ...given }, said],
      user("!"),
    ])
    expect(refused).toEqual([])
    expect(sent).toContainEqual({ ...reasoning, ...expected })
    expect(stored).toContainEqual({ ...reasoning, ...given })
  })
})

describe("ids that come again in a later turn", () => {
  it("of an approval: each answer stays with its request", async () => {
    const turn = (approve: boolean) => [
      {
        type: "mcp_approval_request",
        id: "mcpr_1",
        server_label: "s",
        name: "f",
        arguments: `{"n":${approve}}`,
      },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve },
      user("Go on."),
    ]
    const { sent, refused } = await contextOf("openai-responses", [
      user("?"),
      ...turn(true),
      ...turn(false),
      ...turn(true),
    ])
    expect(refused).toEqual([])
    const items = (sent as ReadonlyArray<Record<string, unknown>>).filter(({ type }) => type !== undefined)
    expect(items.map(({ id, approval_request_id, approve }) => [id ?? approval_request_id, approve])).toEqual(
      [
        ["mcpr_1", undefined],
        ["mcpr_1", true],
        ["mcpr_1_2", undefined],
        ["mcpr_1_2", false],
        ["mcpr_1_3", undefined],
        ["mcpr_1_3", true],
      ],
    )
  })

  it("of a tool that the provider runs: each result stays with its call", async () => {
    const turn = (n: number) => [
      assistant(
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_fetch", input: { n } },
        {
          type: "web_fetch_tool_result",
          tool_use_id: "srvtoolu_1",
          content: { type: "web_fetch_tool_result_error", error_code: `e${n}` },
        },
        { type: "text", text: "Done." },
      ),
      user("Go on."),
    ]
    const { sent, refused } = await contextOf("anthropic", [user("?"), ...turn(1), ...turn(2), ...turn(3)])
    expect(refused).toEqual([])
    expect(JSON.stringify(sent).match(/"(?:tool_use_)?id":"srvtoolu\w*"/gu)).toEqual([
      '"id":"srvtoolu_1"',
      '"tool_use_id":"srvtoolu_1"',
      '"id":"srvtoolu_1_2"',
      '"tool_use_id":"srvtoolu_1_2"',
      '"id":"srvtoolu_1_3"',
      '"tool_use_id":"srvtoolu_1_3"',
    ])
  })

  it("of a call of an MCP server that the provider made: sent once if it is the same, under another id if not", async () => {
    const call = { type: "mcp_call", id: "mcp_1", server_label: "s", name: "f", arguments: "{}", output: "4" }
    const { sent, refused, layout } = await contextOf("openai-responses", [
      user("?"),
      call,
      user("Again?"),
      call,
      user("Another?"),
      { ...call, output: "5" },
      user("!"),
    ])
    expect(refused).toEqual([])
    expect(
      (sent as ReadonlyArray<Record<string, unknown>>).flatMap(({ id, output }) =>
        id === undefined ? [] : [[id, output]],
      ),
    ).toEqual([
      ["mcp_1", "4"],
      ["mcp_1_2", "5"],
    ])
    expect(layout).toContainEqual(expect.objectContaining({ section: "unsupported", from: 3 }))
  })
})
