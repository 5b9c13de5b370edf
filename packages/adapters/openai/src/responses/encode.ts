/** From memfold messages to items of a Responses API request. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { withCallers } from "./callers.js"
import { Calls, hasOwnForm, withoutUnclosable } from "./calls.js"
import { fromFile } from "./files.js"
import { formOf, hasForm, itemTable, partFormOf, provider, type Form } from "./form.js"
import { requestItem, type TextType } from "./request.js"
import { placeSummaries } from "./summaries.js"
import { type SentItem, withoutIds, withoutLooseReasoning, withUniqueIds } from "./together.js"
import type { ResponsesItem } from "./wire.js"

/**
 * Options of {@link encodeItems}.
 *
 * - `extraFields`: names of further fields that the server takes; they are sent back wherever an item or a part
 *   came with them. None by default
 * - `exact`: `true` writes decoded items exactly as they came, with what the API refuses: unknown fields, empty messages,
 *   reasoning without what follows from it, ids that are too long. The default, `false`, writes what the API accepts
 * - `server`: who gets the request, as a name of `serverNames` or as the base URL of the client; OpenAI's own by default, which
 *   alone lets the assistant begin. `any` for one that is not known
 */
export interface EncodeOptions extends Codec.SummaryOptions {
  readonly extraFields?: ReadonlyArray<string>
  readonly server?: string
  readonly exact?: boolean
}

/** Items, and what they leave out: see {@link encodeAndReport}. */
export interface Encoded {
  readonly input: Array<ResponsesItem>
  readonly omitted: ReadonlyArray<Codec.Omitted>
}

/** The types of texts: each is sent under the type of its place (see `request.ts`). */
const texts = ["input_text", "output_text", "text"]

/** The types of content that the API takes, by the type of the texts beside it. */
const taken: Readonly<Record<TextType, ReadonlySet<string>>> = {
  input_text: new Set([...texts, "input_image", "input_file", "input_audio"]),
  output_text: new Set([...texts, "refusal"]),
}

const isItem = (part: Message.Part): part is Message.Opaque & { data: Codec.Fields } =>
  part.type === "opaque" &&
  part.provider === provider &&
  Codec.isFields(part.data) &&
  partFormOf(part).item === undefined &&
  partFormOf(part).continues === undefined

const isReasoning = (part: Message.Part): boolean => isItem(part) && part.data["type"] === "reasoning"

/** Whether an output of this form is a text or a list of content parts. */
const isContentOutput = (form: ReturnType<typeof partFormOf>): boolean =>
  form.type === undefined || form.type === "custom_tool_call_output"

/** Who speaks in an item; a window of the compaction API may stand first. */
const speakerOf = ({ type, role }: Codec.Fields): Codec.Speaker => {
  if (role === "developer") return "system"
  if (role === "system" || role === "user" || role === "assistant") return role
  const { call, answer } = itemTable[String(type)] ?? {}
  if (answer !== undefined) return "tool"
  return call !== undefined || type === "reasoning" ? "assistant" : undefined
}

/** The messages within the limits of a server. The Agents SDK sends the same items to Chat Completions. */
const limited = (given: ReadonlyArray<Message.Message>, server: Codec.Server): Codec.Sendable =>
  Codec.sendable(given, {
    server,
    longestName: server === Codec.servers.openai ? 128 : 64,
    marksNoErrors: true,
  })

const fieldsOf = ({ fields }: SentItem): Codec.Fields => fields

/** The items as a server takes them. */
function* asSent(
  given: ReadonlyArray<Message.Message>,
  items: ReadonlyArray<SentItem>,
  server: Codec.Server,
  omitted: Array<Codec.Omitted>,
): Codec.Steps<ReadonlyArray<Codec.Fields>> {
  const unique = withUniqueIds(items, omitted)
  yield
  const written = given.map((): Array<Codec.Fields> => [])
  for (const { fields, message } of withoutLooseReasoning(unique, omitted)) written[message]!.push(fields)
  const say = (role: string, content: string): Codec.Fields => ({ role, content })
  const said = Codec.everyTurn(given, written, speakerOf, say)
  return yield* Codec.mapped(withCallers(Codec.inTurns(said, server, speakerOf, say)), Codec.wellFormed)
}

/** Encodes one conversation, and collects what it leaves out. */
class Encoder {
  readonly omissions = new Codec.Omissions()
  private readonly exact: boolean
  private readonly calls: Calls
  private readonly extraFields: ReadonlySet<string>
  private readonly server: Codec.Server

