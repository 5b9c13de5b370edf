/** From memfold messages to prompts of Effect AI. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Prompt } from "@effect/ai"
import { formOf, itemsIn, ownData } from "./form.js"
import { encodePart, makePart } from "./parts.js"

/** Options of {@link encodeContext}. */
export interface EncodeOptions {
  /** The provider, as `Model.ProviderName` says it. What another one runs itself is left out then. */
  readonly provider?: string | undefined
}

/** A context as a prompt, and what it leaves out. */
export interface EncodedContext {
  readonly prompt: Prompt.Prompt
  readonly omitted: ReadonlyArray<Codec.Omitted>
}

/** The types of parts that a role can have. */
const typesOf: Readonly<Record<Message.Role, ReadonlySet<unknown>>> = {
  system: new Set(),
  user: new Set(["text", "file"]),
  assistant: new Set(["text", "file", "reasoning", "tool-call", "tool-result"]),
  tool: new Set(["tool-result"]),
}

/** Tools that a provider runs itself, and that its package sends back; for other names it fails. */
const executed: Readonly<Record<string, RegExp>> = {
  anthropic: /^Anthropic(?:CodeExecution|WebSearch)$/,
  openai: /^OpenAi/,
}

const messageOptions = (message: Message.Message): Prompt.ProviderOptions => {
  const { options, special } = formOf(message)
  const { options: own } = Codec.thaw({ options: options ?? {} }, special) as { readonly options: unknown }
  return own as Prompt.ProviderOptions
}

const makeMessage = (
  message: Message.Message,
  content: string | ReadonlyArray<Prompt.Part>,
): Prompt.Message => Prompt.makeMessage(message.role, { content, options: messageOptions(message) } as never)

const say = (role: "user" | "assistant", text: string): Prompt.Message =>
  Prompt.makeMessage(role, { content: [Prompt.makePart("text", { text })] } as never)

/** Encodes one conversation, and collects what it leaves out. */
class Encoder {
  readonly omissions = new Codec.Omissions()
  private readonly ids: Codec.CallIds
  private readonly itemIds = new Codec.ItemIds("options")
  private readonly names = new Map<string, string>()

  constructor(private readonly provider: string | undefined) {
    this.ids = new Codec.CallIds(Codec.idRules(Codec.serverOf(provider), /^[\w-]{1,64}$/))
  }

  private part(role: Message.Role, part: Message.Part): ReadonlyArray<Codec.Fields> {
    // Anthropic refuses a text that is blank.
    if (part.type === "text" && part.text.trim() === "") return []
    if (part.type === "opaque" && ownData(part) === undefined) return this.redacted(role, part)
    const written = encodePart(part, false)
    if (written === undefined || !typesOf[role].has(written["type"])) return this.omissions.add(part.type)
    if (part.type === "tool-call") {
      this.names.set(part.id, part.name)
      return [{ ...written, id: this.ids.call(part.id) }]
    }
    if (part.type === "tool-result") {
      if (role !== "tool") return this.omissions.add(part.type)
      for (const one of part.content ?? []) if (one.type !== "text") this.omissions.add(one.type)
      const name = part.name ?? this.names.get(part.id) ?? "tool"
      return [{ ...written, id: this.ids.result(part.id), name }]
    }
    return this.runsHere(written) && this.isSent(role, written) ? [written] : this.omissions.add(part.type)
  }

  /** Whether the library sends a part to the provider: a message of which it sends nothing is refused. */
  private isSent(role: Message.Role, { type, options }: Codec.Fields): boolean {
    if (this.provider !== "anthropic" || role !== "assistant") return true
    return type === "reasoning"
      ? Codec.isFields(options) && Codec.isFields(options["anthropic"])
      : type !== "file"
  }

  /** Whether the provider takes back what a provider ran itself. */
  private runsHere({ type, name }: Codec.Fields): boolean {
    if (type !== "tool-call" && type !== "tool-result") return true
    const own = this.provider === undefined ? undefined : executed[this.provider]
    return own === undefined || own.test(String(name))
  }

