/** From memfold messages to Chat Completions messages. */
import * as Codec from "@memfold/codec"
import { Item, Message } from "@memfold/core"
import { fromFile } from "./files.js"
import { formOf, partFormOf, type Form } from "./form.js"
import { requestMessage } from "./request.js"
import type { OpenAIMessage } from "./wire.js"

/**
 * Options of {@link encodeMessage} and {@link encodeMessages}.
 *
 * - `extraFields`: names of further fields that the server takes, such as `reasoning_content`, `cache_control`
 *   or `extra_content`; they are sent back wherever a message, a part or a call came with them. None by default
 * - `server`: who gets the request, as a name of `serverNames` or as the base URL of the client; OpenAI's own by default, `any` for
 *   one that is not known. What that server wants beyond the API is sent, and what it does not take is left out: for example,
 *   `reasoning_content` stands at calls for DeepSeek and Kimi
 * - `exact`: `true` writes decoded messages exactly as they came, with what the API refuses in a request: empty lists,
 *   fields that no request has, ids that are too long. The default, `false`, writes what the API accepts
 */
export interface EncodeOptions {
  readonly extraFields?: ReadonlyArray<string>
  readonly server?: string
  readonly exact?: boolean
}

/** Messages, and what they leave out: see {@link encodeAndReport}. */
export interface Encoded {
  readonly messages: Array<OpenAIMessage>
  readonly omitted: ReadonlyArray<Codec.Omitted>
}

const ofType = <T extends Message.Part["type"]>(parts: ReadonlyArray<Message.Part>, type: T) =>
  parts.filter((part): part is Extract<Message.Part, { type: T }> => part.type === type)

/** The content field: one text as a string, anything more as a list; `none` says how nothing is written. */
const contentOf = (
  parts: ReadonlyArray<Codec.Fields>,
  form: Form["content"],
  none: string | null,
): { readonly content?: unknown } => {
  if (form === "parts") return { content: parts }
  if (parts.length === 0) return form === "absent" ? {} : { content: form === "null" ? null : none }
  return { content: Codec.plainText(parts) ?? parts }
}

const taken: Readonly<Record<Message.Role, ReadonlySet<string>>> = {
  system: new Set(["text"]),
  user: new Set(["text", "image_url", "input_audio", "file", "video_url"]),
  assistant: new Set(["text", "refusal"]),
  tool: new Set(["text"]),
}

const isRefusal = (part: Message.Part): part is Message.Opaque & { data: { refusal: string } } =>
  part.type === "opaque" &&
  part.provider === "openai" &&
  Codec.isFields(part.data) &&
  !("type" in part.data) &&
  typeof part.data["refusal"] === "string"

const isAudio = (
  part: Message.Part,
): part is Message.Opaque & { data: { audio: { readonly id: unknown } } } =>
  part.type === "opaque" &&
  part.provider === "openai" &&
  Codec.isFields(part.data) &&
  !("type" in part.data) &&
  Codec.isFields(part.data["audio"])

/** The text of reasoning, also of an item of the Responses API. */
const reasoningIn = (part: Message.Part): ReadonlyArray<string> => {
  if (part.type === "reasoning") return [part.text]
  const isItem = part.type === "opaque" && part.provider === "openai-responses"
  return isItem && Codec.isFields(part.data) && part.data["type"] === "reasoning" ? [Item.textOf(part)] : []
}

/** Fields of a message without an empty list of calls: the API refuses it. */
const withoutEmptyCalls = (fields: Codec.Fields): Codec.Fields => {
  const { tool_calls: calls, ...rest } = fields
  return calls === undefined || (Array.isArray(calls) && calls.length > 0) ? fields : rest
}

/** The text of a message that is nothing else, as nearly every one is; `undefined` for any other. */
const plainText = ({ role, parts, name, metadata }: Message.Message): string | undefined => {
  const [only] = parts
  return parts.length === 1 &&
    only?.type === "text" &&
    only.providerData === undefined &&
    role !== "tool" &&
    name === undefined &&
    metadata === undefined
    ? only.text
    : undefined
}

/** The content of a function message, which is a text or null. */
const asText = ({ content }: { readonly content?: unknown }): { readonly content: unknown } => ({
  content: Array.isArray(content)
    ? content
        .flatMap(({ text }: { readonly text?: unknown }) => (typeof text === "string" ? [text] : []))
        .join("\n")
    : (content ?? null),
})

