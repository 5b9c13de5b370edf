/**
 * Streams of servers, each with its own habits, against the whole answers of the same servers: what is stored of a stream is what the
 * whole answer says, or nothing, with a reason.
 */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { often } from "@memfold/harness/depth"
import { answerTap } from "./AnswerTap.js"
import { chat, decode, type Dialect, messages, responses } from "./dialects.js"

type Event = Readonly<Record<string, unknown>>

/** What a tap hands over of a body: the answer, or why there is none. */
const tapped = async (dialect: Dialect, chunks: ReadonlyArray<Uint8Array>) => {
  const got: { answer?: Event; reason?: string } = {}
  const tap = answerTap(dialect, {
    onAnswer: (answer) => Promise.resolve(void (got.answer = answer)),
    onNone: (reason) => void (got.reason = reason),
  })
  tap.head?.(200, { "content-type": "text/event-stream" })
  for (const chunk of chunks) await tap.chunk?.(chunk)
  await tap.end?.()
  return got
}

/** What is stored of an answer: its messages, without the envelope, and without texts in which nothing is said. */
const said = (dialect: Dialect, answer: unknown) => {
  const decoded = decode(dialect, [answer])
  return (
    decoded?.map(({ role, parts }) => {
      const full = parts.filter((part) => part.type !== "text" || part.text !== "")
      return JSON.parse(JSON.stringify({ role, parts: full })) as unknown
    }) ?? null
  )
}

/** How the bytes of a stream are written. */
interface Writing {
  readonly end: "\n" | "\r\n" | "\r"
  readonly space: string
  readonly noise: ReadonlyArray<number>
  readonly cuts: ReadonlyArray<number>
  readonly named: boolean
  readonly mark: boolean
}

const writing: fc.Arbitrary<Writing> = fc.record({
  end: fc.constantFrom("\n", "\r\n", "\r"),
  space: fc.constantFrom(" ", ""),
  noise: fc.array(fc.nat(60), { maxLength: 4 }),
  cuts: fc.array(fc.nat(4_000), { maxLength: 12 }),
  named: fc.boolean(),
  mark: fc.boolean(),
})

const written = (events: ReadonlyArray<Event | string>, how: Writing): ReadonlyArray<Uint8Array> => {
  const { end, space, noise, cuts, named, mark } = how
  const lines = events.flatMap((event, at) => [
    ...(noise.includes(at) ? [": keep-alive", "", `data:${space}`, ""] : []),
    ...(named && typeof event !== "string" && typeof event["type"] === "string"
      ? [`event: ${event["type"]}`]
      : []),
    `data:${space}${typeof event === "string" ? event : JSON.stringify(event)}`,
    "",
  ])
  const bytes = Buffer.from(`${mark ? "\uFEFF" : ""}${lines.map((line) => line + end).join("")}`)
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
    (one, other) => one - other,
  )
  return places.slice(1).map((to, at) => bytes.subarray(places[at], to))
}

/** Pieces of a text, cut between its characters. */
const pieces = (text: string, count: number): ReadonlyArray<string> => {
  const all = [...text]
  const size = Math.max(1, Math.ceil(all.length / count))
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size).join(""),
  )
}

interface Call {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, string>>
}
interface Answer {
  readonly reasoning: string
  readonly text: string
  readonly calls: ReadonlyArray<Call>
  readonly split: number
}

const words = fc.constantFrom("", "Hm.", "Grüß dich 👋🏽, 你好", '"quoted" {and} [more]', "a\nb\u2028c")
const answers: fc.Arbitrary<Answer> = fc.record({
  reasoning: words,
  text: words,
  calls: fc
    .array(
      fc.record({
        name: fc.constantFrom("ls", "cat", "get_weather"),
        args: fc.dictionary(fc.constantFrom("p", "q"), words),
      }),
      { maxLength: 3 },
    )
    .map((calls) => calls.map((call, at) => ({ ...call, id: `call_${at}` }))),
  split: fc.integer({ min: 1, max: 4 }),
})

/**
 * A server of Chat Completions that writes calls in its own way.
 *
 * - `isSure`: whether all that it says can be put together, for at least this many calls
 */