  /** Redacted thinking of the Messages API has a place in Effect AI, too. */
  private redacted(role: Message.Role, part: Message.Opaque): ReadonlyArray<Codec.Fields> {
    const redacted = Codec.redactedThinking(part)
    if (redacted === undefined || role !== "assistant") return this.omissions.add("opaque")
    const options = { anthropic: { type: "redacted_thinking", redactedData: redacted["data"] } }
    return [{ type: "reasoning", text: "", options }]
  }

  encode(message: Message.Message, position: number): ReadonlyArray<Prompt.Message> {
    this.omissions.message = position
    const { role, parts } = message
    if (role === "system") {
      for (const { type } of parts) if (type !== "text" && type !== "tool-call") this.omissions.add(type)
      const text = Message.text(message).toWellFormed()
      return text.trim() === "" ? [] : [makeMessage(message, text)]
    }
    if (role === "user") this.ids.close()
    // OpenAI refuses an item whose reasoning is missing, but takes what it says.
    const isLeft = itemsIn(parts) < (formOf(message).items ?? 0)
    const content = parts.flatMap((part) =>
      this.part(role, part).map((one) => makePart(this.itemIds.sent(one, position, isLeft), part)),
    )
    if (content.length > 0) return [makeMessage(message, content)]
    if (parts.some(({ type }) => type === "text")) this.omissions.add("text")
    return []
  }
}

/**
 * Encodes the messages of a context as a prompt for a model. System messages, the summary among them, stand in front, because
 * providers of Effect AI take the system messages of one place only. `omitted` names what Effect AI has no place for.
 *
 * - a conversation that begins with the assistant gets a first message of the user, unless the provider is OpenAI
 * - reasoning that is bound to its prefix is left out where a system message came later
 * - ids of calls that a provider refuses, and ids that come again, are replaced, in a call and its result alike
 * - where bound reasoning of a message is missing, its other parts are sent without the provider's ids (`itemId`); ids that come again are
 *   replaced or left out
 *
 * @param messages the messages of a context, in order
 * @param options the provider, if it is known
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { encodeContext } from "@memfold/effect-ai"
 *
 * const { prompt } = encodeContext([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(prompt.content.map(({ role }) => role)) // ["system", "user"]
 * ```
 */
export const encodeContext = (
  messages: ReadonlyArray<Message.Message>,
  { provider }: EncodeOptions = {},
): EncodedContext => {
  const encoder = new Encoder(provider)
  const server = Codec.serverOf(provider)
  const placed = Codec.messagesToSend(messages, server)
  const speakerOf = ({ role }: Prompt.Message) => role
  const encoded = placed.messages.map((message, position) => encoder.encode(message, position))
  const written = Codec.everyTurn(placed.messages, encoded, speakerOf, say)
  const [system, said] = [true, false].map((first) =>
    written.filter(({ role }) => (role === "system") === first),
  )
  const inTurns = Codec.inTurns(said!, server, speakerOf, say)
  return {
    prompt: Prompt.fromMessages([...system!, ...inTurns]),
    omitted: [...placed.omitted, ...encoder.omissions.all],
  }
}

/**
 * Encodes messages exactly as they came, with what a model refuses: {@link decodePrompt} gives the same messages back (L16: codecs
 * lose nothing). For a request, use {@link encodeContext}. Opaque parts of other formats have no place in a prompt.
 *
 * @example
 * ```ts
 * import { Message } from "@memfold/core"
 * import { encodePrompt } from "@memfold/effect-ai"
 *
 * console.log(encodePrompt([Message.user("What is a fold?")]).content.length) // 1
 * ```
 */
export const encodePrompt = (messages: ReadonlyArray<Message.Message>): Prompt.Prompt =>
  Prompt.fromMessages(
    messages.map((message) => {
      if (message.role === "system") return makeMessage(message, Message.text(message))
      const content = message.parts.flatMap((part) => {
        const written = encodePart(part, true)
        return written === undefined ? [] : [makePart(written, part)]
      })
      return makeMessage(message, content)
    }),
  )
