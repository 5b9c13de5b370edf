/** From messages of a page (`UIMessage`) to memfold messages. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { toFile } from "../files.js"
import { type Form, metadataOf, opaque, partFormOf, withForm } from "../form.js"
import { toResult } from "../outputs.js"
import { decodePart } from "../parts.js"
import type { WirePart, WireUIMessage } from "../wire.js"

/** The name of the tool of a part of a page; none if it is no call of a tool. */
export const toolOf = (part: Codec.Fields): string | undefined => {
  const { type, toolName } = part as { readonly type?: unknown; readonly toolName?: unknown }
  if (type === "dynamic-tool") return typeof toolName === "string" ? toolName : undefined
  return typeof type === "string" && type.startsWith("tool-") ? type.slice("tool-".length) : undefined
}

const onPage = (part: Codec.Fields): Message.Opaque => opaque({ ui: part })

/** `providerMetadata` of a page is `providerOptions` of a model message. */
const asModelPart = ({ providerMetadata, ...part }: Codec.Fields): WirePart =>
  ({
    ...part,
    ...(providerMetadata === undefined ? {} : { providerOptions: providerMetadata }),
  }) as unknown as WirePart

/** A text, reasoning or file: the part that a model gets, and beside it what only the page says. */
const spoken = (part: WirePart): Message.Part => {
  if (part.type === "file" && typeof part["url"] === "string") {
    const { url, ...rest } = part
    const file =
      part["providerReference"] === undefined ? toFile({ ...rest, data: { type: "url", url } }) : undefined
    if (file === undefined) return onPage(part)
    // `data:` addresses stay addresses on a page.
    const { providerData: _form, ...known } = file
    const whole = { ...known, uri: url as string }
    return withForm(whole, {
      ui: Codec.rest(part, {
        type: "file",
        url,
        mediaType: known.mediaType,
        ...(known.name === undefined ? {} : { filename: known.name }),
      }),
    })
  }
  if ((part.type !== "text" && part.type !== "reasoning") || typeof part["text"] !== "string") {
    return onPage(part)
  }
  const model = decodePart(
    asModelPart({ type: part.type, text: part["text"], providerMetadata: part["providerMetadata"] }),
    "assistant",
  )
  // Bound reasoning that is no text of ours is sent back to its provider as it came.
  if (model.type === "opaque") return opaque({ ui: part }, true)
  const { text } = part
  const ui = Codec.rest(part, { type: part.type, text, ...pageOptions(model) })
  return withForm(model, { ui })
}

/** What `providerOptions` of a part are on a page. */
export const pageOptions = (part: Message.Part): Codec.Fields => {
  const options = partFormOf(part).fields?.["providerOptions"]
  return options === undefined ? {} : { providerMetadata: options }
}

const approvalOf = (part: Codec.Fields): Codec.Fields | undefined =>
  Codec.isFields(part["approval"]) && typeof part["approval"]["id"] === "string"
    ? part["approval"]
    : undefined

/** A part that says again what the call of the page says. */
const derived = (part: Codec.Fields): Message.Opaque =>
  withForm(opaque(Codec.freeze(part).json), { derived: true })

/** The request for an approval, as a part of a model message; empty if no approval was requested. */
const requested = (part: Codec.Fields): ReadonlyArray<Message.Part> => {
  const approval = approvalOf(part)
  if (approval === undefined) return []
  const { id, requestReason, isAutomatic, signature, inputSchemaInput } = approval as Record<string, unknown>
  const request = {
    type: "tool-approval-request",
    approvalId: id,
    toolCallId: part["toolCallId"],
    isAutomatic,
    reason: requestReason,
    signature,
    inputSchemaInput,
  }
  return [derived(request)]
}

/** The answer to a request for an approval, as a part of a tool message; none if there is none yet. */
export const responded = (part: Codec.Fields): ReadonlyArray<Message.Part> => {
  const approval = approvalOf(part)
  if (typeof approval?.["approved"] !== "boolean") return []
  const response = {
    type: "tool-approval-response",
    approvalId: approval["id"],
    approved: approval["approved"],
    reason: approval["reason"],
    providerExecuted: part["providerExecuted"],
  }
  return [derived(response)]
}

/** The states in which a call has its whole input. */
const complete = new Set([
  "input-available",
  "approval-requested",
  "approval-responded",
  "output-available",
  "output-error",
  "output-denied",
])

/** The field of the result, in each state that has one. */
export const resultField: Readonly<Record<string, string>> = {
  "output-available": "output",
  "output-error": "errorText",
}