/** Calls of the conversation so far, as fields of messages. */
class Calls {
  // Compatible servers, such as that of Gemini, want ids that are unique in the whole request.
  readonly ids: Codec.CallIds
  /** The ids of the open calls that are sent as `function_call`: a `function` message answers them. */
  private readonly legacy = new Set<string>()

  constructor(
    private readonly exact: boolean,
    private readonly server: Codec.Server,
  ) {
    this.ids = new Codec.CallIds(Codec.idRules(server, /^.{1,40}$/s))
  }

  /** Whether a result answers a call that was sent as `function_call`. */
  answersLegacy({ id }: Message.ToolResult): boolean {
    return !this.exact && this.legacy.delete(id)
  }

  private toolCall(call: Message.ToolCall, isFirst: boolean): Codec.Fields {
    const form = partFormOf(call)
    const id = this.exact ? call.id : this.ids.call(call.id)
    const { name } = call
    const known =
      form.call === "custom"
        ? { id, type: "custom", custom: { name, input: call.arguments } }
        : { id, type: "function", function: { name, arguments: this.argumentsOf(call) } }
    const own = Codec.restore(known, form.fields)
    return isFirst && !this.exact ? Codec.restore(own, this.server.firstCall) : own
  }

  private argumentsOf(call: Message.ToolCall): string {
    return this.exact ? call.arguments : Codec.objectArguments(call.arguments)
  }

  fieldsOf(calls: ReadonlyArray<Message.ToolCall>): Codec.Fields {
    const [first] = calls
    if (first === undefined) return {}
    const legacy = calls.length === 1 && partFormOf(first).call === "function_call"
    if (legacy) this.legacy.add(first.id)
    return legacy
      ? { function_call: { name: first.name, arguments: this.argumentsOf(first) } }
      : { tool_calls: calls.map((call, at) => this.toolCall(call, at === 0)) }
  }
}

interface Setting {
  readonly exact: boolean
  readonly server: Codec.Server
  readonly extraFields: ReadonlySet<string>
  readonly omissions: Codec.Omissions
}

const authorOf = (
  { name }: Message.Message,
  { exact, server, omissions }: Setting,
): { readonly name?: string } => {
  if (name === undefined) return {}
  if (exact) return { name }
  if (server.isUnnamed === true) {
    omissions.add("name")
    return {}
  }
  const sent = Codec.authorName(name)
  return sent === undefined ? {} : { name: sent }
}

/**
 * Reasoning goes to a server that wants it back; otherwise only what came in a field of a message goes back, into that field, to a
 * server that takes it.
 */
const reasoningOf = (
  form: Form,
  parts: ReadonlyArray<Message.Part>,
  { exact, server: { reasoning }, extraFields, omissions }: Setting,
): Codec.Fields => {
  const texts = parts.flatMap(reasoningIn)
  if (reasoning !== undefined && !exact) {
    const isCalling = parts.some(({ type }) => type === "tool-call")
    const said = texts.join("\n")
    return said === "" && !isCalling ? {} : { [reasoning.field]: said === "" ? reasoning.none : said }
  }
  if (texts.length === 0) return {}
  if (form.reasoning !== undefined && (exact || extraFields.has(form.reasoning)))
    return { [form.reasoning]: texts.join("\n") }
  for (const { type } of parts) if (type === "reasoning") omissions.add(type)
  return {}
}

/** Encodes one conversation, and collects what it leaves out. */
class Encoder implements Setting {
  readonly omissions = new Codec.Omissions()
  readonly exact: boolean
  readonly extraFields: ReadonlySet<string>
  private readonly calls: Calls
  readonly server: Codec.Server

  constructor({ exact, server, extraFields = [] }: EncodeOptions) {
    this.exact = exact === true
    this.server = Codec.serverOf(server ?? "openai")
    this.calls = new Calls(this.exact, this.server)
    const { fields = [], reasoning } = this.server
    this.extraFields = new Set([
      ...extraFields,
      ...fields,
      ...(reasoning === undefined ? [] : [reasoning.field]),
    ])
  }

