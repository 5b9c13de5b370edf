/** From Chat Completions messages to memfold messages. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Either } from "effect"
import { encodeMessage } from "./encode.js"
import { fromFile, toFile } from "./files.js"
import { metadataOf, opaque, withForm, type Form } from "./form.js"
import { OpenAIDecodeError } from "./OpenAIDecodeError.js"
import { messages, type WireMessage, type WireRole } from "./wire.js"

const check = Codec.checkMessage<WireMessage>(messages, "openai")

const read = Codec.contentReader({ toFile, fromFile, withForm, opaque })

const contentParts = (content: WireMessage["content"], role: WireRole) =>
  typeof content === "string"
    ? [{ type: "text" as const, text: content }]
    : (content ?? []).map((part) => read(part, { textType: "text", hasFiles: role === "user" }))

/** The format has no word for a failure; these two are what programs add to it. */
const failed = (raw: WireMessage & { readonly is_error?: unknown; readonly status?: unknown }): boolean =>
  raw.is_error === true || raw.status === "error"

const answered = (raw: WireMessage): Message.ToolResult => {
  const { content } = raw
  const named = typeof raw.name === "string" ? { name: raw.name } : {}
  const error = failed(raw) ? { isError: true } : {}
  const result = { type: "tool-result" as const, id: raw.tool_call_id ?? "", ...named, ...error }
  if (typeof content === "string") return { ...result, output: content }
  if ((content ?? []).length === 0) return { ...result, output: "" }
  const plain = Codec.plainText(content ?? []) ?? ""
  if (plain !== "") return { ...result, output: plain }
  const parts = contentParts(content, raw.role)
  return { ...result, output: Message.outputOf(parts), content: parts }
}

const callsOf = (raw: WireMessage): ReadonlyArray<Message.ToolCall> => {
  const { tool_calls: calls, function_call: legacy } = raw
  if (calls?.length) {
    return calls.map((call) => {
      const id = call.id ?? ""
      if ("custom" in call) {
        const { name, input } = call.custom
        const known = { id, type: "custom", custom: { name, input } }
        const form = { fields: Codec.rest(call, known), call: "custom" } as const
        return withForm({ type: "tool-call", id, name, arguments: input }, form)
      }
      const { name, arguments: args } = call.function
      const known = { id, type: "function", function: { name, arguments: args } }
      return withForm({ type: "tool-call", id, name, arguments: args }, { fields: Codec.rest(call, known) })
    })
  }
  if (legacy === undefined || legacy === null) return []
  const { name, arguments: args } = legacy
  return [withForm({ type: "tool-call", id: "", name, arguments: args }, { call: "function_call" })]
}

const reasoningFields = ["reasoning_content", "reasoning"] as const

/** What an answer in sound says, for readers. The sound itself stays beside the message: a request names it by its id. */
const spokenAloud = (audio: unknown): ReadonlyArray<Message.Part> => {
  if (!Codec.isFields(audio) || typeof audio["id"] !== "string") return []
  const { id, transcript } = audio
  return [opaque({ audio: { id, ...(typeof transcript === "string" ? { transcript } : {}) } })]
}

/** What the assistant says, and the field that its reasoning came in. */
const saidBy = (raw: WireMessage): { readonly parts: ReadonlyArray<Message.Part>; readonly form: Form } => {
  const reasoning = reasoningFields.find((field) => typeof raw[field] === "string")
  const parts: ReadonlyArray<Message.Part> = [
    ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: raw[reasoning] as string }]),
    ...contentParts(raw.content, raw.role),
    ...(typeof raw.refusal === "string" ? [opaque({ refusal: raw.refusal })] : []),
    ...spokenAloud(raw["audio"]),
    ...callsOf(raw),
  ]
  return { parts, form: reasoning === undefined ? {} : { reasoning } }
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
  const [written] = encodeMessage(message, { exact: true })
  const usual = written === undefined ? undefined : shapeOf(written.content)
  return came === usual || came === "text" ? {} : { content: came }
}