const called = (part: WirePart, name: string): Message.Part => {
  const { toolCallId: id, state, input, callProviderMetadata } = part as Record<string, unknown>
  if (typeof id !== "string" || !complete.has(String(state)) || part["providerExecuted"] === true)
    return onPage(part)
  const result = resultOf(part) === undefined ? undefined : resultField[String(state)]
  const rest = Object.fromEntries(Object.entries(part).filter(([key]) => key !== "input" && key !== result))
  const given = input === undefined ? part["rawInput"] : input
  const ui = Codec.rest(rest, { toolCallId: id })
  return withForm(
    { type: "tool-call", id, name, arguments: given === undefined ? "{}" : JSON.stringify(given) },
    {
      ui,
      absent: input === undefined ? "input" : undefined,
      fields: callProviderMetadata === undefined ? undefined : { providerOptions: callProviderMetadata },
    },
  )
}

/** The result of a call of a page; none if it has none that is final. */
export const resultOf = (part: Codec.Fields): Message.ToolResult | undefined => {
  const name = toolOf(part)
  const { toolCallId: id, state, output, errorText, approval } = part as Record<string, unknown>
  if (name === undefined || typeof id !== "string" || part["providerExecuted"] === true) return undefined
  const read =
    state === "output-available"
      ? toResult(
          typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output },
        )
      : state === "output-error" && typeof errorText === "string"
        ? toResult({ type: "error-text", value: errorText })
        : state === "output-denied"
          ? toResult({
              type: "execution-denied",
              ...(Codec.isFields(approval) ? { reason: approval["reason"] } : {}),
            })
          : undefined
  if (read === undefined) return undefined
  const { form, ...said } = read
  const absent = state === "output-available" && output === undefined ? "output" : form.absent
  return withForm({ type: "tool-result", id, name, ...said }, { ...form, absent })
}

interface Step {
  readonly begins: boolean
  readonly parts: Array<WirePart>
}

const stepsOf = (parts: ReadonlyArray<WirePart>): ReadonlyArray<Step> => {
  const steps: Array<Step> = []
  for (const part of parts) {
    const isStart = part.type === "step-start" && Object.keys(part).length === 1
    if (isStart || steps.length === 0) steps.push({ begins: isStart, parts: [] })
    if (!isStart) steps.at(-1)!.parts.push(part)
  }
  return steps.length === 0 ? [{ begins: false, parts: [] }] : steps
}

const assistantStep = ({
  parts,
}: Step): { readonly said: ReadonlyArray<Message.Part>; readonly results: ReadonlyArray<Message.Part> } => {
  const said = parts.flatMap((part): ReadonlyArray<Message.Part> => {
    const name = toolOf(part)
    if (name === undefined) return [spoken(part)]
    const call = called(part, name)
    return call.type === "tool-call" ? [call, ...requested(part)] : [call]
  })
  const isCall = (part: WirePart): boolean =>
    complete.has(String(part["state"])) && part["providerExecuted"] !== true
  const results = parts
    .filter((part) => toolOf(part) !== undefined && isCall(part))
    .flatMap((part) => {
      const result = resultOf(part)
      return [...responded(part), ...(result === undefined ? [] : [result])]
    })
  return { said, results }
}

/** The messages that one message of a page stands for. */
export const decodeUI = (given: WireUIMessage): ReadonlyArray<Message.Message> => {
  const { json, special } = Codec.freeze(given)
  const raw = json as WireUIMessage
  const { id, role, parts } = raw
  const fields = Codec.rest(raw, { id, role, parts })
  const first: Form = {
    ...(special.length === 0 ? {} : { special }),
    ui: { id, ...(fields === undefined ? {} : { fields }) },
  }
  if (role !== "assistant") return [{ role, parts: parts.map((part) => spoken(part)), ...metadataOf(first) }]
  return stepsOf(parts).flatMap((step, index): ReadonlyArray<Message.Message> => {
    const { said, results } = assistantStep(step)
    const begins = step.begins ? { step: true } : {}
    const form: Form =
      index === 0 ? { ...first, ui: { ...first.ui, ...begins } } : { ui: { id, continues: true, ...begins } }
    return [
      { role: "assistant", parts: said, ...metadataOf(form) },
      ...(results.length === 0
        ? []
        : [{ role: "tool" as const, parts: results, ...metadataOf({ ui: { id, continues: true } }) }]),
    ]
  })
}
