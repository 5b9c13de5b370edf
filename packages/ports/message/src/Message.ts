/**
 * Provider-neutral messages: codecs decode to them, and the log stores them.
 *
 * A message is a role and a list of parts. Nothing that a provider sent is lost: provider data without a neutral form
 * becomes an {@link Opaque} part, and tool arguments stay the exact text that the model wrote.
 */
import { Schema } from "effect"
import { saysFailed } from "./saysFailed.js"

/**
 * What one provider's format says of a part beyond its neutral form, by the name of the format: `cache_control`, an item
 * id, and so on. Codecs write it and read it again; other formats ignore it.
 */
const providerData = Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** A part with plain text. */
export const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String, providerData })
export type Text = typeof Text.Type

/**
 * The reasoning of a model. `signature` is the provider's signature of the text, to be sent back unchanged. Signed
 * reasoning is bound (see {@link isBound}).
 */
export const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  text: Schema.String,
  signature: Schema.optional(Schema.String),
  providerData,
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
  providerData,
})
export type ToolCall = typeof ToolCall.Type

/** A reference to a file or image; `uri` may be a `data:` URI. */
export const File = Schema.Struct({
  type: Schema.Literal("file"),
  mediaType: Schema.String,
  uri: Schema.String,
  name: Schema.optional(Schema.String),
  providerData,
})
export type File = typeof File.Type

/**
 * Provider data without a neutral form: stored unchanged, and sent back to the same provider only.
 *
 * - `replaces`: with `text-before`, the part is another form of the text part right before it. Its provider gets it in
 *   place of that text, and everyone else gets the text (see {@link partsFor})
 * - `model`: the only model that the data is for; every model of the provider if absent
 * - `bound`: the provider accepts it only behind the prefix that it was produced behind, as with redacted thinking and
 *   encrypted reasoning (see {@link isBound})
 */
export const Opaque = Schema.Struct({
  type: Schema.Literal("opaque"),
  provider: Schema.String,
  data: Schema.Unknown,
  replaces: Schema.optional(Schema.Literal("text-before")),
  model: Schema.optional(Schema.String),
  bound: Schema.optional(Schema.Boolean),
  providerData,
})
export type Opaque = typeof Opaque.Type

/**
 * The result of a tool call.
 *
 * - `id`: the id of the call; if it is empty, the result answers the oldest open call of the same `name`, or else the
 *   oldest open call
 * - `output`: all of its text, which token counters, summarizers and pruning read
 * - `content`: what it consists of, if that is more than one plain text. Its texts, one per line, are the `output`.
 *   Codecs send `content` where it is present, and `output` otherwise
 * - `isError`: whether the tool failed; absent if the provider's format does not say (see {@link failed})
 */
export const ToolResult = Schema.Struct({
  type: Schema.Literal("tool-result"),
  id: Schema.String,
  name: Schema.optional(Schema.String),
  output: Schema.String,
  content: Schema.optional(Schema.Array(Schema.Union(Text, File, Opaque))),
  isError: Schema.optional(Schema.Boolean),
  providerData,
})
export type ToolResult = typeof ToolResult.Type

/** One piece of a message. */
export const Part = Schema.Union(Text, Reasoning, ToolCall, ToolResult, File, Opaque)
export type Part = typeof Part.Type

/** The author of a message. `system` includes the role that some providers call `developer`. */
export const Role = Schema.Literal("system", "user", "assistant", "tool")
export type Role = typeof Role.Type

/**
 * Who stands behind the words of a message, the most trusted first; `Origin` has the order and the rules.
 *
 * - `system`, `user`, `assistant`: they were said in this role
 * - `tool`: the result of a tool
 * - `retrieved`: a document of the application or the user: an attachment, a file search, a knowledge base
 * - `external`: anybody's words: web pages, servers of MCP, mail
 */
export const Origin = Schema.Literal("system", "user", "assistant", "tool", "retrieved", "external")
export type Origin = typeof Origin.Type

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
 * - `origin`: who stands behind its words, if the role and the parts do not say it (see `Origin.of`)
 */
