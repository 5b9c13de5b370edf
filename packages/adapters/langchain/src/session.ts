/** A stored session, as LangChain reads and writes it. */
import type { BaseMessage } from "@langchain/core/messages"
import {
  behindStored,
  isSame,
  StoredSession,
  type StoreOptions,
  type UnsupportedSection,
} from "@memfold/codec"
import type { Memory, Message, Render, Session } from "@memfold/core"
import { Either } from "effect"
import { decodeMessages } from "./decode.js"
import { encodeContext, type LangChainContext } from "./encode.js"
import { formOf } from "./form.js"

/** A context, and what it consists of. */
export interface RenderedContext extends LangChainContext {
  /** The sections in order: what each one is, which messages it covers, and its tokens; `unsupported` ones come last. */
  readonly layout: ReadonlyArray<Render.Section | UnsupportedSection>
  /** The size of the context in tokens, by the memory's token counter. */
  readonly tokens: number
}

/** A context, and what an answer to it is produced behind. */
export interface ReadContext extends RenderedContext {
  readonly prefix: Session.Prefix
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

  async read(provider: string | undefined): Promise<ReadContext> {
    const { encoded, ...context } = await this.stored.context(({ messages }) =>
      encodeContext(messages, { provider }),
    )
    const { omitted: _omitted, ...written } = encoded
    return { ...written, ...context }
  }

  /**
   * Stores the messages of a graph's state that are new.
   *
   * @param prefixOf what the answer of this id was produced behind, if it is known
   */
  async save(
    state: ReadonlyArray<BaseMessage>,
    prefixOf: (id: string | undefined) => Session.Prefix | undefined,
  ): Promise<void> {
    const given = decoded(state)
    const stored = await this.stored.newest(given.length)
    const byId = new Map(stored.map((message) => [formOf(message).id, message]))
    const fresh = behindStored(given, (message) => {
      const { id } = formOf(message)
      return id !== undefined && isSame(byId.get(id)?.parts, message.parts)
    })
    const [first] = fresh
    // Of an answer from another process the engine says itself whether it was surely produced behind the context of now.
    const prefix = first?.role === "assistant" ? prefixOf(formOf(first).id) : undefined
    await this.stored.append(fresh, { idempotencyKey: this.stored.keyOf("state", fresh), prefix })
  }

  /** Stores messages under a name, so that the same call again stores nothing. */
  async append(
    messages: ReadonlyArray<Message.Message>,
    { idempotencyKey, prefix }: StoreOptions,
  ): Promise<void> {
    const isNamed = messages.every((message) => formOf(message).id !== undefined)
    const key = idempotencyKey ?? (isNamed ? this.stored.keyOf("given", messages) : undefined)
    await this.stored.append(messages, { idempotencyKey: key, prefix })
  }

  /** The whole conversation, covered messages included. */
  async all(): Promise<ReadonlyArray<Message.Message>> {
    return (await this.stored.all()).messages
  }

  clear(): Promise<void> {
    return this.stored.clear()
  }
}