  constructor({ exact, server, extraFields }: EncodeOptions) {
    this.exact = exact === true
    this.server = Codec.serverOf(server ?? "openai")
    this.calls = new Calls(this.exact)
    this.extraFields = new Set(extraFields)
  }

  /** A content part; none where the API has no place for it. */
  private contentPart(part: Message.Part, textType: TextType): ReadonlyArray<Codec.Fields> {
    switch (part.type) {
      case "text":
        return [Codec.restore({ type: textType, text: part.text }, partFormOf(part).fields)]
      case "file": {
        const file = textType === "input_text" ? fromFile(part) : undefined
        if (file === undefined) return this.omissions.add("file")
        const detail = file["type"] === "input_image" && !hasForm(part)
        return [Codec.restore(detail ? { ...file, detail: "auto" } : file, partFormOf(part).fields)]
      }
      case "opaque": {
        const { data } = part
        if (part.provider !== provider || !Codec.isFields(data)) return this.omissions.add("opaque")
        const placed = this.exact ? { data } : Codec.inPlace(provider, data, taken[textType])
        if (typeof placed === "string") return this.omissions.add(placed)
        return "data" in placed ? [placed.data] : this.contentPart(placed, textType)
      }
      default:
        return this.omissions.add(part.type)
    }
  }

  private contentParts(parts: ReadonlyArray<Message.Part>, textType: TextType): ReadonlyArray<Codec.Fields> {
    return parts.flatMap((part) => this.contentPart(part, textType))
  }

  /** A message of the user, or an instruction. */
  private input(message: Message.Message, form: Form): ReadonlyArray<Codec.Fields> {
    const said = message.parts.filter(({ type }) => type !== "tool-result")
    const parts = this.contentParts(said, "input_text")
    if (parts.length === 0 && !(this.exact && form.content === "parts")) return []
    const role = form.role === "developer" && message.role === "system" ? "developer" : message.role
    // A text with fields of its own, even none, came as a part of a list.
    const listed =
      form.content === "parts" || message.parts.some((part) => partFormOf(part).fields !== undefined)
    const content = listed ? parts : (Codec.plainText(parts, "input_text") ?? parts)
    return [Codec.restore({ role, content }, form.fields)]
  }

  private output(result: Message.ToolResult): unknown {
    const form = partFormOf(result)
    const { content, output } = result
    if (content === undefined) {
      return form.output === "parts" ? (output === "" ? [] : [{ type: "input_text", text: output }]) : output
    }
    const [value] = content
    const whole = form.output === "value" && value?.type === "opaque" ? value.data : undefined
    if (whole !== undefined && (this.exact || !isContentOutput(form) || !Array.isArray(whole))) return whole
    const given = Array.isArray(whole)
      ? whole.map((data: unknown) => ({ type: "opaque" as const, provider, data }))
      : content
    const parts = this.contentParts(given, "input_text")
    return parts.length === 0 && !this.exact ? output : parts
  }

  private result(result: Message.ToolResult): Codec.Fields {
    const form = partFormOf(result)
    if (result.isError === true) this.omissions.add("is-error")
    const { callType, id } = this.calls.answered(result)
    if (!this.exact && !hasOwnForm(result, callType)) return this.calls.closing(result, callType, id)
    const type = form.type ?? "function_call_output"
    const field = itemTable[type]?.answer?.result ?? "output"
    const absent = form.output === "absent" && result.output === ""
    const identified = form.unidentified === true && this.exact ? {} : { [form.idField ?? "call_id"]: id }
    const known = { type, ...identified, ...(absent ? {} : { [field]: this.output(result) }) }
    return Codec.restore(known, form.fields)
  }

  /** The parts of one message item of the assistant, from `at` on, and where the next item begins. */
  private saidItem(
    parts: ReadonlyArray<Message.Part>,
    at: number,
  ): { readonly item: Codec.Fields; readonly next: number } {
    const first = parts[at]
    const form = first === undefined ? {} : partFormOf(first)
    let next = at + 1
    while (next < parts.length && partFormOf(parts[next]!).continues === true) next++
    const text = first?.type === "text" && (form.text === true || !hasForm(first))
    const content = text ? first.text : this.contentParts(parts.slice(at, next), "output_text")
    return { item: Codec.restore({ role: "assistant", content }, form.item), next }
  }

