/**
 * Provider-neutral messages: what every codec decodes to and every log stores.
 *
 * A message is a role and a list of parts. Nothing a provider sent is thrown away: what has no neutral form
 * travels as an {@link Opaque} part, and tool arguments stay the exact text the model wrote.
 */
import { Schema } from "effect"

/** Plain text. */
export const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
export type Text = typeof Text.Type

/** The model's own thinking. `signature` is the provider's proof of it, to be sent back unchanged. */
export const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  text: Schema.String,
  signature: Schema.optional(Schema.String),
})
export type Reasoning = typeof Reasoning.Type

/**
 * A call to a tool. `arguments` is the JSON text exactly as it came, so that encoding it again gives the same
 * bytes and provider prompt caches keep hitting. Ids may be reused later in the same conversation.
 */
export const ToolCall = Schema.Struct({
  type: Schema.Literal("tool-call"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
})
export type ToolCall = typeof ToolCall.Type

/** What a tool answered. An empty `id` pairs by position with the oldest unanswered call. */
export const ToolResult = Schema.Struct({
  type: Schema.Literal("tool-result"),
  id: Schema.String,
  name: Schema.optional(Schema.String),
  output: Schema.String,
  isError: Schema.optional(Schema.Boolean),
})
export type ToolResult = typeof ToolResult.Type

/** A reference to a file or image; `uri` may be a `data:` URI. */
export const File = Schema.Struct({
  type: Schema.Literal("file"),
  mediaType: Schema.String,
  uri: Schema.String,
  name: Schema.optional(Schema.String),
})
export type File = typeof File.Type

/** A part only one provider understands, kept as it came and sent back to that provider alone. */
export const Opaque = Schema.Struct({
  type: Schema.Literal("opaque"),
  provider: Schema.String,
  data: Schema.Unknown,
})
export type Opaque = typeof Opaque.Type

/** One piece of a message. */
export const Part = Schema.Union(Text, Reasoning, ToolCall, ToolResult, File, Opaque)
export type Part = typeof Part.Type

/** Who speaks. `system` also stands for what some providers call `developer`. */
export const Role = Schema.Literal("system", "user", "assistant", "tool")
export type Role = typeof Role.Type

/**
 * Tokens as the provider counted them for the call that produced this message: `output` is the message itself,
 * `input` the whole prompt before it (cached parts included), absent where only the output is known.
 */
export const Usage = Schema.Struct({
  input: Schema.optional(Schema.NonNegativeInt),
  output: Schema.NonNegativeInt,
})
export type Usage = typeof Usage.Type

/**
 * One message of a conversation.
 *
 * - `at`: when it was said, in milliseconds since the epoch; absent, the time of its append counts
 * - `pinned`: shown verbatim for ever, whether covered by a summary or not (the leading system messages are
 *   pinned without being marked)
 * - `name`: a speaker's name, where the provider has one
 */
export const Message = Schema.Struct({
  role: Role,
  parts: Schema.Array(Part),
  name: Schema.optional(Schema.String),
  time: Schema.optional(Schema.Number.pipe(Schema.finite())),
  pinned: Schema.optional(Schema.Boolean),
  usage: Schema.optional(Usage),
  metadata: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
})
export type Message = typeof Message.Type

/** What a message may carry besides its role and text. */
export type Options = Omit<Partial<Message>, "role" | "parts">

const ofText =
  (role: Role) =>
  (text: string, options: Options = {}): Message => ({ role, parts: [{ type: "text", text }], ...options })

/** A system message of one text part. */
export const system = ofText("system")
/** A user message of one text part. */
export const user = ofText("user")
/** An assistant message of one text part. For tool calls, see {@link call}. */
export const assistant = ofText("assistant")

/**
 * An assistant message that calls tools, in parallel where there are several.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * const asked = Message.call([{ id: "c1", name: "weather", arguments: '{"city":"Graz"}' }])
 * const answered = Message.result({ id: "c1", output: "14 °C, rain" })
 * console.log(Message.calls(asked).length, Message.text(answered))
 * ```
 */
export const call = (
  calls: ReadonlyArray<Omit<ToolCall, "type">>,
  options: Options & { readonly text?: string } = {},
): Message => {
  const { text, ...rest } = options
  return {
    role: "assistant",
    parts: [
      ...(text === undefined ? [] : [{ type: "text" as const, text }]),
      ...calls.map((one) => ({ type: "tool-call" as const, ...one })),
    ],
    ...rest,
  }
}

/** A tool message with one result. */
export const result = (one: Omit<ToolResult, "type">, options: Options = {}): Message => ({
  role: "tool",
  parts: [{ type: "tool-result", ...one }],
  ...options,
})

/** The tool calls of a message, in order. */
export const calls = (message: Message): ReadonlyArray<ToolCall> =>
  message.parts.filter((part): part is ToolCall => part.type === "tool-call")

/** The tool results of a message, in order. */
export const results = (message: Message): ReadonlyArray<ToolResult> =>
  message.parts.filter((part): part is ToolResult => part.type === "tool-result")

const named = /^\s*(?:[\w.$]*(?:error|exception)(?: \[\w+\])?|fatal|错误|失败|异常)\s*[:：]/iu
const traced = /^\s*Traceback \(most recent call last\)/u
const inJson = /^\s*\{\s*"error"\s*:(?!\s*(?:null|false|"")\s*[,}])/u
const exited = /\bexit(?:ed)?(?: with)? (?:code|status)[:=]? ?[1-9]/iu

/**
 * Whether a tool call failed. Where its format has no word for that (OpenAI's has none), it is read from how an output
 * begins (`Error: …`, a traceback, `{"error": …}`), or from an exit code other than 0 near its beginning or end.
 */
export const failed = ({ isError, output }: ToolResult): boolean => {
  if (isError !== undefined) return isError
  const [start, end] = [output.slice(0, 200), output.slice(-200)]
  return [named, traced, inJson, exited].some((sign) => sign.test(start)) || exited.test(end)
}

/** What a person would read of a message: its texts and tool outputs, without reasoning. */
export const text = (message: Message): string =>
  message.parts
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "tool-result" ? [part.output] : [],
    )
    .join("\n")