interface ChatServer {
  readonly name: string
  readonly isSure: (calls: ReadonlyArray<Call>) => boolean
  readonly begin: (call: Call, at: number) => Event
  readonly more: (call: Call, at: number) => Event
  /** All of a call is one piece. */
  readonly isOnePiece?: true
  readonly hasId?: false
  readonly isObject?: true
  readonly extra?: (chunk: Event) => ReadonlyArray<Event>
}

const always = () => true
const never = () => false
const fn = (fields: Event): Event => ({ type: "function", function: fields })
const chatServers: ReadonlyArray<ChatServer> = [
  {
    name: "OpenAI",
    isSure: always,
    begin: ({ id, name }, index) => ({ index, id, ...fn({ name, arguments: "" }) }),
    more: (_, index) => ({ index }),
  },
  {
    name: "no numbers",
    isSure: always,
    begin: ({ id, name }) => ({ id, ...fn({ name, arguments: "" }) }),
    more: () => ({}),
  },
  {
    name: "no numbers, ids in every piece",
    isSure: always,
    begin: ({ id, name }) => ({ id, ...fn({ name, arguments: "" }) }),
    more: ({ id }) => ({ id }),
  },
  {
    name: "all are number 0",
    isSure: always,
    begin: ({ id, name }) => ({ index: 0, id, ...fn({ name, arguments: "" }) }),
    more: () => ({ index: 0 }),
  },
  {
    name: "all are number 0, whole calls",
    isSure: always,
    begin: ({ id, name }) => ({ index: 0, id, ...fn({ name }) }),
    more: () => ({}),
    isOnePiece: true,
  },
  {
    name: "whole calls without numbers",
    isSure: always,
    begin: ({ id, name }) => ({ id, ...fn({ name }) }),
    more: () => ({}),
    isOnePiece: true,
  },
  {
    name: "numbers as texts, ids and names in every piece",
    isSure: always,
    begin: ({ id, name }, at) => ({ index: String(at), id, ...fn({ name, arguments: "" }) }),
    more: ({ id, name }, at) => ({ index: String(at), id, function: { name } }),
  },
  {
    name: "empty ids in later pieces, null names",
    isSure: always,
    begin: ({ id, name }, index) => ({ index, id, ...fn({ name, arguments: null }) }),
    more: (_, index) => ({ index, id: "", type: null, function: { name: null } }),
  },
  {
    name: "numbers alone",
    isSure: always,
    begin: ({ name }, index) => ({ index, ...fn({ name, arguments: "" }) }),
    more: (_, index) => ({ index }),
    hasId: false,
  },
  {
    name: "another id in every piece",
    isSure: never,
    begin: ({ id, name }, index) => ({ index, id, ...fn({ name, arguments: "" }) }),
    more: ({ id }, index) => ({ index, id: `${id}-${index}-more` }),
  },
  {
    name: "neither numbers nor ids",
    isSure: never,
    begin: ({ name }) => fn({ name, arguments: "" }),
    more: () => ({}),
    hasId: false,
  },
  {
    name: "arguments as objects",
    isSure: never,
    begin: ({ id, name }, index) => ({ index, id, ...fn({ name }) }),
    more: () => ({}),
    isOnePiece: true,
    isObject: true,
  },
]

type Habit = (call: Call, at: number, isFirst: boolean) => Event
const numbers: Readonly<Record<string, Habit>> = {
  "no numbers": () => ({}),
  numbers: (_, index) => ({ index }),
  "zeros for numbers": () => ({ index: 0 }),
  "numbers that are null": () => ({ index: null }),
}
const ids: Readonly<Record<string, Habit>> = {
  "no ids": () => ({}),
  "ids at first": ({ id }, _, isFirst) => (isFirst ? { id } : {}),
  "ids behind the first piece": ({ id }, _, isFirst) => (isFirst ? {} : { id }),
  "ids in each piece": ({ id }) => ({ id }),
}
const names: Readonly<Record<string, Habit>> = {
  "names at first": ({ name }, _, isFirst) => (isFirst ? { name } : {}),
  "names in each piece": ({ name }) => ({ name }),
  "names in two": ({ name }, _, isFirst) => ({ name: isFirst ? name.slice(0, 1) : name.slice(1) }),
}

