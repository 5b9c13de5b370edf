/**
 * Realistic conversations, composed of small independent pieces (a question, tool calls with results, a late result).
 * A failing one shrinks to the few pieces that matter.
 */
import { Message } from "@memfold/core"
import * as fc from "fast-check"
import { onceIn } from "./onceIn.js"

/** The time of the first message of generated conversations. */
export const startOfTime = 1_700_000_000_000

/** What is tried first when a counterexample is made smaller: the first of several. */
const simplestFirst = { withCrossShrink: true } as const

/** Texts of all sorts, among them empty ones and halves of surrogate pairs. */
export const text: fc.Arbitrary<string> = fc.oneof(
  simplestFirst,
  { weight: 6, arbitrary: fc.string({ maxLength: 40 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("", " ", "\n", '{"a": 1}', "half \ud83d", "\ude00 half", "\u0000"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("你好，在吗？", "明日の天気は？", "안녕하세요", "ok 👩‍👩‍👧", "é", "مرحبا"),
  },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 2_000 }).map((length) => "long ".repeat(length / 5)) },
)

/** Few enough that ids come again; some providers have none. */
const id = fc.oneof(
  simplestFirst,
  { weight: 6, arbitrary: fc.constantFrom("c1", "c2", "c3") },
  { weight: 1, arbitrary: fc.constant("") },
)

/** Tool outputs; some are longer than a pruning rule allows. */
const output: fc.Arbitrary<string> = fc.oneof(
  simplestFirst,
  { weight: 3, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("line\n", "😀", "資料", "x"), fc.integer({ min: 60, max: 400 }), text)
      .map(([unit, length, end]) => unit.repeat(length / unit.length) + end),
  },
)

const json = fc.jsonValue({ maxDepth: 1 }).map((value): unknown => JSON.parse(JSON.stringify(value)))

const pinned = onceIn(12, fc.constant(true))

/** A message without the fields that are `undefined`. */
const message = (
  role: Message.Role,
  parts: ReadonlyArray<Message.Part>,
  options: { readonly [Key in keyof Message.Options]?: Message.Options[Key] | undefined } = {},
): Message.Message => ({
  role,
  parts,
  ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
})

const textPart = text.map((text): Message.Part => ({ type: "text", text }))
const filePart = fc.constant<Message.Part>({
  type: "file",
  mediaType: "image/png",
  uri: "data:image/png;base64,AAAA",
})
const opaquePart = json.map((data): Message.Part => ({ type: "opaque", provider: "somebody", data }))
const reasoningPart = fc
  .record({ text, signature: fc.option(fc.constant("signed"), { nil: undefined }) })
  .map(({ text, signature }): Message.Part => ({
    type: "reasoning",
    text,
    ...(signature === undefined ? {} : { signature }),
  }))

/** An object as JSON has it: some that fast-check makes have no prototype. */
const plain = <A extends object>(value: A): A => ({ ...value })

const usage = onceIn(
  10,
  fc
    .record({ input: fc.integer({ min: 1, max: 4_000 }), output: fc.integer({ min: 3, max: 200 }) })
    .map(plain),
)
const metadata = onceIn(12, fc.dictionary(fc.constantFrom("trace", "model"), json, { maxKeys: 1 }).map(plain))

type Piece = ReadonlyArray<Message.Message>

/** One message of the user's, or several in a row. */
const question: fc.Arbitrary<Piece> = fc.array(
  fc
    .record({
      parts: fc.array(fc.oneof({ weight: 8, arbitrary: textPart }, filePart, opaquePart), { maxLength: 2 }),
      pinned,
      metadata,
    })
    .map(({ parts, ...options }) => message("user", parts, options)),
  { minLength: 1, maxLength: 3 },
)

/** The assistant says something, asked or not. */
const statement: fc.Arbitrary<Piece> = fc
  .record({
    reasoning: fc.array(reasoningPart, { maxLength: 1 }),
    parts: fc.array(textPart, { maxLength: 2 }),
    pinned,
    usage,
    metadata,
  })
  .map(({ reasoning, parts, ...options }) => [message("assistant", [...reasoning, ...parts], options)])

/** A question and its answer. */
const exchange: fc.Arbitrary<Piece> = fc.tuple(question, statement).map((pieces) => pieces.flat())

/** A system message in the middle. */
const notice: fc.Arbitrary<Piece> = fc
  .tuple(textPart, pinned)
  .map(([part, pinned]) => [message("system", [part], { pinned })])

