/** From memfold messages to items of a Responses API request. */
import * as Codec from "@memfold/codec"
import { Item, type Message } from "@memfold/core"
import { withCallers } from "./callers.js"
import { fromFile } from "./files.js"
import { formOf, hasForm, partFormOf, provider, type Form } from "./form.js"
import { requestItem, type TextType } from "./request.js"
import { placeSummaries } from "./summaries.js"
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

interface Item {
  readonly fields: Codec.Fields
  readonly message: number
  /** Whether its response said that the API keeps it. */
  readonly isKept: boolean
}

/** The types of texts: each is sent under the type of its place (see `request.ts`). */
const texts = ["input_text", "output_text", "text"]

/** The types of content that the API takes, by the type of the texts beside it. */
const taken: Readonly<Record<TextType, ReadonlySet<string>>> = {
  input_text: new Set([...texts, "input_image", "input_file", "input_audio"]),
  output_text: new Set([...texts, "refusal"]),
}

const withoutIds = (fields: Codec.Fields): Codec.Fields => {
  const { id: _id, status: _status, ...rest } = fields
  return rest
}

const isItem = (part: Message.Part): part is Message.Opaque & { data: Codec.Fields } =>
  part.type === "opaque" &&
  part.provider === provider &&
  Codec.isFields(part.data) &&
  partFormOf(part).item === undefined &&
  partFormOf(part).continues === undefined

/** Whether reasoning came whole: the API reads it from its encrypted text, or has kept it and knows it by its id. */
const isWhole = ({ fields, isKept }: Item): boolean => {
  const { id, encrypted_content: encrypted, status } = fields
  const isThere = typeof encrypted === "string" ? encrypted !== "" : isKept && typeof id === "string"
  return isThere && status !== "incomplete" && status !== "in_progress"
}

const isReasoning = (part: Message.Part): boolean => isItem(part) && part.data["type"] === "reasoning"

const table = Item.items[provider]

const typeOfCall = (call: Message.ToolCall): string => partFormOf(call).type ?? "function_call"

/** What closes a call of a type; a function call's output also answers a call of a type that is not known. */
const closingOf = (type: string): Item.ItemCall["closing"] =>
  (Object.hasOwn(table, type) ? table[type] : table["function_call"])?.call?.closing

/** The fields with other words for "interrupted". */
const inWords = (value: unknown, words: string): unknown => {
  if (value === Item.interrupted) return words
  if (Array.isArray(value)) return value.map((one) => inWords(one, words))
  return Codec.isFields(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inWords(one, words)]))
    : value
}

/** Whether an output of this form is a text or a list of content parts. */
const isContentOutput = (form: ReturnType<typeof partFormOf>): boolean =>
  form.type === undefined || form.type === "custom_tool_call_output"

/** Whether a result came as an output of the API. A call that memfold closes, or another format answers, has none. */
const hasOwnForm = (result: Message.ToolResult, callType: string): boolean =>
  callType === "function_call" || partFormOf(result).type !== undefined

/**
 * The messages without calls that nothing can close, such as `computer_call`, and without what stands in for their outputs.
 * Every message stays in its place.
 */
const withoutUnclosable = (messages: ReadonlyArray<Message.Message>): Codec.Sendable => {
  const gone = new Set<Message.Part>()
  const omitted: Array<Codec.Omitted> = []
  const open = new Codec.Queues<{ readonly call: Message.ToolCall; readonly message: number }>()
  for (const [message, { role, parts }] of messages.entries()) {
    if (role === "user") open.clear()
    for (const part of parts) {
      if (part.type === "tool-call" && closingOf(typeOfCall(part)) === undefined)
        open.add(part.id, { call: part, message })
      if (part.type !== "tool-result") continue
      const answered = open.take(part.id)
      if (answered === undefined || hasOwnForm(part, typeOfCall(answered.call))) continue
      gone.add(answered.call).add(part)
      omitted.push({ message: answered.message, part: typeOfCall(answered.call) })
    }
  }
  if (gone.size === 0) return { messages, omitted }
  return { messages: Codec.leavingOut(messages, (part) => gone.has(part)).messages, omitted }
}