const decodeChecked = (raw: WireMessage): Message.Message => {
  const answers = raw.role === "tool" || raw.role === "function"
  const said =
    raw.role === "assistant"
      ? saidBy(raw)
      : { parts: answers ? [answered(raw)] : contentParts(raw.content, raw.role), form: {} }
  let form: Form = said.form
  if (raw.role === "developer" || raw.role === "function") form = { ...form, role: raw.role }

  const plain = {
    role: neutralRole(raw.role),
    parts: said.parts,
    ...(typeof raw.name === "string" && !answers ? { name: raw.name } : {}),
  }
  form = { ...form, ...contentForm(raw, { ...plain, ...metadataOf(form) }) }
  // Whatever encoding would not write by itself is kept beside it.
  const [written] = encodeMessage({ ...plain, ...metadataOf(form) }, { exact: true })
  const fields = Codec.rest(raw, { ...written })
  return { ...plain, ...metadataOf(fields === undefined ? form : { ...form, fields }) }
}

/** Cached tokens are part of `prompt_tokens`. Reasoning is part of `completion_tokens`, but not of the message. */
const usageOf = (usage: unknown): { readonly usage?: Message.Usage } => {
  if (!Codec.isFields(usage)) return {}
  const { prompt_tokens: input, completion_tokens: output, completion_tokens_details: details } = usage
  const hidden = Codec.isFields(details) ? details["reasoning_tokens"] : 0
  return Codec.isCount(input) ? Codec.usageOf(input, output, hidden) : {}
}

/** The only choice of a whole response; several are alternatives, and only one of them goes on. */
const choiceOf = (response: Codec.Fields): Either.Either<Codec.Fields, Codec.Problem> => {
  const choices = response["choices"]
  const [choice, ...others]: ReadonlyArray<unknown> = Array.isArray(choices) ? choices : []
  return Codec.isFields(choice) && others.length === 0
    ? Either.right(choice)
    : Either.left({
        path: "choices",
        problem: `has ${Array.isArray(choices) ? choices.length : "no"} choices`,
        allowed: "one choice; append the message of the choice that you use",
      })
}

const decodeResponse = (response: Codec.Fields): Either.Either<Message.Message, Codec.Problem> =>
  Either.gen(function* () {
    const { choices: _choices, usage, object: _object, ...about } = response
    const { message: raw, finish_reason: finish } = (yield* choiceOf(response)) as Record<string, unknown>
    const message = decodeChecked(yield* check(raw))
    const openai: Form = {
      ...(message.metadata?.["openai"] as Form | undefined),
      response: { ...about, finish_reason: finish },
    }
    return { ...message, ...usageOf(usage), ...metadataOf(openai) }
  })

const plainRoles: ReadonlySet<unknown> = new Set(["system", "user", "assistant"])

/** A message that is a role and a text, as nearly every one is; `undefined` for any other. */
const plainMessage = (input: unknown): Message.Message | undefined => {
  if (!Codec.isFields(input) || Object.getPrototypeOf(input) !== Object.prototype) return undefined
  const { role, content } = input
  return typeof content === "string" && plainRoles.has(role) && Object.keys(input).length === 2
    ? { role: role as Message.Role, parts: [{ type: "text", text: content }] }
    : undefined
}

const decoder = Codec.decoder(OpenAIDecodeError, (input) => {
  const plain = plainMessage(input)
  if (plain !== undefined) return Either.right(plain)
  return Codec.isFields(input) && input["object"] === "chat.completion"
    ? decodeResponse(input)
    : Either.map(check(input), decodeChecked)
})

/**
 * Decodes one Chat Completions message, or a whole response with its usage, into exactly one message; a wrong one, or one
 * of another library, is an `OpenAIDecodeError`.
 *
 * - `content: null` beside tool calls gives no text part, `content: ""` an empty one; both come back as they were
 * - `developer` is a system message and `function` a tool message; the role on the wire is remembered
 * - images, audio and files with their data are file parts; other parts and refusals stay opaque
 * - `reasoning_content` (or `reasoning`), which several compatible servers send, is a reasoning part
 * - a tool message of several parts keeps them in the `content` of its result
 * - fields that are not known here are kept in `metadata.openai` of the message and `providerData.openai` of the part,
 *   and sent back
 *
 * Three things are normalised: a missing id of a call or result is the empty one, a call without a type is of
 * type `function`, and a field that is `undefined` is not there.
 */
export const decodeMessage: (input: unknown) => Either.Either<Message.Message, OpenAIDecodeError> =
  decoder.one

/** {@link decodeMessages} in steps, between which others have their turn. */
export const decodingInSteps = decoder.inSteps

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
export const decodeMessages: (
  input: unknown,
) => Either.Either<ReadonlyArray<Message.Message>, OpenAIDecodeError> = decoder.list
