/** Calls and answers in a message: tool calls and their results, and items of providers that belong together. */
import { itemOf } from "./readItems.js"
import type { Message, Part, ToolCall, ToolResult } from "./Message.js"

/**
 * A call that is not answered yet.
 *
 * - `otherId`: another id that its result may have
 * - `item`: who answers an item of a provider; absent for a tool call, which a tool result answers. The name of an item is
 *   its type
 */
export interface OpenCall {
  readonly id: string
  readonly name: string
  readonly otherId?: string | undefined
  readonly item?: "client" | "provider" | undefined
}

/** What a part does to the open calls: it is a call, or it answers one. */
export type Pairing =
  | { readonly call: OpenCall }
  | { readonly result: ToolResult }
  /** An item that answers an item with one of these types and ids. */
  | { readonly answers: { readonly types: ReadonlyArray<string>; readonly ids: ReadonlyArray<string> } }

const idsIn = (data: unknown, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const fields = data as Readonly<Record<string, unknown>>
  return names
    .map((name) => fields[name])
    .filter((id) => typeof id === "string" && id !== "") as Array<string>
}

const typeOf = (data: unknown): string => (data as { readonly type: string }).type

/** The item that a codec keeps as a tool call: its type is in the provider data of the format, its fields are the arguments. */
const otherIdOf = ({ id, arguments: args, providerData = {} }: ToolCall): string | undefined => {
  for (const [provider, form] of Object.entries(providerData)) {
    const { call } = itemOf({ provider, data: form }) ?? {}
    if (call === undefined || call.ids.length < 2) continue
    try {
      return idsIn(JSON.parse(args), call.ids).find((other) => other !== id)
    } catch {
      return undefined
    }
  }
  return undefined
}

/** A tool call as an open call. */
export const openCallOf = (call: ToolCall): OpenCall => {
  const otherId = call.providerData === undefined ? undefined : otherIdOf(call)
  return { id: call.id, name: call.name, ...(otherId === undefined ? {} : { otherId }) }
}

/** What a part does to the open calls; `undefined` for a part that is neither call nor answer. */
export const pairingOf = (part: Part): Pairing | undefined => {
  if (part.type === "tool-call") return { call: openCallOf(part) }
  if (part.type === "tool-result") return { result: part }
  if (part.type !== "opaque" || part.replaces !== undefined) return undefined
  const { call, answer } = itemOf(part) ?? {}
  if (call !== undefined) {
    const [id] = idsIn(part.data, call.ids)
    return id === undefined ? undefined : { call: { id, name: typeOf(part.data), item: call.by } }
  }
  if (answer === undefined) return undefined
  const ids = idsIn(part.data, answer.ids)
  return ids.length === 0 ? undefined : { answers: { types: answer.calls, ids } }
}

/** Whether a message has a call or an answer. */
export const hasPairing = ({ parts }: Message): boolean => parts.some((part) => pairingOf(part) !== undefined)

/**
 * Finds the open call that a result answers.
 *
 * A result answers the oldest open tool call with the id of the result, because a provider may use an id again. A result with an empty
 * id answers the oldest open call of its name, or else the oldest open call.
 *
 * @param open the open calls, oldest first
 * @returns the position in `open`, or `-1` if the result answers no open call: it is late, a duplicate or unexpected
 */
export const answeredCall = (
  open: ReadonlyArray<OpenCall>,
  result: { readonly id: string; readonly name?: string | undefined },
): number => {
  const { id, name } = result
  if (id !== "") {
    const own = open.findIndex((call) => call.item === undefined && call.id === id)
    return own === -1 ? open.findIndex((call) => call.otherId === id) : own
  }
  const named = open.findIndex((call) => call.item === undefined && call.name === name)
  return named === -1 ? open.findIndex((call) => call.item === undefined) : named
}