  private assistant({ parts }: Message.Message, form: Form): ReadonlyArray<Codec.Fields> {
    const items: Array<Codec.Fields> = []
    let at = 0
    while (at < parts.length) {
      const part = parts[at]!
      const place = partFormOf(part)
      if (isItem(part)) items.push(this.calls.paired(part.data))
      else if (part.type === "tool-call") items.push(this.calls.call(part))
      else if (part.type === "text" || place.item !== undefined || place.continues === true) {
        const { item, next } = this.saidItem(parts, at)
        if (this.exact || item["content"] !== "") items.push(item)
        at = next
        continue
      } else this.omissions.add(part.type)
      at++
    }
    const missing = parts.filter(isReasoning).length < (form.reasoning ?? 0)
    return missing && !this.exact ? items.map(withoutIds) : items
  }

  private itemsOf(message: Message.Message): ReadonlyArray<Codec.Fields> {
    const form = formOf(message)
    if (message.role === "assistant") return this.assistant(message, form)
    const results = message.parts.flatMap((part) => (part.type === "tool-result" ? [this.result(part)] : []))
    if (message.role === "tool") {
      for (const { type } of message.parts) if (type !== "tool-result") this.omissions.add(type)
      return results
    }
    if (message.role === "user") this.calls.close()
    return [...results, ...this.input(message, form)]
  }

  *encode(given: ReadonlyArray<Message.Message>): Codec.Steps<Encoded> {
    const placed = this.exact ? { messages: given, omitted: [] } : limited(given, this.server)
    const closable = this.exact ? { messages: given, omitted: [] } : withoutUnclosable(placed.messages)
    this.omissions.all.push(...placed.omitted, ...closable.omitted)
    const listed = yield* Codec.mapped(closable.messages, (message, position) => {
      this.omissions.message = position
      if (message.name !== undefined) this.omissions.add("name")
      return this.itemsOf(message).map((fields): SentItem => ({
        fields: this.exact ? fields : requestItem(fields, this.extraFields),
        message: position,
        isKept: formOf(message).response?.["store"] === true,
      }))
    })
    const items = listed.flat()
    const { all } = this.omissions
    const input = this.exact ? items.map(fieldsOf) : yield* asSent(given, items, this.server, all)
    return { input: input as unknown as Array<ResponsesItem>, omitted: all }
  }
}

/** {@link encodeAndReport} in steps, between which others have their turn. */
export function* encodingInSteps(
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Codec.Steps<Encoded> {
  const own = Codec.withoutOtherModels(messages, options.exact === true ? undefined : options.model)
  const placed = placeSummaries(own.messages, options)
  yield
  const { input, omitted } = yield* new Encoder(options).encode(placed.messages)
  return {
    input,
    omitted: [
      ...own.omitted,
      ...placed.omitted,
      ...omitted.map((one) => ({ ...one, message: placed.sources[one.message] ?? one.message })),
    ],
  }
}

/**
 * Encodes messages as {@link encodeItems} does, and reports in `omitted` what the API has no place for.
 *
 * @example
 * ```ts
 * import { Responses } from "@memfold/openai"
 * import { Message } from "@memfold/core"
 *
 * const { omitted } = Responses.encodeAndReport([Message.user("Hi", { name: "Ada" })])
 * console.log(omitted) // [{ message: 0, part: "name" }]
 * ```
 */
export const encodeAndReport = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Encoded => Codec.atOnce(encodingInSteps(messages, options))

/**
 * Encodes messages as the `input` of a Responses API request. `decodeItems` gives the same messages back (L16: codecs
 * lose nothing).
 *
 * - system messages are items with the role `system`, or `developer` where they came so
 * - where reasoning of a message is missing, the items of that message are sent without their ids
 * - ids of calls that the API refuses are replaced, in a call and its output alike
 * - a call that was interrupted is closed with the output of its type; a call whose type has none that could be written
 *   (`computer_call`) is left out
 * - a summary with a window of the compaction API is sent as the items of that window
 *
 * Left out are: reasoning of other formats, of another model than `model`, or that is not whole; reasoning without what follows from it, opaque parts of other providers,
 * audio, files of the assistant, names, and the error mark of results. {@link encodeAndReport} says what it left out.
 *
 * @example
 * ```ts
 * import { Responses } from "@memfold/openai"
 * import { Message } from "@memfold/core"
 *
 * const input = Responses.encodeItems([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(input[1]) // { role: "user", content: "What is a fold?" }
 * ```
 */
export const encodeItems = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Array<ResponsesItem> => encodeAndReport(messages, options).input
