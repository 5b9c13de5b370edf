/**
 * Sessions of the pi coding agent: JSON Lines in the order of the file, or, in newer ones, a tree of entries (`parentId`). Entries of
 * type `message` and `custom_message` are read; an entry of type `compaction` is a compaction.
 *
 * A command that the user ran becomes a user message with the command and its output. An empty aborted answer is skipped.
 * The usage of an aborted or failed answer is ignored, because the provider had not finished counting.
 */
import type { Message } from "@memfold/core"
import { Either, ParseResult, Schema } from "effect"
import * as Field from "./Field.js"
import type { Said, Unreadable } from "./EntryFormat.js"
import { linesIn, readerOf } from "./Log.js"
import { call, inlined, timeAt, unknown } from "./parts.js"
import { isObject } from "./source.js"

const Text = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
const Image = Schema.Struct({ type: Schema.Literal("image"), data: Schema.String, mimeType: Schema.String })
const Thinking = Schema.Struct({
  type: Schema.Literal("thinking"),
  thinking: Schema.String,
  thinkingSignature: Schema.optional(Schema.String),
})
/** A block of a type that is not known here. */
const Other = Schema.Struct({
  type: Schema.String.pipe(
    Schema.filter((type) => !["text", "image", "thinking", "toolCall"].includes(type)),
  ),
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
  content: Schema.Union(Schema.String, Schema.Array(Schema.Union(Text, Image, Other))),
})
const Assistant = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.Array(Schema.Union(Text, Thinking, ToolCall, Other)),
  api: Schema.optional(Schema.String),
  stopReason: Schema.optional(Schema.String),
  usage: Schema.optional(Usage),
})
const ToolResult = Schema.Struct({
  role: Schema.Literal("toolResult"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  content: Schema.Array(Schema.Union(Text, Image, Other)),
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
const decodeMessage = Schema.decodeUnknownEither(PiMessage, { onExcessProperty: "preserve" })

type Known = typeof Text.Type | typeof Image.Type | typeof Thinking.Type | typeof ToolCall.Type
type Content = Known | typeof Other.Type

const isKnown = (content: Content): content is Known => !Schema.is(Other)(content)

const partOf = (content: Content, signed: boolean): Message.Part => {
  if (!isKnown(content)) return unknown("pi", content)
  switch (content.type) {
    case "text":
      return { type: "text", text: content.text }
    case "image":
      return inlined(content.mimeType, content.data)
    case "thinking": {
      // An answer aborted during its reasoning has an empty signature, which providers reject.
      const signature = signed && content.thinkingSignature ? { signature: content.thinkingSignature } : {}
      return { type: "reasoning", text: content.thinking, ...signature }
    }
    case "toolCall":
      return call(content.id, content.name, content.arguments)
  }
}

const usageOf = ({ usage, stopReason }: typeof Assistant.Type): { readonly usage?: Message.Usage } => {
  if (usage === undefined || stopReason === "aborted" || stopReason === "error") return {}
  return { usage: { input: usage.input + usage.cacheRead + usage.cacheWrite, output: usage.output } }
}

/** The first text is the output; other content of the result follows it, as in the codecs. */
const resultParts = (result: typeof ToolResult.Type): ReadonlyArray<Message.Part> => {
  const [first, ...others] = result.content
  const leads = first !== undefined && isKnown(first) && first.type === "text"
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

const decode = (value: unknown): Either.Either<PiMessage, Unreadable> => {
  const role = isObject(value) ? value["role"] : undefined
  if (typeof role !== "string" || !roles.includes(role)) {
    const problem = role === undefined ? "has no role" : "has an unknown role"
    return Either.left({ problem, allowed: roles.join(", ") })
  }
  return Either.mapLeft(decodeMessage(value), (error) => ({
    problem: `is not as pi writes it${mistake(error)}`,
  }))
}

const readEntry = Field.reads({
  type: Field.text,
  id: Field.text,
  parentId: Field.any,
  timestamp: Field.any,
  message: Field.any,
  content: Field.any,
  summary: Field.text,
  tokensBefore: Field.count,
  firstKeptEntryId: Field.text,
  firstKeptEntryIndex: Field.count,
})
type Entry = ReturnType<typeof readEntry>

/** The message of an entry; none for an empty answer. */
const says = (entry: Entry): Said =>
  Either.gen(function* () {
    // What an extension says to the model stands in the entry itself.
    const said = entry.type === "message" ? entry.message : { role: "user", content: entry.content }
    const message = messageOf(yield* decode(said))
    if (message.parts.length === 0) return []
    const time = yield* Either.mapLeft(timeAt(entry, "timestamp"), (wrong) => ({
      ...wrong,
      subject: "the entry",
    }))
    return [time === undefined ? message : { ...message, time }]
  })

export const reader = readerOf<Entry>({
  recognizes: ({ rows }) =>
    rows
      .map(({ value }) => readEntry(value))
      .some(({ type, message }) => type === "session" || (type === "message" && isObject(message))),
  logs: (source) => Either.right([linesIn(source, readEntry)]),
  id: ({ id }) => id,
  parent: ({ parentId }) => (typeof parentId === "string" || parentId === null ? parentId : undefined),
  goesBackOverCompactions: true,
  // What the screen shows of a result, and what is left of a call that was cut off.
  notSaid: ["message.details", "message.errorMessage", "partialJson"],
  isSaid: ({ type }) => type === "message" || type === "custom_message",
  compaction: (entry) =>
    entry.type === "compaction"
      ? {
          keeps: entry.firstKeptEntryId ?? entry.firstKeptEntryIndex,
          summary: entry.summary,
          tokensBefore: entry.tokensBefore,
          time: Either.getOrUndefined(timeAt(entry, "timestamp")),
        }
      : undefined,
  says: ([entry]) => says(entry),
})
