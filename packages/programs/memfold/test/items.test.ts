/** Items that messages keep as they are: what they cost, what belongs together, and what providers refuse (laws L5, L17). */
import { anthropicViolations, chatViolations, responsesViolations } from "@memfold/strict-providers"
import { describe, expect, it } from "vitest"
import {
  createMemory,
  type CreateOptions,
  Rounds,
  SlidingWindow,
  SplitTurn,
  SummaryBuffer,
  TokenBuffer,
  Window,
} from "../src/index.js"

const picture = `iVBORw0KGgo${"Ab3".repeat(133_000)}`

/** The violations of a context, sent as a request, by format. */
const violations = {
  openai: (messages: unknown) => chatViolations({ model: "m", messages }),
  "openai-responses": (input: unknown) => responsesViolations({ model: "m", input }),
  anthropic: (messages: unknown) =>
    anthropicViolations({ model: "m", max_tokens: 10, ...(messages as object) }),
}
type Format = keyof typeof violations

const strategies: ReadonlyArray<readonly [string, NonNullable<CreateOptions<"openai">["strategy"]>]> = [
  ["SplitTurn", SplitTurn({ contextLimit: 400, compactionThreshold: 0.3 })],
  ["SlidingWindow", SlidingWindow({ tailKeepSize: 2, contextSize: 6, compressionWindowSize: 2 })],
  ["Window", Window({ windowSize: 4 })],
  ["TokenBuffer", TokenBuffer({ maxTokens: 60 })],
  ["SummaryBuffer", SummaryBuffer({ maxTokens: 60 })],
  ["Rounds", Rounds({ fullContextTurns: 1, cachedContextTurns: 1 })],
]

const memoryOf = (format: Format, strategy: CreateOptions<"openai">["strategy"] = "split-turn") =>
  createMemory({
    store: "memory:",
    format: format as "openai",
    strategy,
    summarizer: "extractive",
    compaction: { mode: "inline" },
  })

const contextOf = async (format: Format, ...messages: ReadonlyArray<unknown>) => {
  await using memory = memoryOf(format)
  await memory.append("s", messages as never)
  return memory.context("s")
}

const user = (content: unknown) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })
const search = (id: string, name = "web_search") => ({ type: "server_tool_use", id, name, input: { q: "x" } })
const served = (id: string, type: string, content: unknown = []) => ({ type, tool_use_id: id, content })
const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} })
const result = (id: string) => user([{ type: "tool_result", tool_use_id: id, content: "found" }])
const text = (said: string) => ({ type: "text", text: said })

describe("what items cost", () => {
  it.each<readonly [string, Format, ReadonlyArray<unknown>]>([
    [
      "a generated image",
      "openai-responses",
      [{ type: "image_generation_call", id: "ig_1", status: "completed", result: picture }],
    ],
    [
      "a screenshot of a computer",
      "openai-responses",
      [
        {
          type: "computer_call",
          id: "cu_1",
          call_id: "c",
          status: "completed",
          pending_safety_checks: [],
          action: { type: "screenshot" },
        },
        {
          type: "computer_call_output",
          call_id: "c",
          output: { type: "computer_screenshot", image_url: `data:image/png;base64,${picture}` },
        },
      ],
    ],
    [
      "an image of a code interpreter",
      "openai-responses",
      [
        {
          type: "code_interpreter_call",
          id: "ci_1",
          container_id: "c",
          status: "completed",
          code: "",
          outputs: [{ type: "image", url: `data:image/png;base64,${picture}` }],
        },
      ],
    ],
    [
      "a video",
      "openai",
      [user([{ type: "video_url", video_url: { url: `data:video/mp4;base64,${picture}` } }])],
    ],
    [
      "an image of a tool",
      "openai",
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        {
          role: "tool",
          tool_call_id: "c",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }],
        },
      ],
    ],
    [
      "a fetched PDF",
      "anthropic",
      [
        assistant(
          search("s", "web_fetch"),
          served("s", "web_fetch_tool_result", {
            type: "web_fetch_result",
            url: "https://example.org",
            content: {
              type: "document",
              source: { type: "base64", media_type: "application/pdf", data: picture },
            },
          }),
        ),
      ],
    ],
  ])("%s costs a file", async (_, format, items) => {
    const { tokens } = await contextOf(format, user("?"), ...items, user("Go on."))
    expect(tokens).toBeGreaterThan(1_000)
    expect(tokens).toBeLessThan(1_200)
  })

  it("encrypted text costs its bytes", async () => {
    const { tokens } = await contextOf(
      "openai-responses",
      user("?"),
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA".repeat(10_000) },
      { role: "assistant", content: "1" },
      user("!"),
    )
    expect(tokens).toBeGreaterThan(7_000)
    expect(tokens).toBeLessThan(8_000)
  })

  it("signed reasoning whose text is not shown costs the bytes of its signature", async () => {
    const signature = "EqQB".repeat(10_000)
    const { tokens } = await contextOf(
      "anthropic",
      user("?"),
      assistant({ type: "thinking", thinking: "", signature }, text("1")),
      user("!"),
    )
    expect(tokens).toBeGreaterThan(7_000)
    expect(tokens).toBeLessThan(8_000)
  })
})

