/** From memfold messages to model messages of the AI SDK. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import type { ModelMessage } from "ai"
import { formOf, itemsIn, ownData, partFormOf } from "./form.js"
import { encodePart, finished, resultPart } from "./parts.js"

/** A major version of `ai`. */
export type Major = 5 | 6 | 7

/**
 * Options of {@link encodeMessages} and {@link encodeContext}.
 *
 * - `major`: the major version of `ai` that gets the messages; 7 by default. Version 5 has no approvals, and files in tool
 *   results have other types in each version
 * - `exact`: `true` writes decoded model messages exactly as they came, with what a model refuses: empty texts, ids that
 *   come again. The default, `false`, writes what the AI SDK accepts
 * - `convertDataPart`: what a model gets of parts of a page with data; nothing by default
 * - `server`: who gets the messages: a name such as `mistral`, the base URL, or what the model calls its provider
 */
export interface EncodeOptions {
  readonly major?: Major
  readonly server?: string | undefined
  readonly exact?: boolean
  readonly convertDataPart?: ConvertDataPart | undefined
}

/** A part of a page with data of the application: its type begins with `data-`. */
export interface DataPart {
  readonly type: `data-${string}`
  readonly id?: string
  readonly data: unknown
}

/** What a model gets of a part with data, as for `convertToModelMessages` of the AI SDK: a text, a file, or nothing. */
export type ConvertDataPart = (
  part: DataPart,
) =>
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string; readonly filename?: string }
  | undefined

/** A context as the functions of the AI SDK take it: system messages are apart. */
export interface AiSdkContext {
  system?: string
  messages: Array<ModelMessage>
}

/** A context, and what it leaves out. */
export interface EncodedContext extends AiSdkContext {
  readonly omitted: ReadonlyArray<Codec.Omitted>
}

interface EncodedMessage {
  readonly role: Message.Role
  readonly content: unknown
  readonly [key: string]: unknown
}

const isOwn = (part: Message.Part, type: string): boolean => ownData(part)?.["type"] === type

/** The engine moves an answer to an approval out of its tool message, because it is no result. */
const isApproval = ({ role, parts }: Message.Message): boolean =>
  (role === "user" || role === "tool") &&
  parts.length > 0 &&
  parts.every((part) => isOwn(part, "tool-approval-response"))

const approvalTypes = new Set(["tool-approval-request", "tool-approval-response"])

const opaqueTypes: Readonly<Record<Message.Role, ReadonlySet<string>>> = {
  system: new Set(),
  user: new Set(["image", "file"]),
  assistant: new Set([
    "custom",
    "file",
    "reasoning",
    "reasoning-file",
    "tool-call",
    "tool-result",
    "tool-approval-request",
  ]),
  tool: new Set(["tool-approval-response"]),
}

const newTypes = new Set(["custom", "reasoning-file"])

const isPageOnly = (part: Message.Part): boolean => {
  const type = ownData(part)?.["type"]
  return type === "source-url" || type === "source-document"
}

const isToolPart = (ui: Codec.Fields): boolean =>
  typeof ui["toolCallId"] === "string" && ui["providerExecuted"] === true

const isData = (ui: Codec.Fields): ui is Codec.Fields & DataPart => String(ui["type"]).startsWith("data-")

/** What a model gets of a part of a page that has no neutral form. */
const fromPage = (ui: Codec.Fields, convert: ConvertDataPart | undefined): ReadonlyArray<Codec.Fields> => {
  const converted = isData(ui) ? convert?.(ui) : undefined
  if (converted?.type === "text") return [{ type: "text", text: converted.text }]
  if (converted !== undefined) {
    const { url: data, ...file } = converted
    return [{ ...file, data }]
  }
  const { type, providerMetadata, toolCallId, state } = ui as Record<string, unknown>
  const options = Codec.present({ providerOptions: providerMetadata })
  if (type === "reasoning") return [{ type, text: ui["text"], ...options }]
  if (type === "custom") return [{ type, kind: ui["kind"], ...options }]
  if (type === "reasoning-file") return [{ type, data: ui["url"], mediaType: ui["mediaType"], ...options }]
  if (type === "file" && ui["providerReference"] !== undefined) {
    return [{ type, data: ui["providerReference"], mediaType: ui["mediaType"], ...options }]
  }
  if (!isToolPart(ui) || (state !== "output-available" && state !== "output-error")) return []
  const toolName = type === "dynamic-tool" ? ui["toolName"] : String(type).slice("tool-".length)
  const metadata = ui["callProviderMetadata"]
  const call = Codec.present({ providerOptions: metadata })
  const output =
    state === "output-error"
      ? { type: "error-json", value: ui["errorText"] ?? null }
      : typeof ui["output"] === "string"
        ? { type: "text", value: ui["output"] }
        : { type: "json", value: ui["output"] ?? null }
  const result = Codec.present({ providerOptions: ui["resultProviderMetadata"] ?? metadata })
  return [
    { type: "tool-call", toolCallId, toolName, input: ui["input"] ?? {}, providerExecuted: true, ...call },
    { type: "tool-result", toolCallId, toolName, output, ...result },
  ]
}

