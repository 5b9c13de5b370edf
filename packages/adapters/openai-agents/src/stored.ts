/** The items of a session in the log, and how its end is changed. */
import {
  answersEarlier,
  asStored,
  type Fields,
  pagesBack,
  StoredSession,
  withLateResults,
} from "@memfold/codec"
import { Item, type Memory, type Message, Render, type Session as Sessions } from "@memfold/core"
import type { AgentInputItem } from "@openai/agents"
import { Either } from "effect"
import { decodeItems } from "./decode.js"
import { encodeItems } from "./encode.js"
import { same } from "./form.js"
import { wireOf } from "./item.js"

/** What a run began with: the messages of the context, and how many messages the branch in force had. */
export interface View {
  readonly branch: number
  readonly messages: ReadonlyArray<Message.Message>
  readonly total: number
  /** How many messages of an open group the context leaves out at its end. */
  readonly open: number
}

/** How many messages are read first, and how many at a time if there are more to read: mostly a turn is enough. */
export const firstPage = 20
const nextPage = 200

export const decoded = (items: ReadonlyArray<AgentInputItem>): ReadonlyArray<Message.Message> =>
  Either.getOrThrowWith(decodeItems(items), (error) => error)

/** Whether a conversation ends with these items, and its items without them. */
export const endsWith = (
  items: ReadonlyArray<AgentInputItem>,
  suffix: ReadonlyArray<AgentInputItem>,
): ReadonlyArray<AgentInputItem> | null => {
  const start = items.length - suffix.length
  if (start < 0) return null
  return suffix.every((item, at) => same(item, items[start + at])) ? items.slice(0, start) : null
}

/**
 * The messages with other items at their end. A message whose items all stay is returned as it is; only a message that loses
 * some of its items is decoded again.
 */
export const withItems = (
  messages: ReadonlyArray<Message.Message>,
  keep: number,
  added: ReadonlyArray<AgentInputItem>,
): ReadonlyArray<Message.Message> => {
  const kept: Array<Message.Message> = []
  let left = keep
  for (const message of messages) {
    const items = encodeItems([message])
    if (items.length > left) {
      kept.push(...decoded(items.slice(0, left)))
      break
    }
    kept.push(message)
    left -= items.length
  }
  return [...kept, ...decoded(added)]
}

/** Makes other messages of the newest ones; `undefined` if it needs more of them than it is given. */
export type ChangeOfEnd = (
  messages: ReadonlyArray<Message.Message>,
  isAll: boolean,
) => ReadonlyArray<Message.Message> | undefined

/** Replaces calls by others with the same id: the newest ones, if an id was used several times. */
export const withReplacements =
  (replacements: ReadonlyMap<string, AgentInputItem>): ChangeOfEnd =>
  (messages, isAll) => {
    const left = new Map(replacements)
    const all = messages
      .toReversed()
      .map((message) => {
        const items = encodeItems([message])
        const replaced = items.toReversed().map((item) => {
          const id = item.type === "function_call" ? item.callId : undefined
          const other = id === undefined ? undefined : left.get(id)
          if (id === undefined || other === undefined) return item
          left.delete(id)
          return same(other, item) ? item : other
        })
        return replaced.every((item) => items.includes(item)) ? [message] : decoded(replaced.toReversed())
      })
      .toReversed()
      .flat()
    return left.size === 0 || isAll ? all : undefined
  }

/** Whether the name of a result is not known without its call: see `encodeItems`. */
export const isUnnamed = (item: AgentInputItem): boolean =>
  item.type === "function_call_result" && item.name === item.callId

const idOf = (item: AgentInputItem): string | undefined =>
  "callId" in item && typeof item.callId === "string" ? item.callId : undefined

const isResult = ({ type }: AgentInputItem): boolean => /_(result|output)$/.test(type ?? "")

/** The items from a position on, without the rest of a group of tool calls that begins before this position. */
const wholeGroups = (items: ReadonlyArray<AgentInputItem>, from: number): Array<AgentInputItem> => {
  const open = new Set<string | undefined>()
  for (const item of items.slice(0, from)) {
    if (isResult(item)) open.delete(idOf(item))
    else if (idOf(item) !== undefined) open.add(idOf(item))
  }
  const last = items.findLastIndex((item, at) => at >= from && isResult(item) && open.has(idOf(item)))
  // What is left out may have the calls of further results.
  return last === -1 ? items.slice(from) : wholeGroups(items, last + 1)
}

/** Calls whose items the SDK itself leaves out while they wait, with the reasoning before them. */
const leftOutBySdk: ReadonlySet<unknown> = new Set([
  "function_call",
  "shell_call",
  "apply_patch_call",
  "computer_call",
])

const itemTypes = Item.items["openai-responses"]

const typeIn = (wire: Fields | undefined): Item.Item | undefined => itemTypes[String(wire?.["type"])]

/**
 * The messages without items that wait for an answer: approvals, programs, searches for tools. A run reads its session where the next
 * question comes behind them, and providers refuse them there. A run that is resumed has them in its state.
 */