/** One turn of each kind of item, in the format of its API. */
const turns: Readonly<
  Record<"anthropic" | "openai-responses", ReadonlyArray<(n: number) => ReadonlyArray<unknown>>>
> = {
  anthropic: [
    (n) => [
      user(`Question ${n}?`),
      assistant(search(`s${n}`), served(`s${n}`, "web_search_tool_result"), text("1")),
    ],
    (n) => [
      user(`Deferred ${n}?`),
      assistant(search(`s${n}`, "web_fetch"), use(`t${n}`)),
      result(`t${n}`),
      assistant(
        served(`s${n}`, "web_fetch_tool_result", {
          type: "web_fetch_tool_result_error",
          error_code: "unavailable",
        }),
        text("2"),
      ),
    ],
    (n) => [
      user(`Two tools ${n}?`),
      assistant({ type: "mcp_tool_use", id: `m${n}`, name: "f", server_name: "s", input: {} }, use(`t${n}`)),
      result(`t${n}`),
      assistant(served(`m${n}`, "mcp_tool_result", [text("3")]), use(`u${n}`)),
      result(`u${n}`),
      assistant(text("4")),
    ],
    (n) => [
      user(`Paused ${n}?`),
      assistant(text("5"), search(`s${n}`, "tool_search_tool_regex")),
      assistant(served(`s${n}`, "tool_search_tool_result"), text("6")),
    ],
    (n) => [user(`Abandoned ${n}?`), assistant(text("7"), search(`s${n}`))],
  ],
  "openai-responses": [
    (n) => [
      user(`Find ${n}?`),
      { type: "tool_search_call", call_id: `t${n}`, execution: "client", arguments: {} },
      { type: "tool_search_output", call_id: `t${n}`, execution: "client", tools: [] },
      { role: "assistant", content: "1" },
    ],
    (n) => [
      user(`Shell ${n}?`),
      {
        type: "local_shell_call",
        id: `lsh_${n}`,
        call_id: `l${n}`,
        status: "completed",
        action: { type: "exec", command: ["ls"], env: {} },
      },
      { type: "local_shell_call_output", id: n % 2 === 0 ? `l${n}` : `lsh_${n}`, output: "a.txt" },
      { role: "assistant", content: "2" },
    ],
    (n) => [
      user(`Approve ${n}?`),
      { type: "mcp_approval_request", id: `mcpr_${n}`, server_label: "s", name: "f", arguments: "{}" },
      { type: "mcp_approval_response", approval_request_id: `mcpr_${n}`, approve: true },
      { type: "mcp_call", id: `mcp_${n}`, server_label: "s", name: "f", arguments: "{}", output: "3" },
      { role: "assistant", content: "3" },
    ],
    (n) => [
      user(`Program ${n}?`),
      { type: "program", id: `prg_${n}`, call_id: `p${n}`, code: "f()", fingerprint: "1" },
      { type: "function_call", call_id: `f${n}`, name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: `f${n}`, output: "4" },
      { type: "program_output", id: `po_${n}`, call_id: `p${n}`, result: "4", status: "completed" },
      { role: "assistant", content: "4" },
    ],
    (n) => [
      user(`Interrupted ${n}?`),
      { type: "mcp_approval_request", id: `mcpr_${n}`, server_label: "s", name: "f", arguments: "{}" },
    ],
    ...[
      "custom_tool_call",
      "computer_call",
      "shell_call",
      "apply_patch_call",
      "local_shell_call",
      "tool_search_call",
    ].map((type) => (n: number) => [
      user(`Stopped ${n}?`),
      {
        type,
        call_id: `x${n}`,
        ...(type === "custom_tool_call" ? { name: "sql", input: "select 1" } : {}),
      },
    ]),
  ],
}