/** Encodes one conversation, and collects what it leaves out. */
class Encoder {
  readonly omissions = new Codec.Omissions()
  private readonly exact: boolean
  private readonly major: Major
  private readonly ids: Codec.CallIds
  private readonly itemIds = new Codec.ItemIds("providerOptions")
  /** The name and the sent id of each call, by its id. */
  private readonly names = new Map<string, string>()
  private readonly sentIds = new Map<unknown, string>()

  private readonly convert: ConvertDataPart | undefined

  constructor({ exact = false, major = 7, server, convertDataPart }: EncodeOptions) {
    this.exact = exact
    this.convert = convertDataPart
    this.ids = new Codec.CallIds(Codec.idRules(Codec.serverOf(server), /^.+$/s))
    this.major = major
  }

  private opaque(role: Message.Role, part: Message.Opaque): ReadonlyArray<Codec.Fields> {
    const data = ownData(part)
    if (this.exact) return data === undefined ? this.omissions.add("opaque") : [data]
    if (data === undefined) return this.redactedThinking(role, part)
    if (isPageOnly(part)) return []
    const parts = Codec.isFields(data["ui"]) ? fromPage(data["ui"], this.convert) : [data]
    return parts.flatMap((one): ReadonlyArray<Codec.Fields> => {
      const type = String(one["type"])
      const known = opaqueTypes[role].has(type) || (type === "text" && role !== "tool")
      if (!known || (this.major < 7 && newTypes.has(type)) || (this.major < 6 && approvalTypes.has(type))) {
        return this.omissions.add("opaque")
      }
      const id = type === "tool-approval-request" ? this.sentIds.get(one["toolCallId"]) : undefined
      return [id === undefined ? one : { ...one, toolCallId: id }]
    })
  }

  /** Redacted thinking of the Messages API has a place in the AI SDK, too. */
  private redactedThinking(role: Message.Role, part: Message.Opaque): ReadonlyArray<Codec.Fields> {
    const redacted = Codec.redactedThinking(part)
    if (redacted === undefined || role !== "assistant") return this.omissions.add("opaque")
    return [
      { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: redacted["data"] } } },
    ]
  }

  private callPart(call: Message.ToolCall): ReadonlyArray<Codec.Fields> {
    const id = this.exact ? call.id : this.ids.call(call.id)
    this.names.set(call.id, call.name)
    this.sentIds.set(call.id, id)
    return [{ ...encodePart(call, this.exact), toolCallId: id }]
  }

  private part(role: Message.Role, part: Message.Part): ReadonlyArray<Codec.Fields> {
    switch (part.type) {
      case "text": {
        const written = encodePart(part, this.exact)!
        // The AI SDK leaves an empty text out, and Anthropic refuses a blank one; then nothing may be left of a message.
        const blank = part.text.trim() === ""
        if (role === "tool" && !this.exact) return blank ? [] : this.omissions.add(part.type)
        const empty = blank && (role !== "assistant" || written["providerOptions"] === undefined)
        return empty && !this.exact ? [] : [written]
      }
      case "reasoning":
      case "file":
        return role === "assistant" || (role === "user" && part.type === "file") || this.exact
          ? [encodePart(part, this.exact)!]
          : this.omissions.add(part.type)
      case "tool-call":
        return this.callPart(part)
      case "tool-result":
        return this.omissions.add(part.type)
      case "opaque":
        return this.opaque(role, part)
    }
  }

  private result(result: Message.ToolResult): Codec.Fields {
    const { part, omitted } = resultPart(result, this.exact ? 7 : this.major)
    for (const one of omitted) this.omissions.add(one)
    if (this.exact) return part
    return {
      ...part,
      toolCallId: this.ids.result(result.id),
      toolName: result.name ?? this.names.get(result.id) ?? "tool",
    }
  }

  private parts(role: Message.Role, message: Message.Message, position: number): ReadonlyArray<Codec.Fields> {
    const { items = 0 } = formOf(message)
    // OpenAI refuses an item whose reasoning is missing, but takes what it says.
    const isLeft = itemsIn(message.parts) < items
    return message.parts.flatMap((part) => {
      const written =
        role === "tool" && part.type === "tool-result" ? [this.result(part)] : this.part(role, part)
      return written.map((one) =>
        finished(this.exact ? one : this.itemIds.sent(one, position, isLeft), part, this.exact),
      )
    })
  }

  encode(message: Message.Message, position: number): ReadonlyArray<EncodedMessage> {
    this.omissions.message = position
    const form = formOf(message)
    const role = !this.exact && isApproval(message) ? "tool" : message.role
    if (role === "system") {
      const { fields } = form
      return [{ ...Codec.restore({ role, content: Message.text(message) }, fields) } as EncodedMessage]
    }
    if (role === "user") this.ids.close()
    const parts = this.parts(role, message, position)
    const isUnsaid =
      role === "user" && parts.length === 0 && message.parts.some(({ type }) => type !== "text")
    const content = isUnsaid && !this.exact ? [{ type: "text", text: Codec.unsaid }] : parts
    if (content.length === 0 && !this.exact) {
      if (message.parts.some(({ type }) => type === "text")) this.omissions.add("text")
      return []
    }
    const text = role === "tool" || form.content === "parts" ? undefined : Codec.plainText(content)
    const written = Codec.restore({ role, content: text ?? content }, form.fields)
    return [{ ...(Codec.thaw(written, form.special) as EncodedMessage), content: written["content"] }]
  }
}

