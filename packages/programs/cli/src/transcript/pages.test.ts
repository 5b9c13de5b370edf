/** Messages of pages and frameworks: what the libraries themselves write is read back. */
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages"
import { Message } from "@memfold/core"
import { describe, expect, it } from "vitest"
import { readTranscripts } from "./Transcript.js"

const read = (value: unknown) => readTranscripts(JSON.stringify(value), { file: "chat.json" })

const said = (messages: ReadonlyArray<Message.Message>) =>
  messages.map((message) => [
    message.role,
    Message.text(message),
    Message.calls(message).map(({ name, arguments: input }) => `${name} ${input}`),
    Message.results(message).map(({ output }) => output),
  ])

const expected = [
  ["system", "Be brief.", [], []],
  ["user", "Where is KX-4471?", [], []],
  ["assistant", "Let me look.", ['find {"order":"KX-4471"}'], []],
  ["tool", "sent on Monday", [], ["sent on Monday"]],
  ["assistant", "It was sent on Monday.", [], []],
]

describe("messages of LangChain", () => {
  const messages = [
    new SystemMessage("Be brief."),
    new HumanMessage([{ type: "text", text: "Where is KX-4471?" }] as never),
    new AIMessage({
      content: "Let me look.",
      tool_calls: [{ id: "c1", name: "find", args: { order: "KX-4471" } }],
    }),
    new ToolMessage({ content: "sent on Monday", tool_call_id: "c1", name: "find" }),
    new AIMessage("It was sent on Monday."),
  ]

  it.each([
    ["of toJSON", messages.map((message) => JSON.parse(JSON.stringify(message)) as unknown)],
    ["of toDict", messages.map((message) => message.toDict())],
    ["of a state", { values: { messages: messages.map((message) => message.toDict()) } }],
    [
      "of model_dump",
      messages.map((message) => ({ ...(message.toDict().data as object), type: message.getType() })),
    ],
  ])("are read from a dump %s", (_, dump) => {
    const [transcript] = read(dump)
    expect(transcript?.format).toBe("langchain")
    expect(said(transcript?.messages ?? [])).toEqual(expected)
  })

  it("say what is wrong with one of them", () => {
    const wrong = [...messages.slice(0, 2).map((message) => message.toDict()), { type: "chair", data: {} }]
    expect(() => read(wrong)).toThrow("chat.json: message 2 is no message of LangChain")
  })
})

describe("messages of a page of the AI SDK", () => {
  const page = [
    { id: "1", role: "system", parts: [{ type: "text", text: "Be brief." }] },
    { id: "2", role: "user", parts: [{ type: "text", text: "Where is KX-4471?" }] },
    {
      id: "3",
      role: "assistant",
      metadata: { createdAt: "2026-05-01T10:00:00Z" },
      parts: [
        { type: "step-start" },
        { type: "text", text: "Let me look.", state: "done" },
        {
          type: "tool-find",
          toolCallId: "c1",
          state: "output-available",
          input: { order: "KX-4471" },
          output: "sent on Monday",
        },
        { type: "step-start" },
        { type: "text", text: "It was sent on Monday." },
        { type: "data-weather", data: { sun: true } },
      ],
    },
  ]

  it("are read step by step", () => {
    const [transcript] = read(page)
    expect(transcript?.format).toBe("ai-sdk")
    expect(said(transcript?.messages ?? [])).toEqual(expected)
    expect(transcript?.messages.at(-1)?.time).toBe(Date.UTC(2026, 4, 1, 10))
  })

  it("have calls that failed, and calls that wait", () => {
    const parts = [
      {
        type: "dynamic-tool",
        toolName: "find",
        toolCallId: "c1",
        state: "output-error",
        input: {},
        errorText: "no",
      },
      { type: "tool-find", toolCallId: "c2", state: "input-available", input: {} },
    ]
    const [transcript] = read([page[1], { id: "3", role: "assistant", parts }])
    const [, call, result, waiting] = transcript?.messages ?? []
    expect(Message.calls(call!).map(({ id }) => id)).toEqual(["c1", "c2"])
    expect(Message.results(result!)).toMatchObject([{ id: "c1", output: "no", isError: true }])
    expect(waiting).toBeUndefined()
  })

  it("have the reason for which the user denied a call", () => {
    const approval = { id: "a", approved: false, reason: "Too much." }
    for (const state of ["output-denied", "approval-responded"]) {
      const parts = [{ type: "tool-find", toolCallId: "c1", state, input: {}, approval }]
      const [transcript] = read([page[1], { id: "3", role: "assistant", parts }])
      expect(Message.results(transcript!.messages[2]!)).toMatchObject([
        { id: "c1", output: "the call was denied: Too much.", isError: true },
      ])
    }
  })
})