  private contentPart(role: Message.Role, part: Message.Part): ReadonlyArray<Codec.Fields> {
    const extra = partFormOf(part).fields
    switch (part.type) {
      case "text":
        return [Codec.restore({ type: "text", text: part.text }, extra)]
      case "file": {
        const file = role === "user" ? fromFile(part) : undefined
        return file === undefined ? this.omissions.add("file") : [Codec.restore(file, extra)]
      }
      case "opaque": {
        const { data, provider } = part
        if (provider !== "openai" || !Codec.isFields(data) || typeof data["type"] !== "string")
          return this.omissions.add("opaque")
        const placed = this.exact ? { data } : Codec.inPlace(provider, data, taken[role])
        if (typeof placed === "string") return this.omissions.add(placed)
        return "data" in placed ? [placed.data] : this.contentPart(role, placed)
      }
      default:
        return this.omissions.add(part.type)
    }
  }

  private contentParts(role: Message.Role, parts: ReadonlyArray<Message.Part>): ReadonlyArray<Codec.Fields> {
    return parts.flatMap((part) => this.contentPart(role, part))
  }

  /** A result with its content, and with parts of a tool message that follow it. */
  private resultMessage(
    message: Message.Message,
    form: Form,
    result: Message.ToolResult,
    following: ReadonlyArray<Message.Part>,
  ): Codec.Fields {
    const own =
      result.content ?? (result.output === "" ? [] : [{ type: "text" as const, text: result.output }])
    const parts = this.contentParts("tool", [...own, ...following])
    // The API takes no empty list.
    const came = result.content === undefined ? form.content : "parts"
    const content = contentOf(parts, parts.length === 0 && !this.exact ? undefined : came, "")
    const name = result.name === undefined ? {} : { name: result.name }
    const legacy = this.calls.answersLegacy(result)
    if ((form.role === "function" || legacy) && message.role === "tool") {
      return { role: "function", name: "", ...name, ...(this.exact ? content : asText(content)) }
    }
    const says = (field: string, failed: unknown) =>
      form.fields?.[field] === failed && this.extraFields.has(field)
    if (result.isError === true && !says("is_error", true) && !says("status", "error"))
      this.omissions.add("is-error")
    const id = this.exact ? result.id : this.calls.ids.result(result.id)
    return { role: "tool", tool_call_id: id, ...name, ...content }
  }

  private resultMessages(message: Message.Message, form: Form): ReadonlyArray<Codec.Fields> {
    const { parts } = message
    return parts.flatMap((part, at) => {
      if (part.type !== "tool-result") return []
      return [this.resultMessage(message, form, part, Codec.followingParts(message, at))]
    })
  }

  private assistantMessage(message: Message.Message, form: Form): ReadonlyArray<Codec.Fields> {
    const { parts } = message
    const name = authorOf(message, this)
    const reasoning = reasoningOf(form, parts, this)
    // A refusal beside the content is an opaque part without a type: a field of the message, not of its content.
    const refused = parts.find(isRefusal)
    // A request names an earlier answer in sound by its id.
    const aloud = parts.find(isAudio)
    const spoken = parts.filter(
      (part) =>
        part.type === "text" ||
        part.type === "file" ||
        (part.type === "opaque" &&
          !isRefusal(part) &&
          !isAudio(part) &&
          (this.server.reasoning === undefined || reasoningIn(part).length === 0)),
    )
    const content = this.contentParts("assistant", spoken)
    const aside = {
      ...(refused === undefined ? {} : { refusal: refused.data.refusal }),
      ...(aloud === undefined ? {} : { audio: { id: aloud.data.audio.id } }),
      ...this.calls.fieldsOf(ofType(parts, "tool-call")),
    }
    const empty = content.length === 0 && Object.keys(aside).length === 0
    if (empty && (!this.exact || form.content === undefined)) return []
    const came = content.length === 0 && form.content === "parts" && !this.exact ? undefined : form.content
    return [{ role: "assistant", ...name, ...reasoning, ...contentOf(content, came, null), ...aside }]
  }

  private spokenMessage(message: Message.Message, form: Form): ReadonlyArray<Codec.Fields> {
    const spoken = message.parts.filter(({ type }) => type !== "tool-result")
    const content = this.contentParts(message.role, spoken)
    if (content.length === 0 && (!this.exact || form.content === undefined)) return []
    const name = authorOf(message, this)
    const role = form.role === "developer" && message.role === "system" ? "developer" : message.role
    return [{ role, ...name, ...contentOf(content, form.content, "") }]
  }

