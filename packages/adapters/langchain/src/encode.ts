/** From memfold messages to messages of LangChain. */
import type { BaseMessage } from "@langchain/core/messages"
import {
  argumentsOf,
  CallIds,
  everyTurn,
  type Fields,
  isFields,
  messagesToSend,
  objectOf,
  Omissions,
  type Omitted,
  plainText,
  present,
  type Speaker,
  wellFormed,
  idRules,
  inTurns,
  sendable,
  serverOf,
} from "@memfold/codec"
import { Message } from "@memfold/core"
import { sentCallBlock, sentText } from "./blocks.js"
import { exactWires, types } from "./exact.js"
import { formOf, ownData, partFormOf } from "./form.js"
import { itemFields, Items } from "./items.js"
import { Blocks } from "./sent.js"
import { makeMessage, type WireMessage } from "./wire.js"

/**
 * Options of {@link encodeMessages} and {@link encodeContext}.
 *
 * - `provider`: who gets the messages, as LangChain names it (`anthropic`, `openai`, …); `openai-responses` is the Responses API
 *   of OpenAI, and `openai` Chat Completions. Parts that this provider does not take are left out. Without it, every part is
 *   sent
 * - `server`: who gets the messages, if it is not what the provider is called: the base URL of the model, for example
 * - `exact`: `true` writes decoded messages exactly as they came, with what a model refuses: empty texts, ids that come
 *   again, invalid calls. The default, `false`, writes what models accept
 */
