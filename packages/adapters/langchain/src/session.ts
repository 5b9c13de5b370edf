/** A stored session, as LangChain reads and writes it. */
import type { BaseMessage } from "@langchain/core/messages"
import {
  digest,
  inOrder,
  type UnsupportedSection,
  unsupportedSections,
  isSame,
  allMessages,
} from "@memfold/codec"
import { Memory, type Message, type Render, type Session } from "@memfold/core"
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

/** How many stored messages are looked at besides those of the state, to find out which of the state are new. */
const recent = 100

export const decoded = (messages: ReadonlyArray<unknown>): ReadonlyArray<Message.Message> =>
  Either.getOrThrowWith(decodeMessages(messages), (error) => error)

const named = (messages: ReadonlyArray<Message.Message>): string => digest(JSON.stringify(messages))

/** A session of a memory. It keeps nothing, so it costs nothing to make one. */
export class LangChainSession {
  private readonly neutral: Memory.Neutral

  constructor(
    private readonly memory: Memory.AnyMemory,
    readonly id: string,
  ) {
    this.neutral = Memory.neutralOf(memory)
  }

  /** Runs work behind all earlier work of this process on the session. */
  inOrder<A>(work: () => Promise<A>): Promise<A> {
    return inOrder(this.memory, this.id, work)
  }

  async read(provider: string | undefined): Promise<ReadContext> {
    const { messages, sources, layout, tokens, prefix } = await this.neutral.context(this.id)
    const { omitted, ...encoded } = encodeContext(messages, { provider })
    return { ...encoded, layout: [...layout, ...unsupportedSections(omitted, sources)], tokens, prefix }
  }

  /**
   * Stores the messages of a graph's state that are new: those behind the last one that is stored. They are one append, so
   * that nothing comes between a call and its result.
   *
   * @param prefixOf what the answer of this id was produced behind, if it is known
   */
  async save(
    state: ReadonlyArray<BaseMessage>,
    prefixOf: (id: string | undefined) => Session.Prefix | undefined,
  ): Promise<void> {
    const given = decoded(state)
    const { messages: stored } = await this.neutral.messages(this.id, { limit: recent + given.length })
    const byId = new Map(stored.map((message) => [formOf(message).id, message]))
    const isStored = (message: Message.Message) => {
      const { id } = formOf(message)
      return id !== undefined && isSame(byId.get(id)?.parts, message.parts)
    }
    const fresh = given.slice(given.findLastIndex(isStored) + 1)
    const [first] = fresh
    if (first === undefined) return
    // Of an answer from another process the engine says itself whether it was surely produced behind the context of now.
    const prefix = first.role === "assistant" ? prefixOf(formOf(first).id) : undefined
    await this.neutral.append(this.id, fresh, {
      idempotencyKey: `langchain/state/${named(fresh)}`,
      ...(prefix === undefined ? {} : { prefix }),
    })
  }

  /** Stores messages under a name, so that the same call again stores nothing. */
  async append(
    messages: ReadonlyArray<Message.Message>,
    {
      idempotencyKey,
      prefix,
    }: { readonly idempotencyKey?: string; readonly prefix?: Session.Prefix | undefined },
  ): Promise<void> {
    if (messages.length === 0) return
    const isNamed = messages.every((message) => formOf(message).id !== undefined)
    const key = idempotencyKey ?? (isNamed ? `langchain/given/${named(messages)}` : undefined)
    await this.neutral.append(this.id, messages, {
      ...(key === undefined ? {} : { idempotencyKey: key }),
      ...(prefix === undefined ? {} : { prefix }),
    })
  }

  /** The whole conversation, covered messages included. */
  async all(): Promise<ReadonlyArray<Message.Message>> {
    return (await allMessages(this.neutral, this.id)).messages
  }

  clear(): Promise<void> {
    return this.neutral.clear(this.id)
  }
}
