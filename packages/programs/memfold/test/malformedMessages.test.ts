/**
 * Messages with anything in any place: each is refused with a typed error that quotes nothing, or it is stored, and then it can
 * be read, and shown in every format.
 */
import { decodeMessages as aiSdk, encodeContext as toAiSdk } from "@memfold/ai-sdk"
import { decodePrompt, encodeContext as toEffectAi } from "@memfold/effect-ai"
import { decodeMessages as langChain, encodeContext as toLangChain } from "@memfold/langchain"
import { decodeMessages as mastra } from "@memfold/mastra"
import { decodeItems as agents, encodeContext as toAgents } from "@memfold/openai-agents"
import type { Message } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { random } from "@memfold/harness/random"
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages"
import { Either } from "effect"
import * as fc from "fast-check"
import { createMemory, type PromiseMemory } from "memfold"
import { afterAll, describe, expect, it } from "vitest"

const { seed = 1 } = fc.readConfigureGlobal()
const attempts = often(80, 20_000)

/** A word of the conversation, which no error may quote. */
const secret = "Xylophon4711"

const cyclic: Record<string, unknown> = { type: "text" }
cyclic["text"] = cyclic
let deep: unknown = "end"
for (let n = 0; n < 20_000; n++) deep = [deep]
const throwing = {
  get type(): string {
    throw new Error(secret)
  },
}

const values: ReadonlyArray<unknown> = [
  null,
  undefined,
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e308,
  2 ** 53 + 2,
  10n,
  "",
  secret,
  "\uD800",
  "\u0000",
  true,
  [],
  {},
  [[]],
  [null],
  [{}],
  { type: "text" },
  { type: "text", text: null },
  { type: "__proto__" },
  { type: "tool-call" },
  { type: "tool_result", content: [{ type: "image" }] },
  JSON.parse('{"__proto__":{"type":"text"},"constructor":1}'),
  Symbol("x"),
  () => secret,
  new Date(Number.NaN),
  new Map([[secret, secret]]),
  new Uint8Array(3),
  // oxlint-disable-next-line no-sparse-arrays -- a list with a hole is one of the things that come
  [, 1],
  cyclic,
  deep,
  throwing,
  { toJSON: () => undefined },
  {
    toJSON: () => {
      throw new Error(secret)
    },
  },
  "x".repeat(100_000),
]

const roles = ["system", "developer", "user", "assistant", "tool", "function", "data", "", "__proto__"]

/** A value with something else somewhere in it. Instances of classes keep their class. */
const altered = (value: unknown, next: () => number, key = ""): unknown => {
  const pick = <A>(choices: ReadonlyArray<A>): A => choices[Math.floor(next() * choices.length)]!
  if (key === "role" && next() < 0.5) return pick(roles)
  if (typeof value !== "object" || value === null || next() < 0.1) return pick(values)
  const keys = Object.keys(value)
  if (keys.length === 0) return pick(values)
  const at = pick(keys)
  const changed = altered((value as Record<string, unknown>)[at], next, at)
  if (Array.isArray(value)) {
    const fate = next()
    if (fate < 0.1) return [...value, changed]
    if (fate < 0.2) return value.filter((_, position) => String(position) !== at)
    if (fate < 0.3) return value.toReversed()
    return value.map((one: unknown, position) => (String(position) === at ? changed : one))
  }
  const copy = Object.create(
    Object.getPrototypeOf(value) as object,
    Object.getOwnPropertyDescriptors(value),
  ) as object
  if (next() < 0.15) Reflect.deleteProperty(copy, at)
  else
    Object.defineProperty(copy, at, { value: changed, enumerable: true, configurable: true, writable: true })
  return copy
}