/** Tool messages that follow each other, as one; the AI SDK writes the results of a step into one message. */
const joined = (messages: ReadonlyArray<EncodedMessage>): ReadonlyArray<EncodedMessage> => {
  const out: Array<EncodedMessage> = []
  for (const message of messages) {
    const last = out.at(-1)
    if (message.role === "tool" && last?.role === "tool") {
      out[out.length - 1] = { ...last, content: [last, message].flatMap(({ content }) => content) }
    } else {
      out.push(message)
    }
  }
  return out
}

/** The parts of system messages, except texts. */
const unsaid = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Codec.Omitted> =>
  messages.flatMap((message, position) => {
    if (message.role !== "system") return []
    const others = message.parts
      .map(({ type }) => type)
      .filter((type) => type !== "text" && type !== "tool-call")
    const options =
      formOf(message).fields?.["providerOptions"] ?? message.parts.some((part) => partFormOf(part).fields)
    return [...others, ...(options === undefined || options === false ? [] : ["providerOptions"])].map(
      (part) => ({ message: position, part }),
    )
  })

/**
 * Encodes the messages of a context for `generateText`, `streamText` and agents. All system messages, the summary among
 * them, are one text in `system`, because the AI SDK refuses them among the messages. `omitted` names what the AI SDK has
 * no place for.
 *
 * - reasoning that is bound to its prefix is left out where a system message came later
 * - ids of calls that come again are replaced, in a call and its result alike
 * - where bound reasoning of a message is missing, its other parts are sent without the provider's ids (`itemId`); ids that come again are
 *   replaced or left out
 *
 * @param messages the messages of a context, in order
 * @param options the version of the AI SDK
 *
 * @example
 * ```ts
 * import { encodeContext } from "@memfold/ai-sdk"
 * import { Message } from "@memfold/core"
 *
 * const { system, messages } = encodeContext([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(system, messages) // "Be brief." [{ role: "user", content: "What is a fold?" }]
 * ```
 */
export const encodeContext = (
  messages: ReadonlyArray<Message.Message>,
  options: Pick<EncodeOptions, "major" | "server" | "convertDataPart"> = {},
): EncodedContext => {
  const server = Codec.serverOf(options.server)
  const encoder = new Encoder(options)
  const placed = Codec.messagesToSend(messages, server)
  const system = placed.messages
    .filter(({ role }) => role === "system")
    .map(Message.text)
    .filter((text) => text.trim() !== "")
  const written = placed.messages.map((message, position) =>
    message.role === "system" ? [] : encoder.encode(message, position),
  )
  const say = (role: Message.Role, content: string): EncodedMessage => ({ role, content })
  const speakerOf = ({ role }: EncodedMessage) => role
  const said = joined(Codec.everyTurn(placed.messages, written, speakerOf, say))
  return {
    ...(system.length === 0 ? {} : { system: system.join("\n\n").toWellFormed() }),
    messages: [...Codec.inTurns(said, server, speakerOf, say)] as Array<unknown> as Array<ModelMessage>,
    omitted: [...placed.omitted, ...unsaid(placed.messages), ...encoder.omissions.all],
  }
}

/**
 * Encodes messages as model messages, system messages among them. With `exact`, `decodeMessages` gives the same messages
 * back (L16: codecs lose nothing). For a request, use {@link encodeContext}.
 *
 * @example
 * ```ts
 * import { encodeMessages } from "@memfold/ai-sdk"
 * import { Message } from "@memfold/core"
 *
 * console.log(encodeMessages([Message.user("What is a fold?")])) // [{ role: "user", content: "What is a fold?" }]
 * ```
 */
export const encodeMessages = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Array<ModelMessage> => {
  const encoder = new Encoder(options)
  const server = Codec.serverOf(options.server)
  const given = options.exact === true ? messages : Codec.sendable(messages, { server }).messages
  return given.flatMap((message, position) =>
    encoder.encode(message, position),
  ) as ReadonlyArray<unknown> as Array<ModelMessage>
}
