/** From Chat Completions messages to memfold messages. */
import * as Codec from "@memfold/codec"
import { type Message } from "@memfold/core"
import { Either } from "effect"
import { encodeMessage } from "./encode.js"
import { fromFile, toFile } from "./files.js"
import { metadataOf, type Form } from "./form.js"
import { OpenAIDecodeError } from "./OpenAIDecodeError.js"
import { messages, type WireMessage, type WirePart, type WireRole } from "./wire.js"

const check = Codec.checkMessage<WireMessage>(messages)

/** The parts of a message and what has to be remembered about each, collected in order. */
class Draft {
  readonly parts: Array<Message.Part> = []
  private readonly extras: Record<string, Codec.Fields> = {}
  private readonly calls: Record<string, "custom" | "function_call"> = {}

  push(part: Message.Part, extra?: Codec.Fields, call?: "custom" | "function_call"): void {
    if (extra !== undefined) this.extras[this.parts.length] = extra
    if (call !== undefined) this.calls[this.parts.length] = call
    this.parts.push(part)
  }

  form(): Form {
    return {
      ...(Object.keys(this.calls).length === 0 ? {} : { calls: this.calls }),
      ...(Object.keys(this.extras).length === 0 ? {} : { parts: this.extras }),
    }
  }
}

const isPlainText = (part: WirePart): boolean => part.type === "text" && Object.keys(part).length === 2

const addContentPart = (draft: Draft, part: WirePart, role: WireRole): void => {
  if (part.type === "text") {
    const known = { type: "text" as const, text: part["text"] as string }
    return draft.push(known, Codec.rest(part, known))
  }
  // A part becomes a file only if the file can be written back as the very same part.
  const file = role === "user" ? toFile(part) : undefined
  const known = file && fromFile(file)
  if (file !== undefined && known !== undefined && Codec.agrees(part, known))
    return draft.push(file, Codec.rest(part, known))
  draft.push({ type: "opaque", provider: "openai", data: part })
}

const addContent = (draft: Draft, content: WireMessage["content"], role: WireRole): void => {
  if (typeof content === "string") draft.push({ type: "text", text: content })
  else for (const part of content ?? []) addContentPart(draft, part, role)
}

/** The format has no word for a failure; these two are what programs add to it. */
const failed = (raw: WireMessage & { readonly is_error?: unknown; readonly status?: unknown }): boolean =>
  raw.is_error === true || raw.status === "error"

/** The first text is the output; whatever else the tool gave follows it. */
const addResult = (draft: Draft, raw: WireMessage): void => {
  const { content } = raw
  const named = typeof raw.name === "string" ? { name: raw.name } : {}
  const error = failed(raw) ? { isError: true } : {}
  const result = { type: "tool-result" as const, id: raw.tool_call_id ?? "", ...named, ...error }
  if (typeof content === "string") return draft.push({ ...result, output: content })
  const [first, ...others] = content ?? []
  const leads = first !== undefined && isPlainText(first) && first["text"] !== ""
  draft.push({ ...result, output: leads ? (first["text"] as string) : "" })
  addContent(draft, leads ? others : content, raw.role)
}

const addCalls = (draft: Draft, raw: WireMessage): void => {
  const { tool_calls: calls, function_call: legacy } = raw
  for (const call of calls ?? []) {
    const id = call.id ?? ""
    if ("custom" in call) {
      const { name, input } = call.custom
      const known = { id, type: "custom", custom: { name, input } }
      draft.push({ type: "tool-call", id, name, arguments: input }, Codec.rest(call, known), "custom")
    } else {
      const { name, arguments: args } = call.function
      const known = { id, type: "function", function: { name, arguments: args } }
      draft.push({ type: "tool-call", id, name, arguments: args }, Codec.rest(call, known))
    }
  }
  if (calls?.length || legacy === undefined || legacy === null) return
  draft.push(
    { type: "tool-call", id: "", name: legacy.name, arguments: legacy.arguments },
    undefined,
    "function_call",
  )
}

const reasoningFields = ["reasoning_content", "reasoning"] as const

