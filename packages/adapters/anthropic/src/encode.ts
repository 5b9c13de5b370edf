/** From memfold messages to the conversation of a Messages API request. */
import * as Codec from "@memfold/codec"
import { Item, Message } from "@memfold/core"
import { withCacheControl, type CacheControl } from "./cacheControl.js"
import { fromFile } from "./files.js"
import { formOf, isBlank, partFormOf, type Form } from "./form.js"
import { toInput } from "./input.js"
import { requestBlock, requestMessage } from "./request.js"
import { placeSummaries } from "./summaries.js"
import type { AnthropicConversation } from "./wire.js"

/**
 * Options of {@link encodeMessages}.
 *
 * - `extraFields`: names of further fields that the server takes; they are sent back wherever a message or a
 *   block came with them. None by default. Fields that only a response has are never sent
 * - `exact`: `true` writes decoded messages exactly as they came, with what the API refuses: unknown fields, blank texts, empty
 *   lists, unsigned thinking, ids of any form. The default, `false`, writes what the API accepts
 * - `server`: who gets the request, as a name of `serverNames` or as the base URL of the client; Anthropic's own by default
 */
export interface EncodeOptions extends Codec.SummaryOptions {
  readonly extraFields?: ReadonlyArray<string>
  readonly server?: string
  readonly exact?: boolean
  readonly cacheControl?: CacheControl
}

/** A conversation, and what it leaves out: see {@link encodeAndReport}. */
export interface Encoded extends AnthropicConversation {
  readonly omitted: ReadonlyArray<Codec.Omitted>
}

interface Block {
  readonly fields: Codec.Fields
  readonly message: number
  readonly part: Message.Part["type"]
}

/** Messages that travel as one: the results of parallel calls, and what the user says right after them. */
interface Turn {
  readonly role: "user" | "assistant" | "system"
  readonly results: Array<Block>
  readonly others: Array<Block>
  content: Form["content"]
  fields: Codec.Fields | undefined
  readonly separate?: Form["separate"]
}

/** Results and everything else, apart, because results have to come first in their turn. */
type Blocks = Pick<Turn, "results" | "others">

const wireRole = (role: Message.Role): Turn["role"] => (role === "tool" ? "user" : role)

/** A compaction block stands alone: merged with the next message, it would not be the message that the API returned. */
const standsAlone = (turn: Turn | undefined): boolean => turn?.others[0]?.fields["type"] === "compaction"

/** Adds a turn: neighbours of the same role are one, unless they are separate. */
const addTurn = (turns: Array<Turn>, turn: Turn, isSeparate = false): void => {
  const open = turns.at(-1)
  if (open === undefined || open.role !== turn.role || standsAlone(open) || isSeparate)
    return void turns.push(turn)
  open.results.push(...turn.results)
  open.others.push(...turn.others)
  if (turn.fields !== undefined) open.fields = Codec.restore(open.fields ?? {}, turn.fields)
}

const isThinking = ({ fields }: Block): boolean =>
  fields["type"] === "thinking" || fields["type"] === "redacted_thinking"

/** Blocks that the API does not take from the model; it takes all others that do not stand within blocks. */
const fromOutside: ReadonlySet<string> = new Set(
  "image document search_result tool_result container_upload tool_addition tool_removal".split(" "),
)

/** The types of blocks that the API takes from each role; those of a tool stand in its result. */
const taken: Readonly<Record<Message.Role, ReadonlySet<string>>> = {
  system: new Set(["text", "tool_addition", "tool_removal"]),
  user: new Set(["text", "image", "document", "search_result", "container_upload"]),
  tool: new Set(["text", "image", "document", "search_result", "tool_reference", "browser_state"]),
  assistant: new Set(
    Object.entries(Item.items.anthropic).flatMap(([type, { within }]) =>
      within === true || fromOutside.has(type) ? [] : [type],
    ),
  ),
}

/** Whether a block came whole: redacted thinking of an answer that was cut may have no data. */
const isWhole = ({ type, data }: Codec.Fields): boolean =>
  type !== "redacted_thinking" || (typeof data === "string" && data !== "")

