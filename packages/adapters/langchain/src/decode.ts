/** From messages of LangChain to memfold messages. */
import {
  DecodeError,
  decoder,
  type Fields,
  foreignProblem,
  isFields,
  type Problem,
  type Special,
  isSame,
  usageOf,
} from "@memfold/codec"
import { Message } from "@memfold/core"
import { Either } from "effect"
import { isCallBlock, toCall, toPart } from "./blocks.js"
import { exactWires } from "./exact.js"
import { type Form, metadataOf, opaque, withForm } from "./form.js"
import { readMessage, type WireMessage } from "./wire.js"

const roles = { human: "user", ai: "assistant", system: "system", tool: "tool" } as const

const roleOf = ({ type, role }: WireMessage): Message.Role => {
  if (type !== "generic") return roles[type]
  if (role === "assistant" || role === "ai") return "assistant"
  return role === "system" || role === "developer" ? "system" : "user"
}

const blocksOf = (content: unknown): ReadonlyArray<unknown> =>
  typeof content === "string" ? [] : Array.isArray(content) ? (content as ReadonlyArray<unknown>) : [content]

/** The encrypted reasoning of OpenAI, which stands beside the content. */
const reasoningItem = ({ additional_kwargs: kwargs }: WireMessage): ReadonlyArray<Message.Part> => {
  const item = isFields(kwargs) ? kwargs["reasoning"] : undefined
  return isFields(item) ? [withForm(opaque(item, true), { block: "kwargs" })] : []
}

/** The parts of an answer: its content in order, and the calls that are not in it. */
const answered = (wire: WireMessage): ReadonlyArray<Message.Part> => {
  const entries = Array.isArray(wire["tool_calls"]) ? (wire["tool_calls"] as ReadonlyArray<unknown>) : []
  const left = entries.filter(isFields)
  const parts = blocksOf(wire.content).map((block) => {
    const at = isCallBlock(block)
      ? left.findIndex(({ id, name }) => id === block["id"] && name === block["name"])
      : -1
    const [entry] = at === -1 ? [] : left.splice(at, 1)
    return entry === undefined ? toPart(block, "ai") : toCall(entry, block as Fields)
  })
  const text = typeof wire.content === "string" && wire.content !== "" ? [textOf(wire.content)] : []
  return [...reasoningItem(wire), ...text, ...parts, ...left.map((entry) => toCall(entry))]
}

const textOf = (text: string): Message.Text => ({ type: "text", text })

type ResultContent = NonNullable<Message.ToolResult["content"]>

const result = (wire: WireMessage): Message.ToolResult => {
  const { tool_call_id: id, name, status } = wire as { readonly [key: string]: unknown }
  const content =
    typeof wire.content === "string"
      ? undefined
      : (blocksOf(wire.content).map((block) => toPart(block, "tool")) as ResultContent)
  return {
    type: "tool-result",
    id: typeof id === "string" ? id : "",
    ...(typeof name === "string" ? { name } : {}),
    output: content === undefined ? String(wire.content) : Message.outputOf(content),
    ...(content === undefined ? {} : { content }),
    ...(status === "error" || status === "success" ? { isError: status === "error" } : {}),
  }
}

const partsOf = (wire: WireMessage, role: Message.Role): ReadonlyArray<Message.Part> => {
  if (wire.type === "tool") return [result(wire)]
  if (wire.type === "ai") return answered(wire)
  if (typeof wire.content === "string") return [textOf(wire.content)]
  return blocksOf(wire.content).map((block) => toPart(block, role === "system" ? "system" : "human"))
}

const usageIn = ({ usage_metadata: usage }: WireMessage): { readonly usage?: Message.Usage } => {
  if (!isFields(usage)) return {}
  const { input_tokens: input, output_tokens: output, output_token_details: details } = usage
  return usageOf(input, output, isFields(details) ? details["reasoning"] : 0)
}