export const Message = Schema.Struct({
  role: Role,
  parts: Schema.Array(Part),
  name: Schema.optional(Schema.String),
  time: Schema.optional(Schema.Number.pipe(Schema.finite())),
  pinned: Schema.optional(Schema.Boolean),
  usage: Schema.optional(Usage),
  metadata: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  origin: Schema.optional(Origin),
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
 * import { Message } from "@memfold/message"
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
 * import { Message } from "@memfold/message"
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
 * import { Message } from "@memfold/message"
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
 * import { Message } from "@memfold/message"
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
 * import { Message } from "@memfold/message"
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

/**
 * Whether a part is bound to its prefix: the provider accepts it only if everything before it is as it was when the
 * model produced it. Signed reasoning is bound, and opaque data that says so. An empty signature is none. See the law on what providers accept (L17).
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/message"
 *
 * console.log(Message.isBound({ type: "reasoning", text: "It rains.", signature: "EqQB" })) // true
 * ```
 */
export const isBound = (part: Part): boolean =>
  part.type === "reasoning"
    ? part.signature !== undefined && part.signature !== ""
    : part.type === "opaque" && part.bound === true

/**
 * Whether a tool call failed. `isError` decides if it is present. Some formats have no such field (OpenAI's has none): then
 * an output counts as a failure if it begins as tools and shells begin theirs (`Error: …`, `File not found: …`,
 * `cat: a.txt: No such file or directory`, `<tool_use_error>`, a traceback), if its first or last 200 characters name an exit
 * code other than 0, or if it is an object whose fields say so (`{"error": …}`, `{"success": false}`).
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/message"
 *
 * console.log(Message.failed({ type: "tool-result", id: "c1", output: "Error: no such city" })) // true
 * ```
 */
export const failed = ({ isError, output }: ToolResult): boolean => isError ?? saysFailed(output)

/** Who gets a message: a provider, and the model if it is known. */
export interface Reader {
  readonly provider: string
  readonly model?: string | undefined
}

/** Whether a part is another form of the text before it, for one provider. */
export const isReplacing = (part: Part): part is Opaque =>
  part.type === "opaque" && part.replaces !== undefined

const isText = (part: Part | undefined): part is Text => part?.type === "text"

/**
 * The parts of a message as a reader gets them. An opaque part that replaces the text before it is sent to its own
 * provider in place of that text. For other providers, and for a model other than the named one, it is left out, and
 * the texts around it become one text. All other parts stay as they are.
 *
 * @param message the message
 * @param reader the provider and the model that get the message; without it, no such part is sent
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/message"
 *
 * const summary: Message.Message = {
 *   role: "system",
 *   parts: [
 *     { type: "text", text: "The user is planning a trip to Graz." },
 *     { type: "opaque", provider: "acme", data: { block: "8f2c" }, replaces: "text-before" },
 *   ],
 * }
 * console.log(Message.partsFor(summary, { provider: "acme" })) // the opaque part
 * console.log(Message.partsFor(summary)) // the text
 * ```
 */
export const partsFor = (message: Message, reader?: Reader): ReadonlyArray<Part> => {
  if (!message.parts.some(isReplacing)) return message.parts
  const out: Array<Part> = []
  let joined = false
  for (const part of message.parts) {
    const before = out.at(-1)
    if (part.type === "opaque" && part.replaces !== undefined) {
      const ownModel = part.model === undefined || reader?.model === undefined || part.model === reader.model
      if (part.provider !== reader?.provider || !ownModel) {
        joined = isText(before)
        continue
      }
      if (isText(before)) out.pop()
      out.push(part)
    } else if (joined && isText(part) && isText(before)) {
      out[out.length - 1] = { ...before, text: before.text + part.text }
    } else {
      out.push(part)
    }
    joined = false
  }
  return out
}

/** A message as a reader gets it, and the types of its parts that are left out for that reader. */
export interface Readable {
  readonly message: Message
  readonly leftOut: ReadonlyArray<Part["type"]>
}

/**
 * Messages as a reader gets them: each with its {@link partsFor} the reader. Where a part that replaces a text is not
 * sent, bound parts behind it are left out (see {@link isBound}): the provider may have kept them valid only behind that
 * part. Codecs call this first.
 *
 * @param messages the messages of a context, in order
 * @param reader the provider and the model that get them
 * @param accepts whether the provider takes a part of its own in place of a text; `position` is the position of its message
 * @returns one element for each message
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/message"
 *
 * const [question] = Message.forReader([Message.user("Is it raining in Graz?")], { provider: "acme" })
 * console.log(question?.message.parts.length) // 1
 * ```
 */
export const forReader = (
  messages: ReadonlyArray<Message>,
  reader?: Reader,
  accepts: (part: Opaque, position: number) => boolean = () => true,
): ReadonlyArray<Readable> => {
  let replaced = false
  return messages.map((message, position) => {
    const own = partsFor(message, reader)
    const taken = own.every((part) => !isReplacing(part) || accepts(part, position))
    const parts = taken ? own : partsFor(message)
    const kept = replaced ? parts.filter((part) => !isBound(part)) : parts
    replaced ||= parts.filter(isReplacing).length < message.parts.filter(isReplacing).length
    return {
      message: kept === message.parts ? message : { ...message, parts: kept },
      leftOut: kept === parts ? [] : parts.filter(isBound).map(({ type }) => type),
    }
  })
}

/**
 * The `output` of a tool result with this `content`: its texts, one per line.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/message"
 *
 * const content = [
 *   { type: "text" as const, text: "The page, as it looks now:" },
 *   { type: "file" as const, mediaType: "image/png", uri: "https://example.org/page.png" },
 * ]
 * const shown = Message.result({ id: "c1", output: Message.outputOf(content), content })
 * ```
 */
export const outputOf = (content: NonNullable<ToolResult["content"]>): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

/** The texts and tool outputs of a message, one per line; without reasoning, files and tool calls. */
export const text = (message: Message): string =>
  partsFor(message)
    .flatMap((part) =>
      part.type === "text" ? [part.text] : part.type === "tool-result" ? [part.output] : [],
    )
    .join("\n")
