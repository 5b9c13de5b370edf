/** From memfold messages to items of the Agents SDK. */
import * as Codec from "@memfold/codec"
import { Message } from "@memfold/core"
import { Responses } from "@memfold/openai"
import type { AgentInputItem } from "@openai/agents"
import { type Form, formIn, provider, same, withoutForm, written } from "./form.js"
import { itemOf, messageOf, ownItem, wireOf } from "./item.js"
import { fromWire } from "./wire.js"

/** The parts of one item, as a message of their own, and how the item was written; in the Responses API, and in the SDK. */
interface Piece {
  readonly message: Message.Message
  readonly wire: Codec.Fields | undefined
  readonly form: Form | undefined
}

const continues = ({ providerData }: Message.Part): boolean => {
  const form = providerData?.["openai-responses"]
  return Codec.isFields(form) && form["continues"] === true
}

const pieceOf = (message: Message.Message, form: Form | undefined): Piece => ({
  message,
  wire: wireOf(message),
  form,
})

const pieceOfParts = (role: Message.Role, parts: ReadonlyArray<Message.Part>): Piece =>
  pieceOf({ role, parts: parts.map(withoutForm) }, formIn(parts[0]?.providerData))

const withoutOwn = ({ metadata, ...message }: Message.Message): Message.Message => {
  const { [provider]: _form, ...others } = metadata ?? {}
  return Object.keys(others).length === 0 ? message : { ...message, metadata: others }
}

const itemsOfAssistant = (parts: ReadonlyArray<Message.Part>): ReadonlyArray<Piece> => {
  const groups: Array<Array<Message.Part>> = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (last !== undefined && continues(part)) last.push(part)
    else groups.push([part])
  }
  return groups.map((group) => pieceOfParts("assistant", group))
}

const piecesAnew = (message: Message.Message): ReadonlyArray<Piece> => {
  const { role, parts } = message
  if (role === "assistant") return itemsOfAssistant(parts)
  const form = formIn(message.metadata)
  if (role !== "tool" || form !== undefined) return [pieceOf(withoutOwn(message), form)]
  return parts.filter(({ type }) => type === "tool-result").map((part) => pieceOfParts(role, [part]))
}

/** The pieces of messages that were encoded: a context has most of the messages that the one before it had. */
const encoded = new WeakMap<Message.Message, ReadonlyArray<Piece>>()

const pieces = (message: Message.Message): ReadonlyArray<Piece> => {
  const known = encoded.get(message) ?? piecesAnew(message)
  encoded.set(message, known)
  return known
}

const contentOf = ({ role, parts }: Message.Message): unknown => ({ role, parts })

/**
 * The item as it came. A whole item is used only as long as it says what its message says: contexts shorten outputs, and
 * a redaction erases texts.
 */
const asItCame = ({ message, wire, form }: Piece): Codec.Fields => {
  const known = itemOf(message, wire)
  if (form === undefined) return known
  if (form.item === undefined) return written(known, form)
  return same(contentOf(messageOf(form.item)), contentOf(message)) ? form.item : known
}

/** Whether an item has anything: a message of another library may have parts that no item has a place for. */
const hasContent = (item: Codec.Fields): boolean => Object.keys(item).length > 0

/**
 * Encodes messages as items of the Agents SDK, exactly as they came from there. `decodeItems` gives the same messages back.
 *
 * Left out are parts that the SDK has no place for: reasoning and opaque parts of other providers, audio.
 *
 * @example
 * ```ts
 * import { encodeItems } from "@memfold/openai-agents"
 * import { Message } from "@memfold/core"
 *
 * const [item] = encodeItems([Message.user("What is a fold?")])
 * console.log(item) // { type: "message", role: "user", content: "What is a fold?" }
 * ```
 */
export const encodeItems = (messages: ReadonlyArray<Message.Message>): Array<AgentInputItem> => {
  const names = toolNames(messages)
  return messages
    .flatMap(pieces)
    .map((piece) => nameResult(asItCame(piece), names))
    .filter(hasContent) as unknown as Array<AgentInputItem>
}

const toolNames = (messages: ReadonlyArray<Message.Message>): ReadonlyMap<string, string> =>
  new Map(messages.flatMap(Message.calls).map(({ id, name }) => [id, name]))

/** A result of another library may not say the name of its tool; its call does. */
const nameResult = (item: Codec.Fields, names: ReadonlyMap<string, string>): Codec.Fields => {
  const { type, name, callId } = item as Record<string, unknown>
  if (type !== "function_call_result" || name !== callId || typeof callId !== "string") return item
  return { ...item, name: names.get(callId) ?? callId }
}

/** Items for a model, and what they leave out: see {@link encodeContext}. */
export interface EncodedContext {
  readonly items: Array<AgentInputItem>
  /** The parts that were left out, by the position of their message in what was given. */
  readonly omitted: ReadonlyArray<Codec.Omitted>
}

/** How many entries two lists have in common, from the first one on. */
const inCommon = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>): number => {
  const end = one.findIndex((entry, at) => at >= other.length || !same(entry, other[at]))
  return end === -1 ? one.length : end
}

/**
 * What is said beside calls, in front of them. The SDK takes a text behind a call for a message of its own if the call, too, stands behind a
 * text, and Chat Completions then misses its result.
 */
const saidFirst = (items: ReadonlyArray<Codec.Fields>): ReadonlyArray<unknown> => {
  const out: Array<Codec.Fields> = []
  let calls: Array<Codec.Fields> = []
  for (const item of items) {
    if (item["type"] === "function_call") calls.push(item)
    else if (item["role"] === "assistant") out.push(item)
    else {
      out.push(...calls, item)
      calls = []
    }
  }
  return [...out, ...calls]
}

/**
 * Encodes a context as items of the Agents SDK that the Responses API accepts, by the rules of `Responses.encodeItems` of
 * `@memfold/openai`: no reasoning without what follows from it, no id that is too long or used twice, no call out of place.
 * Items that need no change are as they came.
 *
 * @param messages the messages of a context
 * @returns the items, and what they leave out
 *
 * @example
 * ```ts
 * import { encodeContext } from "@memfold/openai-agents"
 * import { Message } from "@memfold/core"
 *
 * const { items } = encodeContext([Message.system("Be brief."), Message.user("What is a fold?")])
 * console.log(items.length) // 2
 * ```
 */
export const encodeContext = (messages: ReadonlyArray<Message.Message>): EncodedContext => {
  const { input, omitted } = Responses.encodeAndReport(messages, { summaries: "text", server: "any" })
  const accepted = input as unknown as ReadonlyArray<Codec.Fields>
  const names = toolNames(messages)
  const came = messages.flatMap(pieces).filter(({ message }) => ownItem(message) === undefined)
  const wires = came.map(({ wire }) => wire)
  const front = inCommon(accepted, wires)
  const rest = [accepted, wires].map((list) => list.slice(front).toReversed())
  const back = inCommon(rest[0]!, rest[1]!)
  const items = accepted.map((wire, at) => {
    const piece =
      at < front
        ? came[at]
        : at >= accepted.length - back
          ? came[at - accepted.length + came.length]
          : undefined
    return nameResult(piece === undefined ? fromWire(wire, (id) => names.get(id)) : asItCame(piece), names)
  })
  return { items: saidFirst(items) as Array<AgentInputItem>, omitted }
}
