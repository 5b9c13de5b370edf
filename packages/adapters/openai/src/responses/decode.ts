/** From items of the Responses API, or from whole responses, to memfold messages. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Either, Schema } from "effect"
import { OpenAIDecodeError } from "../OpenAIDecodeError.js"
import { fromFile, toFile } from "./files.js"
import { itemTable, metadataOf, opaque, type PartForm, provider, withForm, type Form } from "./form.js"
import { anyItem, items, type WireContent, type WireItem, type WirePart } from "./wire.js"

const schemas = new Map<unknown, Schema.Schema.AnyNoContext>(Object.entries(items))

/** A reference to an item that the server has: it may leave out its type. */
const isReference = (input: Codec.Fields): boolean =>
  (input["type"] ?? undefined) === undefined && input["role"] === undefined && typeof input["id"] === "string"

const check = (input: unknown): Either.Either<WireItem, Codec.Problem> => {
  const foreign = Codec.foreignProblem(input, provider)
  if (foreign !== undefined) return Either.left(foreign)
  if (!Codec.isFields(input)) {
    const allowed = 'an item with a "type", or a message with role and content'
    return Either.left({ path: "", problem: `is ${Codec.kindOf(input)}`, allowed })
  }
  if (isReference(input)) return Either.right(input)
  const { type = "message" } = input as { readonly type?: unknown }
  const checked = Schema.decodeUnknownEither(schemas.get(type) ?? anyItem)(input)
  return Either.mapBoth(checked, { onLeft: Codec.problemOf, onRight: () => input as WireItem })
}

const read = Codec.contentReader({
  toFile,
  fromFile,
  // Even no further fields say that the part stood in a list.
  withForm: (part, { fields = {} }) => withForm(part, { fields }),
  opaque,
})

const contentPart = (part: WirePart, textType: string) =>
  read(part, { textType, hasFiles: textType === "input_text" })

/** A message of the user, or an instruction: the item is the message. */
const decodeInput = (item: WireItem, role: "user" | "system"): Message.Message => {
  const { content, role: written } = item as WireItem & { content: WireContent; role: string }
  const fields = Codec.rest(item, { role: written, content })
  const list = typeof content === "string" ? undefined : content
  const text = list === undefined ? (content as string) : Codec.plainText(list, "input_text")
  const parts: ReadonlyArray<Message.Part> =
    text === undefined
      ? (list ?? []).map((part) => contentPart(part, "input_text"))
      : [{ type: "text", text }]
  const form: Form = {
    ...(written === "developer" ? { role: "developer" } : {}),
    ...(list !== undefined && (text !== undefined || list.length === 0) ? { content: "parts" } : {}),
    ...(fields === undefined ? {} : { fields }),
  }
  return { role, parts, ...metadataOf(form) }
}

/** A message item of the assistant: each of its parts knows whether it begins the item. */
const decodeSaid = (item: WireItem): ReadonlyArray<Message.Part> => {
  const { content, role } = item as WireItem & { content: WireContent }
  const fields = Codec.rest(item, { role, content }) ?? {}
  if (typeof content === "string") {
    const form: PartForm = Object.keys(fields).length === 0 ? {} : { item: fields, text: true }
    const part: Message.Text = { type: "text", text: content }
    return [Object.keys(form).length === 0 ? part : withForm(part, form)]
  }
  if (content.length === 0) return [opaque(item)]
  return content.map((part, at) => {
    const decoded = contentPart(part, "output_text")
    return withForm(decoded, at === 0 ? { item: fields } : { continues: true })
  })
}

/** A type that a newer API may have: its name says what it is. */
const newCall = /_call$/
const newOutput = /_call_output$/

/** Whether an item is a call that a tool call can stand for: the application answers it by its `call_id`. */
const isCall = ({ type = "", call_id: id }: WireItem): boolean => {
  const known = Object.hasOwn(itemTable, type) ? itemTable[type] : undefined
  const client = known?.call?.by === "client" && known.call.ids[0] === "call_id"
  return typeof id === "string" && (known === undefined ? newCall.test(type) : client)
}

/** Where an output of such a call has the id of the call, and what it says; `undefined` for another item. */
const outputFields = (
  item: WireItem,
): { readonly idField: string | undefined; readonly result: string } | undefined => {
  const { type = "" } = item
  const known = Object.hasOwn(itemTable, type) ? itemTable[type] : undefined
  const unknown =
    known === undefined && newOutput.test(type) ? { ids: ["call_id"], result: "output" } : undefined
  const answer = known?.answer ?? unknown
  if (answer?.ids.includes("call_id") !== true) return undefined
  const toClient = known?.answer?.calls.every((call) => itemTable[call]?.call?.by === "client") ?? true
  const idField = answer.ids.find((name) => typeof item[name] === "string")
  if (!toClient || (idField === undefined && type !== "function_call_output")) return undefined
  return { idField, result: answer.result }
}