  encode(given: Message.Message, position: number): ReadonlyArray<OpenAIMessage> {
    this.omissions.message = position
    const plain = plainText(given)
    if (plain !== undefined) {
      if (given.role === "user") this.calls.ids.close()
      return [{ role: given.role, content: plain } as OpenAIMessage]
    }
    // Chat Completions take no compacted windows: a summary is sent as text.
    const message = { ...given, parts: Message.partsFor(given) }
    const form = formOf(message)
    const wire = [...this.resultMessages(message, form)]
    if (message.role === "user") this.calls.ids.close()
    if (message.role === "assistant") wire.push(...this.assistantMessage(message, form))
    else if (message.role === "tool") this.leaveOutBefore(message)
    else wire.push(...this.spokenMessage(message, form))
    const [only] = wire
    const whole = only !== undefined && wire.length === 1 ? [Codec.restore(only, form.fields)] : wire
    const sent = this.exact
      ? whole
      : whole.map((one) => withoutEmptyCalls(requestMessage(one, this.extraFields)))
    return sent as unknown as ReadonlyArray<OpenAIMessage>
  }

  /** Reports what a tool message has before its first result, or without one. */
  private leaveOutBefore({ parts }: Message.Message): void {
    const first = parts.findIndex(({ type }) => type === "tool-result")
    for (const { type } of parts.slice(0, first === -1 ? parts.length : first)) this.omissions.add(type)
  }
}

/**
 * Encodes one memfold message as Chat Completions messages: usually one. A message with several tool results
 * (Anthropic has such) gives one `tool` message for each; one with nothing that OpenAI can carry gives none.
 *
 * Left out are: fields that no request has, and reasoning, unless `extraFields` names its field; opaque parts of other providers, files where
 * the API takes none (outside user messages; by an address, unless images), the error mark of tool results.
 */
export const encodeMessage = (
  message: Message.Message,
  options: EncodeOptions = {},
): Array<OpenAIMessage> => [...new Encoder(options).encode(message, 0)]

/** {@link encodeAndReport} in steps, between which others have their turn. */
export function* encodingInSteps(
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Codec.Steps<Encoded> {
  const encoder = new Encoder(options)
  const { server } = encoder
  const isExact = options.exact === true
  const placed = isExact
    ? { messages, omitted: [] }
    : Codec.sendable(messages, { server, marksNoErrors: true })
  yield
  encoder.omissions.all.push(...placed.omitted)
  const encoded = yield* Codec.mapped(placed.messages, (one, position) => {
    const own = encoder.encode(one, position)
    return isExact ? own : own.map(Codec.wellFormed)
  })
  if (isExact) return { messages: encoded.flat(), omitted: encoder.omissions.all }
  const say = (role: "user" | "assistant", content: string): OpenAIMessage => ({ role, content })
  const said = Codec.everyTurn(placed.messages, encoded, speakerOf, say)
  return { messages: [...Codec.inTurns(said, server, speakerOf, say)], omitted: encoder.omissions.all }
}

/**
 * Encodes messages as {@link encodeMessages} does, and reports in `omitted` what the API has no place for.
 *
 * @example
 * ```ts
 * import { encodeAndReport } from "@memfold/openai"
 * import { Message } from "@memfold/core"
 *
 * const image = { type: "file" as const, mediaType: "image/png", uri: "https://example.org/page.png" }
 * const content = [{ type: "text" as const, text: "The page:" }, image]
 * const shown = Message.result({ id: "c1", output: Message.outputOf(content), content })
 * const call = Message.call([{ id: "c1", name: "screenshot", arguments: "{}" }])
 * const { messages, omitted } = encodeAndReport([call, shown])
 * console.log(messages.length, omitted) // 2 [{ message: 1, part: "file" }]
 * ```
 */
export const encodeAndReport = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Encoded => Codec.atOnce(encodingInSteps(messages, options))

const speakerOf = ({ role }: OpenAIMessage): Codec.Speaker =>
  role === "developer" ? "system" : role === "function" ? "tool" : role

/**
 * Encodes messages for a Chat Completions request. `decodeMessages` gives the same messages back (L16: codecs lose
 * nothing), except for the content that OpenAI cannot carry: see {@link encodeMessage}. Ids of calls that the API
 * refuses are replaced, in a call and its result alike.
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
): Array<OpenAIMessage> => encodeAndReport(messages, options).messages