/** The position in `open` of the call that an answer answers, or `-1`. */
const answeredBy = (open: ReadonlyArray<OpenCall>, pairing: Exclude<Pairing, { call: OpenCall }>): number => {
  if ("result" in pairing) return answeredCall(open, pairing.result)
  const { types, ids } = pairing.answers
  return open.findIndex(
    ({ item, name, id }) => item !== undefined && types.includes(name) && ids.includes(id),
  )
}

/**
 * Whether a call takes the place of an open call of an earlier message: both have one id. The earlier call was abandoned, or its
 * message was appended twice; an answer that comes later answers the newer call.
 */
export const takesPlaceOf = (
  call: Pick<OpenCall, "id" | "name" | "item">,
  earlier: Pick<OpenCall, "id" | "name" | "item">,
): boolean =>
  call.id !== "" && call.id === earlier.id && call.name === earlier.name && call.item === earlier.item

/**
 * The open calls behind a message of the assistant: the calls before the message, and the calls in it. A call of the message takes the
 * place of an open call with its id.
 *
 * @param open the open calls before it, oldest first
 * @param calls the calls of the message
 */
export const withCalls = <Call extends { readonly id: string; readonly name: string }>(
  open: ReadonlyArray<Call>,
  calls: ReadonlyArray<Call>,
): Array<Call> => [
  ...open.filter((earlier) => !calls.some(({ id, name }) => takesPlaceOf({ id, name }, earlier))),
  ...calls,
]

/** The open calls after a message, and what its parts did to them. */
export interface Paired {
  readonly open: ReadonlyArray<OpenCall>
  /** Its calls, answered within the message or not, with their parts. */
  readonly calls: ReadonlyArray<readonly [OpenCall, Part]>
  /** Its answers that answer nothing. */
  readonly alone: ReadonlyArray<Part>
  /** The calls before it that nothing can answer any more. */
  readonly closed: ReadonlyArray<OpenCall>
}

/** Whether a tool message has something that a context can only show as the user's. */
const speaksAsUser = ({ role, parts }: Message): boolean =>
  role === "tool" && (parts.length === 0 || parts.some(({ type }) => type !== "tool-result"))

/**
 * Pairs the calls and answers of a message with the open calls before it. Its tool results answer calls before it alone. A
 * user message closes every open call; what a context shows as one (a late result) closes the items.
 */
export const pairMessage = (before: ReadonlyArray<OpenCall>, message: Message): Paired => {
  if (message.role === "user") {
    const paired = pairMessage([], { ...message, role: "assistant" })
    return { ...paired, open: [], closed: [...before, ...paired.open] }
  }
  const pairings = message.parts.flatMap((part) => {
    const pairing = pairingOf(part)
    return pairing === undefined ? [] : [{ part, pairing }]
  })
  let open = [...before]
  const alone: Array<Part> = []
  const close = (part: Part, pairing: Exclude<Pairing, { call: OpenCall }>) => {
    const at = answeredBy(open, pairing)
    if (at === -1) alone.push(part)
    else open.splice(at, 1)
  }
  for (const { part, pairing } of pairings) if ("result" in pairing) close(part, pairing)
  let closed: ReadonlyArray<OpenCall> = []
  if (alone.length > 0 || speaksAsUser(message)) {
    closed = open.filter(({ item }) => item !== undefined)
    open = open.filter(({ item }) => item === undefined)
  }
  const calls: Array<readonly [OpenCall, Part]> = []
  const earlier = new Set(open)
  for (const { part, pairing } of pairings) {
    if ("call" in pairing) {
      const replaced = open.filter((one) => earlier.has(one) && takesPlaceOf(pairing.call, one))
      if (replaced.length > 0) open = open.filter((one) => !replaced.includes(one))
      closed = [...closed, ...replaced.filter(({ item }) => item !== undefined)]
      open.push(pairing.call)
      calls.push([pairing.call, part])
    } else if ("answers" in pairing) close(part, pairing)
  }
  return { open, calls, alone, closed }
}
