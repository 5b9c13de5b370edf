/** Anthropic's own compaction, by the official client, against a server that refuses what the API refuses. */
import Anthropic from "@anthropic-ai/sdk"
import { Message, type Summarizer } from "@memfold/core"
import { Effect, Exit, Fiber } from "effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { CompactionServer } from "@memfold/harness/CompactionServer"
import { type CompactionClient, compactionBeta, encodeMessages, nativeCompaction } from "./index.js"

const conversation = (count: number): ReadonlyArray<Message.Message> =>
  Array.from({ length: count }, (_, position) =>
    position % 2 === 0 ? Message.user(`question ${position}`) : Message.assistant(`answer ${position}`),
  )

const asking = (options: Partial<Summarizer.Request> = {}): Summarizer.Request => ({
  session: "s",
  kind: "history",
  from: 0,
  to: 4,
  previous: undefined,
  messages: conversation(4),
  messagesFrom: 0,
  replacesTokens: 1_000,
  instructions: undefined,
  context: { pinned: [Message.system("Be kind.")], summary: [], messages: conversation(4) },
  ...options,
})

let server: CompactionServer
let client: Anthropic
const tools = [{ name: "look", description: "Looks.", input_schema: { type: "object" as const } }]

beforeEach(async () => {
  server = new CompactionServer()
  client = new Anthropic({ apiKey: "secret-key", baseURL: await server.listen(), maxRetries: 0 })
})
afterEach(() => server.close())

const model = "claude-sonnet-5-5"
const make = (options: object = {}) => nativeCompaction({ client, model, ...options })

/** A summary as contexts have it. */
const summaryOf = ({ text, providerData }: Summarizer.Result, rest = ""): Message.Message => ({
  role: "system",
  parts: [
    { type: "text", text: `[Conversation Summary]\n${text}` },
    { type: "opaque", provider: "anthropic", model, data: providerData?.data, replaces: "text-before" },
    ...(rest === "" ? [] : [{ type: "text" as const, text: rest }]),
  ],
})

describe("the summarizer", () => {
  it("sends the conversation as it stands, and keeps the block beside its text", async () => {
    const result = await Effect.runPromise(make({ request: { tools } }).summarize(asking()))
    expect(result).toEqual({
      text: "Claude's summary of 4 turns.",
      finish: "stop",
      providerData: {
        provider: "anthropic",
        model,
        keepsReasoning: true,
        data: {
          type: "compaction",
          content: "Claude's summary of 4 turns.",
          encrypted_content: null,
          signature: expect.any(String),
          tool_changes: [],
        },
      },
    })
    expect(server.requests).toEqual([
      {
        betas: [compactionBeta],
        body: {
          model,
          max_tokens: 16_000,
          system: "Be kind.",
          tools,
          messages: encodeMessages(conversation(4)).messages,
          compaction: { type: "summarize" },
        },
      },
    ])
  })

  it("sends the earlier block with the new messages, and no text in its place", async () => {
    const first = await Effect.runPromise(make().summarize(asking()))
    const second = await Effect.runPromise(
      make().summarize(
        asking({ context: { pinned: [], summary: [summaryOf(first)], messages: conversation(2) } }),
      ),
    )
    expect(second.text).toBe("Claude's summary of 6 turns.")
    expect(server.requests[1]?.body.messages).toEqual([
      { role: "assistant", content: [first.providerData?.data] },
      ...encodeMessages(conversation(2)).messages,
    ])
    expect(server.requests[1]?.body.system).toBeUndefined()
  })

  it("sends the text of a block that the API does not accept", async () => {
    const first = await Effect.runPromise(make().summarize(asking()))
    const data = { ...(first.providerData?.data as object), signature: "of another organization" }
    const summary = summaryOf({ text: first.text, providerData: { provider: "anthropic", model, data } })
    const request = asking({ context: { pinned: [], summary: [summary], messages: conversation(2) } })
    expect(await Effect.runPromise(make().summarize(request))).toMatchObject({
      text: "Claude's summary of 2 turns.",
      finish: "stop",
    })
    expect(server.requests.map(({ body }) => body.system)).toEqual([
      "Be kind.",
      undefined,
      `[Conversation Summary]\n${first.text}`,
    ])
  })

  it("leaves out the fields that the API refuses here", async () => {
    const request = {
      betas: ["context-management-2025-06-27"],
      context_management: { edits: [] },
      stop_sequences: ["x"],
      stream: true,
      tool_choice: { type: "any" },
      output_config: { effort: "high", format: { type: "json_schema" } },
      thinking: { type: "adaptive" },
      messages: [],
    }
    await Effect.runPromise(make({ request }).summarize(asking()))
    const [sent] = server.requests
    expect(sent?.betas).toEqual(["context-management-2025-06-27", compactionBeta])
    expect(Object.keys(sent?.body ?? {}).toSorted()).toEqual([
      "compaction",
      "max_tokens",
      "messages",
      "model",
      "output_config",
      "system",
      "thinking",
    ])
    expect(sent?.body["output_config"]).toEqual({ effort: "high" })
  })

  it("gives its instructions as a whole prompt, because they replace the API's own", async () => {
    await Effect.runPromise(make().summarize(asking({ instructions: "Keep every order number." })))
    await Effect.runPromise(make({ instructions: "Write three lines." }).summarize(asking()))
    await Effect.runPromise(
      make({ instructions: "Write three lines." }).summarize(asking({ instructions: "In German." })),
    )
    const [own, given, both] = server.requests.map(({ body }) => body.compaction?.instructions)
    expect(own).toMatch(/^Summarize the conversation[\s\S]*\n\nKeep every order number\.$/u)
    expect(given).toBe("Write three lines.")
    expect(both).toBe("Write three lines.\n\nIn German.")
  })

  it.each([
    ["max_tokens", "half a", "length"],
    ["model_context_window_exceeded", "", "length"],
    ["refusal", "", "refused"],
    ["compaction", null, "stop"],
  ])("says how a summary ended: %s", async (stop, content, finish) => {
    server.answer = () => ({ content: [{ type: "compaction", content }], stop_reason: stop, usage: {} })
    expect(await Effect.runPromise(make().summarize(asking()))).toMatchObject({ text: content ?? "", finish })
  })

  it("has no text for an answer of another kind", async () => {
    for (const answer of [{}, { content: "words" }, { content: [{ type: "text", text: "hello" }] }, []]) {
      server.answer = () => answer
      expect(await Effect.runPromise(make().summarize(asking()))).toMatchObject({ text: "" })
    }
  })

  it("fails with the status and the code, and no word of the conversation", async () => {
    server.answer = () => CompactionServer.refuse("compaction_unavailable", 503)
    const error = await Effect.runPromise(Effect.flip(make().summarize(asking())))
    expect(error).toMatchObject({ _tag: "SummarizerError", session: "s", reason: "unavailable" })
    expect(error.detail).toBe(
      "the compaction request was answered with HTTP 503 (compaction_unavailable); it is tried again later",
    )
    await server.close()
    const lost = await Effect.runPromise(Effect.flip(make().summarize(asking())))
    expect(lost.detail).toBe("the compaction request did not succeed; it is tried again later")
  })

  it("does not compact a divided message", async () => {
    const { context: _context, ...rest } = asking()
    const error = await Effect.runPromise(Effect.flip(make().summarize(rest)))
    expect(error.reason).toBe("too-large")
    expect(server.requests).toEqual([])
  })

  it("aborts its request when it is interrupted", async () => {
    let arrived: () => void = () => undefined
    const came = new Promise<void>((resolve) => {
      arrived = resolve
    })
    server.hold = new Promise(() => undefined)
    const push = server.requests.push.bind(server.requests)
    server.requests.push = (...all) => {
      arrived()
      return push(...all)
    }
    const fiber = Effect.runFork(make().summarize(asking()))
    await came
    expect(Exit.isInterrupted(await Effect.runPromise(Fiber.interrupt(fiber)))).toBe(true)
    await server.gone
  })

  it("takes the official client without a cast", () => {
    const given: CompactionClient = client
    expect(given).toBe(client)
  })
})

