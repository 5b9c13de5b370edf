/** Sessions of the OpenAI Agents SDK, kept by a memory. */
import { pagesBack } from "@memfold/codec"
import { Memory, type Message, type Session as Sessions } from "@memfold/core"
import type { AgentInputItem, Session } from "@openai/agents"
import { Either } from "effect"
import { decodeItems } from "./decode.js"
import { encodeContext, encodeItems } from "./encode.js"
import { HistoryChanged } from "./HistoryChanged.js"
import { same } from "./form.js"
import { forModel } from "./forModel.js"

/** A change of the history that the SDK asks for: it is applied once, whole, or not at all. */
export interface HistoryTransaction {
  /** Names the change; with the same name, it is applied once. */
  readonly operationId: string
  readonly transaction:
    | { readonly type: "append_items"; readonly items: ReadonlyArray<AgentInputItem> }
    | {
        readonly type: "replace_suffix"
        readonly expectedSuffix: ReadonlyArray<AgentInputItem>
        readonly replacement: ReadonlyArray<AgentInputItem>
      }
}

/** Replaces a call that is stored, such as one whose arguments were changed when it was approved. */
export interface HistoryMutations {
  readonly mutations: ReadonlyArray<{
    readonly type: "replace_function_call"
    readonly callId: string
    readonly replacement: Extract<AgentInputItem, { type: "function_call" }>
  }>
}

/** What a run began with: the items of the context, and how many messages the branch in force had. */
interface View {
  readonly branch: number
  readonly items: ReadonlyArray<AgentInputItem>
  readonly total: number
  /** How many messages of an open group the context leaves out at its end. */
  readonly open: number
}

/** How many messages are read first, and how many at a time if there are more to read: mostly a turn is enough. */
const firstPage = 20
const nextPage = 200

const decoded = (items: ReadonlyArray<AgentInputItem>): ReadonlyArray<Message.Message> =>
  Either.getOrThrowWith(decodeItems(items), (error) => error)

