/** From memfold messages to Chat Completions messages. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import { fromFile } from "./files.js"
import { formOf, type Form } from "./form.js"
import type { OpenAIMessage } from "./wire.js"

/**
 * Options of {@link encodeMessage} and {@link encodeMessages}.
 *
 * - `extraFields`: whether fields of a message that the API does not document are sent back, as many
 *   compatible servers want (`"send"`, the default), or left out for a server that refuses them (`"omit"`).
 */
export interface EncodeOptions {
  readonly extraFields?: "send" | "omit"
}

/** A part and its index in the message, by which its form is kept. */
type Indexed<P extends Message.Part = Message.Part> = readonly [part: P, index: number]

const ofType = <T extends Message.Part["type"]>(parts: ReadonlyArray<Indexed>, type: T) =>
  parts.filter((one): one is Indexed<Extract<Message.Part, { type: T }>> => one[0].type === type)

const contentPart = (role: Message.Role, form: Form, [part, index]: Indexed): Codec.Fields | undefined => {
  const extra = form.parts?.[index]
  switch (part.type) {
    case "text":
      return Codec.restore({ type: "text", text: part.text }, extra)
    case "file": {
      const file = role === "user" ? fromFile(part) : undefined
      return file && Codec.restore(file, extra)
    }
    case "opaque": {
      const data: unknown = part.data
      return part.provider === "openai" && Codec.isFields(data) && typeof data["type"] === "string"
        ? data
        : undefined
    }
    default:
      return undefined
  }
}

const contentParts = (role: Message.Role, form: Form, parts: ReadonlyArray<Indexed>): Array<Codec.Fields> =>
  parts.map((one) => contentPart(role, form, one)).filter((part) => part !== undefined)

/** The content field: one text as a string, anything more as a list; `none` says how nothing is written. */
const contentOf = (
  parts: ReadonlyArray<Codec.Fields>,
  form: Form["content"],
  none: string | null,
): { readonly content?: unknown } => {
  const [first] = parts
  if (form === "parts" || parts.length > 1) return { content: parts }
  if (first === undefined) return form === "absent" ? {} : { content: form === "null" ? null : none }
  return { content: first["type"] === "text" ? first["text"] : parts }
}

/**
 * What one result brought: its output, then the parts that follow it, up to the next result. An empty output
 * before other parts is no part of its own.
 */
const resultMessage = (
  message: Message.Message,
  form: Form,
  [result]: Indexed<Message.ToolResult>,
  following: ReadonlyArray<Indexed>,
): Codec.Fields => {
  const more = contentParts("tool", form, following)
  const parts = result.output === "" ? more : [{ type: "text", text: result.output }, ...more]
  const content = contentOf(parts, form.content, "")
  const name = result.name === undefined ? {} : { name: result.name }
  return form.role === "function" && message.role === "tool"
    ? { role: "function", name: "", ...name, ...content }
    : { role: "tool", tool_call_id: result.id, ...name, ...content }
}

const resultMessages = (
  message: Message.Message,
  form: Form,
  parts: ReadonlyArray<Indexed>,
): Array<Codec.Fields> => {
  const results = ofType(parts, "tool-result")
  return results.map((result, nth) => {
    const end = results[nth + 1]?.[1] ?? parts.length
    const following = message.role === "tool" ? parts.slice(result[1] + 1, end) : []
    return resultMessage(message, form, result, following)
  })
}

const toolCall = (form: Form, [call, index]: Indexed<Message.ToolCall>): Codec.Fields =>
  Codec.restore(
    form.calls?.[index] === "custom"
      ? { id: call.id, type: "custom", custom: { name: call.name, input: call.arguments } }
      : { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } },
    form.parts?.[index],
  )

const callsOf = (form: Form, calls: ReadonlyArray<Indexed<Message.ToolCall>>): Codec.Fields => {
  const [first] = calls
  if (first === undefined) return {}
  return calls.length === 1 && form.calls?.[first[1]] === "function_call"
    ? { function_call: { name: first[0].name, arguments: first[0].arguments } }
    : { tool_calls: calls.map((call) => toolCall(form, call)) }
}

/** A refusal beside the content is an opaque part without a type: a field of the message, not of its content. */
const refusalOf = (parts: ReadonlyArray<Indexed>): { readonly refusal?: string } => {
  const found = ofType(parts, "opaque")
    .filter(([part]) => part.provider === "openai")
    .map(([part]) => part.data)
    .find((data) => Codec.isFields(data) && !("type" in data) && typeof data["refusal"] === "string")
  return found === undefined ? {} : (found as { refusal: string })
}

/** Only reasoning that came in a field of an OpenAI message goes back, into that field. */
const reasoningOf = (form: Form, parts: ReadonlyArray<Indexed>): Codec.Fields => {
  const texts = ofType(parts, "reasoning").map(([part]) => part.text)
  return form.reasoning === undefined || texts.length === 0 ? {} : { [form.reasoning]: texts.join("\n") }
}

const spokenMessage = (
  message: Message.Message,
  form: Form,
  parts: ReadonlyArray<Indexed>,
): Array<Codec.Fields> => {
  const content = contentParts(message.role, form, parts)
  const name = message.name === undefined ? {} : { name: message.name }
  if (message.role !== "assistant") {
    if (content.length === 0 && form.content === undefined) return []
    const role = form.role === "developer" && message.role === "system" ? "developer" : message.role
    return [{ role, ...name, ...contentOf(content, form.content, "") }]
  }
  const refusal = refusalOf(parts)
  const calls = callsOf(form, ofType(parts, "tool-call"))
  const aside = { ...refusal, ...calls }
  if (content.length === 0 && form.content === undefined && Object.keys(aside).length === 0) return []
  return [
    {
      role: "assistant",
      ...name,
      ...reasoningOf(form, parts),
      ...contentOf(content, form.content, null),
      ...aside,
    },
  ]
}

/**
 * Encodes one memfold message as Chat Completions messages: usually one. A message with several tool results
 * (Anthropic has such) gives one `tool` message for each; one with nothing that OpenAI can carry gives none.
 *
 * Left out are: reasoning that did not come in an OpenAI message, opaque parts of other providers, files where
 * the API takes none (outside user messages; by an address, unless images), the error mark of tool results.
 * Ids of calls are sent as they are.
 */
export const encodeMessage = (
  message: Message.Message,
  options: EncodeOptions = {},
): Array<OpenAIMessage> => {
  const form = formOf(message)
  const parts = message.parts.map((part, index) => [part, index] as const)
  const wire = resultMessages(message, form, parts)
  if (message.role !== "tool") wire.push(...spokenMessage(message, form, parts))
  const [only] = wire
  const extra = options.extraFields === "omit" ? undefined : form.fields
  return (only !== undefined && wire.length === 1
    ? [Codec.restore(only, extra)]
    : wire) as unknown as Array<OpenAIMessage>
}

/**
 * Encodes messages for a Chat Completions request. `decodeMessages` gives the same messages back (L16: codecs lose
 * nothing), except for the content that OpenAI cannot carry: see {@link encodeMessage}.
 *
 * @example
 * ```ts
 * import { encodeMessages } from "@memfold/openai"
 * import { Message } from "@memfold/core"
 *
 * const messages = encodeMessages([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(messages[1]) // { role: "user", content: "What is a fold?" }
 * ```
 */
export const encodeMessages = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Array<OpenAIMessage> => messages.flatMap((message) => encodeMessage(message, options))