/** A system message stays among the messages only right behind a user's; the others go into the `system` field. */
const placeSystem = (
  turns: ReadonlyArray<Turn>,
): { readonly kept: ReadonlyArray<Turn>; readonly hoisted: ReadonlyArray<Turn> } => {
  const kept: Array<Turn> = []
  const hoisted: Array<Turn> = []
  for (const turn of turns) {
    const isHoisted = turn.role === "system" && kept.at(-1)?.role !== "user"
    ;(isHoisted ? hoisted : kept).push(turn)
  }
  return { kept, hoisted }
}

/** No message of the assistant may end with thinking, so what ends one is left out. */
const withoutLastThoughts = (
  turns: ReadonlyArray<Turn>,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<Turn> =>
  turns.flatMap((turn) => {
    if (turn.role !== "assistant") return [turn]
    const end = turn.others.findLastIndex((block) => !isThinking(block)) + 1
    for (const { message, part } of turn.others.slice(end)) omitted.push({ message, part })
    return end === 0 && turn.results.length === 0 ? [] : [{ ...turn, others: turn.others.slice(0, end) }]
  })

/**
 * A system message in the midst of the conversation that goes into the `system` field changes what stands before all
 * that was said until then, so reasoning before it is no longer valid.
 */
const withoutEarlierThoughts = (
  turns: ReadonlyArray<Turn>,
  hoisted: ReadonlyArray<Block>,
  begin: number,
  omitted: Array<Codec.Omitted>,
): ReadonlyArray<Turn> => {
  const unplaced = placeSystem(turns).hoisted.flatMap(({ others }) => others)
  const late = [...hoisted, ...unplaced].filter(({ message }) => message >= begin)
  const last = Math.max(-1, ...late.map(({ message }) => message))
  return turns.flatMap((turn) => {
    const isDropped = (block: Block) => isThinking(block) && block.message < last
    const dropped = turn.others.filter(isDropped)
    for (const { message, part } of dropped) omitted.push({ message, part })
    const others = turn.others.filter((block) => !isDropped(block))
    return dropped.length > 0 && others.length + turn.results.length === 0 ? [] : [{ ...turn, others }]
  })
}

/** Writes the blocks of one conversation, and notes what it leaves out. */
class BlockWriter {
  readonly omitted: Array<Codec.Omitted> = []
  readonly ids = new Codec.CallIds({ pattern: /^[\w-]+$/, reuse: false })

  constructor(private readonly exact: boolean) {}

  private omit(message: number, part: string): undefined {
    this.omitted.push({ message, part })
    return undefined
  }

  /** The block of a part that stands on its own; none if Anthropic cannot carry it there. */
  private fieldsOf(part: Message.Part, role: Message.Role, message: number): Codec.Fields | undefined {
    const form = partFormOf(part)
    switch (part.type) {
      case "text":
        return isBlank(part.text) && !this.exact
          ? undefined
          : Codec.restore({ type: "text", text: part.text }, form.fields)
      case "file": {
        const file = role === "user" || role === "tool" ? fromFile(part) : undefined
        return file === undefined ? this.omit(message, "file") : Codec.restore(file, form.fields)
      }
      case "opaque": {
        const { data, provider } = part
        if (provider !== "anthropic" || !Codec.isFields(data)) return this.omit(message, "opaque")
        if (this.exact) return data
        if (!isWhole(data)) return this.omit(message, "opaque")
        const placed = Codec.inPlace(provider, data, taken[role])
        if (typeof placed === "string") return this.omit(message, placed)
        return "data" in placed
          ? Codec.withPairId(provider, placed.data, this.ids)
          : this.fieldsOf(placed, role, message)
      }
      case "reasoning": {
        if (role !== "assistant" || !(this.exact || Message.isBound(part))) {
          return this.omit(message, "reasoning")
        }
        const signature = part.signature === undefined ? {} : { signature: part.signature }
        return Codec.restore({ type: "thinking", thinking: part.text, ...signature }, form.fields)
      }
      case "tool-call": {
        if (role !== "assistant") return this.omit(message, "tool-call")
        const id = this.exact ? part.id : this.ids.call(part.id)
        const input = toInput(part.arguments)
        return Codec.restore({ type: "tool_use", id, name: part.name, input }, form.fields)
      }
      case "tool-result":
        return undefined
    }
  }

  private contentOfResult(
    result: Message.ToolResult,
    following: ReadonlyArray<Message.Part>,
    message: number,
  ): { readonly content?: unknown } {
    const form = partFormOf(result)
    const own = result.content ?? [{ type: "text" as const, text: result.output }]
    // The API takes an error in words alone.
    const inWords = result.isError === true && !this.exact
    const blocks = [...own, ...following].flatMap((part) => {
      const fields = this.fieldsOf(part, "tool", message)
      if (fields === undefined) return []
      if (!inWords || fields["type"] === "text") return [fields]
      this.omit(message, part.type)
      return []
    })
    const plain = result.content === undefined && following.length === 0
    if (!plain && blocks.length > 0) return { content: blocks }
    if (result.output === "" || (!plain && blocks.length === 0)) {
      if (result.isError === true && !this.exact) return { content: Codec.noOutput }
      if (form.content !== undefined) return form.content === "absent" ? {} : { content: [] }
    }
    return { content: form.content === "blocks" ? blocks : result.output }
  }

  /** A result with its content, and with parts of a tool message that follow it. */
  private resultOf(
    result: Message.ToolResult,
    following: ReadonlyArray<Message.Part>,
    message: number,
  ): Codec.Fields {
    const id = this.exact ? result.id : this.ids.result(result.id)
    const content = this.contentOfResult(result, following, message)
    const error = result.isError === undefined ? {} : { is_error: result.isError }
    return Codec.restore(
      { type: "tool_result", tool_use_id: id, ...content, ...error },
      partFormOf(result).fields,
    )
  }

  of(given: Message.Message, message: number): Blocks {
    const { role, parts } = given
    const results: Array<Block> = []
    const others: Array<Block> = []
    parts.forEach((part, at) => {
      if (part.type === "tool-result") {
        if (wireRole(role) !== "user") return this.omit(message, part.type)
        const following = Codec.followingParts(given, at)
        results.push({ fields: this.resultOf(part, following, message), message, part: part.type })
      } else if (role !== "tool" || results.length === 0) {
        const fields = this.fieldsOf(part, role, message)
        if (fields !== undefined) others.push({ fields, message, part: part.type })
      }
    })
    return { results, others }
  }
}

/** The block without a caller that is not there: a tool of the API that waits is left out where the user speaks behind it. */
const calledBy =
  (served: ReadonlySet<unknown>) =>
  (block: Block): Block => {
    const { caller, ...fields } = block.fields
    const isGone = Codec.isFields(caller) && caller["tool_id"] !== undefined && !served.has(caller["tool_id"])
    return isGone ? { ...block, fields } : block
  }

/** Encodes one conversation, and collects what it leaves out. */
class Encoder {
  private readonly exact: boolean
  /** Where the conversation begins, behind the leading system messages. */
  private begin = 0
  readonly blocks: BlockWriter
  private readonly extraFields: ReadonlySet<string>

  constructor(private readonly options: EncodeOptions) {
    this.exact = options.exact === true
    this.blocks = new BlockWriter(this.exact)
    this.extraFields = new Set(options.extraFields)
  }

  private sent(block: Block): Block {
    return this.exact ? block : { ...block, fields: requestBlock(block.fields, this.extraFields) }
  }

  private *turnsOf(messages: ReadonlyArray<Message.Message>): Codec.Steps<Array<Turn>> {
    const written = yield* Codec.mapped(messages, (message, index): ReadonlyArray<Turn> => {
      if (this.isHoisted(message, index)) return []
      const form = formOf(message)
      const { results, others } = this.blocks.of(message, index)
      if (message.role === "user") this.blocks.ids.close()
      const empty = results.length + others.length === 0
      if (empty && !(this.exact && form.content !== undefined)) return []
      const { content, fields, separate } = form
      return [{ role: wireRole(message.role), results, others, content, fields, separate }]
    })
    const turns: Array<Turn> = []
    for (const turn of this.exact ? written.flat() : Codec.everyTurn(messages, written, speakerOf, saying)) {
      addTurn(turns, turn, this.exact && turn.separate === true)
    }
    return turns
  }

  private accepted(turns: ReadonlyArray<Turn>, hoisted: ReadonlyArray<Block>) {
    const { omitted } = this.blocks
    return asAccepted(
      withoutLastThoughts(withoutEarlierThoughts(turns, hoisted, this.begin, omitted), omitted),
    )
  }

  private placed(given: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> {
    const server = Codec.serverOf(this.options.server ?? "anthropic")
    const { messages, omitted } = Codec.sendable(given, { server, longestName: 128 })
    this.blocks.omitted.push(...omitted)
    return messages
  }

  private systemOf(blocks: ReadonlyArray<Block>, form: Form["content"]): { readonly system?: unknown } {
    return blocks.length === 0 && !(this.exact && form !== undefined)
      ? {}
      : { system: contentOf(blocks, form) }
  }

  private isHoisted(message: Message.Message, index: number): boolean {
    if (message.role !== "system") return false
    return formOf(message).place !== "messages" || (index < this.begin && !this.exact)
  }

  *encode(given: ReadonlyArray<Message.Message>): Codec.Steps<Encoded> {
    const messages = this.exact ? given : this.placed(given)
    this.begin = messages.findIndex(({ role }) => role !== "system")
    const hoisted = messages.flatMap((message, index) =>
      this.isHoisted(message, index) ? this.blocks.of(message, index).others : [],
    )
    const form = messages.find(
      (message, index) => this.isHoisted(message, index) && formOf(message).content !== undefined,
    )
    yield
    const all = yield* this.turnsOf(messages)
    const { turns, system: moved } = this.exact ? { turns: all, system: [] } : this.accepted(all, hoisted)
    const systemBlocks = [...hoisted, ...moved].map((block) => this.sent(block))
    yield
    const served = new Set(
      turns.flatMap(({ others }) =>
        others.map(({ fields: { type, id } }) => type === "server_tool_use" && id),
      ),
    )
    const called = this.exact ? (block: Block) => block : calledBy(served)
    const contents = yield* Codec.mapped(turns, ({ results, others }) =>
      [...results, ...others].map((block) => this.sent(called(block))),
    )
    const marked = this.exact
      ? (block: Block) => block
      : withCacheControl([systemBlocks, ...contents], this.options.cacheControl)
    const written = yield* Codec.mapped(turns, (turn, at) => {
      const content = contentOf(contents[at]!.map(marked), turn.content)
      const message = Codec.restore({ role: turn.role, content }, turn.fields)
      return this.exact ? message : Codec.wellFormed(requestMessage(message, this.extraFields))
    })
    const system = this.systemOf(systemBlocks.map(marked), form && formOf(form).content)
    return {
      ...(this.exact ? system : Codec.wellFormed(system)),
      messages: written,
      omitted: this.blocks.omitted,
    } as unknown as Encoded
  }
}

/** A string where one text is all there is. */
const contentOf = (blocks: ReadonlyArray<Block>, form: Form["content"]): unknown => {
  const content = blocks.map(({ fields }) => fields)
  return form === "blocks" ? content : (Codec.plainText(content) ?? content)
}

/** Whose turn it is; a compaction of the API may stand first. */
const speakerOf = (turn: Turn): Codec.Speaker => (standsAlone(turn) ? undefined : turn.role)

const saying = (role: "user" | "assistant", text: string): Turn => ({
  role,
  results: [],
  others: [{ fields: { type: "text", text }, message: 0, part: "text" }],
  content: undefined,
  fields: undefined,
})

/**
 * The turns in an order that the API accepts: a system message stands only right behind a user's (any other one goes
 * into the `system` field), the first message is the user's, and neighbours of the same role are one.
 */
const asAccepted = (
  given: ReadonlyArray<Turn>,
): { readonly turns: ReadonlyArray<Turn>; readonly system: ReadonlyArray<Block> } => {
  const { kept, hoisted } = placeSystem(given)
  const turns: Array<Turn> = []
  for (const turn of kept) addTurn(turns, turn)
  const opened = Codec.inTurns(turns, Codec.servers.anthropic, speakerOf, saying)
  return { turns: opened, system: hoisted.flatMap(({ others }) => others) }
}

/** The messages as the model of the request takes them. */
const ofModel = (given: ReadonlyArray<Message.Message>, { exact, model }: EncodeOptions) =>
  Codec.withoutOtherModels(given, exact === true ? undefined : model)

/** {@link encodeAndReport} in steps, between which others have their turn. */
export function* encodingInSteps(
  given: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Codec.Steps<Encoded> {
  const own = ofModel(given, options)
  const { messages, sources, omitted: before } = placeSummaries(own.messages, options)
  const { cacheControl } = options
  const behind = cacheControl?.behind.map((position) => sources.lastIndexOf(position)) ?? []
  const encoder = new Encoder({
    ...options,
    ...(cacheControl === undefined ? {} : { cacheControl: { ...cacheControl, behind } }),
  })
  messages.forEach(({ name }, message) => {
    if (name !== undefined) encoder.blocks.omitted.push({ message, part: "name" })
  })
  const { omitted, ...conversation } = yield* encoder.encode(messages)
  return {
    ...conversation,
    omitted: [
      ...own.omitted,
      ...before,
      ...omitted.map((one) => ({ ...one, message: sources[one.message] ?? one.message })),
    ],
  }
}

/**
 * Encodes messages as {@link encodeMessages} does, and reports in `omitted` what the API has no place for.
 *
 * @example
 * ```ts
 * import { encodeAndReport } from "@memfold/anthropic"
 * import { Message } from "@memfold/core"
 *
 * const sound = { type: "file" as const, mediaType: "audio/wav", uri: "data:audio/wav;base64,UklGRg==" }
 * const { omitted } = encodeAndReport([Message.user("Hi"), { role: "user", parts: [sound] }])
 * console.log(omitted) // [{ message: 1, part: "file" }]
 * ```
 */
export const encodeAndReport = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): Encoded => Codec.atOnce(encodingInSteps(messages, options))

/**
 * Encodes messages for a Messages API request. `decodeMessages` gives the same messages back (L16: codecs lose nothing).
 *
 * - system messages are hoisted into `system`, wherever they stand, except a system message that was decoded from among
 *   the messages and stands right behind a user message
 * - neighbours of the same role become one message; tool results come first in it
 * - a summary with a block of the compaction API is sent as that block, if it comes first in `messages`; otherwise as text
 * - arguments that are no JSON object are sent as `{ "raw_arguments": "<the text>" }`, empty ones as `{}`
 * - a conversation that begins with the assistant gets a first user message, and a failed call without output a text
 * - ids that the API refuses, and ids that come again, are replaced, in a call and its result alike
 *
 * Left out are: reasoning without a signature, and that of another model than `model`; thinking at the end of a message, blank texts (the API refuses all of
 * them), opaque parts of other providers, files other than images, PDFs and plain text, files of an assistant, names,
 * the fields of a response (`id`, `usage`, …), and a message of which nothing remains. {@link encodeAndReport} says
 * what it left out.
 *
 * @example
 * ```ts
 * import { encodeMessages } from "@memfold/anthropic"
 * import { Message } from "@memfold/core"
 *
 * const { system, messages } = encodeMessages([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(system, messages) // "Be brief." [{ role: "user", content: "What is a fold?" }]
 * ```
 */
export const encodeMessages = (
  messages: ReadonlyArray<Message.Message>,
  options: EncodeOptions = {},
): AnthropicConversation => {
  const { omitted: _omitted, ...conversation } = encodeAndReport(messages, options)
  return conversation
}
