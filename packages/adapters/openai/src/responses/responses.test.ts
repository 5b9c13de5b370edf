import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { Responses } from "../index.js"

const { decodeItems, encodeAndReport, encodeItems } = Responses

const decoded = (input: unknown) => Either.getOrThrow(decodeItems(input))

/** Decodes, and checks on the way that the very same items come out again, also for a request. */
const both = (...items: ReadonlyArray<unknown>) => {
  const messages = decoded(items)
  expect(encodeItems(messages, { exact: true })).toEqual(items)
  expect(encodeItems(messages)).toEqual(items)
  return messages
}

const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" }
const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "c",
  name: "f",
  arguments: "{}",
  status: "completed",
}
const said = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello.", annotations: [] }],
}
const output = { type: "function_call_output", call_id: "c", output: "14 °C" }

describe("calls of every kind", () => {
  it.each<readonly [string, object, object, string]>([
    [
      "a search for tools",
      { type: "tool_search_call", call_id: "c", execution: "client", arguments: { q: "x" } },
      {
        type: "tool_search_output",
        call_id: "c",
        execution: "client",
        tools: [{ type: "function", name: "f" }],
      },
      "c",
    ],
    [
      "a search for tools that finds none",
      { type: "tool_search_call", call_id: "c", execution: "client", arguments: {} },
      { type: "tool_search_output", call_id: "c", status: "completed", tools: [] },
      "c",
    ],
    [
      "the local shell",
      {
        type: "local_shell_call",
        id: "lsh_1",
        call_id: "c",
        action: { type: "exec", command: ["ls"], env: {} },
      },
      { type: "local_shell_call_output", id: "c", output: "a.txt" },
      "c",
    ],
    [
      "the local shell, by its call id",
      {
        type: "local_shell_call",
        id: "lsh_1",
        call_id: "c",
        action: { type: "exec", command: ["ls"], env: {} },
      },
      { type: "local_shell_call_output", id: "lso_1", call_id: "c", output: "a.txt" },
      "c",
    ],
    [
      "a shell",
      { type: "shell_call", call_id: "c", action: { commands: ["ls"] } },
      {
        type: "shell_call_output",
        call_id: "c",
        output: [{ stdout: "a.txt", stderr: "", outcome: { type: "timeout" } }],
      },
      "c",
    ],
  ])("are tool calls with results: %s", (_, asked, answered, id) => {
    const messages = both({ role: "user", content: "?" }, asked, answered)
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
    expect(Message.calls(messages[1]!)[0]?.id).toBe(id)
    expect(Message.results(messages[2]!)[0]?.id).toBe(id)
  })

  it.each([
    ["the API's own search for tools", { type: "tool_search_call", call_id: null, execution: "server" }],
    ["its result", { type: "tool_search_output", call_id: null, execution: "server", tools: [] }],
    ["a program", { type: "program", id: "prg_1", call_id: "c", code: "f()", fingerprint: "1" }],
    ["its output", { type: "program_output", id: "po_1", call_id: "c", result: "", status: "completed" }],
    ["an approval", { type: "mcp_approval_response", approval_request_id: "a", approve: true }],
  ])("stay items where the API pairs them itself: %s", (_, item) => {
    expect(both(item)).toEqual([
      { role: "assistant", parts: [{ type: "opaque", provider: "openai-responses", data: item }] },
    ])
  })
})