const furtherFields = (wire: WireMessage): Fields => {
  const { type, content: _content, id, name, role, tool_calls: _calls, ...fields } = wire
  const { additional_kwargs: kwargs, tool_call_id: _id, status: _status, ...others } = fields as Fields
  const { reasoning: _item, ...rest } = (isFields(kwargs) ? kwargs : {}) as Fields
  const moved = type === "ai" && isFields(kwargs) && isFields(kwargs["reasoning"])
  const left = moved ? rest : (kwargs as Fields | undefined)
  return {
    ...others,
    ...(left === undefined || Object.keys(left).length === 0 ? {} : { additional_kwargs: left }),
    ...(typeof id === "string" || id === undefined ? {} : { id }),
    ...(typeof name === "string" || name === undefined ? {} : { name }),
    ...(typeof role === "string" || role === undefined ? {} : { role }),
  }
}

const decodeWire = (wire: WireMessage, special: ReadonlyArray<Special>): Message.Message => {
  const role = roleOf(wire)
  const parts = partsOf(wire, role)
  const { id, name } = wire as { readonly id?: unknown; readonly name?: unknown }
  const bound = parts.filter(Message.isBound).length
  const form: { readonly [K in keyof Form]: Form[K] | undefined } = {
    id: typeof id === "string" ? id : undefined,
    role: wire.type === "generic" && typeof wire["role"] === "string" ? wire["role"] : undefined,
    content: Array.isArray(wire.content) ? "blocks" : undefined,
    bound: bound === 0 ? undefined : bound,
    fields: furtherFields(wire),
    special,
  }
  const known: Message.Message = {
    role,
    parts,
    ...(typeof name === "string" && role !== "tool" ? { name } : {}),
    ...usageIn(wire),
    ...metadataOf(form),
  }
  const [written, ...others] = exactWires(known)
  return others.length === 0 && isSame(written, wire)
    ? known
    : { ...known, ...metadataOf({ ...form, raw: wire }) }
}

/** Formats whose messages LangChain reads by itself. */
const alsoRead = new Set(["openai", "anthropic"])

const foreign = (input: unknown): Problem | undefined => {
  const isInstance = isFields(input) && typeof input["getType"] === "function"
  const problem = isInstance ? undefined : foreignProblem(input, "langchain")
  return problem === undefined || [...alsoRead].some((one) => problem.use.includes(`@memfold/${one}`))
    ? undefined
    : problem
}

/** The input is no message of LangChain: see `DecodeError` of `@memfold/codec` for the fields. */
export class LangChainDecodeError extends DecodeError<LangChainDecodeError>()("LangChainDecodeError") {}

const decode = decoder(LangChainDecodeError, (input) => {
  const problem = foreign(input)
  return problem === undefined
    ? Either.map(readMessage(input), ({ wire, special }) => decodeWire(wire, special))
    : Either.left(problem)
})

/**
 * Decodes a message of LangChain: an object of its classes, or what LangChain itself makes one of (`{ role, content }`, a
 * text, a stored message). A wrong one, or one of another library, is a `LangChainDecodeError`.
 *
 * - content blocks are parts, in their order; a call that is in the content and in `tool_calls` is one part
 * - thinking that a provider signed, and encrypted reasoning, are bound to their prefix
 * - images and files are file parts, with the form of their block beside them
 * - `artifact`, `response_metadata`, `additional_kwargs`, `usage_metadata`, invalid calls and the id are kept
 *
 * Chunks come back as messages, a field that is `undefined` or empty is not there, and a value with `toJSON`, such as a
 * `Date`, comes back as what that returns.
 */
export const decodeMessage: (input: unknown) => Either.Either<Message.Message, LangChainDecodeError> =
  decode.one

/**
 * Decodes a list of messages, each as {@link decodeMessage} does. The first wrong message gives a `LangChainDecodeError` for
 * the whole list.
 *
 * @example
 * ```ts
 * import { HumanMessage } from "@langchain/core/messages"
 * import { decodeMessages } from "@memfold/langchain"
 * import { Either } from "effect"
 *
 * console.log(Either.isRight(decodeMessages([new HumanMessage("What is a fold?")]))) // true
 * ```
 */
export const decodeMessages: (
  input: unknown,
) => Either.Either<ReadonlyArray<Message.Message>, LangChainDecodeError> = decode.list
