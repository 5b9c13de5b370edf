/**
 * Provider-neutral messages: codecs decode to them, and the log stores them.
 *
 * A message is a role and a list of parts. Nothing that a provider sent is lost: provider data without a neutral form
 * becomes an {@link Opaque} part, and tool arguments stay the exact text that the model wrote.
 */
import { Schema } from "effect"

/** A part with plain text. */
export const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
export type Text = typeof Text.Type

/** The reasoning of a model. `signature` is the provider's signature of the text, to be sent back unchanged. */
export const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  text: Schema.String,
  signature: Schema.optional(Schema.String),
})
export type Reasoning = typeof Reasoning.Type

/**
 * A call to a tool. `arguments` is the JSON text exactly as the provider sent it: encoding it again gives the same
 * bytes, and the provider's prompt cache keeps matching. A provider may use an id again later in the conversation.
 */
export const ToolCall = Schema.Struct({
  type: Schema.Literal("tool-call"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
})
export type ToolCall = typeof ToolCall.Type

/**
 * The result of a tool call.
 *
 * - `id`: the id of the call; if it is empty, the result answers the oldest open call of the same `name`, or else the
 *   oldest open call
 * - `isError`: whether the tool failed; absent if the provider's format does not say (see {@link failed})
 */
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

/** Provider data without a neutral form: stored unchanged, and sent back to the same provider only. */
export const Opaque = Schema.Struct({
  type: Schema.Literal("opaque"),
  provider: Schema.String,
  data: Schema.Unknown,
})
export type Opaque = typeof Opaque.Type

/** One piece of a message. */
export const Part = Schema.Union(Text, Reasoning, ToolCall, ToolResult, File, Opaque)
export type Part = typeof Part.Type

/** The author of a message. `system` includes the role that some providers call `developer`. */
export const Role = Schema.Literal("system", "user", "assistant", "tool")
export type Role = typeof Role.Type

/**
 * Token counts that the provider reported for the call that produced this message.
 *
 * - `output`: the tokens of the message itself
 * - `input`: the tokens of the whole prompt, cached tokens included; absent if only the output is known
 */
export const Usage = Schema.Struct({
  input: Schema.optional(Schema.NonNegativeInt),
  output: Schema.NonNegativeInt,
})
export type Usage = typeof Usage.Type

/**
 * One message of a conversation.
 *
 * - `name`: the author's name, for providers that support one
 * - `time`: when the message was written, in milliseconds since the epoch; if absent, the time of its append is used
 * - `pinned`: always show the message verbatim, covered by a summary or not. The leading system messages are always
 *   pinned
 * - `usage`: the token counts that the provider reported; they replace the estimate
 * - `metadata`: further data stored with the message: your own, and the provider fields that codecs need to encode it again
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

/** The optional fields of a message: everything except its role and parts. */
export type Options = Omit<Partial<Message>, "role" | "parts">

const ofText =
  (role: Role) =>
  (text: string, options: Options = {}): Message => ({ role, parts: [{ type: "text", text }], ...options })

/**
 * A system message with one text part.
 *
 * @param text the text
 * @param options the optional fields of the message
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * const instructions = Message.system("You are a travel agent.")
 * ```
 */
export const system = ofText("system")
/**
 * A user message with one text part.
 *
 * @param text the text
 * @param options the optional fields of the message
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * const allergy = Message.user("I am allergic to nuts.", { pinned: true })
 * ```
 */
export const user = ofText("user")
/**
 * An assistant message with one text part. For tool calls, see {@link call}.
 *
 * @param text the text
 * @param options the optional fields of the message
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * const answer = Message.assistant("It is 14 °C.", { usage: { input: 820, output: 9 } })
 * ```
 */
export const assistant = ofText("assistant")

/**
 * An assistant message with tool calls. Several calls in one message run in parallel.
 *
 * @param calls the tool calls, in order
 * @param options the optional fields of the message, and `text` to put before the calls
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

/**
 * A tool message with one result.
 *
 * @param one the result
 * @param options the optional fields of the message
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * const failure = Message.result({ id: "c1", output: "no such city", isError: true })
 * ```
 */
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
 * Whether a tool call failed. `isError` decides if it is present. Some formats have no such field (OpenAI's has none):
 * then an output counts as a failure if it begins with `Error: …`, a traceback or `{"error": …}`, or if its first or
 * last 200 characters name an exit code other than 0.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 *
 * console.log(Message.failed({ type: "tool-result", id: "c1", output: "Error: no such city" })) // true
 * ```
 */
export const failed = ({ isError, output }: ToolResult): boolean => {
  if (isError !== undefined) return isError
  const [start, end] = [output.slice(0, 200), output.slice(-200)]
  return [named, traced, inJson, exited].some((sign) => sign.test(start)) || exited.test(end)
}

/** The texts and tool outputs of a message, one per line; without reasoning, files and tool calls. */
export const text = (message: Message): string =>
  message.parts
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "tool-result" ? [part.output] : [],
    )
    .join("\n")