/** A call of another type, such as `computer_call`: its fields are the arguments. */
const decodeOtherCall = (item: WireItem): Message.ToolCall => {
  const { type = "", call_id: id, ...rest } = item
  return withForm(
    { type: "tool-call", id: id as string, name: type, arguments: JSON.stringify(rest) },
    { type },
  )
}

const decodeCall = (item: WireItem): Message.ToolCall => {
  const { type, call_id: id, name, arguments: args, input } = item as Record<string, string>
  if (type === "function_call") {
    const fields = Codec.rest(item, { type, call_id: id, name, arguments: args })
    const call = { type: "tool-call" as const, id: id!, name: name!, arguments: args! }
    return fields === undefined ? call : withForm(call, { fields })
  }
  if (type !== "custom_tool_call") return decodeOtherCall(item)
  const fields = Codec.rest(item, { type, call_id: id, name, input })
  const call = { type: "tool-call" as const, id: id!, name: name!, arguments: input! }
  return withForm(call, { type, ...(fields === undefined ? {} : { fields }) })
}

const Content = Schema.Array(anyItem)

/** The output and its content; `form` says how it was written, where that is not a string or a list of parts. */
const outputOf = (
  output: unknown,
): {
  readonly known: Pick<Message.ToolResult, "output" | "content">
  readonly form?: PartForm["output"]
} => {
  if (typeof output === "string") return { known: { output } }
  if (output === undefined) return { known: { output: "" }, form: "absent" }
  if (!Schema.is(Content)(output) || !output.every(({ type }) => type.startsWith("input_"))) {
    return { known: { output: "", content: [opaque(output)] }, form: "value" }
  }
  const plain = Codec.plainText(output, "input_text")
  if (output.length === 0 || (plain ?? "") !== "") return { known: { output: plain ?? "" }, form: "parts" }
  const content = output.map((part: WirePart) => contentPart(part, "input_text"))
  return { known: { output: Message.outputOf(content), content } }
}

const decodeOutput = (
  item: WireItem,
  { idField, result: resultField }: NonNullable<ReturnType<typeof outputFields>>,
): Message.Message => {
  const { type = "", [resultField]: output } = item
  const id = idField === undefined ? undefined : (item[idField] as string)
  const { known, form } = outputOf(output)
  const fields = Codec.rest(item, {
    type,
    [resultField]: output,
    ...(idField === undefined ? {} : { [idField]: id }),
  })
  const written: PartForm = {
    ...(type === "function_call_output" ? {} : { type }),
    ...(idField === undefined ? { unidentified: true } : idField === "call_id" ? {} : { idField }),
    ...Codec.present({ fields, output: form }),
  }
  const result: Message.ToolResult = { type: "tool-result", id: id ?? "", ...known }
  return {
    role: "tool",
    parts: [Object.keys(written).length === 0 ? result : withForm(result, written)],
  }
}

/** The parts of the assistant that an item gives; a message of its own for any other author. */
const decodeItem = (item: WireItem): Message.Message | ReadonlyArray<Message.Part> => {
  if (isReference(item)) return [opaque(item)]
  const { type = "message" } = item
  if (type === "message") {
    if (item["role"] === "assistant") return decodeSaid(item)
    return decodeInput(item, item["role"] === "user" ? "user" : "system")
  }
  const output = outputFields(item)
  if (output !== undefined) return decodeOutput(item, output)
  if (isCall(item)) return [decodeCall(item)]
  // Reasoning is encrypted, or known to the server by its id: either way only in its place.
  return [opaque(item, type === "reasoning")]
}

const isReasoning = (part: Message.Part): boolean => part.type === "opaque" && part.bound === true

const said = (parts: ReadonlyArray<Message.Part>): Message.Message => {
  const reasoning = parts.filter(isReasoning).length
  return { role: "assistant", parts, ...metadataOf(reasoning === 0 ? {} : { reasoning }) }
}

/** Neighbouring items of the assistant are one message: reasoning stays with what follows from it. */
const joined = (
  decoded: ReadonlyArray<Message.Message | ReadonlyArray<Message.Part>>,
): ReadonlyArray<Message.Message> => {
  const messages: Array<Message.Message> = []
  let parts: Array<Message.Part> = []
  const close = () => {
    if (parts.length > 0) messages.push(said(parts))
    parts = []
  }
  for (const one of decoded) {
    if ("role" in one) {
      close()
      messages.push(one)
    } else parts.push(...one)
  }
  close()
  return messages
}

