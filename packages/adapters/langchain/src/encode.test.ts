/** What a model gets, and what the layout names. */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages"
import { Message } from "@memfold/core"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { formOf } from "./form.js"
import { decodeMessage, decodeMessages, encodeContext } from "./index.js"

const decoded = (given: ReadonlyArray<unknown>) => Either.getOrThrow(decodeMessages(given))
const sent = (given: ReadonlyArray<BaseMessage>, provider?: string) =>
  encodeContext(decoded(given), { provider })
const omitted = (given: ReadonlyArray<BaseMessage>, provider?: string) =>
  sent(given, provider).omitted.map(({ part }) => part)

describe("a context", () => {
  it("has system messages apart, with their cache marks", () => {
    const marked = { type: "text" as const, text: "Be brief.", cache_control: { type: "ephemeral" } }
    const { system, messages } = sent([new SystemMessage({ content: [marked] }), new HumanMessage("Hello?")])
    expect(system).toEqual([marked])
    expect(messages).toHaveLength(1)
    expect(
      sent([new SystemMessage("One."), new HumanMessage("Hello?"), new SystemMessage("Two.")]).system,
    ).toBe("One.\n\nTwo.")
  })

  it("has no call that the model wrote wrongly, since it has no result", () => {
    const call = { name: "search", args: '{"query', id: "c1", error: "Malformed args." }
    const answer = new AIMessage({
      content: [
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "c1", name: "search", input: {} },
      ],
      tool_calls: [],
      invalid_tool_calls: [call],
      additional_kwargs: {
        tool_calls: [{ id: "c1", type: "function", function: { name: "search", arguments: '{"query' } }],
      },
    })
    const given = [new HumanMessage("Where?"), answer]
    const written = sent(given).messages[1] as AIMessage
    expect(written.content).toEqual([{ type: "text", text: "Let me see." }])
    expect([written.invalid_tool_calls, written.additional_kwargs]).toEqual([[], {}])
    expect(omitted(given)).toContain("invalid-tool-call")
  })

  it("names a wrong call of which nothing else is left", () => {
    const call = { name: "search", args: '{"query', id: "c1", error: "Malformed args." }
    const given = [new HumanMessage("Where?"), new AIMessage({ content: "", invalid_tool_calls: [call] })]
    expect(sent(given).messages).toHaveLength(1)
    expect(omitted(given)).toEqual(["invalid-tool-call"])
  })

  it("replaces ids that come again, in the call, its block and its result", () => {
    const turn = (query: string) => [
      new HumanMessage(query),
      new AIMessage({
        content: [{ type: "tool_use", id: "c1", name: "search", input: { query } }],
        tool_calls: [{ id: "c1", name: "search", args: { query } }],
      }),
      new ToolMessage({ tool_call_id: "c1", content: `found ${query}` }),
    ]
    const { messages } = sent([...turn("one"), ...turn("two")])
    const call = messages[4] as AIMessage
    expect(call.tool_calls?.[0]?.id).toBe("c1_2")
    expect(call.content).toMatchObject([{ id: "c1_2", input: { query: "two" } }])
    expect((messages[5] as ToolMessage).tool_call_id).toBe("c1_2")
  })

  it("names what the provider does not take", () => {
    const sound = new HumanMessage({
      content: [
        { type: "text", text: "Listen:" },
        { type: "audio", source_type: "base64", data: "AAAA", mime_type: "audio/ogg" },
      ],
    })
    expect(omitted([sound], "anthropic")).toEqual(["file"])
    expect(omitted([sound], "openai")).toEqual(["file"])
    expect(omitted([sound])).toEqual([])
    const thought = new AIMessage({
      content: [
        { type: "thinking", thinking: "Hm.", signature: "EqQB" },
        { type: "server_tool_use", id: "s1" },
        { type: "text", text: "Yes.", citations: [{ type: "page" }] },
      ],
      response_metadata: { model_provider: "anthropic" },
    })
    expect(omitted([new HumanMessage("Is it?"), thought], "openai")).toEqual([
      "reasoning",
      "opaque",
      "citations",
    ])
    expect(omitted([new HumanMessage("Is it?"), thought], "anthropic")).toEqual([])
  })

  it("begins with the user", () => {
    expect(sent([new AIMessage("Hello.")]).messages.map(({ type }) => type)).toEqual(["human", "ai"])
  })
})

describe("usual messages of providers", () => {
  it.each([
    [
      "Anthropic",
      new AIMessage({
        content: [
          { type: "thinking", thinking: "Hm.", signature: "EqQB" },
          { type: "text", text: "Let me see.", citations: [{ type: "char_location" }] },
          { type: "tool_use", id: "c1", name: "search", input: { query: "one" } },
        ],
        tool_calls: [{ id: "c1", name: "search", args: { query: "one" }, type: "tool_call" }],
        id: "msg_1",
        usage_metadata: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } as never,
      }),
    ],
    [
      "Chat Completions",
      new AIMessage({
        content: "",
        tool_calls: [{ id: "c1", name: "search", args: { query: "one" }, type: "tool_call" }],
        additional_kwargs: {
          tool_calls: [
            { id: "c1", type: "function", function: { name: "search", arguments: '{"query":"one"}' } },
          ],
          refusal: null,
        },
        response_metadata: { finish_reason: "tool_calls" },
      }),
    ],
    [
      "a tool",
      new ToolMessage({
        tool_call_id: "c1",
        name: "search",
        content: "found",
        status: "success",
        artifact: { rows: [1] },
      }),
    ],
    [
      "a person",
      new HumanMessage({
        content: [
          { type: "text", text: "Look:" },
          { type: "image_url", image_url: { url: "https://example.org/a.png", detail: "low" } },
        ],
      }),
    ],
  ])("are stored once, not a second time as they came: %s", (_name, message) => {
    expect(formOf(Either.getOrThrow(decodeMessage(message))).raw).toBeUndefined()
  })

  it("says what a summary and a token counter need: texts, calls, errors, usage", () => {
    const failed = new ToolMessage({
      tool_call_id: "c1",
      content: [{ type: "text", text: "No such city." }],
      status: "error",
    })
    const [message] = decoded([failed])
    expect(Message.results(message!)[0]).toMatchObject({ output: "No such city.", isError: true })
    const usage = {
      input_tokens: 7,
      output_tokens: 5,
      total_tokens: 12,
      output_token_details: { reasoning: 2 },
    }
    expect(decoded([new AIMessage({ content: "Yes.", usage_metadata: usage as never })])[0]?.usage).toEqual({
      input: 7,
      output: 3,
    })
  })
})