describe("decodeItems", () => {
  it("reads messages, calls and outputs", () => {
    const messages = both(
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Weather?" },
      { role: "assistant", content: "Looking." },
      { type: "function_call", call_id: "c", name: "weather", arguments: '{ "city": "Graz" }' },
      output,
    )
    expect(messages.map(({ metadata: _metadata, ...message }) => message)).toEqual([
      Message.system("Be brief."),
      Message.user("Weather?"),
      Message.call([{ id: "c", name: "weather", arguments: '{ "city": "Graz" }' }], { text: "Looking." }),
      Message.result({ id: "c", output: "14 °C" }),
    ])
  })

  it("keeps reasoning in its place, bound to what stands before it", () => {
    const next = { ...reasoning, id: "rs_2" }
    const [, message] = both({ role: "user", content: "q" }, reasoning, said, next, call, output)
    expect(message?.parts.map(({ type }) => type)).toEqual(["opaque", "text", "opaque", "tool-call"])
    expect(message?.parts[0]).toEqual({
      type: "opaque",
      provider: "openai-responses",
      data: reasoning,
      bound: true,
    })
  })

  it("keeps outputs of several parts whole", () => {
    const content = [
      { type: "input_text", text: "The page:" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
      { type: "input_text", text: "and its title", prompt_cache_breakpoint: { mode: "explicit" } },
    ]
    const messages = both(call, { ...output, output: content })
    expect(Message.results(messages[1]!)).toMatchObject([
      { id: "c", output: "The page:\nand its title", content: [{}, { type: "file" }, {}] },
    ])
  })

  it("reads other calls and their outputs as pairs", () => {
    const messages = both(
      { type: "shell_call", id: "sh_1", call_id: "c", action: { commands: ["ls"] }, status: "completed" },
      { type: "shell_call_output", call_id: "c", output: [{ stdout: "a.ts", stderr: "" }] },
      { type: "custom_tool_call", call_id: "d", name: "patch", input: "*** Begin" },
      { type: "custom_tool_call_output", call_id: "d", output: "done" },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { id: "msg_1" },
      { type: null, id: "msg_2" },
    )
    expect(messages.map(({ parts }) => parts[0]?.type)).toEqual([
      "tool-call",
      "tool-result",
      "tool-call",
      "tool-result",
      "opaque",
    ])
    expect(Message.calls(messages[0]!)[0]).toMatchObject({ id: "c", name: "shell_call" })
  })

  it("takes a whole response, alone and among items, with its usage", () => {
    const response = {
      id: "resp_1",
      object: "response",
      model: "gpt",
      output: [said],
      output_text: "Hello.",
      usage: {
        input_tokens: 2_103,
        input_tokens_details: { cached_tokens: 2_000 },
        output_tokens: 40,
        output_tokens_details: { reasoning_tokens: 33 },
        total_tokens: 2_143,
      },
    }
    const [message] = decoded(response)
    expect(message?.usage).toEqual({ input: 2_103, output: 7 })
    expect(encodeItems([message!])).toEqual([said])
    const [thinking] = decoded({ ...response, output: [reasoning, said] })
    expect(thinking?.usage).toEqual({ input: 2_103, output: 40 })
    expect(decoded([{ role: "user", content: "q" }, response]).map(({ usage }) => usage?.output)).toEqual([
      undefined,
      7,
    ])
  })

  it("says where an item is wrong, and refuses items of other libraries", () => {
    const failure = (input: unknown) => {
      const result = decodeItems(input)
      return Either.isLeft(result) ? result.left.message : "decoded"
    }
    expect(failure("hi")).toBe("the input is a string; allowed: a list of items, or a response")
    expect(failure({ object: "response" })).toBe("the input has nothing at output; allowed: a list of items")
    expect(
      failure([
        { role: "user", content: "q" },
        { role: "bot", content: "" },
      ]),
    ).toBe("message 1 has a string at role; allowed: user, assistant, system, developer")
    expect(failure([{ ...call, arguments: {} }])).toBe(
      "message 0 has an object at arguments; allowed: a string of JSON, as the model wrote it",
    )
    expect(failure([{ content: "x" }])).toBe(
      "message 0 has no role; allowed: user, assistant, system, developer",
    )
    expect(failure([{ role: "tool", tool_call_id: "c", content: "x" }])).toMatch('(format "openai")')
    expect(failure([{ role: "user", content: [{ type: "text", text: "x", providerOptions: {} }] }])).toMatch(
      "@memfold/ai-sdk",
    )
    expect(failure([{ role: "assistant", content: [{ type: "tool_use", id: "t" }] }])).toMatch('"anthropic"')
  })
})

describe("encodeItems", () => {
  it("writes messages of other formats", () => {
    const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/a.png" }
    const content = [{ type: "text" as const, text: "The page:" }, image]
    const { input, omitted } = encodeAndReport([
      Message.system("Be brief."),
      { role: "user", parts: [{ type: "text", text: "Look" }, image], name: "Ada" },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", text: "hm", signature: "s" },
          { type: "text", text: "Looking." },
          { type: "tool-call", id: "a", name: "look", arguments: "{}" },
        ],
      },
      Message.result({ id: "a", output: Message.outputOf(content), content, isError: true }),
    ])
    expect(input).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Look" },
          { type: "input_image", image_url: "https://example.org/a.png", detail: "auto" },
        ],
      },
      { role: "assistant", content: "Looking." },
      { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "a",
        output: [
          { type: "input_text", text: "The page:" },
          { type: "input_image", image_url: "https://example.org/a.png", detail: "auto" },
        ],
      },
    ])
    expect(omitted).toEqual([
      { message: 1, part: "name" },
      { message: 2, part: "reasoning" },
      { message: 3, part: "is-error" },
    ])
  })

  it("sends no ids of items whose reasoning is missing", () => {
    const [message, result] = decoded([reasoning, call, output])
    const without = { ...message!, parts: message!.parts.filter(({ type }) => type !== "opaque") }
    const { id: _id, status: _status, ...bare } = call
    expect(encodeItems([without, result!])).toEqual([bare, output])
  })

  it("sends no reasoning without what follows from it", () => {
    const messages = decoded([{ role: "user", content: "q" }, reasoning, { role: "user", content: "and?" }])
    const { input, omitted } = encodeAndReport(messages)
    expect(input).toEqual([
      { role: "user", content: "q" },
      { role: "user", content: "and?" },
    ])
    expect(omitted).toEqual([{ message: 1, part: "opaque" }])
  })

  it("leaves out what the client library adds, and empty messages", () => {
    const parsed = { type: "output_text", text: "{}", annotations: [], parsed: {} }
    const messages = decoded([
      { ...said, content: [parsed] },
      { ...call, parsed_arguments: {} },
      output,
      { role: "user", content: [] },
    ])
    const { parsed: _parsed, ...plain } = parsed
    expect(encodeItems(messages)).toEqual([{ ...said, content: [plain] }, call, output])
  })

  it("sends a text under the type that its place has, and keeps the one it came with", () => {
    const custom = { type: "custom_tool_call", call_id: "d", name: "apply_patch", input: "*** Begin Patch" }
    const items = [
      { role: "user", content: [{ type: "output_text", text: "q" }] },
      { ...said, content: [{ type: "input_text", text: "Hello." }] },
      custom,
      { type: "custom_tool_call_output", call_id: "d", output: [{ type: "output_text", text: "Done!" }] },
      call,
      {
        ...output,
        output: [
          { type: "text", text: "1" },
          { type: "input_text", text: "2" },
        ],
      },
    ]
    const messages = decoded(items)
    expect(encodeItems(messages, { exact: true })).toEqual(items)
    expect(encodeItems(messages)).toEqual([
      { role: "user", content: [{ type: "input_text", text: "q" }] },
      { ...said, content: [{ type: "output_text", text: "Hello." }] },
      custom,
      { type: "custom_tool_call_output", call_id: "d", output: [{ type: "input_text", text: "Done!" }] },
      call,
      {
        ...output,
        output: [
          { type: "input_text", text: "1" },
          { type: "input_text", text: "2" },
        ],
      },
    ])
  })
})
