/** Parts of model messages: from the AI SDK to memfold, and exactly back. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { fromFile, toFile } from "./files.js"
import { opaque, ownData, partFormOf, withForm } from "./form.js"
import { fromResult, toResult } from "./outputs.js"
import type { WirePart, WireRole } from "./wire.js"

/** Options with which the provider takes the reasoning only behind the prefix that it was produced behind. */
const boundOptions = ["redactedData", "reasoningEncryptedContent", "itemId"]

const reasoning = (part: WirePart): Message.Part => {
  const text = part["text"] as string
  const { providerOptions: options } = part
  const signed = Codec.signerIn(options)
  if (Codec.hasOption(options, ...boundOptions)) return opaque(part, true)
  const plain = { type: "reasoning" as const, text }
  if (signed === undefined) return withForm(plain, { fields: Codec.rest(part, plain) })
  const { name, signature } = signed
  const signedBy = name === "anthropic" ? undefined : name
  const known: Message.Reasoning = { ...plain, signature }
  return withForm(known, { signedBy, fields: Codec.rest(part, fromReasoning(withForm(known, { signedBy }))) })
}

const fromReasoning = (part: Message.Reasoning): Codec.Fields => ({
  type: "reasoning",
  text: part.text,
  ...(part.signature === undefined
    ? {}
    : { providerOptions: { [partFormOf(part).signedBy ?? "anthropic"]: { signature: part.signature } } }),
})

/** The input of a call. Arguments that are no JSON object are sent as the Anthropic codec does. */
export const inputOf = (call: Message.ToolCall, exact: boolean): unknown =>
  exact ? Codec.valueIn(call.arguments) : Codec.argumentsOf(call.arguments)

const fromCall = (call: Message.ToolCall, exact: boolean): Codec.Fields => ({
  type: "tool-call",
  toolCallId: call.id,
  toolName: call.name,
  ...(partFormOf(call).absent === "input" && exact ? {} : { input: inputOf(call, exact) }),
})

const called = (part: WirePart): Message.ToolCall => {
  const { toolCallId: id, toolName: name, input } = part as Record<string, unknown>
  const known: Message.ToolCall = {
    type: "tool-call",
    id: id as string,
    name: name as string,
    arguments: input === undefined ? "{}" : JSON.stringify(input),
  }
  const absent = input === undefined ? "input" : undefined
  // The whole input is in the arguments.
  const written = { ...fromCall(known, true), input }
  return withForm(known, { absent, fields: Codec.rest(part, written) })
}

const answered = (part: WirePart): Message.Part => {
  const { toolCallId: id, toolName: name, output } = part as Record<string, unknown>
  const said = Codec.isFields(output) ? toResult(output) : undefined
  if (said === undefined) {
    return withForm(
      { type: "tool-result", id: id as string, name: name as string, output: JSON.stringify(output) },
      { wire: "unknown", fields: Codec.rest(part, { type: "tool-result", toolCallId: id, toolName: name }) },
    )
  }
  const { form, ...rest } = said
  const known: Message.ToolResult = {
    type: "tool-result",
    id: id as string,
    name: name as string,
    ...rest,
  }
  // The value of the output is in the result, whatever its fields are.
  const { value: _value, ...outside } = output as Record<string, unknown>
  const { value: _written, ...written } = fromResult(withForm(known, form), 7).output
  const fields = Codec.rest(
    { ...part, output: outside },
    {
      type: "tool-result",
      toolCallId: id,
      toolName: name,
      output: written,
    },
  )
  return withForm(known, { ...form, fields })
}

/** A result as a part, for a major version of `ai`, and the types of parts that it has no place for. */
export const resultPart = (
  result: Message.ToolResult,
  major: number,
): { readonly part: Codec.Fields; readonly omitted: ReadonlyArray<string> } => {
  const form = partFormOf(result)
  const known = { type: "tool-result", toolCallId: result.id, toolName: result.name ?? "" }
  if (form.wire === "unknown") return { part: Codec.restore(known, form.fields), omitted: [] }
  const { output, omitted } = fromResult(result, major)
  const { value, ...rest } = output
  const part = Codec.restore({ ...known, output: rest }, form.fields)
  return {
    part: value === undefined ? part : { ...part, output: { ...(part["output"] as object), value } },
    omitted,
  }
}

const decodeFrozen = (part: WirePart, role: WireRole): Message.Part => {
  switch (part.type) {
    case "text": {
      const known = { type: "text" as const, text: part["text"] as string }
      return withForm(known, { fields: Codec.rest(part, known) })
    }
    case "reasoning":
      return role === "assistant" ? reasoning(part) : opaque(part)
    case "file":
    case "image":
      return (role === "user" || role === "assistant" ? toFile(part) : undefined) ?? opaque(part)
    case "tool-call":
      // What the provider runs itself is no call for a tool of the application.
      return role === "assistant" && part["providerExecuted"] !== true ? called(part) : opaque(part)
    case "tool-result":
      return role === "tool" ? answered(part) : opaque(part)
    default:
      return opaque(part)
  }
}

export const decodePart = (given: WirePart, role: WireRole): Message.Part => {
  const { json, special } = Codec.freeze(given)
  return withForm(decodeFrozen(json as WirePart, role), { special })
}

/**
 * A part as the AI SDK has it; `undefined` if it has no place for it. Results are written by {@link resultPart}.
 *
 * @param exact whether to write what a model refuses, as it came
 */
export const encodePart = (part: Message.Part, exact: boolean): Codec.Fields | undefined => {
  const { fields } = partFormOf(part)
  switch (part.type) {
    case "text":
      return Codec.restore({ type: "text", text: part.text }, fields)
    case "reasoning":
      return Codec.restore(fromReasoning(part), fields)
    case "file":
      return Codec.restore(fromFile(part), fields)
    case "tool-call": {
      // The input is one value: fields beside it are not put into it.
      const { input, ...known } = fromCall(part, exact)
      return { ...Codec.restore(known, fields), ...(input === undefined ? {} : { input }) }
    }
    case "tool-result":
      return resultPart(part, 7).part
    case "opaque":
      return ownData(part)
  }
}

/** The part with its special values, in well-formed text unless it is written exactly. */
export const finished = (json: Codec.Fields, part: Message.Part, exact: boolean): Codec.Fields =>
  Codec.thaw(exact ? json : Codec.wellFormed(json), partFormOf(part).special) as Codec.Fields
