/** Content that stands where its API does not take its type: it is sent in the form that the API takes, or left out and named. */
import { anthropicViolations, chatViolations, responsesViolations } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import { createMemory } from "../src/index.js"

const violations = {
  openai: (messages: unknown) => chatViolations({ model: "m", messages }),
  "openai-responses": (input: unknown) => responsesViolations({ model: "m", input }),
  anthropic: (messages: unknown) =>
    anthropicViolations({ model: "m", max_tokens: 10, ...(messages as object) }),
}
type Format = keyof typeof violations

const contextOf = async (format: Format, ...given: ReadonlyArray<unknown>) => {
  await using memory = createMemory({
    store: "memory:",
    format: format as "openai",
    summarizer: "extractive",
  })
  await memory.append("s", given as never)
  const { messages, layout } = await memory.context("s")
  expect(violations[format](messages)).toEqual([])
  // The log keeps what came.
  const stored: unknown = (await memory.messages("s")).messages
  const list = Array.isArray(stored) ? stored : (stored as { readonly messages: unknown }).messages
  expect(list).toEqual(given)
  return { sent: JSON.stringify(messages), layout }
}

const user = (content: unknown) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })
const text = (said: string) => ({ type: "text", text: said })
const png = "iVBORw0KGgoAAAANSUhEUg=="
const image = { type: "image", source: { type: "url", url: "https://example.org/1.png" } }

const chatTool = (content: unknown) => [
  user("?"),
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "c", content },
]
const anthropicTool = (...content: ReadonlyArray<unknown>) => [
  user("?"),
  assistant({ type: "tool_use", id: "t", name: "f", input: {} }),
  user([{ type: "tool_result", tool_use_id: "t", content }]),
]
const responsesTool = (...output: ReadonlyArray<unknown>) => [
  user("?"),
  { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
  { type: "function_call_output", call_id: "c", output },
]

describe("what can be read in the wrong place", () => {
  it.each<readonly [string, Format, ReadonlyArray<unknown>]>([
    ["a refusal of the user", "openai", [user([{ type: "refusal", refusal: "400 euros" }])]],
    [
      "a refusal in an instruction",
      "openai",
      [{ role: "system", content: [{ type: "refusal", refusal: "400 euros" }] }, user("!")],
    ],
    [
      "a text of Responses in a tool message",
      "openai",
      chatTool([{ type: "output_text", text: "400 euros" }, text("and")]),
    ],
    [
      "a list in a function message",
      "openai",
      [
        user("?"),
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: [text("400 euros")] },
        user("!"),
      ],
    ],
    [
      "a text of Responses in a result of Messages",
      "anthropic",
      anthropicTool({ type: "output_text", text: "400 euros" }),
    ],
    [
      "a search result of the model",
      "anthropic",
      [
        user("?"),
        assistant({ type: "search_result", source: "s", title: "t", content: [text("400 euros")] }),
        user("!"),
      ],
    ],
    [
      "a result that stands alone",
      "anthropic",
      [user("?"), assistant({ type: "web_fetch_result", url: "u", content: text("400 euros") }), user("!")],
    ],
    [
      "a reference to a tool, of the user",
      "anthropic",
      [user([{ type: "tool_reference", tool_name: "400 euros" }])],
    ],
    [
      "a resource of MCP in Messages",
      "anthropic",
      anthropicTool({ type: "resource", resource: { uri: "file:///a", text: "400 euros" } }),
    ],
    [
      "a link of MCP in Messages",
      "anthropic",
      anthropicTool({ type: "resource_link", uri: "file:///a", name: "400 euros" }),
    ],
    [
      "a resource of MCP in Responses",
      "openai-responses",
      responsesTool({ type: "resource", resource: { uri: "file:///a", text: "400 euros" } }),
    ],
    [
      "a resource of MCP in Chat Completions",
      "openai",
      chatTool([{ type: "resource", resource: { uri: "file:///a", text: "400 euros" } }]),
    ],
    [
      "a refusal in an output",
      "openai-responses",
      responsesTool({ type: "refusal", refusal: "400 euros" }, { type: "input_text", text: "and" }),
    ],
    [
      "a refusal of the user in Responses",
      "openai-responses",
      [user([{ type: "refusal", refusal: "400 euros" }])],
    ],
    [
      "reasoning in a message",
      "openai-responses",
      [user("?"), { role: "assistant", content: [{ type: "reasoning_text", text: "400 euros" }] }, user("!")],
    ],
  ])("is sent as a text: %s", async (_, format, given) => {
    expect((await contextOf(format, ...given)).sent).toContain("400 euros")
  })
})

