/** A chat message history on a stored session. */
import { BaseListChatMessageHistory } from "@langchain/core/chat_history"
import { type BaseMessage, SystemMessage } from "@langchain/core/messages"
import type { Memory } from "@memfold/core"
import { encodeMessages } from "./encode.js"
import { decoded, LangChainSession, type ReadContext, type RenderedContext } from "./session.js"

/**
 * Options of {@link MemfoldChatMessageHistory}.
 *
 * - `memory`: a memory of `createMemory` in any format, or the service of `@memfold/core`
 * - `session`: the id of the session
 * - `provider`: who gets the messages, as LangChain names it (`anthropic`, `openai`, …). Parts that another provider wrote and
 *   that only it reads are left out; without it, every part is sent
 */
export interface HistoryOptions {
  readonly memory: Memory.AnyMemory
  readonly session: string
  readonly provider?: string
}

/** Options of {@link MemfoldChatMessageHistory.addMessages}. */
export interface AddOptions {
  /**
   * Names this append, so that a retry stores nothing again. Messages that all have ids need none: the same list is stored
   * once.
   */
  readonly idempotencyKey?: string
}

/**
 * A chat message history for `RunnableWithMessageHistory` and for your own chains. `getMessages` gives the context of the
 * session: its summary, and the newest messages.
 *
 * Make one for each request: it reads the context once, and again after messages were added. So a chain that asks twice gets the same
 * list, even if a compaction ended in between.
 *
 * @example
 * ```ts
 * import { MemfoldChatMessageHistory } from "@memfold/langchain"
 * import { createMemory } from "memfold"
 *
 * const memory = createMemory({ store: "sqlite:chats.db" })
 * const history = new MemfoldChatMessageHistory({ memory, session: "chat-1" })
 * await history.addUserMessage("My order is KX-4471.")
 * console.log((await history.getMessages()).length) // 1
 * await memory.close()
 * ```
 */
export class MemfoldChatMessageHistory extends BaseListChatMessageHistory {
  override lc_namespace = ["memfold", "chat_history"]
  private readonly chat: LangChainSession
  private readonly provider: string | undefined
  private given: Promise<ReadContext> | undefined

  constructor({ memory, session, provider }: HistoryOptions) {
    super()
    this.chat = new LangChainSession(memory, session)
    this.provider = provider
  }

  private read(): Promise<ReadContext> {
    return this.chat.inOrder(() => this.chat.read({ provider: this.provider }))
  }

  /**
   * The context of the session. Its system messages, the summary among them, are one message in front.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `context` of the memory
   */
  override async getMessages(): Promise<Array<BaseMessage>> {
    this.given ??= this.read()
    try {
      const { system, messages } = await this.given
      return system === undefined ? [...messages] : [new SystemMessage({ content: system }), ...messages]
    } catch (error) {
      this.given = undefined
      throw error
    }
  }

  /**
   * The context as it is now, with its layout and its size.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `context` of the memory
   */
  async context(): Promise<RenderedContext> {
    const { prefix: _prefix, ...context } = await this.read()
    return context
  }

  /**
   * The whole conversation, covered messages included, each message as it was added: for a page.
   *
   * @throws InvalidInput, LogError, DamagedEvent, Closed: as `messages` of the memory
   */
  async allMessages(): Promise<Array<BaseMessage>> {
    return encodeMessages(await this.chat.all(), { exact: true })
  }

  /**
   * Stores messages, all or none. Of messages that all have ids, those that are stored already stay as they are. A message with
   * a known id and another content replaces the stored one with what was said behind it, and so does a new message behind a
   * stored one: the log keeps what was replaced, as a branch.
   *
   * @throws LangChainDecodeError: a message is none of LangChain; nothing was stored
   * @throws InvalidInput, LogError, DamagedEvent, IdempotencyKeyReused, Closed: as `append` of the memory
   */
  override async addMessages(messages: ReadonlyArray<BaseMessage>, options: AddOptions = {}): Promise<void> {
    const given = decoded(messages)
    await this.chat.inOrder(async () => {
      const context = await this.given?.catch(() => undefined)
      await this.chat.append(given, { ...options, prefix: context?.prefix })
      this.given = undefined
    })
  }

  /** {@link MemfoldChatMessageHistory.addMessages} for one message. */
  override addMessage(message: BaseMessage, options: AddOptions = {}): Promise<void> {
    return this.addMessages([message], options)
  }

  /**
   * Starts the session over, without messages. The log keeps the earlier ones.
   *
   * @throws InvalidInput, LogError, Closed: as `clear` of the memory
   */
  override async clear(): Promise<void> {
    await this.chat.inOrder(() => this.chat.clear())
    this.given = undefined
  }
}