const withoutWaiting = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> => {
  const wires = new Map(
    messages.flatMap(({ role, parts }) => parts.map((part) => [part, wireOf({ role, parts: [part] })])),
  )
  const answered = new Set(
    [...wires.values()].flatMap((wire) => (typeIn(wire)?.answer?.ids ?? []).map((name) => wire?.[name])),
  )
  const waits = (part: Message.Part): boolean => {
    const wire = wires.get(part)
    const { call } = typeIn(wire) ?? {}
    return (
      call !== undefined &&
      !leftOutBySdk.has(wire?.["type"]) &&
      !call.ids.some((name) => wire?.[name] !== undefined && answered.has(wire[name]))
    )
  }
  return messages.map((message) =>
    message.parts.some(waits) ? { ...message, parts: message.parts.filter((part) => !waits(part)) } : message,
  )
}

/** The items of a session, as the log has them. */
export class StoredItems {
  readonly session: StoredSession
  /** Of the newest context that was read: what the next answers are produced behind. */
  private prefix: Sessions.Prefix | undefined

  constructor(memory: Memory.AnyMemory, id: string) {
    this.session = new StoredSession(memory, id, "openai-agents")
  }

  /**
   * Changes the end of the history. Mostly the newest messages are enough; the function returns `undefined` if they are not, and
   * is given more.
   */
  async changeEnd(change: ChangeOfEnd): Promise<void> {
    for (let last = firstPage; ; last *= 10) {
      let needsMore = false
      await this.session.memory.rewrite(
        this.session.id,
        (messages) => {
          const isAll = messages.length < last
          const wanted = change(messages, isAll)
          needsMore = wanted === undefined && !isAll
          return wanted ?? null
        },
        { last },
      )
      if (!needsMore) return
    }
  }

  /** Items as they are stored: what a guard has changed is another item. */
  async asStored(items: ReadonlyArray<AgentInputItem>): Promise<ReadonlyArray<AgentInputItem>> {
    const given = decoded(items)
    const stored = await asStored(this.session, given)
    return stored.every((one, at) => one === given[at]) ? items : encodeItems(stored)
  }

  async append(items: ReadonlyArray<AgentInputItem>, idempotencyKey: string | undefined): Promise<void> {
    const { prefix, session } = this
    const messages = decoded(items)
    if (answersEarlier(messages)) {
      // A person may approve a call after the user has gone on.
      const last = messages.length + nextPage
      const options = idempotencyKey === undefined ? { last } : { last, idempotencyKey }
      await session.memory.rewrite(session.id, withLateResults(messages), options)
      return
    }
    const added = await session.append(messages, { idempotencyKey, prefix })
    // What the model is sent next ends with these messages, unless others came in between.
    if (added !== undefined && prefix?.total === added.from) this.prefix = { ...prefix, total: added.to }
  }

  async read(): Promise<View> {
    const { memory, id } = this.session
    const { messages, layout, prefix } = await memory.context(id)
    const branch = await this.session.known.branch()
    this.prefix = prefix
    const open = layout.find(({ section }) => section === "open")
    return {
      branch,
      messages,
      total: prefix.total,
      open: open === undefined ? 0 : open.to - open.from,
    }
  }

  /**
   * What a run is shown: the messages of its view, and behind them those of the open group and what came since; `undefined` if
   * another branch is in force.
   *
   * @param isKnown - see {@link StoredItems.since}
   */
  async shown(
    { messages, total, open, branch }: View,
    isKnown: boolean,
  ): Promise<ReadonlyArray<Message.Message> | undefined> {
    const since = await this.since(total - open, isKnown)
    if (since.total < total || branch !== (await this.session.known.branch())) return undefined
    const waiting = Render.openInOrder(since.messages.slice(0, open))
    // What waits behind the newest question is the provider's to answer, so that a context has it, too.
    const said = messages.findLastIndex(({ role }) => role === "user") + 1
    const behind = [...messages.slice(said), ...waiting, ...since.messages.slice(open)]
    return [...messages.slice(0, said), ...withoutWaiting(behind)]
  }

  /**
   * The messages from an index on, and how many there are.
   *
   * @param isKnown - as this process knows them: the context has been read a moment ago
   */
  async since(
    index: number,
    isKnown = false,
  ): Promise<{ messages: ReadonlyArray<Message.Message>; total: number }> {
    const { memory, id } = isKnown ? this.session.known : this.session
    const pages: Array<ReadonlyArray<Message.Message>> = []
    let total = 0
    const limit = (read: number) => (read === 0 ? firstPage : nextPage)
    for await (const page of pagesBack(memory, id, { limit })) {
      total = page.total
      pages.unshift(page.messages.slice(Math.max(index - page.from, 0)))
      if (page.from <= index) break
    }
    return { messages: pages.flat(), total }
  }

  async newest(limit: number): Promise<Array<AgentInputItem>> {
    if (limit <= 0) return []
    const messages: Array<Message.Message> = []
    let items: Array<AgentInputItem> = []
    const size = Math.min(Math.max(limit, firstPage), nextPage)
    for await (const page of pagesBack(this.session.memory, this.session.id, { limit: size })) {
      messages.unshift(...page.messages)
      items = encodeItems(messages)
      if (items.length > limit) return wholeGroups(items, items.length - limit)
    }
    return items
  }
}