/** Reasoning without what follows from it is refused: it ends a message, or what followed was left out. */
const withoutLooseReasoning = (
  items: ReadonlyArray<Item>,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<Item> => {
  /** What follows from each item, behind its reasoning. */
  const nexts: Array<Codec.Fields | undefined> = []
  for (let at = items.length - 1; at >= 0; at--) {
    const behind = items[at + 1]?.fields
    nexts[at] = behind?.["type"] === "reasoning" ? nexts[at + 1] : behind
  }
  return items.filter((item, at) => {
    const { fields, message } = item
    if (fields["type"] !== "reasoning") return true
    const next = nexts[at]
    const follows =
      next !== undefined &&
      (next["role"] === undefined || next["role"] === "assistant") &&
      table[String(next["type"])]?.answer === undefined &&
      isWhole(item)
    if (!follows) omitted.push({ message, part: "opaque" })
    return follows
  })
}

/**
 * Ids of items are unique in a request. An item with an id that was sent, which says the same in answer to the same, has been said: it
 * was appended twice. Some servers give each answer the same ids: what says something else stays, without its id where the API can do
 * without, or with another one.
 */
const withUniqueIds = (items: ReadonlyArray<Item>, omitted: Array<Codec.Omitted>): ReadonlyArray<Item> => {
  const sent = new Map<unknown, ReadonlyArray<unknown>>()
  const renamed = new Map<string, number>()
  let [question, answers]: [unknown, string] = [null, ""]
  return items.flatMap((item) => {
    const { fields, message } = item
    const { id, type, role } = fields
    const { call, answer } = table[String(type)] ?? {}
    // Outputs of tools come again in a loop that waits for something; how many there were says which one is answered.
    if (role === "user") [question, answers] = [fields, ""]
    else if (answer !== undefined) answers += `${String(type)} `
    if (typeof id !== "string" || answer?.ids.includes("id") === true) return [item]
    // What the provider ran has an id of its own, whatever was asked.
    const said = [fields, type === "message" || type === "reasoning" ? [question, answers] : null]
    const before = sent.get(id)
    if (before === undefined) {
      sent.set(id, said)
      return [item]
    }
    if (call?.by === "client" || answer !== undefined) return [{ ...item, fields: withoutIds(fields) }]
    if (Codec.isSame(said, before)) {
      omitted.push({ message, part: type === "message" ? "text" : "opaque" })
      return []
    }
    if (type === "message" || type === undefined) return [{ ...item, fields: withoutIds(fields) }]
    let count = renamed.get(id) ?? 2
    while (sent.has(`${id}_${count}`)) count++
    renamed.set(id, count)
    const other = { ...fields, id: `${id}_${count}` }
    sent.set(other.id, [other, ...said.slice(1)])
    return [{ ...item, fields: other }]
  })
}

/** Calls of the conversation so far, as items. */
class Calls {
  private readonly ids = new Codec.CallIds({ pattern: /^.{1,64}$/s, reuse: false })
  /** The types of the calls so far, by their ids. */
  private readonly types = new Map<string, string>()

  constructor(private readonly exact: boolean) {}

  /** The item of the provider with the id under which it is sent. */
  paired(data: Codec.Fields): Codec.Fields {
    return this.exact ? data : Codec.withPairId(provider, data, this.ids)
  }

  /** The type of the call that a result answers, and the id to send. */
  answered({ id }: Message.ToolResult): { readonly callType: string; readonly id: string } {
    return {
      callType: this.types.get(id) ?? "function_call",
      id: this.exact ? id : this.ids.result(id),
    }
  }

  /** Gives up the open calls, as the user's next message does. */
  close(): void {
    this.ids.close()
  }

  /** What answers a call of a type if the result did not come as an output of that type. */
  closing(result: Message.ToolResult, callType: string, id: string): Codec.Fields {
    const {
      type = "function_call_output",
      id: idField = "call_id",
      words,
      fields,
    } = closingOf(callType) ?? {}
    return {
      type,
      [idField]: id,
      ...(inWords(fields ?? {}, result.output) as Codec.Fields),
      ...(words === undefined ? {} : { [words]: result.output }),
    }
  }

  call(call: Message.ToolCall): Codec.Fields {
    const form = partFormOf(call)
    const id = this.exact ? call.id : this.ids.call(call.id)
    this.types.set(call.id, typeOfCall(call))
    const { arguments: args } = call
    const { name } = call
    if (form.type === "custom_tool_call") {
      return Codec.restore({ type: form.type, call_id: id, name, input: args }, form.fields)
    }
    const fields = form.type === undefined ? undefined : Codec.objectOf(args)
    const written = this.exact ? args : Codec.objectArguments(args)
    return fields === undefined
      ? Codec.restore({ type: "function_call", call_id: id, name, arguments: written }, form.fields)
      : { type: form.type, call_id: id, ...fields }
  }
}

/** Who speaks in an item; a window of the compaction API may stand first. */
const speakerOf = ({ type, role }: Codec.Fields): Codec.Speaker => {
  if (role === "developer") return "system"
  if (role === "system" || role === "user" || role === "assistant") return role
  const { call, answer } = table[String(type)] ?? {}
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

const fieldsOf = ({ fields }: Item): Codec.Fields => fields

/** The items as a server takes them. */
function* asSent(
  given: ReadonlyArray<Message.Message>,
  items: ReadonlyArray<Item>,
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
    const field = table[type]?.answer?.result ?? "output"
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
      return this.itemsOf(message).map((fields): Item => ({
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
