/** From memfold messages to messages of LangChain. */
import type { BaseMessage } from "@langchain/core/messages"
import {
  CallIds,
  type Fields,
  isFields,
  type Omitted,
  wellFormed,
  withoutEarlierThoughts,
  withoutMisplacedCalls,
} from "@memfold/codec"
import { Message } from "@memfold/core"
import { argsOf, isCallBlock, sentCallBlock, sentReasoning, sentText } from "./blocks.js"
import { exactWires } from "./exact.js"
import { sentFile, takesFile } from "./files.js"
import { formOf, ownData, partFormOf } from "./form.js"
import { makeMessage, type WireMessage } from "./wire.js"

/**
 * Options of {@link encodeMessages} and {@link encodeContext}.
 *
 * - `provider`: who gets the messages, as LangChain names it (`anthropic`, `openai`, …); `openai-responses` is the Responses API
 *   of OpenAI, and `openai` Chat Completions. Parts that this provider does not take are left out. Without it, every part is
 *   sent
 * - `exact`: `true` writes decoded messages exactly as they came, with what a model refuses: empty texts, ids that come
 *   again, invalid calls. The default, `false`, writes what models accept
 */
export interface EncodeOptions {
  readonly provider?: string | undefined
  readonly exact?: boolean
}

/** A context for a model: system messages are apart. */
export interface LangChainContext {
  /** The system messages as one text, or as content blocks if one of them has more than text, such as a cache mark. */
  system?: string | Array<{ type: "text"; text: string }>
  messages: Array<BaseMessage>
}

/** A context, and what it leaves out. */
export interface EncodedContext extends LangChainContext {
  readonly omitted: ReadonlyArray<Omitted>
}

/** Fields that name items of the Responses API, which refuses them without the reasoning they belong to. */
const itemFields = ["reasoning", "__openai_function_call_ids__", "__openai_custom_tool_call_ids__"]

/** Calls of OpenAI in its own form, which stand beside the parsed ones: invalid ones among them. */
const rawCalls = ["tool_calls", "function_call"]

