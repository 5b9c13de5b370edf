import Anthropic, { BadRequestError as AnthropicBadRequest } from "@anthropic-ai/sdk"
import OpenAI, { BadRequestError as OpenAIBadRequest } from "openai"
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { afterEach, describe, expect, it } from "vitest"
import { scripted, seeded } from "./answers.js"
import { providerServer, type ProviderServer, type ServerOptions } from "./server.js"

const running: Array<ProviderServer> = []
const start = async (options: ServerOptions = {}) => {
  const server = await providerServer(options)
  running.push(server)
  return {
    server,
    anthropic: new Anthropic({ apiKey: "none", baseURL: server.anthropicURL, maxRetries: 0 }),
    openai: new OpenAI({ apiKey: "none", baseURL: server.openaiURL, maxRetries: 0 }),
  }
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

const answer = scripted([
  {
    thinking: "Where is the weather?",
    text: "Let me look.",
    calls: [{ name: "weather", arguments: { city: "Graz" } }],
  },
  { thinking: "Rain it is.", text: "It rains 🌧 in Graz." },
])
const tool = {
  name: "weather",
  description: "The weather",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } } },
}

describe("the Messages API", () => {
  const base = { model: "claude-sonnet-5-5", max_tokens: 1_000, tools: [tool] }
  const asked: Anthropic.MessageParam = { role: "user", content: "How is the weather in Graz?" }

  it("plays a tool loop", async () => {
    const { anthropic, server } = await start({ answer })
    const first = await anthropic.messages.create({ ...base, messages: [asked] })
    expect(first.stop_reason).toBe("tool_use")
    expect(first.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"])
    const messages: Array<Anthropic.MessageParam> = [
      asked,
      // A response goes back as it came, without what only a response has.
      { role: "assistant", content: first.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_0_0", content: "14 °C, rain" }] },
    ]
    const second = await anthropic.messages.create({ ...base, messages })
    expect(second.content.at(-1)).toMatchObject({ type: "text", text: "It rains 🌧 in Graz." })
    expect(server.refused).toEqual([])
  })

  it("streams the same answers", async () => {
    const { anthropic } = await start({ answer: scripted([await answerOnce()]) })
    const whole = await anthropic.messages.create({ ...base, messages: [asked] })
    const streamed = await anthropic.messages.stream({ ...base, messages: [asked] }).finalMessage()
    const text = (content: unknown): unknown =>
      JSON.parse(JSON.stringify(content).replaceAll(/toolu_\d+/g, "toolu"))
    expect(text(streamed.content)).toEqual(text(whole.content))
    expect(streamed.stop_reason).toBe(whole.stop_reason)
  })

  it("refuses what breaks a rule, in the provider's shape", async () => {
    const { anthropic, server } = await start()
    const messages: Array<Anthropic.MessageParam> = [
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "?" }] },
    ]
    const refusal: unknown = await anthropic.messages
      .create({ ...base, messages })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(AnthropicBadRequest)
    expect(refusal).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringContaining(
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
      ),
    })
    expect(server.refused[0]?.violations.map(({ rule }) => rule)).toEqual(["tool-result-orphan"])
  })

  it("refuses reasoning behind another prefix, or drops it", async () => {
    const { anthropic } = await start({ answer: scripted([{ thinking: "Hm.", text: "Yes." }]) })
    const first = await anthropic.messages.create({ ...base, messages: [asked] })
    const messages: Array<Anthropic.Beta.BetaMessageParam> = [
      { role: "user", content: "Summary: the weather was asked for." },
      { role: "assistant", content: first.content },
      { role: "user", content: "And tomorrow?" },
    ]
    await expect(
      anthropic.messages.create({ ...base, messages: messages as Array<Anthropic.MessageParam> }),
    ).rejects.toThrow(
      /messages\.1\.content\.0: Invalid `signature` in `thinking` block\. The block is bound to a different conversation\./,
    )
    const dropped = await anthropic.beta.messages.create({
      ...base,
      messages,
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
      betas: ["thinking-binding-controls-2026-08-01"],
    })
    expect(dropped.input_transformations).toEqual([
      { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" },
    ])
    // What is thought from then on stays, and the old block has to be dropped each time.
    const later = await anthropic.beta.messages.create({
      ...base,
      messages: [
        ...messages,
        { role: "assistant", content: dropped.content },
        { role: "user", content: "Thanks." },
      ],
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
      betas: ["thinking-binding-controls-2026-08-01"],
    })
    expect(later.input_transformations).toHaveLength(1)
  })

  it("summarizes with a block that keeps the reasoning behind it", async () => {
    const { anthropic, server } = await start({ answer: scripted([{ thinking: "Hm.", text: "Yes." }]) })
    const history: Array<Anthropic.Beta.BetaMessageParam> = [asked as Anthropic.Beta.BetaMessageParam]
    for (const next of ["And tomorrow?", "And on Sunday?"]) {
      const { content } = await anthropic.beta.messages.create({ ...base, messages: history })
      history.push({ role: "assistant", content }, { role: "user", content: next })
    }
    const summary = await anthropic.beta.messages.create({
      ...base,
      messages: history.slice(0, 3),
      compaction: { type: "summarize" },
      betas: ["compact-2026-09-04"],
    })
    expect(summary.stop_reason).toBe("compaction")
    expect(summary.content).toMatchObject([
      { type: "compaction", content: "A summary of what was said so far." },
    ])
    const kept = await anthropic.beta.messages.create({
      ...base,
      messages: [{ role: "assistant", content: summary.content }, ...history.slice(3)],
      betas: ["compact-2026-09-04"],
    })
    expect(kept.content.map(({ type }) => type)).toEqual(["thinking", "text"])
    expect(server.refused).toEqual([])
  })

  it("breaks a stream where the script says so", async () => {
    const { anthropic } = await start({ answer: scripted([{ text: "a long answer", cut: 3 }]) })
    const stream = anthropic.messages.stream({ ...base, messages: [asked] })
    await expect(stream.finalMessage()).rejects.toThrow(/./)
  })
})