export interface EncodeOptions {
  readonly provider?: string | undefined
  readonly server?: string | undefined
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

/** Calls of OpenAI in its own form, which stand beside the parsed ones: invalid ones among them. */
const rawCalls = ["tool_calls", "function_call"]

const without = (fields: unknown, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(Object.entries(isFields(fields) ? fields : {}).filter(([name]) => !names.includes(name)))

/** The calls among the items that the Responses API answered with, as the model said them. */
const callsIn = (metadata: unknown): ReadonlyArray<Fields> => {
  const items = isFields(metadata) ? metadata["output"] : undefined
  return (Array.isArray(items) ? items : []).filter(
    (item: unknown): item is Fields => isFields(item) && item["type"] === "function_call",
  )
}

const written = (
  message: Message.Message,
  blocks: ReadonlyArray<unknown>,
  more: WireMessage,
  omissions: Omissions,
): ReadonlyArray<WireMessage> => {
  if (blocks.length === 0 && more["tool_calls"] === undefined) {
    if (message.parts.some(({ type }) => type === "text")) omissions.add("text")
    return []
  }
  const { id, fields, content } = formOf(message)
  const text = content === "blocks" ? undefined : plainText(blocks)
  const named = present({ id, name: message.name })
  return [{ ...fields, ...named, ...more, content: blocks.length === 0 ? "" : (text ?? blocks) }]
}

/** Encodes one conversation for a model, and collects what it leaves out. */
class Encoder {
  readonly omissions = new Omissions()
  private readonly blocks: Blocks
  private readonly ids: CallIds
  private readonly names = new Map<string, string>()
  private readonly items = new Items()

  constructor({ provider, server = provider }: EncodeOptions) {
    this.blocks = new Blocks(provider, this.omissions)
    this.ids = new CallIds(idRules(serverOf(server), /^[\w-]{1,40}$/))
  }

  private answer(message: Message.Message): ReadonlyArray<WireMessage> {
    const form = formOf(message)
    const author = this.blocks.authorOf(message)
    const foreign = author === "other"
    const left = message.parts.filter(Message.isBound)
    // OpenAI refuses an item whose reasoning is missing, but takes what it says.
    const strip = this.items.begin(form, foreign || left.length < (form.bound ?? 0))
    const calls: Array<Fields> = []
    // A name that the model made up is another one here, and broken arguments are in an object; LangChain would send the items as
    // they are.
    const sentNames = new Map<unknown, string>(Message.calls(message).map(({ id, name }) => [id, name]))
    let renamed = callsIn(form.fields?.["response_metadata"]).some(
      ({ call_id: id, name, arguments: text }) =>
        sentNames.get(id) !== name || objectOf(String(text)) === undefined,
    )
    const blocks = message.parts.flatMap((part): ReadonlyArray<unknown> => {
      if (partFormOf(part).block === "kwargs") return foreign ? this.omissions.add("opaque") : []
      if (part.type !== "tool-call")
        return this.blocks.block(part, "assistant", author).map((block) => this.items.own(block))
      const id = this.ids.call(part.id)
      this.names.set(part.id, part.name)
      renamed ||= id !== part.id
      calls.push({
        ...partFormOf(part).call,
        type: "tool_call",
        id,
        name: part.name,
        args: argumentsOf(part.arguments),
      })
      const block = author === "own" ? sentCallBlock(part, id) : undefined
      return block === undefined ? [] : [block]
    })
    const item = foreign ? undefined : message.parts.find((part) => partFormOf(part).block === "kwargs")
    const kwargs = {
      ...without(form.fields?.["additional_kwargs"], [...rawCalls, ...(strip ? itemFields : [])]),
      ...(item === undefined ? {} : { reasoning: this.items.own(ownData(item)) }),
    }
    const metadata = without(form.fields?.["response_metadata"], [
      ...(strip || renamed ? ["output"] : []),
      ...(foreign ? ["output_version", "model_provider"] : []),
    ])
    const [wire] = written(
      message,
      blocks,
      {
        type: "ai",
        content: "",
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        additional_kwargs: kwargs,
        response_metadata: metadata,
        invalid_tool_calls: [],
      },
      this.omissions,
    )
    const invalid = form.fields?.["invalid_tool_calls"]
    if (Array.isArray(invalid) && invalid.length > 0) this.omissions.add("invalid-tool-call")
    if (wire === undefined) return []
    const { id, ...rest } = wire as WireMessage & { readonly id?: unknown }
    return [strip && typeof id === "string" && id.startsWith("msg_") ? rest : wire]
  }

  private result(message: Message.Message, result: Message.ToolResult): WireMessage {
    const { id, fields } = formOf(message)
    const blocks = result.content?.flatMap((part) => this.blocks.block(part, "tool"))
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
    this.omissions.message = position
    switch (message.role) {
      case "assistant":
        return this.answer(message)
      case "tool":
        return message.parts.flatMap((part): ReadonlyArray<WireMessage> =>
          part.type === "tool-result"
            ? [this.result(message, part)]
            : part.type === "text" && this.blocks.isEmpty(part.text)
              ? []
              : this.omissions.add(part.type),
        )
      case "user":
        this.ids.close()
        return written(
          message,
          message.parts.flatMap((part) => this.blocks.block(part, "user")),
          { type: "human", content: "" },
          this.omissions,
        )
      case "system":
        return written(message, this.system(message), { type: "system", content: "" }, this.omissions)
    }
  }

  private system({ parts }: Message.Message): ReadonlyArray<Fields> {
    return parts.flatMap((part): ReadonlyArray<Fields> =>
      part.type !== "text"
        ? this.omissions.add(part.type)
        : this.blocks.isEmpty(part.text)
          ? []
          : [sentText(part)],
    )
  }

  /** The text of all system messages; as blocks if one of them says more than its text. */
  systemOf(messages: ReadonlyArray<Message.Message>): LangChainContext["system"] {
    const blocks = messages.flatMap((message, position) => {
      this.omissions.message = position
      return message.role === "system" ? this.system(message) : []
    })
    if (blocks.length === 0) return undefined
    return blocks.every((block) => Object.keys(block).length === 2)
      ? wellFormed(blocks.map(({ text }) => String(text)).join("\n\n"))
      : (wellFormed(blocks) as ReadonlyArray<unknown> as Array<{ type: "text"; text: string }>)
  }
}

const speakerOf = ({ type }: WireMessage): Speaker =>
  (Object.keys(types) as ReadonlyArray<keyof typeof types>).find((speaker) => types[speaker] === type)

/** The message without half emojis, which providers refuse; artifacts go to no provider. */
const sent = (wire: WireMessage): BaseMessage => {
  const { artifact, ...rest } = wire
  return makeMessage({ ...(wellFormed(rest) as WireMessage), ...present({ artifact }) })
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
  options: Pick<EncodeOptions, "provider" | "server"> = {},
): EncodedContext => {
  const server = serverOf(options.server ?? options.provider)
  const encoder = new Encoder(options)
  const placed = messagesToSend(messages, server)
  const system = encoder.systemOf(placed.messages)
  const written = placed.messages.map((message, position) =>
    message.role === "system" ? [] : encoder.encode(message, position),
  )
  const say = (speaker: Message.Role, content: string): WireMessage => ({ type: types[speaker], content })
  const said = everyTurn(placed.messages, written, speakerOf, say)
  return {
    ...(system === undefined ? {} : { system }),
    messages: inTurns(said, server, speakerOf, say).map(sent),
    omitted: [...placed.omitted, ...encoder.omissions.all],
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
  { exact = false, ...options }: EncodeOptions = {},
): Array<BaseMessage> => {
  if (exact) {
    return messages.flatMap((message) =>
      exactWires(message).map((wire) => makeMessage(wire, formOf(message).special)),
    )
  }
  const encoder = new Encoder(options)
  const { messages: sendables } = sendable(messages, { server: serverOf(options.server ?? options.provider) })
  return sendables.flatMap((message, position) => encoder.encode(message, position).map(sent))
}
