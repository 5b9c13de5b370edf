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

/** What two calls have in common where the later one takes the place of the earlier one; `null` for a call without an id. */
const identityOf = ({ id, name, item }: OpenCall): string | null =>
  id === "" ? null : `same ${item ?? ""} ${name.length} ${name}${id}`

const itemNamed = (type: string, id: string): string => `item ${type.length} ${type}${id}`

/** What an answer may name a call by. */
const namesOf = ({ id, name, otherId, item }: OpenCall): ReadonlyArray<string> =>
  item === undefined
    ? [`id ${id}`, `name ${name}`, "any", ...(otherId === undefined ? [] : [`other ${otherId}`])]
    : [itemNamed(name, id)]

/**
 * The calls that wait for an answer, oldest first. An answer finds its call at once, however many wait: a message may have thousands.
 *
 * @example
 * ```ts
 * import { Structure } from "@memfold/message"
 *
 * const open = new Structure.OpenCalls([{ id: "1", name: "search" }, { id: "2", name: "read" }])
 * console.log(open.answer({ id: "2" })?.name) // read
 * console.log(open.left.map(({ id }) => id)) // [ '1' ]
 * ```
 */
export class OpenCalls<Call extends OpenCall> {
  readonly #calls: Array<Call | null> = []
  /** The places of calls by what names them, and how many of these are known to be answered. */
  readonly #named = new Map<string, { readonly places: Array<number>; answered: number }>()
  readonly #ids: ReadonlySet<string> | undefined

  /**
   * @param calls - the calls, oldest first
   * @param ids - the ids that are asked for, if they are known: the other calls cost nothing
   */
  constructor(calls: Iterable<Call> = [], ids?: ReadonlySet<string>) {
    this.#ids = ids
    for (const call of calls) this.add(call)
  }

  /** How many calls there have been. */
  get count(): number {
    return this.#calls.length
  }

  /** The calls that still wait. */
  get left(): Array<Call> {
    return this.#calls.filter((call) => call !== null)
  }

  /**
   * Adds a call.
   *
   * @param earlier - among how many of the first calls it takes the place of those with its id. Such a call was abandoned, or its message
   *   was appended twice; an answer that comes later answers the newer call
   * @returns the calls whose place it takes
   */
  add(call: Call, earlier = 0): ReadonlyArray<Call> {
    const identity = identityOf(call)
    const replaced: Array<Call> = []
    if (identity !== null)
      for (let at = this.#oldest(identity); at < earlier; at = this.#oldest(identity))
        replaced.push(this.#take(at)!)
    const place = this.#calls.push(call) - 1
    const ids = this.#ids
    if (ids === undefined || ids.has("") || ids.has(call.id) || ids.has(call.otherId ?? call.id))
      for (const name of [...namesOf(call), ...(identity === null ? [] : [identity])]) {
        const known = this.#named.get(name)
        if (known === undefined) this.#named.set(name, { places: [place], answered: 0 })
        else known.places.push(place)
      }
    return replaced
  }

  /** Adds the calls of a message: they take the place of earlier calls with their ids, and not of each other. */
  addAll(calls: Iterable<Call>): void {
    const earlier = this.count
    for (const call of calls) this.add(call, earlier)
  }

  /**
   * Takes out the call that a result answers: the oldest tool call with the id of the result, because a provider may use an id again. A
   * result with an empty id answers the oldest call of its name, or else the oldest one.
   *
   * @returns the call; `undefined` if the result answers none: it is late, a duplicate or unexpected
   */
  answer({ id, name }: { readonly id: string; readonly name?: string | undefined }): Call | undefined {
    const [own, other] = id === "" ? [`name ${name}`, "any"] : [`id ${id}`, `other ${id}`]
    const at = this.#oldest(own)
    return this.#take(at === Number.POSITIVE_INFINITY ? this.#oldest(other) : at)
  }

  /** Takes out the item that an item with one of these types and ids answers. */
  answerItem(types: ReadonlyArray<string>, ids: ReadonlyArray<string>): Call | undefined {
    return this.#take(
      Math.min(...types.flatMap((type) => ids.map((id) => this.#oldest(itemNamed(type, id))))),
    )
  }

  /** Takes out all items of providers. */
  closeItems(): ReadonlyArray<Call> {
    return this.#calls.flatMap((call, at) =>
      call === null || call.item === undefined ? [] : [this.#take(at)!],
    )
  }

  /** The place of the oldest call with a name that still waits, or infinity. */
  #oldest(name: string): number {
    const known = this.#named.get(name)
    if (known === undefined) return Number.POSITIVE_INFINITY
    const { places } = known
    while (known.answered < places.length && this.#calls[places[known.answered]!] === null) known.answered++
    return places[known.answered] ?? Number.POSITIVE_INFINITY
  }

  #take(at: number): Call | undefined {
    const call = this.#calls[at] ?? undefined
    if (call !== undefined) this.#calls[at] = null
    return call
  }
}

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

/** The ids that a part says. */
const idsOf = (pairing: Pairing): ReadonlyArray<string> => {
  if ("answers" in pairing) return pairing.answers.ids
  return ["call" in pairing ? pairing.call.id : pairing.result.id]
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
  const open = new OpenCalls(before, new Set(pairings.flatMap(({ pairing }) => idsOf(pairing))))
  const alone: Array<Part> = []
  const close = (part: Part, pairing: Exclude<Pairing, { call: OpenCall }>) => {
    const call =
      "result" in pairing
        ? open.answer(pairing.result)
        : open.answerItem(pairing.answers.types, pairing.answers.ids)
    if (call === undefined) alone.push(part)
  }
  for (const { part, pairing } of pairings) if ("result" in pairing) close(part, pairing)
  const closed: Array<OpenCall> = []
  if (alone.length > 0 || speaksAsUser(message)) closed.push(...open.closeItems())
  const calls: Array<readonly [OpenCall, Part]> = []
  for (const { part, pairing } of pairings) {
    if ("call" in pairing) {
      const replaced = open.add(pairing.call, before.length)
      closed.push(...replaced.filter(({ item }) => item !== undefined))
      calls.push([pairing.call, part])
    } else if ("answers" in pairing) close(part, pairing)
  }
  return { open: open.left, calls, alone, closed }
}