const addAssistant = (draft: Draft, raw: WireMessage): Form => {
  const reasoning = reasoningFields.find((field) => typeof raw[field] === "string")
  if (reasoning !== undefined) draft.push({ type: "reasoning", text: raw[reasoning] as string })
  addContent(draft, raw.content, raw.role)
  if (typeof raw.refusal === "string") {
    draft.push({ type: "opaque", provider: "openai", data: { refusal: raw.refusal } })
  }
  addCalls(draft, raw)
  return reasoning === undefined ? {} : { reasoning }
}

const neutralRole = (role: WireRole): Message.Role =>
  role === "developer" ? "system" : role === "function" ? "tool" : role

const shapeOf = (content: unknown): "absent" | "null" | "parts" | "text" => {
  if (content === undefined) return "absent"
  if (content === null) return "null"
  return typeof content === "string" ? "text" : "parts"
}

/** How the content was written, if encoding would not write it so by itself. */
const contentForm = (raw: WireMessage, message: Message.Message): Form => {
  const came = shapeOf(raw.content)
  const [written] = encodeMessage(message)
  const usual = written === undefined ? undefined : shapeOf(written.content)
  return came === usual || came === "text" ? {} : { content: came }
}

const decodeChecked = (raw: WireMessage): Message.Message => {
  const draft = new Draft()
  let form: Form = {}
  const answers = raw.role === "tool" || raw.role === "function"
  if (answers) addResult(draft, raw)
  else if (raw.role === "assistant") form = addAssistant(draft, raw)
  else addContent(draft, raw.content, raw.role)
  if (raw.role === "developer" || raw.role === "function") form = { ...form, role: raw.role }
  form = { ...form, ...draft.form() }

  const plain = {
    role: neutralRole(raw.role),
    parts: draft.parts,
    ...(typeof raw.name === "string" && !answers ? { name: raw.name } : {}),
  }
  form = { ...form, ...contentForm(raw, { ...plain, ...metadataOf(form) }) }
  // Whatever encoding would not write by itself is kept beside it.
  const [written] = encodeMessage({ ...plain, ...metadataOf(form) })
  const fields = Codec.rest(raw, { ...written })
  return { ...plain, ...metadataOf(fields === undefined ? form : { ...form, fields }) }
}

const decodeAt = (
  input: unknown,
  index: number | undefined,
): Either.Either<Message.Message, OpenAIDecodeError> =>
  Either.mapBoth(check(input), {
    onLeft: (problem) => new OpenAIDecodeError({ ...problem, ...(index === undefined ? {} : { index }) }),
    onRight: decodeChecked,
  })

/**
 * Decodes one Chat Completions message into exactly one message; a wrong one is an `OpenAIDecodeError`.
 *
 * - `content: null` beside tool calls gives no text part, `content: ""` an empty one; both come back as they were
 * - `developer` is a system message and `function` a tool message; the role on the wire is remembered
 * - images, audio and files with their data are file parts; other parts and refusals stay opaque
 * - `reasoning_content` (or `reasoning`), which several compatible servers send, is a reasoning part
 * - in a tool message the first text is the output of the result; further parts follow it
 * - fields that are not known here are kept in `metadata.openai` and sent back
 *
 * Three things are normalised: a missing id of a call or result is the empty one, a call without a type is of
 * type `function`, and a field that is `undefined` is not there.
 */
export const decodeMessage = (input: unknown): Either.Either<Message.Message, OpenAIDecodeError> =>
  decodeAt(input, undefined)

/**
 * Decodes a list of Chat Completions messages, each as {@link decodeMessage} does. The first wrong message gives an
 * `OpenAIDecodeError` for the whole list.
 *
 * @example
 * ```ts
 * import { decodeMessages } from "@memfold/openai"
 * import { Either } from "effect"
 *
 * const messages = decodeMessages([{ role: "user", content: "What is a fold?" }])
 * console.log(Either.isRight(messages)) // true
 * ```
 */
export const decodeMessages = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, OpenAIDecodeError> =>
  Array.isArray(input)
    ? Either.all(input.map(decodeAt))
    : Either.left(
        new OpenAIDecodeError({
          path: "",
          problem: `is ${Codec.kindOf(input)}`,
          allowed: "a list of messages",
        }),
      )