/** Cached tokens are part of `input_tokens`. Reasoning that the message does not carry is no part of its output. */
const usageOf = (usage: unknown, message: Message.Message): { readonly usage?: Message.Usage } => {
  if (!Codec.isFields(usage)) return {}
  const { input_tokens: input, output_tokens: output, output_tokens_details: details } = usage
  const isHidden = Codec.isFields(details) && !message.parts.some(isReasoning)
  return Codec.isCount(input) ? Codec.usageOf(input, output, isHidden ? details["reasoning_tokens"] : 0) : {}
}

const responseFields = ["id", "model", "created_at", "status", "previous_response_id", "store"] as const

/** Decoding in steps: others have their turn between two of them. */
export type Decoding = Codec.Steps<Either.Either<ReadonlyArray<Message.Message>, OpenAIDecodeError>>

function* decodeList(list: ReadonlyArray<unknown>, at: number | undefined): Decoding {
  const decoded = yield* Codec.mapped(list, (input, index) =>
    Either.mapBoth(check(input), {
      onLeft: (problem) => new OpenAIDecodeError({ ...problem, index: at ?? index }),
      onRight: decodeItem,
    }),
  )
  return Either.map(Either.all(decoded), joined)
}

/** A whole response: its output, with its id at the end, and with its usage if the output is one message. */
function* decodeResponse(response: Codec.Fields, index: number | undefined): Decoding {
  const { output, usage } = response
  if (!Array.isArray(output)) {
    const problem = `has ${Codec.kindOf(output)} at output`
    const at = index === undefined ? {} : { index }
    return Either.left(new OpenAIDecodeError({ path: "output", problem, allowed: "a list of items", ...at }))
  }
  return Either.map(yield* decodeList(output, index), (messages) => {
    const last = messages.at(-1)
    if (last === undefined) return messages
    const about = responseFields.flatMap((name) => {
      const value = response[name]
      return value === undefined || value === null ? [] : [[name, value] as const]
    })
    const form = last.metadata?.[provider] as Form | undefined
    return [
      ...messages.slice(0, -1),
      {
        ...last,
        ...(messages.length === 1 ? usageOf(usage, last) : {}),
        ...metadataOf({ ...form, response: Object.fromEntries(about) }),
      },
    ]
  })
}

const isResponse = (input: unknown): input is Codec.Fields =>
  Codec.isFields(input) && input["object"] === "response"

function* decodeGiven(input: unknown): Decoding {
  if (isResponse(input)) return yield* decodeResponse(input, undefined)
  if (!Array.isArray(input)) {
    const problem = `is ${Codec.kindOf(input)}`
    return Either.left(
      new OpenAIDecodeError({ path: "", problem, allowed: "a list of items, or a response" }),
    )
  }
  if (!input.some(isResponse)) return yield* decodeList(input, undefined)
  // Responses stay messages of their own, so that their usage stays with them.
  const decoded: Array<Either.Either<ReadonlyArray<Message.Message>, OpenAIDecodeError>> = []
  for (const [index, one] of (input as ReadonlyArray<unknown>).entries()) {
    decoded.push(yield* isResponse(one) ? decodeResponse(one, index) : decodeList([one], index))
    yield
  }
  return Either.map(Either.all(decoded), (lists) => lists.flat())
}

/** {@link decodeItems} in steps, between which others have their turn. */
export const decodingInSteps = (input: unknown): Decoding =>
  Codec.decoding(OpenAIDecodeError, input, decodeGiven)

/**
 * Decodes items of the Responses API: a list of items, a whole response, or a list with both. The first wrong item, or
 * one of another library, gives an `OpenAIDecodeError` for the whole.
 *
 * - neighbouring items of the assistant (reasoning, messages, calls) are one message
 * - reasoning is an opaque part that is bound to what stands before it; items not known here are opaque, too
 * - other calls and their outputs, such as `computer_call`, are tool calls with the item's fields as their arguments
 * - ids, `status`, `annotations` and unknown fields are kept in `providerData` of their part
 * - a response's `usage` becomes the usage of the message: all prompt tokens, cached ones included, and its own
 *
 * @example
 * ```ts
 * import { Responses } from "@memfold/openai"
 * import { Either } from "effect"
 *
 * const messages = Responses.decodeItems([{ role: "user", content: "What is a fold?" }])
 * console.log(Either.isRight(messages)) // true
 * ```
 */
export const decodeItems = (
  input: unknown,
): Either.Either<ReadonlyArray<Message.Message>, OpenAIDecodeError> => Codec.atOnce(decodingInSteps(input))
