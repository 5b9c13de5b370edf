/** From memfold messages to the conversation of a Messages API request. */
import * as Codec from "@memfold/codec"
import type { Message } from "@memfold/core"
import { type Block, BlockWriter } from "./BlockWriter.js"
import { withCacheControl, type CacheControl } from "./cacheControl.js"
import { formOf, type Form } from "./form.js"
import { requestBlock, requestMessage } from "./request.js"
import { placeSummaries } from "./summaries.js"
import {
  addTurn,
  asAccepted,
  saying,
  speakerOf,
  type Turn,
  wireRole,
  withoutEarlierThoughts,
  withoutLastThoughts,
} from "./turns.js"
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