/** Each habit with each other one. Nobody says that it can be put together, and what is not right is not stored. */
const mixedServers = Object.entries(numbers).flatMap(([ofNumbers, index]) =>
  Object.entries(ids).flatMap(([ofIds, id]) =>
    Object.entries(names).map(([ofNames, name]): ChatServer => {
      const piece = (call: Call, at: number, isFirst: boolean): Event => ({
        ...index(call, at, isFirst),
        ...id(call, at, isFirst),
        ...fn(name(call, at, isFirst)),
      })
      return {
        name: `${ofNumbers}, ${ofIds}, ${ofNames}`,
        isSure: never,
        begin: (call, at) => piece(call, at, true),
        more: (call, at) => piece(call, at, false),
        ...(ofIds === "no ids" ? { hasId: false } : {}),
      }
    }),
  ),
)

const chunkOf = (delta: Event | null, finish: string | null = null): Event => ({
  id: "1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
})

const callChunks = (
  server: ChatServer,
  calls: ReadonlyArray<Call>,
  { split, together }: { readonly split: number; readonly together: boolean },
): ReadonlyArray<Event> => {
  const ofCalls = calls.map((call, at): ReadonlyArray<Event> => {
    const text = JSON.stringify(call.args)
    const given = server.isObject === true ? call.args : text
    if (server.isOnePiece === true) {
      const begin = server.begin(call, at)
      return [{ ...begin, function: { ...(begin["function"] as Event), arguments: given } }]
    }
    const more = server.more(call, at)
    return [
      server.begin(call, at),
      ...pieces(text, split).map((args) => ({
        ...more,
        function: { ...(more["function"] as Event | undefined), arguments: args },
      })),
    ]
  })
  // Whole calls may come in one piece of the stream.
  return together && server.isOnePiece === true
    ? [chunkOf({ tool_calls: ofCalls.flat() })]
    : ofCalls.flat().map((entry) => chunkOf({ tool_calls: [entry] }))
}

const wholeChat = (
  { hasId, isObject }: ChatServer,
  { reasoning, text, calls }: Answer,
  field: string,
): Event => ({
  id: "1",
  object: "chat.completion",
  model: "m",
  choices: [
    {
      index: 0,
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
      message: {
        role: "assistant",
        content: text === "" ? null : text,
        ...(reasoning === "" ? {} : { [field]: reasoning }),
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(({ id, name, args }) => ({
                ...(hasId === false ? {} : { id }),
                type: "function",
                function: { name, arguments: isObject === true ? args : JSON.stringify(args) },
              })),
            }),
      },
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 5 },
})

const chatCase = fc.record({
  answer: answers,
  how: writing,
  field: fc.constantFrom("reasoning_content", "reasoning"),
  together: fc.boolean(),
  isDone: fc.boolean(),
  isUsageEarly: fc.boolean(),
  isTwo: fc.boolean(),
  isOdd: fc.boolean(),
})

const chatStream = (
  server: ChatServer,
  {
    answer: { reasoning, text, calls, split },
    field,
    together,
    isDone,
    isUsageEarly,
    isTwo,
    isOdd,
  }: Omit<typeof chatCase extends fc.Arbitrary<infer A> ? A : never, "how">,
): ReadonlyArray<Event | string> => {
  const usage = { id: "1", choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } }
  const said = [
    chunkOf({ role: "assistant", content: isOdd ? "" : null }),
    ...(isOdd ? [chunkOf(null), { id: "1", choices: null, error: null }] : []),
    ...pieces(reasoning, split).map((piece) => chunkOf({ [field]: piece, content: null })),
    ...pieces(text, split).map((piece) => chunkOf({ content: piece, tool_calls: null })),
    ...callChunks(server, calls, { split, together }),
  ]
  const other = {
    id: "1",
    choices: [{ index: 1, delta: { content: "Another answer" }, finish_reason: null }],
  }
  return [
    ...said.flatMap((chunk, at) => [
      ...(isTwo && at % 2 === 1 ? [other] : []),
      chunk,
      ...(isUsageEarly && at === 1 ? [{ ...usage, usage: { prompt_tokens: 3, completion_tokens: 1 } }] : []),
    ]),
    chunkOf(isOdd ? { content: "" } : {}, calls.length > 0 ? "tool_calls" : "stop"),
    usage,
    ...(isDone ? ["[DONE]"] : []),
  ]
}