const openai = [
  { role: "system", content: secret },
  {
    role: "user",
    content: [
      { type: "text", text: secret },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: secret },
  { role: "assistant", content: secret, name: "a" },
]
const responses = [
  { role: "user", content: [{ type: "input_text", text: secret }] },
  { type: "reasoning", id: "r1", summary: [{ type: "summary_text", text: secret }], encrypted_content: "x" },
  { type: "function_call", id: "f1", call_id: "c1", name: "look", arguments: "{}" },
  { type: "function_call_output", call_id: "c1", output: secret },
  {
    type: "message",
    id: "m1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: secret, annotations: [] }],
  },
]
const anthropic = [
  { role: "user", content: [{ type: "text", text: secret, cache_control: { type: "ephemeral" } }] },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: secret, signature: "x" },
      { type: "tool_use", id: "c1", name: "look", input: { at: 1 } },
    ],
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "c1", is_error: false, content: [{ type: "text", text: secret }] },
    ],
  },
  { role: "assistant", content: secret },
]
const neutral = [
  {
    role: "user",
    parts: [
      { type: "text", text: secret },
      { type: "file", mediaType: "image/png", uri: "data:image/png;base64,AA==" },
    ],
    time: 1,
  },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: secret },
      { type: "tool-call", id: "c1", name: "look", arguments: "{}" },
    ],
  },
  {
    role: "tool",
    parts: [{ type: "tool-result", id: "c1", output: secret, content: [{ type: "text", text: secret }] }],
  },
  {
    role: "assistant",
    parts: [{ type: "text", text: secret }],
    usage: { input: 1, output: 1 },
    metadata: { a: [1] },
  },
]
const aiSdkMessages = [
  {
    role: "user",
    content: [
      { type: "text", text: secret },
      { type: "file", data: new Uint8Array(2), mediaType: "image/png" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: secret },
      { type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: 1 } },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "text", value: secret } },
    ],
  },
  { id: "m", role: "assistant", parts: [{ type: "text", text: secret }, { type: "step-start" }] },
]
const mastraMessages = [
  {
    id: "m1",
    role: "user",
    createdAt: new Date(0),
    content: { format: 2, parts: [{ type: "text", text: secret }] },
  },
  {
    id: "m2",
    role: "assistant",
    createdAt: new Date(1),
    content: {
      format: 2,
      parts: [
        {
          type: "tool-invocation",
          toolInvocation: {
            state: "result",
            toolCallId: "c1",
            toolName: "look",
            args: { at: 1 },
            result: secret,
          },
        },
        { type: "text", text: secret },
      ],
    },
  },
]
const agentItems = [
  { type: "message", role: "user", content: secret },
  { type: "function_call", callId: "c1", name: "look", arguments: "{}", status: "completed" },
  {
    type: "function_call_result",
    callId: "c1",
    name: "look",
    status: "completed",
    output: { type: "text", text: secret },
  },
  {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: secret }],
  },
]
const langChainMessages = [
  new HumanMessage(secret),
  new AIMessage({
    content: [{ type: "text", text: secret }],
    tool_calls: [{ id: "c1", name: "look", args: { at: 1 } }],
  }),
  new ToolMessage({ content: secret, tool_call_id: "c1" }),
  new AIMessage(secret),
]
const promptMessages = [
  { role: "user", content: [{ type: "text", text: secret }] },
  {
    role: "assistant",
    content: [{ type: "tool-call", id: "c1", name: "look", params: { at: 1 }, providerExecuted: false }],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        id: "c1",
        name: "look",
        isFailure: false,
        result: { at: 1 },
        providerExecuted: false,
      },
    ],
  },
  { role: "assistant", content: secret },
]

const memory = createMemory({ store: "memory:", format: "memfold", compaction: { mode: "off" } })
afterAll(() => memory.close())

/** Shows a stored session in all that there is. */
const shown = async (session: string): Promise<void> => {
  const context = await memory.neutral.context(session)
  for (const encode of [toAiSdk, toLangChain, toAgents, toEffectAi]) encode(context.messages as never)
  await memory.recall(session, secret)
  await memory.messages(session)
}

const typed = /^(?:\w+DecodeError|InvalidInput|ParseError)$/

describe("a memory", () => {
  it.each([
    ["openai", openai],
    ["openai-responses", responses],
    ["anthropic", anthropic],
    ["memfold", neutral],
  ] as const)("refuses or shows what it is given as %s", async (format, good) => {
    await using given = createMemory({
      store: "memory:",
      format,
      compaction: { mode: "off" },
    }) as PromiseMemory<"openai">
    const next = random(seed)
    const counts = { refused: 0, stored: 0 }
    await given.append("good", good as never)
    await given.context("good")
    for (let n = 0; n < attempts; n++) {
      const session = `s${n}`
      const error: unknown = await given.append(session, altered(good, next) as never).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      if (error !== null) {
        counts.refused++
        expect(error).toMatchObject({ _tag: expect.stringMatching(typed) })
        expect(String((error as Error).message)).not.toContain(secret)
        continue
      }
      counts.stored++
      await given.context(session)
      await given.messages(session)
      const { messages } = await given.neutral.messages(session, { limit: 100 })
      await memory.neutral.append(`${format} ${n}`, messages)
      await shown(`${format} ${n}`)
    }
    expect(Math.min(counts.refused, counts.stored)).toBeGreaterThan(attempts / 20)
  })
})

describe("a codec", () => {
  const codecs: ReadonlyArray<
    readonly [string, unknown, (given: unknown) => Either.Either<ReadonlyArray<Message.Message>, unknown>]
  > = [
    ["the AI SDK", aiSdkMessages, aiSdk],
    ["LangChain", langChainMessages, langChain],
    ["Mastra", mastraMessages, mastra],
    ["the OpenAI Agents SDK", agentItems, agents],
    // Effect's own schema refuses, with an error that quotes the prompt: it is thrown to the program that made it.
    ["Effect AI", promptMessages, (given) => Either.try(() => decodePrompt(given as never))],
  ]

  it.each(codecs)("of %s refuses or decodes what it is given", async (name, good, decode) => {
    const next = random(seed)
    const counts = { refused: 0, stored: 0 }
    expect(Either.isRight(decode(good))).toBe(true)
    for (let n = 0; n < attempts; n++) {
      const decoded = decode(altered(good, next))
      if (Either.isLeft(decoded)) {
        counts.refused++
        if (name === "Effect AI") continue
        expect(decoded.left).toMatchObject({ _tag: expect.stringMatching(typed) })
        expect(String((decoded.left as Error).message)).not.toContain(secret)
        continue
      }
      counts.stored++
      await memory.neutral.append(`${name} ${n}`, decoded.right)
      await shown(`${name} ${n}`)
    }
    expect(Math.min(counts.refused, counts.stored)).toBeGreaterThan(attempts / 20)
  })
})