/** A result that comes late, twice, or for nothing. */
const stray: fc.Arbitrary<Piece> = fc
  .record({ id, output, pinned })
  .map(({ id, output, pinned }) => [message("tool", [{ type: "tool-result", id, output }], { pinned })])

const call = fc.record({
  id,
  name: fc.constantFrom("weather", "search", "read_file", "edit_file"),
  arguments: fc.oneof(
    fc.constantFrom('{"city":"Graz"}', '{"path":"a.ts"}', '{"file":"b.ts","path":7}', "{}", "", "not json"),
    text,
  ),
})

/** How one call is answered: with its id or without one, named or not, well or with an error. */
const answer = fc.record({
  output,
  anonymous: onceIn(8, fc.constant(true)),
  named: fc.boolean(),
  isError: onceIn(8, fc.constant(true)),
  pictured: onceIn(8, fc.constant(true)),
})

/** The content of a result with a picture beside its text. */
const pictured = (output: string): Message.ToolResult["content"] => [
  { type: "text", text: output },
  { type: "file", mediaType: "image/png", uri: "https://example.org/page.png" },
]

/**
 * Calls, single or parallel, and their results: in any order, in one message or several, with something said in
 * between, some or all of them missing.
 */
const toolTurn: fc.Arbitrary<Piece> = fc
  .record({
    reasoning: fc.array(reasoningPart, { maxLength: 1 }),
    words: fc.array(textPart, { maxLength: 1 }),
    pairs: fc.array(fc.tuple(call, answer), { minLength: 1, maxLength: 3 }),
    order: fc.oneof(
      simplestFirst,
      { weight: 3, arbitrary: fc.constantFrom<ReadonlyArray<number>>([0, 1, 2], [2, 1, 0], [1, 0, 2]) },
      { weight: 1, arbitrary: fc.shuffledSubarray<number>([0, 1, 2]) },
    ),
    together: fc.boolean(),
    between: fc.oneof(simplestFirst, { weight: 6, arbitrary: fc.constant<Piece>([]) }, statement, notice),
    pinned,
    usage,
  })
  .map(({ reasoning, words, pairs, order, together, between, ...options }) => {
    const calls = pairs.map(([one]): Message.Part => ({ type: "tool-call", ...one }))
    const results = order.flatMap((position): ReadonlyArray<Message.Part> => {
      const pair = pairs[position]
      if (pair === undefined) return []
      const [{ id, name }, { output, anonymous, named, isError, pictured: shown }] = pair
      return [
        {
          type: "tool-result",
          id: anonymous ? "" : id,
          output,
          ...(shown ? { content: pictured(output) } : {}),
          ...(named ? { name } : {}),
          ...(isError === undefined ? {} : { isError }),
        },
      ]
    })
    const answers = together
      ? results.length === 0
        ? []
        : [message("tool", results)]
      : results.map((part) => message("tool", [part]))
    return [
      message("assistant", [...reasoning, ...words, ...calls], options),
      ...answers.slice(0, 1),
      ...between,
      ...answers.slice(1),
    ]
  })

/** Items of providers that belong together: the call, its answer, and who answers. */
const itemPair = fc
  .tuple(
    // No id comes again, not even in a smaller counterexample: APIs refuse repeated ids of items.
    fc.noShrink(fc.nat({ max: 1_000_000_000 })).map((id) => `i${id}`),
    fc.constantFrom("web_search", "mcp", "approval", "program"),
    text,
  )
  .map(([id, kind, said]): readonly [call: Message.Part, answer: Message.Part] => {
    const of = (provider: string, data: unknown): Message.Part => ({ type: "opaque", provider, data })
    switch (kind) {
      case "web_search":
        return [
          of("anthropic", { type: "server_tool_use", id, name: "web_search", input: { query: said } }),
          of("anthropic", { type: "web_search_tool_result", tool_use_id: id, content: [] }),
        ]
      case "mcp":
        return [
          of("anthropic", { type: "mcp_tool_use", id, name: "f", server_name: "s", input: {} }),
          of("anthropic", {
            type: "mcp_tool_result",
            tool_use_id: id,
            content: [{ type: "text", text: said }],
          }),
        ]
      case "approval":
        return [
          of("openai-responses", {
            type: "mcp_approval_request",
            id,
            server_label: "s",
            name: said,
            arguments: "{}",
          }),
          of("openai-responses", { type: "mcp_approval_response", approval_request_id: id, approve: true }),
        ]
      case "program":
        return [
          of("openai-responses", {
            type: "program",
            id: `prg_${id}`,
            call_id: id,
            code: said,
            fingerprint: "1",
          }),
          of("openai-responses", {
            type: "program_output",
            id: `po_${id}`,
            call_id: id,
            result: said,
            status: "completed",
          }),
        ]
    }
  })