describe("a stream of Chat Completions", () => {
  it.each([...chatServers, ...mixedServers])(
    "of a server with $name is what its whole answer is, or is not stored",
    async (server) => {
      await fc.assert(
        fc.asyncProperty(chatCase, async ({ how, ...given }) => {
          const events = chatStream(server, given)
          const { answer, reason } = await tapped(chat, written(events, how))
          const expected = wholeChat(server, given.answer, given.field)
          if (answer === undefined) {
            expect(reason).toMatch(/^unclear-/)
            expect([given.answer.calls.length > 0, server.isSure(given.answer.calls)]).toEqual([true, false])
            return
          }
          expect(said(chat, answer)).toEqual(said(chat, expected))
          expect(answer["usage"]).toEqual(expected["usage"])
        }),
        { numRuns: often(60, 3_000) },
      )
    },
  )
})

type MessagesHabit = "own" | "zero" | "none"

/** The content of an answer as blocks. */
const blocksOf = ({ reasoning, text, calls }: Answer): ReadonlyArray<Event> => [
  ...(reasoning === "" ? [] : [{ type: "thinking", thinking: reasoning, signature: "sig" }]),
  ...(text === "" ? [] : [{ type: "text", text }]),
  ...calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args })),
]

const blockEvents = (block: Event, split: number, isObject: boolean): ReadonlyArray<Event> => {
  const { type } = block
  const deltas =
    type === "thinking"
      ? [
          ...pieces(String(block["thinking"]), split).map((thinking) => ({
            type: "thinking_delta",
            thinking,
          })),
          { type: "signature_delta", signature: "sig" },
        ]
      : type === "text"
        ? pieces(String(block["text"]), split).map((text) => ({ type: "text_delta", text }))
        : isObject
          ? [{ type: "input_json_delta", partial_json: block["input"] }]
          : pieces(JSON.stringify(block["input"]), split).map((json) => ({
              type: "input_json_delta",
              partial_json: json,
            }))
  const begun =
    type === "thinking"
      ? { type, thinking: "", signature: "" }
      : type === "text"
        ? { type, text: "" }
        : { ...block, input: {} }
  return [
    { type: "content_block_start", content_block: begun },
    ...deltas.map((delta) => ({ type: "content_block_delta", delta })),
    { type: "content_block_stop" },
  ]
}

describe("a stream of Messages", () => {
  const habits: ReadonlyArray<MessagesHabit> = ["own", "zero", "none"]
  it.each(habits)("whose blocks have the numbers %s is what its whole answer is", async (numbers) => {
    const given = fc.record({
      answer: answers,
      how: writing,
      isStopped: fc.boolean(),
      isObject: fc.boolean(),
      isOutOfOrder: fc.boolean(),
      hasTypes: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ answer, how, isStopped, isObject, isOutOfOrder, hasTypes }) => {
        const content = blocksOf(answer)
        const stop_reason = answer.calls.length > 0 ? "tool_use" : "end_turn"
        const start = {
          id: "m",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
        }
        const blocks = content.map((block, at) =>
          blockEvents(block, answer.split, isObject).map((event) =>
            numbers === "none" ? event : { ...event, index: numbers === "own" ? at : 0 },
          ),
        )
        const events: ReadonlyArray<Event> = [
          { type: "message_start", message: { ...start, usage: { input_tokens: 5, output_tokens: 1 } } },
          { type: "ping" },
          ...(isOutOfOrder && numbers === "own" ? blocks.toReversed() : blocks).flat(),
          { type: "content_block_delta", index: 0, delta: null },
          {
            type: "message_delta",
            delta: { stop_reason },
            usage: { output_tokens: 9, input_tokens: null },
          },
          ...(isStopped ? [{ type: "message_stop" }] : []),
        ]
        // Some servers say the type of an event beside its data alone.
        const bytes = written(events, { ...how, named: how.named || !hasTypes }).map((chunk) => chunk)
        const { answer: got, reason } = await tapped(messages, bytes)
        expect(reason).toBeUndefined()
        expect(got).toEqual({
          ...start,
          stop_reason,
          content,
          usage: { input_tokens: 5, output_tokens: 9 },
        })
      }),
      { numRuns: often(60, 3_000) },
    )
  })

  it("may say the type of its events beside their data alone", async () => {
    const text = [
      ["message_start", { message: { id: "m", role: "assistant", content: [] } }],
      ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
      ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }],
      ["message_stop", {}],
    ]
      .map(([name, data]) => `event: ${String(name)}\ndata: ${JSON.stringify(data)}\n\n`)
      .join("")
    const { answer } = await tapped(messages, [Buffer.from(text)])
    expect(answer).toMatchObject({ content: [{ type: "text", text: "Hi" }] })
  })
})