/** Whether a request can end here: with the user, with a result, or with a call that the provider answers. */
const canBeSent = (format: Format, context: unknown): boolean => {
  const { messages = context } = context as { readonly messages?: unknown }
  const last = (messages as ReadonlyArray<{ role?: string; type?: string; content?: unknown }>).at(-1)
  if (format !== "anthropic") return last?.role === "user" || last?.type?.endsWith("_output") === true
  const block = Array.isArray(last?.content) ? (last.content.at(-1) as { readonly type?: string }) : undefined
  return last?.role === "user" || block?.type === "server_tool_use"
}

describe("what belongs together", () => {
  for (const format of ["anthropic", "openai-responses"] as const) {
    it.each(strategies)(`stays together in every context of ${format}: %s`, async (_, strategy) => {
      await using memory = memoryOf(format, strategy)
      let contexts = 0
      for (let n = 0; n < 33; n++) {
        const kinds = turns[format]
        for (const message of kinds[n % kinds.length]!(n)) {
          await memory.append("s", message as never)
          const { messages } = await memory.context("s")
          if (!canBeSent(format, messages)) continue
          expect(violations[format](messages)).toEqual([])
          contexts++
        }
      }
      expect(contexts).toBeGreaterThan(30)
    })
  }

  it("leaves out an abandoned pause, and says so", async () => {
    const { messages, layout } = await contextOf(
      "anthropic",
      user("?"),
      assistant(text("Let me look."), search("s")),
      user("Never mind."),
    )
    expect(JSON.stringify(messages)).not.toContain("server_tool_use")
    expect(layout).toContainEqual(
      expect.objectContaining({ section: "left-out", from: 1, to: 2, parts: ["server_tool_use"] }),
    )
  })

  it("sends a paused turn as it is", async () => {
    const paused = [user("?"), assistant(text("Let me look."), search("s"))]
    const { messages } = await contextOf("anthropic", ...paused)
    expect(messages).toMatchObject({ messages: paused })
  })
})

describe("an interrupted call", () => {
  const closed = async (call: object) => {
    const { messages, layout } = await contextOf("openai-responses", user("?"), call, user("Stop."))
    expect(violations["openai-responses"](messages)).toEqual([])
    return { answer: (messages as never as ReadonlyArray<unknown>)[2], messages, layout }
  }
  const words = "(No result: the call was interrupted.)"

  it.each<readonly [object, object]>([
    [
      { type: "custom_tool_call", call_id: "c", name: "sql", input: "select 1" },
      { type: "custom_tool_call_output", call_id: "c", output: words },
    ],
    [
      { type: "local_shell_call", id: "lsh_1", call_id: "c", status: "completed", action: {} },
      { type: "local_shell_call_output", id: "c", output: words },
    ],
    [
      { type: "apply_patch_call", call_id: "c", status: "completed", operation: {} },
      { type: "apply_patch_call_output", call_id: "c", status: "failed", output: words },
    ],
    [
      { type: "shell_call", call_id: "c", action: { commands: ["ls"] } },
      {
        type: "shell_call_output",
        call_id: "c",
        output: [{ stdout: "", stderr: words, outcome: { type: "timeout" } }],
      },
    ],
    [
      { type: "tool_search_call", call_id: "c", execution: "client", arguments: {} },
      { type: "tool_search_output", call_id: "c", execution: "client", status: "completed", tools: [] },
    ],
    [
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: words },
    ],
  ])("%j is closed with the item of its kind", async (call, answer) => {
    expect((await closed(call)).answer).toEqual(answer)
  })

  it("is left out with a note if its kind has no such item", async () => {
    const { messages, layout } = await closed({
      type: "computer_call",
      call_id: "c",
      action: { type: "wait" },
    })
    expect(messages).toHaveLength(2)
    expect(layout).toContainEqual(
      expect.objectContaining({ section: "unsupported", from: 1, to: 2, parts: ["computer_call"] }),
    )
  })
})