/** Whether a conversation ends with these items, and its items without them. */
const endsWith = (
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
const withItems = (
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

/**
 * A session for `run` of the OpenAI Agents SDK. What is said is kept in the log of the memory, and a run begins with the
 * context: a summary of what is older, and the newest items as they were.
 *
 * Make one for each run: it costs nothing. Several at once, also of several processes, are ordered.
 *
 * @example
 * ```ts
 * import { MemfoldSession } from "@memfold/openai-agents"
 * import { Agent, run } from "@openai/agents"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const agent = new Agent({ name: "Clerk", instructions: "Be brief." })
 * const result = await run(agent, "Where is my order?", { session: new MemfoldSession(memory, "chat-1") })
 * console.log(result.finalOutput)
 * await memory.close()
 * ```
 */
export class MemfoldSession implements Session {
  private readonly memory: Memory.Neutral
  private view: View | undefined
  /** Of the newest context that was read: what the next answers are produced behind. */
  private prefix: Sessions.Prefix | undefined

  /**
   * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
   * @param id the id of the session; any text that is not empty
   */
  constructor(
    memory: Memory.AnyMemory,
    private readonly id: string,
  ) {
    this.memory = Memory.neutralOf(memory)
  }

  /** The id of the session. */
  getSessionId(): Promise<string> {
    return Promise.resolve(this.id)
  }

  /**
   * Without a limit, the items for the model: the context, which begins with a summary of older messages. From the first call
   * until the end of the turn, these items stay as they are and new items follow, so a compaction changes nothing during a run.
   *
   * With a limit, the newest items of the conversation as they were, at most `limit`, and never a summary. Tool calls and
   * their results are not separated: if the limit cuts a group of calls and results, the whole group is left out.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `context` and `messages` of the memory
   */
  async getItems(limit?: number): Promise<Array<AgentInputItem>> {
    if (limit !== undefined) return this.newest(limit)
    const view = (this.view ??= await this.read())
    const { messages, total } = await this.since(view.total - view.open)
    if (total >= view.total && view.branch === (await this.branch()))
      return [...view.items, ...encodeItems(messages)]
    // Somebody else has cleared the session, or went on from an earlier place.
    this.view = undefined
    return this.getItems()
  }

  /**
   * Appends items, all or none.
   *
   * @throws AgentsDecodeError: an item is none of the Agents SDK; nothing was stored
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `append` of the memory
   */
  async addItems(items: ReadonlyArray<AgentInputItem>): Promise<void> {
    await this.append(items, undefined)
  }

  /**
   * Takes the newest item back and returns it; `undefined` if there is none. The log keeps it, as a branch, and the summary in
   * force is one that does not cover it.
   *
   * @throws LogError, DamagedEvent, Closed: as `rewrite` of the memory
   */
  async popItem(): Promise<AgentInputItem | undefined> {
    let popped: AgentInputItem | undefined
    await this.changeEnd((messages, isAll) => {
      const items = encodeItems(messages)
      popped = items.at(-1)
      if (popped === undefined || (isUnnamed(popped) && !isAll)) return undefined
      return withItems(messages, items.length - 1, [])
    })
    return popped
  }

  /**
   * Starts the session over, without items. The log keeps the earlier ones; `undo` of the memory brings them back.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `clear` of the memory
   */
  async clearSession(): Promise<void> {
    await this.memory.clear(this.id)
    this.view = undefined
  }

  /**
   * Changes the history, once for each `operationId`, whole or not at all. The SDK calls it. What is replaced stays in the log,
   * as a branch.
   *
   * @throws HistoryChanged: the session does not end with `expectedSuffix`; nothing was changed
   * @throws IdempotencyKeyReused: the `operationId` was used before for another change; nothing was changed
   * @throws AgentsDecodeError: an item is none of the Agents SDK; nothing was changed
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `append` and `rewrite` of the memory
   */
  async applyHistoryTransaction({ operationId, transaction }: HistoryTransaction): Promise<void> {
    const idempotencyKey = `openai-agents/${operationId}`
    if (transaction.type === "append_items") return this.append(transaction.items, idempotencyKey)
    const { expectedSuffix, replacement } = transaction
    // Wrong items are an error of the caller, and none of the rewrite.
    decoded(replacement)
    const change = (messages: ReadonlyArray<Message.Message>) => {
      const before = endsWith(encodeItems(messages), expectedSuffix)
      return before === null ? null : withItems(messages, before.length, replacement)
    }
    const last = expectedSuffix.length + firstPage
    const { applied } = await this.memory.rewrite(this.id, change, { idempotencyKey, last })
    if (!applied) throw new HistoryChanged({ session: this.id })
    this.view = undefined
  }

  /**
   * Replaces stored calls by others with the same id: the newest ones, if an id was used several times. The SDK calls it when an
   * approval changes the arguments of a call.
   *
   * @throws LogError, DamagedEvent, Closed: as `rewrite` of the memory
   */
  async applyHistoryMutations({ mutations }: HistoryMutations): Promise<void> {
    const replacements = new Map(mutations.map(({ callId, replacement }) => [callId, replacement]))
    await this.changeEnd((messages, isAll) => {
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
    })
  }

  /**
   * Stores items of a compaction by OpenAI's API: an encrypted item, and what follows it. The log keeps what was before; the SDK
   * sends what comes after the newest such item.
   *
   * @throws AgentsDecodeError: an item is none of the Agents SDK; nothing was stored
   * @throws LogError, DamagedEvent, Closed: as `append` of the memory
   */
  async replaceHistoryWithCompaction(items: ReadonlyArray<AgentInputItem>): Promise<void> {
    await this.append(items, undefined)
  }

  /**
   * An item of the history as every model of the SDK takes it. The SDK keeps what an API said besides its text, and sends it
   * back; the Responses API and Chat Completions refuse it from each other, and Chat Completions its own. The SDK calls it.
   */
  prepareHistoryItemForModelInput(item: AgentInputItem): AgentInputItem {
    return forModel(item)
  }

  /** The end of a turn: the next {@link MemfoldSession.getItems} reads the context again. The SDK calls it. */
  runCompaction(): Promise<null> {
    this.view = undefined
    return Promise.resolve(null)
  }

  /**
   * All items since the last clear as they were, for a page of the conversation.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `messages` of the memory
   */
  async history(): Promise<Array<AgentInputItem>> {
    const { messages } = await this.since(0)
    return encodeItems(messages)
  }

  /**
   * Changes the end of the history. Mostly the newest messages are enough; the function returns `undefined` if they are not, and
   * is given more.
   */
  private async changeEnd(
    change: (
      messages: ReadonlyArray<Message.Message>,
      isAll: boolean,
    ) => ReadonlyArray<Message.Message> | undefined,
  ): Promise<void> {
    for (let last = firstPage; ; last *= 10) {
      let needsMore = false
      await this.memory.rewrite(
        this.id,
        (messages) => {
          const isAll = messages.length < last
          const wanted = change(messages, isAll)
          needsMore = wanted === undefined && !isAll
          return wanted ?? null
        },
        { last },
      )
      this.view = undefined
      if (!needsMore) return
    }
  }

  private async append(
    items: ReadonlyArray<AgentInputItem>,
    idempotencyKey: string | undefined,
  ): Promise<void> {
    const messages = decoded(items)
    if (messages.length === 0) return
    const { prefix } = this
    const { from, to } = await this.memory.append(this.id, messages, {
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(prefix === undefined ? {} : { prefix }),
    })
    // What the model is sent next ends with these messages, unless others came in between.
    if (prefix?.total === from) this.prefix = { ...prefix, total: to }
  }

  private async branch(): Promise<number> {
    const [inForce] = await this.memory.branches(this.id)
    return inForce?.id ?? 0
  }

  private async read(): Promise<View> {
    const branch = await this.branch()
    const { messages, layout, prefix } = await this.memory.context(this.id)
    this.prefix = prefix
    const open = layout.find(({ section }) => section === "open")
    return {
      branch,
      items: encodeContext(messages).items,
      total: prefix.total,
      open: open === undefined ? 0 : open.to - open.from,
    }
  }

  /** The messages from an index on, and how many there are. */
  private async since(index: number): Promise<{ messages: ReadonlyArray<Message.Message>; total: number }> {
    const pages: Array<ReadonlyArray<Message.Message>> = []
    let total = 0
    const limit = (read: number) => (read === 0 ? firstPage : nextPage)
    for await (const page of pagesBack(this.memory, this.id, { limit })) {
      total = page.total
      pages.unshift(page.messages.slice(Math.max(index - page.from, 0)))
      if (page.from <= index) break
    }
    return { messages: pages.flat(), total }
  }

  private async newest(limit: number): Promise<Array<AgentInputItem>> {
    if (limit <= 0) return []
    const messages: Array<Message.Message> = []
    let items: Array<AgentInputItem> = []
    const size = Math.min(Math.max(limit, firstPage), nextPage)
    for await (const page of pagesBack(this.memory, this.id, { limit: size })) {
      messages.unshift(...page.messages)
      items = encodeItems(messages)
      if (items.length > limit) return wholeGroups(items, items.length - limit)
    }
    return items
  }
}

/** Whether the name of a result is not known without its call: see `encodeItems`. */
const isUnnamed = (item: AgentInputItem): boolean =>
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