describe("a stream of Responses", () => {
  it.each(["whole", "empty", "none"])(
    "whose last event has its output %s is what its whole answer is",
    async (last) => {
      const given = fc.record({ answer: answers, how: writing, isReversed: fc.boolean() })
      await fc.assert(
        fc.asyncProperty(given, async ({ answer: { text, calls }, how, isReversed }) => {
          const output: ReadonlyArray<Event> = [
            ...(text === ""
              ? []
              : [
                  {
                    type: "message",
                    id: "msg",
                    role: "assistant",
                    status: "completed",
                    content: [{ type: "output_text", text, annotations: [] }],
                  },
                ]),
            ...calls.map(({ id, name, args }) => ({
              type: "function_call",
              id: `fc_${id}`,
              call_id: id,
              name,
              arguments: JSON.stringify(args),
              status: "completed",
            })),
          ]
          const done = output.map((item, output_index) => ({
            type: "response.output_item.done",
            output_index,
            item,
          }))
          const whole = { id: "r", object: "response", status: "completed", output }
          const { output: _, ...without } = whole
          const response = last === "whole" ? whole : last === "empty" ? { ...without, output: [] } : without
          const events = [
            { type: "response.created", response: { ...whole, output: [] } },
            ...(isReversed ? done.toReversed() : done),
            { type: "response.completed", response },
          ]
          const { answer } = await tapped(responses, written(events, how))
          expect(answer?.["output"] ?? []).toEqual(output)
        }),
        { numRuns: often(60, 3_000) },
      )
    },
  )
})

describe("what is not certain is not stored", () => {
  const body = (...events: ReadonlyArray<Event | string>) =>
    written(events, { end: "\n", space: " ", noise: [], cuts: [], named: false, mark: false })
  const calls = (...entries: ReadonlyArray<Event>) =>
    body(...entries.map((entry) => chunkOf({ tool_calls: [entry] })), chunkOf({}, "tool_calls"), "[DONE]")
  const named = (name: string, args?: string) => ({
    function: { name, ...(args === undefined ? {} : { arguments: args }) },
  })
  const block = (index: number, more: Event) => ({ type: "content_block_delta", index, delta: more })
  const text = (index: number) => ({ type: "content_block_start", index, content_block: { type: "text" } })
  const start = { type: "message_start", message: { role: "assistant", content: [] } }
  it.each<[string, string, Dialect, ReadonlyArray<Uint8Array>]>([
    [
      "two names without ids under one number",
      "unclear-calls",
      chat,
      calls({ index: 0, ...named("now") }, { index: 0, ...named("today") }),
    ],
    [
      "one name twice, without ids",
      "unclear-calls",
      chat,
      calls({ index: 0, ...named("ls", "{}") }, { index: 0, ...named("ls", "{}") }),
    ],
    [
      "a whole call twice",
      "unclear-calls",
      chat,
      calls({ index: 0, id: "a", ...named("ls", "{}") }, { index: 0, id: "a", ...named("ls", "{}") }),
    ],
    [
      "arguments that belong to no call",
      "unclear-calls",
      chat,
      calls({ id: "a", ...named("ls", "{}") }, { index: 4, function: { arguments: "{}" } }),
    ],
    [
      "a call without a name",
      "unclear-calls",
      chat,
      calls({ index: 0, id: "a", function: { arguments: "{}" } }),
    ],
    [
      "arguments of two calls in one piece, by position alone",
      "unclear-calls",
      chat,
      body(
        chunkOf({
          tool_calls: [
            { id: "a", ...named("ls") },
            { id: "b", ...named("cat") },
          ],
        }),
        chunkOf({ tool_calls: [{ function: { arguments: "{}" } }, { function: { arguments: "{}" } }] }),
        chunkOf({}, "stop"),
      ),
    ],
    ["text that is an object", "unreadable", chat, body("ping", chunkOf({}, "stop"))],
    [
      "an error in the stream",
      "failed",
      chat,
      body(chunkOf({ content: "Hi" }), { error: { message: "x" } }, "[DONE]"),
    ],
    [
      "an end because of an error",
      "failed",
      chat,
      body(chunkOf({ content: "Hi" }), chunkOf({}, "error"), "[DONE]"),
    ],
    [
      "an error that is no chunk",
      "failed",
      chat,
      body(chunkOf({ content: "Hi" }), { object: "error", message: "overloaded" }, "[DONE]"),
    ],
    [
      "a message in place of its pieces",
      "unclear-parts",
      chat,
      body({ choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] }, "[DONE]"),
    ],
    [
      "content that is there before its blocks",
      "unclear-parts",
      messages,
      body(
        { type: "message_start", message: { role: "assistant", content: [{ type: "text", text: "Hi" }] } },
        text(0),
        { type: "message_stop" },
      ),
    ],
    ["no end", "broken-off", chat, body(chunkOf({ content: "Hi" }), "[DONE]")],
    [
      "a block without a beginning",
      "unclear-parts",
      messages,
      body(start, block(0, { type: "text_delta", text: "Hi" })),
    ],
    [
      "two open blocks without a number of their own",
      "unclear-parts",
      messages,
      body(start, text(0), text(1), {
        type: "content_block_delta",
        delta: { type: "text_delta", text: "Hi" },
      }),
    ],
    ["an answer that begins twice", "unclear-parts", messages, body(start, start)],
    [
      "text that its last event does not have",
      "unclear-parts",
      responses,
      body(
        { type: "response.output_text.delta", delta: "Hi" },
        { type: "response.completed", response: { output: [] } },
      ),
    ],
    ["a response that failed", "failed", responses, body({ type: "response.failed", response: {} })],
  ])("%s", async (_, why, dialect, chunks) => {
    expect(await tapped(dialect, chunks)).toEqual({ reason: why })
  })
})

