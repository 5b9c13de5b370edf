/** A stored session, as LangChain reads and writes it. */
import type { BaseMessage } from "@langchain/core/messages"
import { asStored, type ContextParts, lateResults, StoredSession, type StoreOptions } from "@memfold/codec"
import type { Memory, Message, Session } from "@memfold/core"
import { Either } from "effect"
import { additionOf, type Change, changeOf, progressOf, type StoredMessages } from "./changes.js"
import { decodeMessages } from "./decode.js"
import { encodeContext, type LangChainContext } from "./encode.js"
import { formOf } from "./form.js"
import type { Recipient } from "./model.js"

/** A context, and what it consists of. */
export interface RenderedContext extends LangChainContext, ContextParts {}

/** A context, and what an answer to it is produced behind. */
export interface ReadContext extends RenderedContext {
  readonly prefix: Session.Prefix
}

interface Changes {
  /** `null` if nothing of the messages is stored. */
  readonly find: (given: ReadonlyArray<Message.Message>, stored: StoredMessages) => Change | null
  /** Whether something of the messages must be stored. */
  readonly isOld: boolean
  readonly prefixOf: (added: ReadonlyArray<Message.Message>) => Session.Prefix | undefined
}

interface SaveOptions {
  readonly prefixOf: (id: string | undefined) => Session.Prefix | undefined
  readonly mayBegin: boolean
}

export const decoded = (messages: ReadonlyArray<unknown>): ReadonlyArray<Message.Message> =>
  Either.getOrThrowWith(decodeMessages(messages), (error) => error)

/** A session of a memory. It keeps nothing, so it costs nothing to make one. */
export class LangChainSession {
  private readonly stored: StoredSession

  constructor(memory: Memory.AnyMemory, id: string) {
    this.stored = new StoredSession(memory, id, "langchain")
  }

  /** Runs work behind all earlier work of this process on the session. */
  inOrder<A>(work: () => Promise<A>): Promise<A> {
    return this.stored.inOrder(work)
  }

  async read(recipient: Partial<Recipient> = {}): Promise<ReadContext> {
    const { encoded, ...context } = await this.stored.context(({ messages }) =>
      encodeContext(messages, recipient),
    )
    const { omitted: _omitted, ...written } = encoded
    return { ...written, ...context }
  }

  /**
   * Stores what the state of a graph changes: new messages, and at the beginning of a call of an agent also messages that the
   * application has replaced or removed.
   *
   * @param options what the answer of an id was produced behind, and whether a call of the agent may begin with this state
   */
  async save(state: ReadonlyArray<BaseMessage>, { prefixOf, mayBegin }: SaveOptions): Promise<void> {
    const given = decoded(state)
    // An answer of this agent that is not stored yet: the call has begun before.
    const hasBegun = given.some((message) => prefixOf(formOf(message).id) !== undefined)
    await this.change("state", given, {
      find: mayBegin && !hasBegun ? changeOf : progressOf,
      // A list with an answer is no new one: what it begins with may be older than the messages that were read.
      isOld: given.some(({ role }) => role === "assistant"),
      // Of an answer from another process the engine says itself whether it was surely produced behind the context of now.
      prefixOf: ([first]) => (first?.role === "assistant" ? prefixOf(formOf(first).id) : undefined),
    })
  }

  /** Stores messages under a name, so that the same call again stores nothing. */
  async append(
    messages: ReadonlyArray<Message.Message>,
    { idempotencyKey, prefix }: StoreOptions,
  ): Promise<void> {
    const isNamed = messages.every((message) => formOf(message).id !== undefined)
    if (idempotencyKey !== undefined || !isNamed) {
      await this.stored.append(messages, { idempotencyKey, prefix })
      return
    }
    await this.change("given", messages, { find: additionOf, isOld: false, prefixOf: () => prefix })
  }

  /**
   * Applies what messages change, once if two processes are given them at once. A change that was made before is made again if
   * another one has taken it back since.
   */
  private async change(
    kind: string,
    sent: ReadonlyArray<Message.Message>,
    { find, isOld, prefixOf }: Changes,
  ): Promise<void> {
    await this.stored.compare(async (session) => {
      const given = await asStored(session, sent)
      for (let [reach, times] = [given.length, 0]; ;) {
        const stored = await session.newestPage(reach)
        const found = find(given, stored)
        const further = (stored.to - stored.from) * 10
        if (found === null && isOld && stored.from > 0) {
          reach = further
          continue
        }
        const change = found ?? { from: null, added: given }
        const stay = stored.messages.slice(0, change.from === null ? undefined : change.from - stored.from)
        const { keep, added } = lateResults(stay, change.added)
        const from = keep < stay.length ? stored.from + keep : change.from
        if (from === null && added.length === 0) return
        // What goes back is decided on the session as the store has it.
        if (from !== null && session !== this.stored) return session.leaveToStore()
        const named = [...(from === null ? [] : [from]), ...added, ...(times === 0 ? [] : [times])]
        const options = { idempotencyKey: this.stored.keyOf(kind, named), prefix: prefixOf(added) }
        const done =
          from === null ? await session.append(added, options) : await session.edit(from, added, options)
        if (done?.duplicate !== true) return
        // It was made before: the messages are older, or another change has taken them back.
        if (stored.from > 0) reach = further
        else times++
      }
    })
  }

  /** Whether a message of the state, or of the newest that are stored, has an id. */
  async isTaken(id: string, state: ReadonlyArray<BaseMessage>): Promise<boolean> {
    if (state.some((message) => message.id === id)) return true
    const stored = await this.stored.known.newest(state.length)
    return stored.some((message) => formOf(message).id === id)
  }

  /** The whole conversation, covered messages included. */
  async all(): Promise<ReadonlyArray<Message.Message>> {
    return (await this.stored.all()).messages
  }

  clear(): Promise<void> {
    return this.stored.clear()
  }
}
