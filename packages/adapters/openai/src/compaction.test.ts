/** OpenAI's own compaction, by the official client, against a server that answers as the API does. */
import { Message, Summarizer } from "@memfold/core"
import { Effect, Exit, Fiber } from "effect"
import OpenAI from "openai"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { CompactServer } from "@memfold/harness/CompactServer"
import { type CompactionClient, encodeMessages, nativeCompaction, Responses } from "./index.js"

const conversation: ReadonlyArray<Message.Message> = [
  Message.user("Weather in Graz?"),
  Message.call([{ id: "c1", name: "weather", arguments: '{"city":"Graz"}' }]),
  Message.result({ id: "c1", output: "14 °C" }),
  Message.assistant("It is 14 °C."),
]

const asking = (options: Partial<Summarizer.Request> = {}): Summarizer.Request => ({
  session: "s",
  kind: "history",
  from: 0,
  to: 4,
  previous: undefined,
  messages: conversation,
  messagesFrom: 0,
  replacesTokens: 1_000,
  instructions: undefined,
  context: { pinned: [Message.system("Be kind.")], summary: [], messages: conversation },
  ...options,
})

let server: CompactServer
let client: OpenAI

beforeEach(async () => {
  server = new CompactServer()
  client = new OpenAI({ apiKey: "secret-key", baseURL: await server.listen(), maxRetries: 0 })
})
afterEach(() => server.close())

const model = "gpt-6.2-sol"
const text: Summarizer.Service = {
  name: "words",
  summarize: ({ from, to }) => Effect.succeed({ text: `[${from},${to})`, finish: "stop" }),
}
const make = (options: object = {}) => nativeCompaction({ client, model, text, ...options })

const summaryOf = ({ text: words, providerData }: Summarizer.Result): Message.Message => ({
  role: "system",
  parts: [
    { type: "text", text: `[Conversation Summary]\n${words}` },
    {
      type: "opaque",
      provider: "openai-responses",
      model,
      data: providerData?.data,
      replaces: "text-before",
    },
  ],
})

const asked = { role: "user", content: "Weather in Graz?" }