const answerOnce = async () =>
  await scripted([
    {
      thinking: "Hm.",
      text: "Let me look.",
      calls: [{ name: "weather", arguments: { city: "Graz", days: [1, 2] } }],
    },
  ])({
    api: "anthropic",
    body: {},
    turn: 0,
    tools: [],
    afterResult: false,
  })

describe("Chat Completions", () => {
  const base = {
    model: "gpt-6.2-sol",
    tools: [{ type: "function" as const, function: { name: "weather", parameters: tool.input_schema } }],
  }
  const asked: OpenAI.ChatCompletionMessageParam = { role: "user", content: "How is the weather in Graz?" }

  it("plays a tool loop", async () => {
    const { openai, server } = await start({
      answer: scripted([
        { calls: [{ name: "weather", arguments: { city: "Graz" } }] },
        { text: "It rains." },
      ]),
    })
    const first = await openai.chat.completions.create({ ...base, messages: [asked] })
    const { message, finish_reason } = first.choices[0]!
    expect(finish_reason).toBe("tool_calls")
    const call = message.tool_calls![0] as OpenAI.ChatCompletionMessageFunctionToolCall
    expect(JSON.parse(call.function.arguments)).toEqual({ city: "Graz" })
    const second = await openai.chat.completions.create({
      ...base,
      messages: [
        asked,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "14 °C" },
      ],
    })
    expect(second.choices[0]?.message.content).toBe("It rains.")
    expect(server.refused).toEqual([])
  })

  it("streams the same answers", async () => {
    const { openai } = await start({ answer: scripted([await answerOnce()]) })
    const whole = await openai.chat.completions.create({ ...base, messages: [asked] })
    const streamed = await openai.chat.completions
      .stream({ ...base, messages: [asked], stream_options: { include_usage: true } })
      .finalChatCompletion()
    const text = (completion: OpenAI.ChatCompletion) => {
      const { content, tool_calls } = completion.choices[0]!.message
      const calls = tool_calls?.map((call) => (call.type === "function" ? call.function : null))
      return { content, calls: calls?.map((called) => [called?.name, called?.arguments]) }
    }
    expect(text(streamed)).toEqual(text(whole))
    expect(streamed.usage?.completion_tokens).toBe(whole.usage?.completion_tokens)
  })

  it("refuses what breaks a rule, in the provider's shape", async () => {
    const { openai } = await start()
    const refusal: unknown = await openai.chat.completions
      .create({ ...base, messages: [asked, { role: "tool", tool_call_id: "call_1", content: "?" }] })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(OpenAIBadRequest)
    expect(refusal).toMatchObject({ status: 400, type: "invalid_request_error", param: "messages[1].role" })
  })
})

