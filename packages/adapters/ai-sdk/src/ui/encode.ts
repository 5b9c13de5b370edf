/** From memfold messages to messages of a page (`UIMessage`). */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import type { UIMessage } from "ai"
import { formOf, ofType, ownData, partFormOf } from "../form.js"
import { fromResult } from "../outputs.js"
import { encodePart, inputOf } from "../parts.js"
import { pageOptions, resultField } from "./decode.js"

/** The id of a message of a page that has none of its own, by the position of its first message. */
export type PageId = (position: number) => string

/** Messages that form one message on the page. */
export interface Group {
  readonly id: string
  readonly position: number
  readonly messages: Array<Message.Message>
}

/**
 * Groups of messages that form one message on the page: the messages of an answer, and messages with the same id. Answers
 * to two simultaneous requests may be interleaved in the log.
 */
export const groupsOf = (messages: ReadonlyArray<Message.Message>, idOf: PageId): ReadonlyArray<Group> => {
  const groups: Array<Group> = []
  const answers = new Map<string, Group>()
  for (const [position, message] of messages.entries()) {
    const { ui } = formOf(message)
    const last = groups.at(-1)
    const same = ui?.id === undefined ? last : answers.get(ui.id)
    if (Codec.isAnswer(message) && same !== undefined && Codec.isAnswer(same.messages[0]!)) {
      same.messages.push(message)
    } else {
      const group = { id: ui?.id ?? idOf(position), position, messages: [message] }
      groups.push(group)
      if (Codec.isAnswer(message)) answers.set(group.id, group)
    }
  }
  return groups
}

const plain = (part: Message.Text | Message.Reasoning): Codec.Fields => {
  const { ui } = partFormOf(part)
  const model = encodePart(part, true) ?? {}
  const { providerOptions, ...rest } = model
  const own = Codec.present({ providerMetadata: providerOptions })
  // A text of a page has its options already in its own form.
  return Codec.restore({ type: part.type, text: part.text, ...own }, ui ?? withoutKnown(rest))
}

const withoutKnown = ({ type: _type, text: _text, ...rest }: Codec.Fields): Codec.Fields => rest

const file = (part: Message.File): Codec.Fields => {
  const { uri: url, mediaType, name: filename } = part
  const known = { type: "file", url, mediaType, ...Codec.present({ filename }) }
  return Codec.restore(known, partFormOf(part).ui ?? pageOptions(part))
}

/** An output as an application sees it: the value of the tool. */
const valueOf = (result: Message.ToolResult): unknown => {
  const { type, value } = fromResult(result, 7).output as Record<string, unknown>
  return type === "execution-denied" ? result.output : value
}

const answered = (result: Message.ToolResult, state: string): Codec.Fields => {
  if (partFormOf(result).absent === "output") return {}
  const field = resultField[state]
  return field === undefined ? {} : { [field]: field === "errorText" ? result.output : valueOf(result) }
}

interface Approval {
  readonly request: Codec.Fields
  readonly response: Codec.Fields | undefined
}

/** The state of a call that was not said on a page. */
const stateOf = (result: Message.ToolResult | undefined, approval: Approval | undefined): string => {
  if (result === undefined) {
    if (approval === undefined) return "input-available"
    return approval.response === undefined ? "approval-requested" : "approval-responded"
  }
  if (partFormOf(result).output === "execution-denied" && approval?.response !== undefined)
    return "output-denied"
  return result.isError === true ? "output-error" : "output-available"
}

const approvalFields = (approval: Approval | undefined): Codec.Fields => {
  if (approval === undefined) return {}
  const { approvalId: id, reason: requestReason, isAutomatic, signature, inputSchemaInput } = approval.request
  const { approved, reason } = (approval.response ?? {}) as Record<string, unknown>
  const all = { id, requestReason, isAutomatic, signature, inputSchemaInput, approved, reason }
  return { approval: Codec.present(all) }
}

const finals = new Set(Object.keys(resultField).concat("output-denied"))

/** The calls of a group with their results. Ids can repeat, so calls that had a result on the page are matched first. */
const pairs = (
  messages: ReadonlyArray<Message.Message>,
): ReadonlyMap<Message.ToolCall, Message.ToolResult> => {
  const open = messages.flatMap(Message.results)
  const found = new Map<Message.ToolCall, Message.ToolResult>()
  const calls = messages.flatMap(Message.calls)
  const wasFinal = (call: Message.ToolCall): boolean => finals.has(String(partFormOf(call).ui?.["state"]))
  for (const call of [...calls.filter(wasFinal), ...calls.filter((one) => !wasFinal(one))]) {
    const at = open.findIndex(({ id }) => id === call.id)
    if (at !== -1) found.set(call, open.splice(at, 1)[0]!)
  }
  return found
}

const isOwn = (part: Message.Part): boolean => partFormOf(part).derived !== true

/** Writes the parts of a group, and skips parts whose content another part of the group already has. */
class Page {
  private readonly results: ReadonlyMap<Message.ToolCall, Message.ToolResult>
  private readonly approvals = new Map<unknown, Approval>()
  private readonly providerResults = new Map<unknown, Codec.Fields>()

  constructor(messages: ReadonlyArray<Message.Message>) {
    this.results = pairs(messages)
    const parts = messages.flatMap((message) => message.parts)
    // What a page says of the answer itself stands in its call; a later answer stands apart.
    const responses = ofType(parts.filter(isOwn), "tool-approval-response")
    for (const request of ofType(parts, "tool-approval-request")) {
      const response = responses.find(({ approvalId }) => approvalId === request["approvalId"])
      this.approvals.set(request["toolCallId"], { request, response })
    }
    for (const result of ofType(parts, "tool-result")) this.providerResults.set(result["toolCallId"], result)
  }