describe("a file in the wrong place", () => {
  it.each<readonly [string, Format, ReadonlyArray<unknown>, number]>([
    ["the model's, in Messages", "anthropic", [user("?"), assistant(text("a"), image), user("!")], 1],
    [
      "an instruction's, in Messages",
      "anthropic",
      [user("?"), { role: "system", content: [text("a"), image] }],
      1,
    ],
    [
      "the model's, in Responses",
      "openai-responses",
      [
        user("?"),
        {
          role: "assistant",
          content: [
            { type: "output_text", text: "a" },
            { type: "input_image", image_url: "https://example.org/1.png" },
          ],
        },
        user("!"),
      ],
      1,
    ],
    [
      "audio of MCP, in Messages",
      "anthropic",
      anthropicTool(text("a"), { type: "audio", data: "AAAA", mimeType: "audio/mp3" }),
      2,
    ],
  ])("is left out, and the layout names it: %s", async (_, format, given, from) => {
    const { layout } = await contextOf(format, ...given)
    expect(layout).toContainEqual(expect.objectContaining({ section: "unsupported", from, parts: ["file"] }))
  })

  it("is sent in the form of the API, if it is an image of MCP", async () => {
    const given = { type: "image", data: png, mimeType: "image/png" }
    const source = { type: "base64", media_type: "image/png", data: png }
    expect((await contextOf("anthropic", ...anthropicTool(given))).sent).toContain(
      JSON.stringify({ type: "image", source }),
    )
    expect((await contextOf("openai-responses", ...responsesTool(given))).sent).toContain(
      `"image_url":"data:image/png;base64,${png}"`,
    )
  })
})

it("a part of a type that no API has stays as it came", async () => {
  await using memory = createMemory({ store: "memory:", format: "openai", summarizer: "extractive" })
  const given = [user([{ type: "document_url", document_url: "https://example.org/1.pdf" }])]
  await memory.append("s", given as never)
  expect((await memory.context("s")).messages).toEqual(given)
})

describe("names that an API refuses", () => {
  const called = "files.read file"

  it.each<readonly [string, Format, ReadonlyArray<unknown>, string]>([
    ["of an author", "openai", [{ role: "user", name: "Ada <Lovelace>", content: "?" }], "Ada__Lovelace_"],
    [
      "of a tool in Chat Completions",
      "openai",
      [
        user("?"),
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: called, arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c", name: called, content: "r" },
      ],
      "files_read_file",
    ],
    [
      "of a tool in Responses",
      "openai-responses",
      [
        user("?"),
        { type: "function_call", call_id: "c", name: called, arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "r" },
      ],
      "files_read_file",
    ],
    [
      "of a tool in Messages",
      "anthropic",
      [
        user("?"),
        assistant({ type: "tool_use", id: "t", name: called, input: {} }),
        user([{ type: "tool_result", tool_use_id: "t", content: "r" }]),
      ],
      "files_read_file",
    ],
  ])("are sent in characters that it takes: %s", async (_, format, given, name) => {
    const { sent } = await contextOf(format, ...given)
    expect(sent).toContain(name)
    expect(sent).not.toContain(called)
  })

  it("are left out where nothing is left of them", async () => {
    expect((await contextOf("openai", { role: "user", name: "", content: "?" })).sent).not.toContain("name")
  })
})

describe("what requests had and APIs refuse", () => {
  it("an interrupted function_call is closed with a function message", async () => {
    const call = { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } }
    const { sent } = await contextOf("openai", user("?"), call, user("!"))
    expect(sent).toContain(
      '{"role":"function","name":"f","content":"(No result: the call was interrupted.)"}',
    )
  })

  it("ids that are none of items are left out", async () => {
    const { sent } = await contextOf(
      "openai-responses",
      user("?"),
      { type: "function_call", id: "call_9", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", id: "out_1", call_id: "c", output: "r" },
      { type: "message", id: "item-1", role: "assistant", content: [{ type: "output_text", text: "a" }] },
      user("!"),
    )
    expect(sent).not.toContain('"id"')
  })

  it("marks in the content of a document count", async () => {
    const marked = { ...text("x"), cache_control: { type: "ephemeral" } }
    const { sent } = await contextOf(
      "anthropic",
      user([
        { type: "document", source: { type: "content", content: Array.from({ length: 6 }, () => marked) } },
      ]),
    )
    expect(sent.split("cache_control")).toHaveLength(5)
  })
})
