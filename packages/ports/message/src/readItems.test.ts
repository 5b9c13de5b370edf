import { describe, expect, it } from "vitest"
import { Item, type Message, TokenCounter } from "./index.js"

const picture = `iVBORw0KGgo${"Ab3".repeat(100_000)}`
const secret = `gAAAAAB${"xY9_".repeat(10_000)}`.slice(0, 40_000)

const part = (provider: string, data: unknown): Message.Opaque => ({ type: "opaque", provider, data })
const tokensOf = (one: Message.Part): number =>
  TokenCounter.ofMessage(TokenCounter.estimating, { role: "assistant", parts: [one] })

/** Items with the data of files, and how many files these are. */
const withFiles: ReadonlyArray<readonly [string, string, unknown, number]> = [
  [
    "a generated image",
    "openai-responses",
    { type: "image_generation_call", id: "ig_1", status: "completed", result: picture },
    1,
  ],
  [
    "an image that is no known kind",
    "openai-responses",
    { type: "image_generation_call", id: "ig_1", result: "Q".repeat(400_000) },
    1,
  ],
  [
    "a screenshot",
    "openai-responses",
    { type: "computer_screenshot", image_url: `data:image/png;base64,${picture}` },
    1,
  ],
  [
    "images of a code interpreter",
    "openai-responses",
    {
      type: "code_interpreter_call",
      code: "plot()",
      outputs: [
        { type: "image", url: `data:image/png;base64,${picture}` },
        { type: "image", url: "https://example.org/2.png" },
      ],
    },
    2,
  ],
  [
    "a file in an output",
    "openai-responses",
    [{ type: "input_file", file_data: `data:application/pdf;base64,${picture}` }],
    1,
  ],
  ["a video", "openai", { type: "video_url", video_url: { url: `data:video/mp4;base64,${picture}` } }, 1],
  [
    "an image of a tool",
    "openai",
    { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } },
    1,
  ],
  ["audio", "openai", { type: "input_audio", input_audio: { data: picture, format: "wav" } }, 1],
  [
    "a page with a PDF",
    "anthropic",
    {
      type: "web_fetch_tool_result",
      tool_use_id: "s1",
      content: {
        type: "web_fetch_result",
        url: "https://example.org",
        content: {
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: picture },
        },
      },
    },
    1,
  ],
  [
    "a document with an image",
    "anthropic",
    {
      type: "document",
      source: {
        type: "content",
        content: [
          { type: "text", text: "Fig. 1" },
          { type: "image", source: { type: "url", url: "https://example.org/1.png" } },
        ],
      },
    },
    1,
  ],
  ["an unknown type with an image", "anthropic", { type: "hologram", layers: [{ pixels: picture }] }, 1],
  ["an item of a library", "langchain", { type: "image_generation_call", result: picture }, 1],
]

