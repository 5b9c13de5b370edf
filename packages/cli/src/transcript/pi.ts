/**
 * Sessions of the pi coding agent: JSON Lines in the order of the file. Entries of type `message` are read; all others
 * (session, model change, …) are skipped, and an entry of type `compaction` is a compaction.
 *
 * A command that the user ran becomes a user message with the command and its output. An empty aborted answer is skipped.
 * The usage of an aborted or failed answer is ignored, because the provider had not finished counting.
 */
import type { Message } from "@memfold/core"
import { Either, ParseResult, Schema } from "effect"
import { brokenOf } from "./chat.js"
import {
  type Compaction,
  countOf,
  type Reader,
  type Reading,
  single,
  textOf,
  timeAt,
  valuesOf,
} from "./Reader.js"
import { isObject, type JsonObject, type Problem, type Source } from "./source.js"
import { readTime, timeAllowed } from "./time.js"

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
const Image = Schema.Struct({ type: Schema.Literal("image"), data: Schema.String, mimeType: Schema.String })
const Thinking = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  thinkingSignature: Schema.optional(Schema.String),
})
const ToolCall = Schema.Struct({
  type: Schema.Literal("toolCall"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
})
const Usage = Schema.Struct({
  input: Schema.NonNegativeInt,
  output: Schema.NonNegativeInt,
  cacheRead: Schema.NonNegativeInt,
  cacheWrite: Schema.NonNegativeInt,
})

const User = Schema.Struct({
  role: Schema.Literal("user"),
  content: Schema.Union(Schema.String, Schema.Array(Schema.Union(Text, Image))),
})
const Assistant = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.Array(Schema.Union(Text, Thinking, ToolCall)),
  api: Schema.optional(Schema.String),
  stopReason: Schema.optional(Schema.String),
  usage: Schema.optional(Usage),
})
const ToolResult = Schema.Struct({
  role: Schema.Literal("toolResult"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  content: Schema.Array(Schema.Union(Text, Image)),
  isError: Schema.Boolean,
})
const BashExecution = Schema.Struct({
  role: Schema.Literal("bashExecution"),
  command: Schema.String,
  output: Schema.String,
  exitCode: Schema.optional(Schema.NullOr(Schema.Number)),
  cancelled: Schema.optional(Schema.Boolean),
  truncated: Schema.optional(Schema.Boolean),
})

const PiMessage = Schema.Union(User, Assistant, ToolResult, BashExecution)
type PiMessage = typeof PiMessage.Type
const roles = ["user", "assistant", "toolResult", "bashExecution"]
const decodeMessage = Schema.decodeUnknownEither(PiMessage)

type Content = typeof Text.Type | typeof Image.Type | typeof Thinking.Type | typeof ToolCall.Type

const partOf = (content: Content, signed: boolean): Message.Part => {
  switch (content.type) {
    case "text":
      return { type: "text", text: content.text }
    case "image":
      return {
        type: "file",
        mediaType: content.mimeType,
        uri: `data:${content.mimeType};base64,${content.data}`,
      }
    case "thinking": {
      // An answer aborted during its reasoning has an empty signature, which providers reject.
      const signature = signed && content.thinkingSignature ? { signature: content.thinkingSignature } : {}
      return { type: "reasoning", text: content.thinking, ...signature }
    }
    case "toolCall":
      return {
        type: "tool-call",
        id: content.id,
        name: content.name,
        arguments: JSON.stringify(content.arguments),
      }
  }
}

const usageOf = ({ usage, stopReason }: typeof Assistant.Type): { readonly usage?: Message.Usage } => {
  if (usage === undefined || stopReason === "aborted" || stopReason === "error") return {}
  return { usage: { input: usage.input + usage.cacheRead + usage.cacheWrite, output: usage.output } }
}

/** The first text is the output; other content of the result follows it, as in the codecs. */
const resultParts = (result: typeof ToolResult.Type): ReadonlyArray<Message.Part> => {
  const [first, ...others] = result.content
  const leads = first?.type === "text"
  const following = leads ? others : result.content
  return [
    {
      type: "tool-result",
      id: result.toolCallId,
      name: result.toolName,
      output: leads ? first.text : "",
      isError: result.isError,
    },
    ...following.map((content) => partOf(content, false)),
  ]
}

const bashText = (bash: typeof BashExecution.Type): string => {
  const notes = [
    bash.cancelled === true ? "cancelled" : "",
    bash.exitCode ? `exit code ${bash.exitCode}` : "",
    bash.truncated === true ? "output truncated" : "",
  ].filter((note) => note !== "")
  const output = bash.output.trimEnd()
  return [`$ ${bash.command}`, output, notes.length === 0 ? "" : `(${notes.join(", ")})`]
    .filter((line) => line !== "")
    .join("\n")
}

const messageOf = (message: PiMessage): Message.Message => {
  switch (message.role) {
    case "user": {
      const { content } = message
      const contents = typeof content === "string" ? [{ type: "text" as const, text: content }] : content
      return { role: "user", parts: contents.map((one) => partOf(one, false)) }
    }
    case "assistant": {
      // The reasoning signatures of other providers have no neutral form.
      const signed = message.api === "anthropic-messages"
      return {
        role: "assistant",
        parts: message.content.map((one) => partOf(one, signed)),
        ...usageOf(message),
      }
    }
    case "toolResult":
      return { role: "tool", parts: resultParts(message) }
    case "bashExecution":
      return { role: "user", parts: [{ type: "text", text: bashText(message) }] }
  }
}

/** The path of the first mistake. The parser's own message would quote values of the conversation. */
const mistake = (error: ParseResult.ParseError): string => {
  const paths = ParseResult.ArrayFormatter.formatErrorSync(error).map((issue) => issue.path)
  const deepest = paths.reduce((one, other) => (other.length > one.length ? other : one), [])
  return deepest.length === 0 ? "" : ` at ${deepest.map(String).join(".")}`
}

const decode = (value: unknown): Either.Either<PiMessage, Problem> => {
  const role = isObject(value) ? value["role"] : undefined
  if (typeof role !== "string" || !roles.includes(role)) {
    const problem = role === undefined ? "the message has no role" : "the message has an unknown role"
    return Either.left({ problem, allowed: roles.join(", ") })
  }
  return Either.mapLeft(decodeMessage(value), (error) => ({
    problem: `the message is not as pi writes it${mistake(error)}`,
  }))
}

/** Whether a value is an entry of a pi session. */
const isEntry = (value: unknown): boolean =>
  isObject(value) &&
  (value["type"] === "session" || (value["type"] === "message" && isObject(value["message"])))

/** The message of an entry; none for an entry of another type, and for an empty answer. */
const readEntry = (entry: unknown): Either.Either<ReadonlyArray<Message.Message>, Problem> =>
  Either.gen(function* () {
    if (!isObject(entry) || typeof entry["type"] !== "string") {
      return yield* Either.left({ problem: "the entry has no type", allowed: 'an object with "type"' })
    }
    if (entry["type"] !== "message") return []
    const message = messageOf(yield* decode(entry["message"]))
    if (message.parts.length === 0) return []
    if (entry["timestamp"] === undefined) return [message]
    const time = yield* Either.mapLeft(readTime(entry["timestamp"]), () => ({
      problem: "the entry has no readable time at timestamp",
      allowed: timeAllowed,
    }))
    return [{ ...message, time }]
  })

/** `places` has the number of messages before each entry, by its index, and by its id in newer sessions. */
const compactionOf = (entry: JsonObject, after: number, places: ReadonlyMap<unknown, number>): Compaction => {
  const to = places.get(entry["firstKeptEntryId"] ?? entry["firstKeptEntryIndex"])
  const summary = textOf(entry["summary"])
  const tokensBefore = countOf(entry["tokensBefore"])
  const time = Either.getOrUndefined(timeAt(entry, "timestamp"))
  return {
    after,
    ...(to === undefined ? {} : { to }),
    ...(summary === undefined ? {} : { summary }),
    ...(tokensBefore === undefined ? {} : { tokensBefore }),
    ...(time === undefined ? {} : { time }),
  }
}

const read = (source: Source): Reading => {
  const messages: Array<Message.Message> = []
  const compactions: Array<Compaction> = []
  const places = new Map<unknown, number>()
  for (const [index, { value, line = 1 }] of valuesOf(source).entries()) {
    places.set(index, messages.length)
    const id = isObject(value) ? textOf(value["id"]) : undefined
    if (id !== undefined) places.set(id, messages.length)
    const some = readEntry(value)
    if (Either.isLeft(some)) return { messages, broken: { line, ...some.left }, compactions }
    if (isObject(value) && value["type"] === "compaction") {
      compactions.push(compactionOf(value, messages.length, places))
    }
    messages.push(...some.right)
  }
  return { messages, broken: brokenOf(source), compactions }
}

export const reader: Reader = {
  recognizes: (source) => valuesOf(source).some(({ value }) => isEntry(value)),
  find: (source) => single(() => read(source)),
}