const without = (fields: unknown, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(Object.entries(isFields(fields) ? fields : {}).filter(([name]) => !names.includes(name)))

/** Who wrote a message, as seen by the provider that gets it. */
type Author = "own" | "openai" | "other"

/** The providers that are surely named the same in an answer and by their models. */
const surelyNamed = new Set(["anthropic", "openai"])

/** Whether a message from one provider goes to another one, as far as their names say. */
const isOther = (from: string, to: string | undefined): boolean =>
  to !== undefined && from !== to && (surelyNamed.has(from) || surelyNamed.has(to))

/** Encodes one conversation for a model, and collects what it leaves out. */
class Encoder {
  readonly omitted: Array<Omitted> = []
  private readonly ids = new CallIds({ pattern: /^[\w-]{1,40}$/, reuse: false })
  private readonly names = new Map<string, string>()
  private position = 0
  /** The provider, whichever of its APIs it is. */
  private readonly company: string | undefined

  constructor(private readonly provider: string | undefined) {
    this.company = provider === "openai-responses" ? "openai" : provider
  }

  private omit(part: string): ReadonlyArray<never> {
    this.omitted.push({ message: this.position, part })
    return []
  }

  /**
   * Who wrote the blocks of a message. Blocks of another provider are useless to this provider. OpenAI has two APIs: Chat
   * Completions refuses blocks of Responses. Responses reads the content of its blocks from `response_metadata`, or from
   * fields beside the content, unless they are standard blocks (`output_version: "v1"`).
   */
  private authorOf(message: Message.Message): Author {
    const metadata = formOf(message).fields?.["response_metadata"]
    const from = isFields(metadata) ? metadata["model_provider"] : undefined
    if (typeof from === "string" && isOther(from, this.company)) return "other"
    const isStandard = isFields(metadata) && metadata["output_version"] === "v1"
    return from === "openai" && !isStandard ? "openai" : "own"
  }

  private opaque(part: Message.Opaque, author: Author): ReadonlyArray<unknown> {
    const { data } = part
    if (part.provider === "anthropic" && isFields(data) && data["type"] === "redacted_thinking") {
      return this.provider === undefined || this.provider === "anthropic" ? [data] : this.omit("opaque")
    }
    const own = ownData(part)
    if (!isFields(own) || author === "other") return this.omit("opaque")
    // The text of the arguments, as it was streamed; the call has it.
    if (own["type"] === "input_json_delta") return []
    return isCallBlock(own) ? this.omit("invalid-tool-call") : [own]
  }

  /** Whether a text says nothing that the provider would take: Anthropic refuses blank ones. */
  private isEmpty(text: string): boolean {
    return (this.provider === "anthropic" || this.provider === undefined ? text.trim() : text) === ""
  }

  private text(part: Message.Text, author: Author): Fields {
    if (author === "own") return sentText(part)
    const { patch } = partFormOf(part)
    const cites = [patch?.["citations"], patch?.["annotations"]].some(
      (list) => Array.isArray(list) && list.length > 0,
    )
    if (author === "other" && cites) this.omit("citations")
    return { type: "text", text: part.text }
  }

  private reasoning(part: Message.Reasoning, author: Author): ReadonlyArray<unknown> {
    if (author === "openai") return []
    const { block } = partFormOf(part)
    const isSigned = part.signature !== undefined && block !== "reasoning"
    const isRead = isSigned
      ? this.provider === undefined || this.provider === "anthropic" || block !== undefined
      : block === "reasoning"
    return isRead && author !== "other" && this.company !== "openai"
      ? [sentReasoning(part)]
      : this.omit("reasoning")
  }

  private block(part: Message.Part, role: Message.Role, author: Author = "own"): ReadonlyArray<unknown> {
    switch (part.type) {
      case "text":
        return this.isEmpty(part.text) ? [] : [this.text(part, author)]
      case "reasoning":
        return this.reasoning(part, author)
      case "file":
        return takesFile(part, role, this.provider) ? [sentFile(part, this.provider)] : this.omit("file")
      case "opaque":
        return this.opaque(part, author)
      case "tool-call":
      case "tool-result":
        return this.omit(part.type)
    }
  }

  /** The message, or nothing if nothing is left of it. */
  private written(
    message: Message.Message,
    blocks: ReadonlyArray<unknown>,
    more: WireMessage,
  ): ReadonlyArray<WireMessage> {
    const [first] = blocks
    if (blocks.length === 0 && more["tool_calls"] === undefined) {
      if (message.parts.some(({ type }) => type === "text")) this.omit("text")
      return []
    }
    const isText =
      formOf(message).content !== "blocks" &&
      blocks.length === 1 &&
      isFields(first) &&
      first["type"] === "text" &&
      Object.keys(first).length === 2
    const { id, fields } = formOf(message)
    const named = {
      ...(id === undefined ? {} : { id }),
      ...(message.name === undefined ? {} : { name: message.name }),
    }
    return [
      { ...fields, ...named, ...more, content: blocks.length === 0 ? "" : isText ? first["text"] : blocks },
    ]
  }

  private answer(message: Message.Message): ReadonlyArray<WireMessage> {
    const form = formOf(message)
    const author = this.authorOf(message)
    const foreign = author === "other"
    const left = message.parts.filter(Message.isBound)
    const calls: Array<Fields> = []
    let renamed = false
    const blocks = message.parts.flatMap((part): ReadonlyArray<unknown> => {
      if (partFormOf(part).block === "kwargs") return foreign ? this.omit("opaque") : []
      if (part.type !== "tool-call") return this.block(part, "assistant", author)
      const id = this.ids.call(part.id)
      this.names.set(part.id, part.name)
      renamed ||= id !== part.id
      calls.push({ ...partFormOf(part).call, type: "tool_call", id, name: part.name, args: argsOf(part) })
      const block = author === "own" ? sentCallBlock(part, id) : undefined
      return block === undefined ? [] : [block]
    })
    const item = foreign ? undefined : message.parts.find((part) => partFormOf(part).block === "kwargs")
    // OpenAI refuses an item whose reasoning is missing, but takes what it says.
    const strip = foreign || left.length < (form.bound ?? 0)
    const kwargs = {
      ...without(form.fields?.["additional_kwargs"], [...rawCalls, ...(strip ? itemFields : [])]),
      ...(item === undefined ? {} : { reasoning: ownData(item) }),
    }
    const metadata = without(form.fields?.["response_metadata"], [
      ...(strip || renamed ? ["output"] : []),
      ...(foreign ? ["output_version", "model_provider"] : []),
    ])
    const { fields } = form
    const [wire] = this.written(message, blocks, {
      type: "ai",
      content: "",
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      additional_kwargs: kwargs,
      response_metadata: metadata,
      invalid_tool_calls: [],
    })
    if (Array.isArray(fields?.["invalid_tool_calls"]) && fields["invalid_tool_calls"].length > 0) {
      this.omit("invalid-tool-call")
    }
    if (wire === undefined) return []
    const { id, ...rest } = wire as WireMessage & { readonly id?: unknown }
    return [strip && typeof id === "string" && id.startsWith("msg_") ? rest : wire]
  }

  private result(message: Message.Message, result: Message.ToolResult): WireMessage {
    const { id, fields } = formOf(message)
    const blocks = result.content?.flatMap((part) => this.block(part, "tool"))
    return {
      ...fields,
      ...(id === undefined ? {} : { id }),
      type: "tool",
      tool_call_id: this.ids.result(result.id),
      name: result.name ?? this.names.get(result.id) ?? "tool",
      ...(result.isError === undefined ? {} : { status: result.isError ? "error" : "success" }),
      content: blocks === undefined || blocks.length === 0 ? result.output : blocks,
    }
  }

  encode(message: Message.Message, position: number): ReadonlyArray<WireMessage> {
    this.position = position
    switch (message.role) {
      case "assistant":
        return this.answer(message)
      case "tool":
        return message.parts.flatMap((part): ReadonlyArray<WireMessage> =>
          part.type === "tool-result"
            ? [this.result(message, part)]
            : part.type === "text" && this.isEmpty(part.text)
              ? []
              : this.omit(part.type),
        )
      case "user":
        this.ids.close()
        return this.written(
          message,
          message.parts.flatMap((part) => this.block(part, "user")),
          {
            type: "human",
            content: "",
          },
        )
      case "system":
        return this.written(message, this.system(message), { type: "system", content: "" })
    }
  }

  private system({ parts }: Message.Message): ReadonlyArray<Fields> {
    return parts.flatMap((part): ReadonlyArray<Fields> =>
      part.type !== "text" ? this.omit(part.type) : this.isEmpty(part.text) ? [] : [sentText(part)],
    )
  }

  /** The text of all system messages; as blocks if one of them says more than its text. */
  systemOf(messages: ReadonlyArray<Message.Message>): LangChainContext["system"] {
    const blocks = messages.flatMap((message, position) => {
      this.position = position
      return message.role === "system" ? this.system(message) : []
    })
    if (blocks.length === 0) return undefined
    return blocks.every((block) => Object.keys(block).length === 2)
      ? wellFormed(blocks.map(({ text }) => String(text)).join("\n\n"))
      : (wellFormed(blocks) as ReadonlyArray<unknown> as Array<{ type: "text"; text: string }>)
  }
}

/** The user's first message, if the conversation would begin with another one: providers refuse that, except OpenAI. */
const opening: WireMessage = { type: "human", content: "(The conversation goes on.)" }

const opened = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<WireMessage> =>
  messages.length > 0 && messages[0]?.type !== "human" ? [opening, ...messages] : messages

/** The message without half emojis, which providers refuse; artifacts go to no provider. */
const sent = (wire: WireMessage): BaseMessage => {
  const { artifact, ...rest } = wire
  return makeMessage({
    ...(wellFormed(rest) as WireMessage),
    ...(artifact === undefined ? {} : { artifact }),
  })
}

/**
 * Encodes the messages of a context for a chat model. All system messages, the summary among them, are apart in `system`,
 * because some providers of LangChain take one only, and only in front. `omitted` names what cannot be sent.
 *
 * - reasoning that is bound to its prefix is left out where a system message came later
 * - ids of calls that a provider refuses, or that come again, are replaced, in a call and its result alike
 * - calls that the model wrote wrongly have no result, so they are left out
 *
 * @param messages the messages of a context, in order
 * @param options the provider
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { encodeContext } from "@memfold/langchain"
 *
 * const { system, messages } = encodeContext([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(system, messages.length) // "Be brief." 1
 * ```
 */
export const encodeContext = (
  messages: ReadonlyArray<Message.Message>,
  { provider }: Pick<EncodeOptions, "provider"> = {},
): EncodedContext => {
  const encoder = new Encoder(provider)
  const read = Message.forReader(messages)
  const summarized = read.flatMap(({ leftOut }, message) => leftOut.map((part) => ({ message, part })))
  const thoughts = withoutEarlierThoughts(read.map(({ message }) => message))
  const placed = withoutMisplacedCalls(thoughts.messages)
  const system = encoder.systemOf(placed.messages)
  const written = placed.messages.flatMap((message, position) =>
    message.role === "system" ? [] : encoder.encode(message, position),
  )
  return {
    ...(system === undefined ? {} : { system }),
    messages: opened(written).map(sent),
    omitted: [...summarized, ...thoughts.omitted, ...placed.omitted, ...encoder.omitted],
  }
}

/**
 * Encodes messages as messages of LangChain, system messages among them. With `exact`, `decodeMessages` gives the same
 * messages back (L16: codecs lose nothing). For a request, use {@link encodeContext}.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { encodeMessages } from "@memfold/langchain"
 *
 * console.log(encodeMessages([Message.user("What is a fold?")])[0]?.text) // "What is a fold?"
 * ```
 */
export const encodeMessages = (
  messages: ReadonlyArray<Message.Message>,
  { exact = false, provider }: EncodeOptions = {},
): Array<BaseMessage> => {
  if (exact) {
    return messages.flatMap((message) =>
      exactWires(message).map((wire) => makeMessage(wire, formOf(message).special)),
    )
  }
  const encoder = new Encoder(provider)
  return withoutMisplacedCalls(messages).messages.flatMap((message, position) =>
    encoder.encode(message, position).map(sent),
  )
}