describe("the price of provider data", () => {
  it.each(withFiles)("counts %s as files", (_, provider, data, files) => {
    const tokens = tokensOf(part(provider, data))
    expect(tokens).toBeGreaterThanOrEqual(files * 1_000)
    expect(tokens).toBeLessThan(files * 1_000 + 100)
  })

  it.each<readonly [string, unknown]>([
    ["reasoning", { type: "reasoning", id: "rs_1", summary: [], encrypted_content: secret }],
    [
      "a search result",
      [{ type: "web_search_result", url: "https://example.org", title: "A", encrypted_content: secret }],
    ],
    ["an unknown type", { type: "sealed", body: { deep: [secret] } }],
    ["an unknown field", { type: "mcp_call", encrypted_notes: secret }],
  ])("counts encrypted text of %s by its bytes", (_, data) => {
    const tokens = tokensOf(part("openai-responses", data))
    expect(tokens).toBeGreaterThanOrEqual(7_500)
    expect(tokens).toBeLessThan(7_600)
  })

  it("counts text as text, also where it is long and in a field of an item", () => {
    const output = "The parcel 4711 is in Graz. ".repeat(500)
    const data = {
      type: "mcp_call",
      id: "mcp_1",
      server_label: "post",
      name: "track",
      arguments: "{}",
      output,
    }
    expect(tokensOf(part("openai-responses", data))).toBeGreaterThan(TokenCounter.estimating.count(output))
    expect(tokensOf(part("x", { words: output }))).toBeGreaterThan(TokenCounter.estimating.count(output))
  })

  it("takes lists, numbers and short ids for text, and data in lines for data", () => {
    const of = (said: string) => Item.textOf(part("x", { said }))
    const paths = Array.from({ length: 20 }, (_, at) => `packages/core/src/${"deep/".repeat(at)}message`)
    for (const said of [
      paths.join("\n"),
      "0123456789abcdef".repeat(40),
      "Ab3-".repeat(20),
      "so many words ".repeat(40),
    ])
      expect(of(said)).toBe(said)
    const lines = Array.from({ length: 20 }, () => "Ab3x".repeat(19)).join("\r\n")
    expect(of(`${lines}\r\nAb3=\r\n`)).toBe("")
  })

  it("counts a text file by its text, and any other file as one", () => {
    const text = "The penalty is 400 euros. ".repeat(1_000)
    const uri = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`
    expect(tokensOf({ type: "file", mediaType: "text/plain", uri })).toBeGreaterThan(
      TokenCounter.estimating.count(text),
    )
    const image = `data:image/png;base64,${picture}`
    expect(tokensOf({ type: "file", mediaType: "image/png", uri: image })).toBe(1_004)
  })

  it("takes data of any depth", () => {
    let data: unknown = picture
    for (let depth = 0; depth < 3_000; depth++) data = [data]
    expect(tokensOf(part("anthropic", data))).toBeGreaterThan(0)
  })
})

describe("what can be read in provider data", () => {
  it.each<readonly [string, string, unknown, ReadonlyArray<string>]>([
    [
      "a call of an MCP server",
      "openai-responses",
      {
        type: "mcp_call",
        id: "mcp_1",
        server_label: "shop",
        name: "price",
        arguments: '{"sku":7}',
        output: "It is 400 euros.",
      },
      ["shop", "price", '{"sku":7}', "It is 400 euros."],
    ],
    [
      "logs of a code interpreter",
      "openai-responses",
      {
        type: "code_interpreter_call",
        id: "ci_1",
        container_id: "cntr_1",
        code: "print(42)",
        outputs: [
          { type: "logs", logs: "42" },
          { type: "image", url: "data:image/png;base64,AAAA" },
        ],
      },
      ["print(42)", "42"],
    ],
    [
      "results of a file search",
      "openai-responses",
      {
        type: "file_search_call",
        id: "fs_1",
        queries: ["penalty"],
        results: [{ file_id: "file_1", filename: "contract.md", text: "400 euros", score: 0.9 }],
      },
      ["penalty", "contract.md", "400 euros"],
    ],
    [
      "a web search",
      "openai-responses",
      {
        type: "web_search_call",
        id: "ws_1",
        action: {
          type: "search",
          query: "Graz weather",
          sources: [{ type: "url", url: "https://example.org" }],
        },
      },
      ["Graz weather", "https://example.org"],
    ],
    [
      "an approval",
      "openai-responses",
      { type: "mcp_approval_request", id: "mcpr_1", server_label: "shop", name: "buy", arguments: "{}" },
      ["shop", "buy", "{}"],
    ],
    [
      "a denial",
      "openai-responses",
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: false, reason: "too dear" },
      ["too dear"],
    ],
    [
      "a summary of reasoning",
      "openai-responses",
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Look up." }],
        encrypted_content: secret,
      },
      ["Look up."],
    ],
    [
      "the output of a shell",
      "openai-responses",
      [{ stdout: "ok", stderr: "warn", outcome: { type: "exit", exit_code: 0 } }],
      ["ok", "warn"],
    ],
    [
      "a generated image",
      "openai-responses",
      { type: "image_generation_call", id: "ig_1", result: picture, revised_prompt: "a cat" },
      ["a cat"],
    ],
    [
      "the text of a fetched page",
      "anthropic",
      {
        type: "web_fetch_tool_result",
        tool_use_id: "s1",
        content: {
          type: "web_fetch_result",
          url: "https://example.org",
          content: {
            type: "document",
            title: "Terms",
            source: { type: "text", media_type: "text/plain", data: "The penalty is 400 euros." },
          },
        },
      },
      ["https://example.org", "Terms", "The penalty is 400 euros."],
    ],
    [
      "a search result",
      "anthropic",
      {
        type: "search_result",
        source: "https://example.org",
        title: "Terms",
        content: [{ type: "text", text: "400 euros", citations: [] }],
      },
      ["Terms", "https://example.org", "400 euros"],
    ],
    [
      "a server tool",
      "anthropic",
      { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "Graz" } },
      ["web_search", "Graz"],
    ],
    [
      "the result of an MCP server",
      "anthropic",
      {
        type: "mcp_tool_result",
        tool_use_id: "m1",
        is_error: false,
        content: [{ type: "text", text: "400" }],
      },
      ["400"],
    ],
    [
      "code that ran",
      "anthropic",
      {
        type: "bash_code_execution_tool_result",
        tool_use_id: "s1",
        content: {
          type: "bash_code_execution_result",
          stdout: "42",
          stderr: "",
          return_code: 0,
          content: [],
        },
      },
      ["42"],
    ],
    [
      "a document of several texts",
      "anthropic",
      {
        type: "document",
        source: {
          type: "content",
          content: [
            { type: "text", text: "one" },
            { type: "text", text: "two" },
          ],
        },
      },
      ["one", "two"],
    ],
    [
      "a type that nobody knows",
      "anthropic",
      { type: "hologram", id: "h1", caption: "a cat", layers: [{ pixels: picture }] },
      ["a cat"],
    ],
    ["encrypted data", "anthropic", { type: "redacted_thinking", data: secret }, []],
    [
      "a part of a library",
      "ai-sdk",
      { type: "custom", kind: "note", value: { type: "content", value: [{ type: "text", text: "400" }] } },
      ["note", "400"],
    ],
    ["a refusal", "openai", { refusal: "No." }, ["No."]],
  ])("has %s", (_, provider, data, texts) => {
    expect(
      Item.textOf(part(provider, data))
        .split("\n")
        .filter((line) => line !== ""),
    ).toEqual(texts)
  })

  it("has the text of a text file, however it is written", () => {
    const file = (uri: string): Message.Part => ({ type: "file", mediaType: "text/plain", uri })
    expect(Item.textOf(file("data:text/plain;charset=utf-8,400%20%E2%82%AC"))).toBe("400 €")
    expect(Item.textOf(file("data:text/plain;base64,NDAwIOKCrA=="))).toBe("400 €")
    expect(Item.textOf(file("data:text/plain,100%"))).toBe("")
    expect(Item.textOf(file("https://example.org/a.txt"))).toBe("")
    expect(Item.textOf(file("data:image/png;base64,AAAA"))).toBe("")
  })
})