  private call(part: Message.ToolCall): Codec.Fields {
    const { ui, fields, absent } = partFormOf(part)
    const result = this.results.get(part)
    const approval = this.approvals.get(part.id)
    const before = ui?.["state"]
    // An answer may have come after the page was stored.
    const isFinal = finals.has(String(before))
    const state =
      typeof before === "string" && (isFinal || (result === undefined && approval?.response === undefined))
        ? before
        : stateOf(result, approval)
    const own = ui ?? {
      type: `tool-${part.name}`,
      ...approvalFields(approval),
      ...Codec.present({ callProviderMetadata: fields?.["providerOptions"] }),
    }
    return {
      ...own,
      toolCallId: part.id,
      ...(ui !== undefined && state !== before ? approvalAnswer(ui, approval) : {}),
      state,
      ...(ui !== undefined && absent === "input" ? {} : { input: inputOf(part, true) }),
      ...(result === undefined ? {} : answered(result, state)),
    }
  }

  private providerCall(data: Codec.Fields): Codec.Fields {
    const { toolCallId, toolName, input, providerOptions } = data as Record<string, unknown>
    const result = this.providerResults.get(toolCallId)
    const output = result?.["output"] as { readonly type?: string; readonly value?: unknown } | undefined
    const failed = output?.type?.startsWith("error") === true
    return {
      type: `tool-${String(toolName)}`,
      toolCallId,
      providerExecuted: true,
      state: output === undefined ? "input-available" : failed ? "output-error" : "output-available",
      input,
      ...(output === undefined
        ? {}
        : failed
          ? { errorText: typeof output.value === "string" ? output.value : JSON.stringify(output.value) }
          : { output: output.value }),
      ...Codec.present({ callProviderMetadata: providerOptions }),
    }
  }

  private opaque(part: Message.Opaque): ReadonlyArray<Codec.Fields> {
    const data = ownData(part)
    if (data === undefined || partFormOf(part).derived === true) return []
    const { ui, type, providerOptions, ...rest } = data as Record<string, unknown>
    if (Codec.isFields(ui)) return [ui]
    if (type === "tool-call") return [this.providerCall(data)]
    if (type === "reasoning" || type === "custom")
      return [{ type, ...rest, ...Codec.present({ providerMetadata: providerOptions }) }]
    // What only a model gets has no place on a page.
    return []
  }

  parts({ role, parts }: Message.Message): ReadonlyArray<Codec.Fields> {
    return parts.flatMap((part): ReadonlyArray<Codec.Fields> => {
      if (role === "tool") return []
      switch (part.type) {
        case "text":
        case "reasoning":
          return [plain(part)]
        case "file":
          return [file(part)]
        case "tool-call":
          return [this.call(part)]
        case "tool-result":
          return []
        case "opaque":
          return this.opaque(part)
      }
    })
  }
}

/** The approval of a call of a page, with an answer that came after the page was stored. */
const approvalAnswer = (ui: Codec.Fields, approval: Approval | undefined): Codec.Fields => {
  const { approved, reason } = (approval?.response ?? {}) as Record<string, unknown>
  if (approved === undefined || !Codec.isFields(ui["approval"])) return {}
  return { approval: { ...ui["approval"], approved, ...(reason === undefined ? {} : { reason }) } }
}

const placesOf = (message: Message.Message) => formOf(message).ui?.places

const isUI = (message: Message.Message): boolean =>
  formOf(message).ui?.step !== undefined || formOf(message).ui?.id !== undefined

/**
 * Messages of memfold as messages of a page. The messages of one answer, with the results of its tools, become one page
 * message. Messages that were decoded from a page come back as they were.
 *
 * @param messages the messages, such as a page of a conversation
 * @param idOf the id of a message that did not come from a page, by the position of its first message
 *
 * @example
 * ```ts
 * import { encodeUIMessages } from "@memfold/ai-sdk"
 * import { Message } from "@memfold/core"
 *
 * const [question] = encodeUIMessages([Message.user("What is a fold?")])
 * console.log(question?.parts) // [{ type: "text", text: "What is a fold?" }]
 * ```
 */
export const encodeUIMessages = (
  messages: ReadonlyArray<Message.Message>,
  idOf: PageId = (position) => `message-${position}`,
): Array<UIMessage> =>
  groupsOf(messages, idOf).map(({ id, messages: group }) => {
    const page = new Page(group)
    const first = group[0]!
    const form = formOf(first)
    const parts = group
      .filter((message) => placesOf(message) === undefined)
      .flatMap((message) => {
        const own = page.parts(message)
        const fromPage = isUI(message)
        const begins = fromPage ? formOf(message).ui?.step === true : message.role === "assistant"
        return begins ? [{ type: "step-start" }, ...own] : own
      })
    for (const message of group)
      for (const [at, place] of placesOf(message)?.entries() ?? [])
        parts.splice(place, 0, page.parts(message)[at]!)
    const role = first.role === "tool" ? "assistant" : first.role
    const fields = group.map((message) => formOf(message).ui?.fields).findLast((found) => found !== undefined)
    const written = Codec.restore({ id, role, parts }, fields)
    return Codec.thaw(written, form.special) as UIMessage
  })
