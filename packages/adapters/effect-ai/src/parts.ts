/** Parts of prompts: from Effect AI to memfold, and exactly back. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Prompt } from "@effect/ai"
import { fromFile, toFile } from "./files.js"
import { opaque, ownData, partFormOf, withForm } from "./form.js"

const optionsOf = ({ options }: Codec.Fields): Codec.Fields | undefined =>
  Codec.isFields(options) ? options : undefined

/** Options with which the provider takes the reasoning only behind the prefix that it was produced behind. */
const boundOptions = ["redactedData", "encryptedContent", "itemId"]

const reasoning = (part: Codec.Fields): Message.Part => {
  const text = part["text"] as string
  const options = optionsOf(part)
  if (Codec.hasOption(options, ...boundOptions)) return opaque(part, true)
  const signed = Codec.signerIn(options)
  if (signed === undefined) return withForm({ type: "reasoning", text }, { options })
  const { name, signature } = signed
  return withForm(
    { type: "reasoning", text, signature },
    { signedBy: name, options: Codec.rest(options ?? {}, { [name]: { signature } }) },
  )
}

const fromReasoning = (part: Message.Reasoning): Codec.Fields => {
  const { options, signedBy } = partFormOf(part)
  if (part.signature === undefined) return { type: "reasoning", text: part.text, ...(options && { options }) }
  const { signature } = part
  const signed =
    signedBy === undefined
      ? { anthropic: { type: "thinking", signature } }
      : Codec.restore({ [signedBy]: { signature } }, options)
  return { type: "reasoning", text: part.text, options: signed }
}

const toCall = (part: Codec.Fields): Message.ToolCall => {
  const { id, name, params } = part as { readonly id: string; readonly name: string; params?: unknown }
  return withForm(
    { type: "tool-call", id, name, arguments: params === undefined ? "{}" : JSON.stringify(params) },
    { options: optionsOf(part), absent: params === undefined ? "params" : undefined },
  )
}

/** The parameters of a call. What is no JSON object is sent as the Anthropic codec does. */
const paramsOf = (call: Message.ToolCall, exact: boolean): unknown => {
  if (exact && partFormOf(call).absent === "params") return undefined
  return exact ? Codec.valueIn(call.arguments) : Codec.argumentsOf(call.arguments)
}

const toResult = (part: Codec.Fields): Message.ToolResult => {
  const { id, name, isFailure, result } = part as {
    readonly id: string
    readonly name: string
    readonly isFailure: boolean
    readonly result?: unknown
  }
  const isText = typeof result === "string"
  const output = isText ? result : result === undefined ? "" : JSON.stringify(result)
  return withForm(
    { type: "tool-result", id, name, output, isError: isFailure },
    {
      options: optionsOf(part),
      result: isText || result === undefined ? undefined : "json",
      absent: result === undefined ? "result" : undefined,
    },
  )
}

/** The result of a tool: as it was, or its text where it was pruned or came from elsewhere. */
const resultOf = (result: Message.ToolResult): unknown => {
  const form = partFormOf(result)
  if (form.absent === "result" && result.output === "") return undefined
  if (form.result !== "json") return result.output
  const value = Codec.valueIn(result.output)
  return value === undefined ? result.output : value
}

const decodeFrozen = (
  part: Codec.Fields,
  role: Message.Role,
  special: ReadonlyArray<Codec.Special>,
): Message.Part => {
  switch (part["type"]) {
    case "text":
      return withForm({ type: "text", text: part["text"] as string }, { options: optionsOf(part) })
    case "reasoning":
      return reasoning(part)
    case "file":
      return toFile(part, special) ?? opaque(part)
    case "tool-call":
      // What the provider runs itself is no call for a tool of the application.
      return part["providerExecuted"] === true ? opaque(part) : toCall(part)
    case "tool-result":
      return role === "tool" && part["providerExecuted"] === false ? toResult(part) : opaque(part)
    default:
      return opaque(part)
  }
}

/** A part of a prompt in memfold. */
export const decodePart = (given: Prompt.Part, role: Message.Role): Message.Part => {
  const { [Prompt.PartTypeId]: _id, options, ...fields } = given
  const { json, special } = Codec.freeze(Object.keys(options).length === 0 ? fields : { ...fields, options })
  return withForm(decodeFrozen(json as Codec.Fields, role, special), { special })
}

const written = (part: Message.Part, exact: boolean): Codec.Fields | undefined => {
  const { options } = partFormOf(part)
  const more = options === undefined ? {} : { options }
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...more }
    case "reasoning":
      return fromReasoning(part)
    case "file":
      return fromFile(part)
    case "tool-call":
      return {
        type: "tool-call",
        id: part.id,
        name: part.name,
        params: paramsOf(part, exact),
        providerExecuted: false,
        ...more,
      }
    case "tool-result":
      return {
        type: "tool-result",
        id: part.id,
        name: part.name ?? "",
        isFailure: exact ? part.isError === true : Message.failed(part),
        result: resultOf(part),
        providerExecuted: false,
        ...more,
      }
    case "opaque":
      return ownData(part)
  }
}

/**
 * A part as the JSON of a prompt's part; `undefined` if Effect AI has no place for it.
 *
 * @param exact whether to write what a model refuses, as it came
 */
export const encodePart = (part: Message.Part, exact: boolean): Codec.Fields | undefined => {
  const json = written(part, exact)
  // A file is addresses and bytes, and its text is no conversation.
  return json === undefined || exact || part.type === "file" ? json : Codec.wellFormed(json)
}

/** The JSON of a part, with the values that are no JSON, as a part of a prompt. */
export const makePart = (json: Codec.Fields, part: Message.Part): Prompt.Part => {
  const { type, ...params } = Codec.thaw(json, partFormOf(part).special) as {
    readonly type: Prompt.Part["type"]
  }
  return Prompt.makePart(type, params as never)
}