describe("Responses", () => {
  const base = {
    model: "gpt-6.2-sol",
    tools: [{ type: "function" as const, name: "weather", parameters: tool.input_schema, strict: false }],
  }
  const asked: OpenAI.Responses.ResponseInputItem = { role: "user", content: "How is the weather in Graz?" }
  const scriptOf = () =>
    scripted([
      { thinking: "Where?", calls: [{ name: "weather", arguments: { city: "Graz" } }] },
      { thinking: "Rain it is.", text: "It rains." },
    ])

  it("plays a tool loop with reasoning", async () => {
    const { openai, server } = await start({ answer: scriptOf() })
    const first = await openai.responses.create({ ...base, input: [asked], store: false })
    expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"])
    const second = await openai.responses.create({
      ...base,
      store: false,
      input: [
        asked,
        ...(first.output as Array<OpenAI.Responses.ResponseInputItem>),
        { type: "function_call_output", call_id: "call_0_0", output: "14 °C" },
      ],
    })
    expect(second.output_text).toBe("It rains.")
    expect(second.input_transformations).toBeUndefined()
    expect(server.refused).toEqual([])
  })

  it("streams the same answers", async () => {
    const { openai } = await start({ answer: scripted([await answerOnce()]) })
    const whole = await openai.responses.create({ ...base, input: [asked] })
    const streamed = await openai.responses.stream({ ...base, input: [asked] }).finalResponse()
    expect(streamed.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"])
    expect(streamed.output_text).toBe(whole.output_text)
  })

  it("drops reasoning behind another prefix, and says so", async () => {
    const { openai } = await start({ answer: scriptOf() })
    const first = await openai.responses.create({ ...base, input: [asked] })
    const second = await openai.responses.create({
      ...base,
      input: [
        { role: "user", content: "Summary: the weather was asked for." },
        ...(first.output as Array<OpenAI.Responses.ResponseInputItem>),
        { type: "function_call_output", call_id: "call_0_0", output: "14 °C" },
      ],
    })
    expect(second.input_transformations).toEqual([
      { type: "reasoning", id: "rs_0", action: "removed", reason: "prefix_mismatch" },
    ])
  })

  it("compacts a conversation into its user messages and one item", async () => {
    const { openai, server } = await start({ answer: scripted([{ text: "ok" }]) })
    const input: Array<OpenAI.Responses.ResponseInputItem> = [
      asked,
      { role: "assistant", content: "It rains." },
    ]
    const compacted = await openai.responses.compact({ model: "gpt-6.2-sol", input })
    expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"])
    await openai.responses.create({
      ...base,
      input: [
        ...(compacted.output as Array<OpenAI.Responses.ResponseInputItem>),
        { role: "user", content: "And now?" },
      ],
    })
    expect(server.refused).toEqual([])
  })

  it("compacts where a trigger stands, at the end and nowhere else", async () => {
    const { openai } = await start({ answer: scripted([{ thinking: "Hm.", text: "ok" }]) })
    const trigger = { type: "compaction_trigger" as const }
    const compacted = await openai.responses.create({ ...base, input: [asked, trigger] })
    expect(compacted.output.map(({ type }) => type)).toEqual(["compaction"])
    const items = compacted.output as Array<OpenAI.Responses.ResponseInputItem>
    const next = await openai.responses.create({ ...base, input: [...items, asked] })
    expect(next.output_text).toBe("ok")
    await expect(openai.responses.create({ ...base, input: [trigger, asked] })).rejects.toThrow(
      "'compaction_trigger' must be the final input item",
    )
  })

  it.each([false, true])("calls custom tools, and tools of a namespace, stream: %s", async (stream) => {
    const { openai, server } = await start({
      answer: scripted([
        { calls: [{ name: "exec", namespace: "functions", input: "text(1)" }] },
        { text: "Done." },
      ]),
    })
    const body = { ...base, tools: [{ type: "custom" as const, name: "exec" }] }
    const ask = (input: Array<OpenAI.Responses.ResponseInputItem>) =>
      stream
        ? openai.responses.stream({ ...body, input }).finalResponse()
        : openai.responses.create({ ...body, input })
    const { output } = await ask([asked])
    expect(output).toMatchObject([{ type: "custom_tool_call", namespace: "functions", input: "text(1)" }])
    const result = { type: "custom_tool_call_output" as const, call_id: "call_0_0", output: "1" }
    await ask([asked, ...(output as Array<OpenAI.Responses.ResponseInputItem>), result])
    expect(server.refused).toEqual([])
  })

  it("accepts the unpublished fields that it is told of, and no others", async () => {
    const { server } = await start({ unpublished: ["client_metadata", "passthrough"] })
    const status = async (body: object) => {
      const message = { type: "message", role: "user", content: "Hi", ...body }
      const sent = JSON.stringify({ model: "m", input: [message], client_metadata: {} })
      return (await fetch(`${server.openaiURL}/responses`, { method: "POST", body: sent })).status
    }
    expect(await status({ passthrough: 1 })).toBe(200)
    expect(await status({ passthrough: 1, another: 1 })).toBe(400)
    expect(server.refused[0]?.violations.map(({ path }) => path)).toEqual(["input[0].another"])
  })

  it("holds a stream", async () => {
    let release = (): void => undefined
    const waited = new Promise<void>((resolve) => (release = resolve))
    const { openai } = await start({
      answer: scripted([{ text: "One two.", hold: { after: 2, wait: () => waited } }]),
    })
    const types: Array<string> = []
    for await (const { type } of await openai.responses.create({ ...base, input: [asked], stream: true })) {
      types.push(type)
      if (types.length === 2) release()
    }
    expect(types.at(-1)).toBe("response.completed")
  })
})

describe("seeded answers", () => {
  it("are determined by the seed, and call the request's tools", async () => {
    const answers = async (seed: number) => {
      const answering = seeded(seed)
      const found = []
      for (let turn = 0; turn < 40; turn++) {
        found.push(await answering({ api: "openai", body: {}, turn, tools: ["a", "b"], afterResult: false }))
      }
      return found
    }
    const one = await answers(1)
    expect(await answers(1)).toEqual(one)
    expect(await answers(2)).not.toEqual(one)
    expect(one.some(({ thinking }) => thinking !== undefined)).toBe(true)
    expect(one.some(({ calls = [] }) => calls.length === 2)).toBe(true)
  })
})

it("answers 404 elsewhere, 400 to what is no JSON, and 426 to who would rather have a WebSocket", async () => {
  const { server } = await start()
  const socket = get(`${server.openaiURL}/responses`, {
    headers: { connection: "upgrade", upgrade: "websocket" },
  })
  const [answered] = (await once(socket, "response")) as [IncomingMessage]
  expect(answered.statusCode).toBe(426)
  expect((await fetch(`${server.openaiURL}/models`)).status).toBe(404)
  expect((await fetch(`${server.openaiURL}/responses`, { method: "POST", body: "{" })).status).toBe(400)
})