describe("what servers add", () => {
  const answerOf = async (...deltas: ReadonlyArray<Event>) => {
    const events = [...deltas.map((delta) => chunkOf(delta)), chunkOf({}, "stop")]
    const how = { end: "\n" as const, space: " ", noise: [], cuts: [], named: false, mark: false }
    const { answer } = await tapped(chat, written(events, how))
    return (answer?.["choices"] as ReadonlyArray<{ message: Event }> | undefined)?.[0]?.message
  }
  it("is kept: thoughts in parts, details of reasoning, signatures of calls, the one call of older APIs", async () => {
    const thought = (text: string) => ({
      content: [{ type: "thinking", thinking: [{ type: "text", text }] }],
    })
    expect(await answerOf(thought("H"), thought("m."), { content: "Hello" }, { content: "." })).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
        { type: "text", text: "Hello." },
      ],
    })
    const detail = (text: string) => ({
      reasoning_details: [{ type: "reasoning.text", text, format: "anthropic-claude-v1", index: 0 }],
    })
    expect(await answerOf(detail("H"), detail("m."))).toMatchObject({
      reasoning_details: [{ type: "reasoning.text", text: "Hm.", format: "anthropic-claude-v1" }],
    })
    const signed = { extra_content: { google: { thought_signature: "s" } } }
    const call = { id: "a", type: "function", function: { name: "ls", arguments: "{}" } }
    expect(await answerOf({ tool_calls: [{ ...call, index: 0, ...signed }] })).toMatchObject({
      tool_calls: [{ ...call, ...signed }],
    })
    expect(
      await answerOf(
        { function_call: { name: "ls", arguments: "" } },
        { function_call: { name: "ls", arguments: "{" } },
        { function_call: { arguments: "}" } },
      ),
    ).toMatchObject({ function_call: { name: "ls", arguments: "{}" } })
    expect(
      await answerOf(
        { tool_calls: [{ index: 0, id: "a", function: { name: "get_" } }] },
        { tool_calls: [{ index: 0, function: { name: "weather" } }] },
      ),
    ).toMatchObject({ tool_calls: [{ id: "a", function: { name: "get_weather", arguments: "" } }] })
    const custom = (input: string) => ({ tool_calls: [{ index: 0, custom: { input } }] })
    expect(
      await answerOf(
        { tool_calls: [{ index: 0, id: "a", type: "custom", custom: { name: "sql", input: "" } }] },
        custom("select"),
        custom(" 1"),
      ),
    ).toMatchObject({ tool_calls: [{ id: "a", type: "custom", custom: { name: "sql", input: "select 1" } }] })
  })
})
