/**
 * Every text of a message that a person can read is found, summarized and exported, whatever part of the message it is in. What a text
 * cites are the words of a source: it is found by them, and they are neither shown nor summarized as words of the assistant.
 */
import { describe, expect, it } from "vitest"
import { createMemory, SummaryBuffer } from "../src/index.js"

type Format = "openai" | "openai-responses" | "anthropic"

const user = (content: unknown) => ({ role: "user", content })
const assistant = (content: unknown) => ({ role: "assistant", content })
const item = (type: string, fields: object) => ({ type, ...fields })
const call = { id: "c1", type: "function", function: { name: "look", arguments: '{"for":"quince"}' } }
const use = { type: "tool_use", id: "c1", name: "look", input: { for: "quince" } }
const long = "A".repeat(400)

/** Of each, the word "quince" stands in one place. */
const places: ReadonlyArray<readonly [string, Format, ReadonlyArray<unknown>]> = [
  ["text", "openai", [user("a quince is here")]],
  ["a text part", "openai", [user([{ type: "text", text: "a quince is here" }])]],
  ["a refusal", "openai", [assistant(null)].map((one) => ({ ...one, refusal: "no quince for you" }))],
  ["a refusal in the content", "openai", [assistant([{ type: "refusal", refusal: "no quince for you" }])]],
  [
    "what a spoken answer says",
    "openai",
    [{ ...assistant(null), audio: { id: "audio_1", data: long, transcript: "the quince is ripe" } }],
  ],
  [
    "the arguments of a call",
    "openai",
    [
      { ...assistant(null), tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "none" },
    ],
  ],
  [
    "the result of a call",
    "openai",
    [
      { ...assistant(null), tool_calls: [{ ...call, function: { name: "look", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c1", content: "a quince is here" },
    ],
  ],
  [
    "the name of a file",
    "openai",
    [
      user([
        { type: "file", file: { filename: "quince.pdf", file_data: `data:application/pdf;base64,${long}` } },
      ]),
    ],
  ],
  [
    "the output of code",
    "openai-responses",
    [
      item("code_interpreter_call", {
        id: "ci_1",
        code: "1",
        container_id: "x",
        status: "completed",
        outputs: [{ type: "logs", logs: "quince 7" }],
      }),
    ],
  ],
  [
    "code",
    "openai-responses",
    [
      item("code_interpreter_call", {
        id: "ci_1",
        code: "print('quince')",
        container_id: "x",
        status: "completed",
        outputs: [],
      }),
    ],
  ],
  [
    "the results of a search in files",
    "openai-responses",
    [
      item("file_search_call", {
        id: "fs_1",
        status: "completed",
        queries: ["x"],
        results: [{ text: "a quince is here" }],
      }),
    ],
  ],
  [
    "the output of a server's tool",
    "openai-responses",
    [
      item("mcp_call", {
        id: "m_1",
        server_label: "s",
        name: "look",
        arguments: "{}",
        output: "a quince is here",
      }),
    ],
  ],
  [
    "a document",
    "anthropic",
    [
      user([
        { type: "document", source: { type: "text", media_type: "text/plain", data: "a quince is here" } },
      ]),
    ],
  ],
  [
    "the title of a document",
    "anthropic",
    [
      user([
        {
          type: "document",
          title: "The quince",
          source: { type: "text", media_type: "text/plain", data: "fruit" },
        },
      ]),
    ],
  ],
  [
    "a search result",
    "anthropic",
    [
      user([
        {
          type: "search_result",
          source: "s",
          title: "t",
          content: [{ type: "text", text: "a quince is here" }],
        },
      ]),
    ],
  ],
  [
    "the quote of a citation",
    "anthropic",
    [
      assistant([
        {
          type: "text",
          text: "see there",
          citations: [
            {
              type: "char_location",
              cited_text: "the quince is ripe",
              document_index: 0,
              document_title: "t",
              start_char_index: 0,
              end_char_index: 5,
            },
          ],
        },
      ]),
    ],
  ],
  [
    "the result of a call, in parts",
    "anthropic",
    [
      assistant([use]),
      user([
        { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "a quince is here" }] },
      ]),
    ].map((one, at) => (at === 0 ? assistant([{ ...use, input: {} }]) : one)),
  ],
]

describe("what a person can read in a message", () => {
  it.each(places)("is found, summarized and exported: %s", async (place, format, messages) => {
    const asked: Array<string> = []
    await using memory = createMemory({
      store: "memory:",
      format: format as "openai",
      strategy: SummaryBuffer({ maxTokens: 60 }),
      summarizer: async ({ user }) => {
        asked.push(user)
        return "a summary"
      },
      compaction: { mode: "inline" },
    })
    const around = Array.from({ length: 6 }, (_, at) => [
      user(`question ${at}`),
      assistant(`answer ${at}`),
    ]).flat()
    const all = [user("begin"), ...messages, ...around]
    await memory.append("s", all as never)
    const { messages: found } = await memory.recall("s", "quince")
    const shown = found.map(({ text }) => text).join("\n")
    if (place.startsWith("the quote")) {
      expect(found.map(({ index }) => index)).toContain(1)
      expect(asked.join("\n") + shown).not.toMatch(/quince/)
    } else {
      expect(shown).toMatch(/quince/)
      expect(asked.join("\n")).toMatch(/quince/)
    }
    const exported: Array<unknown> = []
    for await (const event of memory.events("s")) exported.push(event)
    expect(JSON.stringify(exported)).toContain("quince")
  })
})