describe("the summarizer", () => {
  it("keeps the whole window beside a text that another summarizer writes", async () => {
    const result = await Effect.runPromise(make({ request: { prompt_cache_key: "s" } }).summarize(asking()))
    expect(result).toEqual({
      text: "[0,4)",
      finish: "stop",
      providerData: {
        provider: "openai-responses",
        model,
        data: [
          { ...asked, id: "msg_0", status: "completed" },
          { id: "cmp_1", type: "compaction", encrypted_content: "encrypted 1" },
        ],
        tokens: expect.any(Number),
        keepsReasoning: true,
      },
    })
    expect(result.providerData?.tokens).toBeGreaterThan(20)
    expect(server.requests).toEqual([
      {
        path: "/responses/compact",
        body: {
          model,
          prompt_cache_key: "s",
          input: [
            asked,
            { type: "function_call", call_id: "c1", name: "weather", arguments: '{"city":"Graz"}' },
            { type: "function_call_output", call_id: "c1", output: "14 °C" },
            { role: "assistant", content: "It is 14 °C." },
          ],
        },
      },
    ])
  })

  it("sends the earlier window with the new messages, pinned ones left out", async () => {
    const first = await Effect.runPromise(make().summarize(asking()))
    const messages = [Message.user("And in Linz?"), Message.user("Be brief.", { pinned: true })]
    const context = { pinned: [Message.user("pinned")], summary: [summaryOf(first)], messages }
    const second = await Effect.runPromise(make().summarize(asking({ context, previous: first.text, to: 6 })))
    expect(server.requests[1]?.body.input).toEqual([
      ...((first.providerData?.data ?? []) as ReadonlyArray<unknown>),
      { role: "user", content: "And in Linz?" },
    ])
    expect(second).toMatchObject({ text: "[0,6)", providerData: { provider: "openai-responses", model } })
  })

  it("sends the text of a window that the API cannot read", async () => {
    const data = [{ id: "cmp_9", type: "compaction", encrypted_content: "of another organization" }]
    const summary = summaryOf({ text: "[0,4)", providerData: { provider: "openai-responses", data } })
    const context = { pinned: [], summary: [summary], messages: conversation }
    const result = await Effect.runPromise(make().summarize(asking({ context })))
    expect(result.providerData?.data).toHaveLength(2)
    expect(server.requests[1]?.body.input[0]).toEqual({
      role: "system",
      content: "[Conversation Summary]\n[0,4)",
    })
  })

  it("writes only a text where no window can stand: a block, a split turn, a divided message", async () => {
    const { context: _context, ...divided } = asking()
    for (const request of [asking({ kind: "block" }), asking({ kind: "turn-prefix", from: 2 }), divided]) {
      expect(await Effect.runPromise(make().summarize(request))).not.toHaveProperty("providerData")
    }
    expect(server.requests).toEqual([])
  })

  it("fails with the status and the code, and no word of the conversation", async () => {
    server.answer = ({ input }) => [
      429,
      { error: { code: "rate_limit_exceeded", message: JSON.stringify(input) } },
    ]
    const error = await Effect.runPromise(Effect.flip(make().summarize(asking())))
    expect(error).toMatchObject({ _tag: "SummarizerError", session: "s", reason: "unavailable" })
    expect(error.detail).toBe(
      "the compaction request was answered with HTTP 429 (rate_limit_exceeded); the rate or spending limit is reached; it is tried again later",
    )
    for (const answer of [{}, { output: [] }, { output: [asked] }]) {
      server.answer = () => [200, answer]
      expect((await Effect.runPromise(Effect.flip(make().summarize(asking())))).detail).toBe(
        "the answer to the compaction request has no compaction item",
      )
    }
  })

  it("fails as the text does, and asks its fallbacks", async () => {
    const failing: Summarizer.Service = {
      name: "none",
      summarize: ({ session }) =>
        Effect.fail(new Summarizer.SummarizerError({ session, reason: "refused", detail: "no" })),
    }
    const error = await Effect.runPromise(Effect.flip(make({ text: failing }).summarize(asking())))
    expect(error.reason).toBe("refused")
    const chain = Summarizer.withFallback(failing, text)
    expect(await Effect.runPromise(make({ text: chain }).summarize(asking()))).toMatchObject({
      text: "[0,4)",
    })
    const cut: Summarizer.Service = {
      ...text,
      summarize: () => Effect.succeed({ text: "cut", finish: "length" }),
    }
    expect(await Effect.runPromise(make({ text: cut }).summarize(asking()))).toMatchObject({
      finish: "length",
    })
  })

  it("aborts its request when it is interrupted", async () => {
    server.hold = new Promise(() => undefined)
    const fiber = Effect.runFork(make().summarize(asking()))
    await server.came
    expect(Exit.isInterrupted(await Effect.runPromise(Fiber.interrupt(fiber)))).toBe(true)
    await server.gone
  })

  it("takes the official client without a cast, and the window of the text summarizer", () => {
    const given: CompactionClient = client
    expect(given).toBe(client)
    expect(make({ text: { ...text, maxInputTokens: 5_000 } }).maxInputTokens).toBe(5_000)
    expect(make().name).toBe("openai gpt-6.2-sol and words")
  })
})

describe("a summary with a window", () => {
  const data = [
    { type: "message", id: "msg_1", role: "user", content: [{ type: "input_text", text: "Hi" }] },
    { type: "compaction", id: "cmp_1", encrypted_content: "x" },
  ]
  const summary = summaryOf({ text: "So far.", providerData: { provider: "openai-responses", data } })
  const text = { role: "system", content: "[Conversation Summary]\nSo far." }
  const question = Message.user("And now?")

  it("is a text for Chat Completions", () => {
    expect(encodeMessages([summary, question])).toEqual([text, { role: "user", content: "And now?" }])
  })

  it("is the window for the Responses API, item by item, wherever it stands", () => {
    const pinned = Message.user("pinned")
    expect(Responses.encodeAndReport([pinned, summary, question], { model })).toEqual({
      input: [{ role: "user", content: "pinned" }, ...data, { role: "user", content: "And now?" }],
      omitted: [],
    })
  })

  it("is the text for another model, where it is asked for, and for data that is no list", () => {
    const wrong = summaryOf({ text: "So far.", providerData: { provider: "openai-responses", data: "x" } })
    for (const input of [
      Responses.encodeItems([summary], { model: "gpt-5" }),
      Responses.encodeItems([summary], { summaries: "text" }),
      Responses.encodeItems([wrong]),
    ]) {
      expect(input).toEqual([text])
    }
  })

  it("has what else it says behind the window, and reports positions of the list that was given", () => {
    const longer = { ...summary, parts: [...summary.parts, { type: "text" as const, text: "Files" }] }
    const named = Message.user("Hi", { name: "Ada" })
    expect(Responses.encodeAndReport([longer, named])).toEqual({
      input: [...data, { role: "system", content: "Files" }, { role: "user", content: "Hi" }],
      omitted: [{ message: 1, part: "name" }],
    })
  })
})