describe("an image in a tool message of Chat Completions", () => {
  it("is left out, as its API takes none there", async () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
    const { messages, layout } = await contextOf(
      "openai",
      user("?"),
      { role: "assistant", content: null, tool_calls: [call] },
      {
        role: "tool",
        tool_call_id: "c",
        content: [
          { type: "text", text: "The page:" },
          { type: "image_url", image_url: { url: "https://example.org/1.png" } },
        ],
      },
      user("Go on."),
    )
    expect(violations.openai(messages)).toEqual([])
    expect(JSON.stringify(messages)).not.toContain("image_url")
    expect(layout).toContainEqual(expect.objectContaining({ section: "unsupported", parts: ["file"] }))
  })
})

describe("what items say", () => {
  it.each<readonly [string, Format, ReadonlyArray<unknown>, string]>([
    [
      "a document of the user",
      "anthropic",
      [
        user([
          {
            type: "document",
            source: { type: "text", media_type: "text/plain", data: "The penalty is 400 euros." },
          },
        ]),
      ],
      "penalty 400",
    ],
    [
      "a search result",
      "anthropic",
      [
        user([
          {
            type: "search_result",
            source: "https://example.org",
            title: "Terms",
            content: [text("The penalty is 400 euros.")],
          },
        ]),
      ],
      "penalty 400",
    ],
    [
      "a fetched page",
      "anthropic",
      [
        assistant(
          search("s", "web_fetch"),
          served("s", "web_fetch_tool_result", {
            type: "web_fetch_result",
            url: "https://example.org",
            content: {
              type: "document",
              source: { type: "text", media_type: "text/plain", data: "The penalty is 400 euros." },
            },
          }),
        ),
      ],
      "penalty 400",
    ],
    [
      "a call of an MCP server",
      "openai-responses",
      [
        {
          type: "mcp_call",
          id: "mcp_1",
          server_label: "s",
          name: "f",
          arguments: "{}",
          output: "The penalty is 400 euros.",
        },
      ],
      "penalty 400",
    ],
    [
      "logs",
      "openai-responses",
      [
        {
          type: "code_interpreter_call",
          id: "ci_1",
          code: "",
          outputs: [{ type: "logs", logs: "The penalty is 400 euros." }],
        },
      ],
      "penalty 400",
    ],
    [
      "results of a file search",
      "openai-responses",
      [
        {
          type: "file_search_call",
          id: "fs_1",
          queries: [],
          results: [{ text: "The penalty is 400 euros." }],
        },
      ],
      "penalty 400",
    ],
    [
      "an output of a shell",
      "openai-responses",
      [
        { type: "shell_call", call_id: "c", action: { commands: ["cat"] } },
        {
          type: "shell_call_output",
          call_id: "c",
          output: [
            { stdout: "The penalty is 400 euros.", stderr: "", outcome: { type: "exit", exit_code: 0 } },
          ],
        },
      ],
      "penalty 400",
    ],
  ])("%s is found, and reaches the summarizer", async (_, format, items, query) => {
    const prompts: Array<string> = []
    await using memory = createMemory({
      store: "memory:",
      format: format as "openai",
      strategy: SlidingWindow({ tailKeepSize: 2, contextSize: 6, compressionWindowSize: 2 }),
      compaction: { mode: "inline" },
      summarizer: async ({ user: prompt }) => {
        prompts.push(prompt)
        return "short"
      },
    })
    await memory.append("s", [user("Here:"), ...items] as never)
    for (let n = 0; n < 8; n++)
      await memory.append("s", [
        user(`Small talk number ${n}?`),
        { role: "assistant", content: "I see." },
      ] as never)
    expect(prompts.join("\n")).toContain("The penalty is 400 euros.")
    expect((await memory.recall("s", query)).text).toContain("The penalty is 400 euros.")
  })
})
