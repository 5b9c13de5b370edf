/** Sessions of the OpenAI Agents SDK, kept by a memory. */
import type { Memory, Message } from "@memfold/core"
import type { AgentInputItem, Session } from "@openai/agents"
import { AgentsDecodeError } from "./decode.js"
import { encodeContext, encodeItems } from "./encode.js"
import { HistoryChanged } from "./HistoryChanged.js"
import { forModel } from "./forModel.js"
import {
  type ChangeOfEnd,
  decoded,
  endsWith,
  firstPage,
  isUnnamed,
  StoredItems,
  type View,
  withItems,
  withReplacements,
} from "./stored.js"

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

/** Refuses a change that a newer SDK may ask for: none of it is made. */
const checkChange = (type: unknown, ...known: ReadonlyArray<string>): void => {
  if (!known.some((one) => one === type))
    throw new AgentsDecodeError({
      path: "type",
      problem: "is a change of the history that is not known",
      allowed: known.join(", "),
    })
}

const replacementsOf = (mutations: HistoryMutations["mutations"]) => {
  for (const { type } of mutations) checkChange(type, "replace_function_call")
  return new Map(mutations.map(({ callId, replacement }) => [callId, replacement]))
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
  private readonly stored: StoredItems
  private view: View | undefined

  /**
   * @param memory a memory of `createMemory` in any format, or the service of `@memfold/core`
   * @param id the id of the session; any text that is not empty
   */
  constructor(memory: Memory.AnyMemory, id: string) {
    this.stored = new StoredItems(memory, id)
  }

  getSessionId(): Promise<string> {
    return Promise.resolve(this.stored.session.id)
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
    if (limit !== undefined) return this.stored.newest(limit)
    const isNewest = this.view === undefined
    const view = (this.view ??= await this.stored.read())
    const messages = await this.stored.shown(view, isNewest)
    if (messages !== undefined) return encodeContext(messages).items
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
    await this.stored.append(items, undefined)
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
    await this.stored.session.clear()
    this.view = undefined
  }

  /**
   * Changes the history, once for each `operationId`, whole or not at all. The SDK calls it. What is replaced stays in the log,
   * as a branch.
   *
   * @throws HistoryChanged: the session does not end with `expectedSuffix`; nothing was changed
   * @throws IdempotencyKeyReused: the `operationId` was used before for another change; nothing was changed
   * @throws AgentsDecodeError: an item is none of the Agents SDK, or the change is of another kind; nothing was changed
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `append` and `rewrite` of the memory
   */
  async applyHistoryTransaction({ operationId, transaction }: HistoryTransaction): Promise<void> {
    checkChange(transaction.type, "append_items", "replace_suffix")
    const idempotencyKey = `openai-agents/${operationId}`
    if (transaction.type === "append_items") return this.stored.append(transaction.items, idempotencyKey)
    const { expectedSuffix, replacement } = transaction
    decoded(replacement) // wrong items are an error of the caller, and none of the rewrite
    const suffix = await this.stored.asStored(expectedSuffix)
    const change = (messages: ReadonlyArray<Message.Message>) => {
      const before = endsWith(encodeItems(messages), suffix)
      return before === null ? null : withItems(messages, before.length, replacement)
    }
    const options = { idempotencyKey, last: expectedSuffix.length + firstPage }
    const { memory, id } = this.stored.session
    const { applied } = await memory.rewrite(id, change, options)
    if (!applied) throw new HistoryChanged({ session: id })
    this.view = undefined
  }

  /**
   * Replaces stored calls by others with the same id: the newest ones, if an id was used several times. The SDK calls it when an
   * approval changes the arguments of a call.
   *
   * @throws AgentsDecodeError: a change is of another kind; nothing was changed
   * @throws LogError, DamagedEvent, Closed: as `rewrite` of the memory
   */
  async applyHistoryMutations({ mutations }: HistoryMutations): Promise<void> {
    await this.changeEnd(withReplacements(replacementsOf(mutations)))
  }

  /**
   * Stores items of a compaction by OpenAI's API: an encrypted item, and what follows it. The log keeps what was before; the SDK
   * sends what comes after the newest such item.
   *
   * @throws AgentsDecodeError: an item is none of the Agents SDK; nothing was stored
   * @throws LogError, DamagedEvent, Closed: as `append` of the memory
   */
  async replaceHistoryWithCompaction(items: ReadonlyArray<AgentInputItem>): Promise<void> {
    await this.addItems(items)
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
    return encodeItems((await this.stored.since(0)).messages)
  }

  private async changeEnd(change: ChangeOfEnd): Promise<void> {
    await this.stored.changeEnd(change)
    this.view = undefined
  }
}