/**
 * An item and its answer: in the same message, or behind a tool call and its result (a deferred call), or interrupted, or an
 * answer alone.
 */
const itemTurn: fc.Arbitrary<Piece> = fc
  .record({
    reasoning: fc.array(reasoningPart, { maxLength: 1 }),
    pair: itemPair,
    where: fc.oneof(
      simplestFirst,
      { weight: 3, arbitrary: fc.constantFrom("same", "later") },
      { weight: 2, arbitrary: fc.constantFrom("never", "alone", "paused") },
    ),
    between: fc.tuple(call, output),
    words: textPart,
    usage,
  })
  .map(({ reasoning, pair: [asked, answered], where, between: [one, output], words, ...options }) => {
    const said = (...parts: ReadonlyArray<Message.Part>) => message("assistant", parts, options)
    switch (where) {
      case "same":
        return [said(...reasoning, asked, answered, words)]
      case "later":
        return [
          said(...reasoning, asked, { type: "tool-call", ...one }),
          message("tool", [{ type: "tool-result", id: one.id, output }]),
          said(answered, ...reasoning, words),
        ]
      case "paused":
        return [said(...reasoning, words, asked), said(answered, words)]
      case "never":
        return [said(...reasoning, words, asked)]
      case "alone":
        return [said(answered, ...reasoning, words)]
    }
  })

/** A message of any role with any parts: what a codec or a careless caller may bring. */
const anything: fc.Arbitrary<Piece> = fc
  .record({
    role: fc.constantFrom<Message.Role>("system", "user", "assistant", "tool"),
    parts: fc.array(
      fc.oneof(
        textPart,
        reasoningPart,
        call.map((one): Message.Part => ({ type: "tool-call", ...one })),
        fc.tuple(id, text).map(([id, output]): Message.Part => ({ type: "tool-result", id, output })),
      ),
      { maxLength: 3 },
    ),
    pinned,
  })
  .map(({ role, parts, pinned }) => [message(role, parts, { pinned })])

/** How much time passes before a piece, in milliseconds; `null` where the messages carry no time. */
const pause = fc.oneof(
  simplestFirst,
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 60_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(20 * 60_000, 24 * 60 * 60_000, -60_000) },
  { weight: 1, arbitrary: fc.constant(null) },
)

/** Whether a message is there: nearly always, but a counterexample is made smaller by leaving it out. */
const present = fc.oneof(
  simplestFirst,
  { weight: 1, arbitrary: fc.constant(false) },
  { weight: 300, arbitrary: fc.constant(true) },
)

/** How many messages of a piece can be left out. */
const optional = 6

const wholePiece: fc.Arbitrary<Piece> = fc.oneof(
  simplestFirst,
  { weight: 3, arbitrary: statement },
  { weight: 3, arbitrary: question },
  { weight: 6, arbitrary: exchange },
  { weight: 6, arbitrary: toolTurn },
  { weight: 2, arbitrary: itemTurn },
  { weight: 1, arbitrary: stray },
  { weight: 1, arbitrary: notice },
  { weight: 1, arbitrary: anything },
)

const piece: fc.Arbitrary<Piece> = fc
  .tuple(wholePiece, fc.array(present, { minLength: optional, maxLength: optional }))
  .map(([messages, there]) => messages.filter((_, position) => there[position] ?? true))

/** One message as conversations have them. */
export const oneMessage: fc.Arbitrary<Message.Message> = fc
  .tuple(wholePiece, fc.nat())
  .map(([messages, which]) => messages[which % messages.length]!)

/** A conversation of up to about sixty messages, most of them with a time. */
export const conversation: fc.Arbitrary<ReadonlyArray<Message.Message>> = fc
  .tuple(
    fc.array(textPart, { maxLength: 2 }),
    fc.array(fc.tuple(pause, piece), { maxLength: 20, size: "max" }),
  )
  .map(([preamble, pieces]) => {
    let now = startOfTime
    return [
      ...preamble.map((part) => message("system", [part])),
      ...pieces.flatMap(([pause, messages]) => {
        now += pause ?? 0
        return pause === null ? messages : messages.map((one) => ({ ...one, time: now }))
      }),
    ]
  })

/** A chat of questions and answers alone, in short texts. */
export const chat = (messages: number, from = 0): ReadonlyArray<Message.Message> =>
  Array.from({ length: messages }, (_, position) =>
    (from + position) % 2 === 0
      ? Message.user(`question ${from + position}`)
      : Message.assistant(`answer ${from + position}`),
  )