describe("a summary in a request", () => {
  const block = { type: "compaction", content: "So far.", signature: "sig" }
  const summary = summaryOf({ text: "So far.", providerData: { provider: "anthropic", data: block } })
  const [question, answer] = conversation(2) as [Message.Message, Message.Message]
  const native = { role: "assistant", content: [block] }
  const text = "[Conversation Summary]\nSo far."

  it("is the block, in front and alone; the system prompt stays as it is", () => {
    expect(encodeMessages([Message.system("Be kind."), summary, question, answer])).toEqual({
      system: "Be kind.",
      messages: [native, { role: "user", content: "question 0" }, { role: "assistant", content: "answer 1" }],
    })
    expect(encodeMessages([summary, answer, question]).messages).toEqual([
      native,
      { role: "assistant", content: "answer 1" },
      { role: "user", content: "question 0" },
    ])
  })

  it("is the text for another model, and where it is asked for", () => {
    const options = [{ model: "claude-haiku-5-5" }, { summaries: "text" as const }]
    for (const option of options) {
      expect(encodeMessages([Message.system("Be kind."), summary, question], option)).toEqual({
        system: [
          { type: "text", text: "Be kind." },
          { type: "text", text },
        ],
        messages: [{ role: "user", content: "question 0" }],
      })
    }
    expect(encodeMessages([summary, question], { model }).messages[0]).toEqual(native)
  })

  it("is the text behind a pinned message, where the API takes no block", () => {
    expect(encodeMessages([Message.user("pinned"), summary, question])).toEqual({
      system: text,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "pinned" },
            { type: "text", text: "question 0" },
          ],
        },
      ],
    })
  })

  it("is the text for data of another provider", () => {
    const other = summaryOf({
      text: "So far.",
      providerData: { provider: "anthropic", data: { type: "text" } },
    })
    expect(encodeMessages([other, question]).system).toBe(text)
  })

  it("has what else it says behind the block", () => {
    const longer = summaryOf(
      { text: "So far.", providerData: { provider: "anthropic", data: block } },
      "\n\nFiles",
    )
    expect(encodeMessages([longer, question])).toEqual({
      system: "\n\nFiles",
      messages: [native, { role: "user", content: "question 0" }],
    })
    expect(encodeMessages([longer, question], { summaries: "text" }).system).toBe(`${text}\n\nFiles`)
  })
})
