/** A session of a memory, as an adapter of a library reads and writes it: the one door between the two. */
import { Memory, type Render, type Session } from "@memfold/core"
import { Predicate } from "effect"
import type { Message } from "@memfold/message"
import { allMessages } from "./allMessages.js"
import { digest } from "./digest.js"
import { present } from "./fields.js"
import { inOrder } from "./inOrder.js"
import { isLeft, type PlaceOfCall } from "./leftBranch.js"
import type { Omitted } from "./Omitted.js"
import { type UnsupportedSection, unsupportedSections } from "./unsupported.js"
import { freeze } from "./values.js"

/** To find out which given messages are new, this many stored messages are read, plus one for each given message. */
const recent = 100

/** What a context in the form of a library consists of. */
export interface ContextParts {
  /** The sections in order: what each one is, which messages it covers, and its tokens; `unsupported` ones come last. */
  readonly layout: ReadonlyArray<Render.Section | UnsupportedSection>
  /** The size of the context in tokens, by the memory's token counter. */
  readonly tokens: number
}

/** A context, and the messages that a library gets for it. */
export interface SessionContext<Encoded> extends ContextParts {
  readonly encoded: Encoded
  /** What an answer to the context is produced behind. */
  readonly prefix: Session.Prefix
}

/** The prefix of messages of which nobody says what they were produced behind. */
const unknownPrefix: Session.Prefix = { version: 0, total: Number.MAX_SAFE_INTEGER, head: "" }

/** Options of an append. Without a key, the same call again appends the messages again. */
export interface StoreOptions {
  readonly idempotencyKey?: string | undefined
  /** What the first message was produced behind, if it is an answer. */
  readonly prefix?: Session.Prefix | undefined
}

/** The options without those that are not given. */
const passed = ({ idempotencyKey, prefix }: StoreOptions) => present({ idempotencyKey, prefix })

/**
 * The new ones of the given messages: all messages behind the last stored message. A message before it that is not stored
 * was taken back, or is older than the stored messages that were read.
 *
 * @param given - the messages that a library gives, oldest first
 * @param isStored - whether a message is stored as it is
 *
 * @example
 * ```ts
 * import { behindStored } from "@memfold/codec"
 *
 * console.log(behindStored(["a", "b", "c"], (one) => one !== "c")) // ["c"]
 * ```
 */
export const behindStored = <A>(given: ReadonlyArray<A>, isStored: (one: A) => boolean): ReadonlyArray<A> =>
  given.slice(given.findLastIndex(isStored) + 1)

/** Messages as they came, by what is stored of them: what is left out is counted when they are written. */
const originals = new WeakMap<Message.Message, Message.Message>()
const asGiven = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.Message> =>
  messages.map((one) => originals.get(one) ?? one)

/**
 * A session of a memory for an adapter. It keeps nothing, so it costs nothing to make one. Its methods reject with the errors
 * of the memory.
 *
 * @example
 * ```ts
 * import { StoredSession } from "@memfold/codec"
 * import { type Memory, Message } from "@memfold/core"
 *
 * export const remember = async (memory: Memory.AnyMemory, text: string) => {
 *   const session = new StoredSession(memory, "chat-1", "my-library")
 *   const messages = [Message.user(text)]
 *   await session.append(messages, { idempotencyKey: session.keyOf("given", messages) })
 * }
 * ```
 */
export class StoredSession {
  /** Whether something was written through this object, had been written before, or is left to the session as the store has it. */
  private written: "new" | "before" | "left" | null = null

  /**
   * @param owner - a memory of `createMemory` in any format, or the service of `@memfold/core`
   * @param id - the id of the session
   * @param library - names the library in idempotency keys
   * @param memory - the operations; those of the owner by default
   */
  constructor(
    private readonly owner: Memory.AnyMemory,
    readonly id: string,
    private readonly library: string,
    readonly memory: Memory.Neutral = Memory.neutralOf(owner),
  ) {}

  /** The session as this process knows it: what it reads asks the store for nothing, if the process knows the session. */
  get known(): StoredSession {
    return new StoredSession(this.owner, this.id, this.library, Memory.knownOf(this.owner))
  }

  /**
   * Runs work that compares what it is given with the session, and writes what differs: on the session as this process knows it,
   * which takes no statement but the write. The store refuses the write if somebody else was first. Then, and if there was nothing
   * to write, the work runs again on the session as the store has it; unless the store has answered that this was written before, and
   * nothing else since.
   */
  async compare<A>(work: (session: StoredSession) => Promise<A>): Promise<A> {
    const { known } = this
    // A write that was made before tells this process the newest version.
    const version = async () => (await known.memory.known?.version(this.id)) ?? null
    try {
      const before = await version()
      const answer = await work(known)
      if (known.written === "new") return answer
      if (known.written === "before" && before !== null && before === (await version())) return answer
    } catch (error) {
      if (!Predicate.isTagged(error, "VersionMismatch")) throw error
    }
    return work(this)
  }

  /** Runs work behind all earlier work of this process on the session. */
  inOrder<A>(work: () => Promise<A>): Promise<A> {
    return inOrder(this.owner, this.id, work)
  }

  /** The context, in the form of the library. */
  async context<Encoded extends { readonly omitted: ReadonlyArray<Omitted> }>(
    encode: (context: Render.Context) => Promise<Encoded> | Encoded,
  ): Promise<SessionContext<Encoded>> {
    const context = await this.memory.context(this.id)
    const { sources, layout, tokens, prefix } = context
    const encoded = await encode(context)
    return { encoded, layout: [...layout, ...unsupportedSections(encoded.omitted, sources)], tokens, prefix }
  }

  /**
   * The newest stored messages, oldest first: enough to contain the messages that a library gives again.
   *
   * @param given - how many messages the library gives
   */
  async newest(given = 0): Promise<ReadonlyArray<Message.Message>> {
    const { messages } = await this.newestPage(given)
    return messages
  }

  /**
   * {@link StoredSession.newest} with the index of the first message.
   *
   * @param given - how many messages the library gives
   */
  newestPage(given = 0): Promise<Memory.MessagePage> {
    return this.memory.messages(this.id, { limit: recent + given })
  }

  /** Says that work of {@link StoredSession.compare} has to be done on the session as the store has it. */
  leaveToStore(): void {
    this.written = "left"
  }

  private note({ duplicate }: { readonly duplicate: boolean }): void {
    this.written = duplicate ? (this.written ?? "before") : "new"
  }

  /** An idempotency key that a kind of append and its content make. */
  keyOf(kind: string, content: unknown): string {
    return `${this.library}/${kind}/${digest(JSON.stringify(content))}`
  }

  /** Appends messages in one batch, so that nothing comes between a call and its result; no messages append nothing. */
  async append(
    messages: ReadonlyArray<Message.Message>,
    options: StoreOptions = {},
  ): Promise<Memory.AppendedMessages | undefined> {
    if (messages.length === 0) return undefined
    const appended = await this.memory.append(this.id, asGiven(messages), passed(options))
    this.note(appended)
    return appended
  }

  /**
   * Goes on from an earlier place with other messages, or with none. What was said behind the place stays in the log, as a
   * branch.
   *
   * @param from - the index of the first message that does not stay
   */
  async edit(
    from: number,
    messages: ReadonlyArray<Message.Message>,
    options: StoreOptions = {},
  ): Promise<Memory.Edited> {
    const edited = await this.memory.edit(this.id, from, asGiven(messages), passed(options))
    this.note(edited)
    return edited
  }

  /**
   * Goes on from an earlier place with what a page shows there. The change is made once, if it is asked for again on the same
   * branch. Nobody says what these messages were produced behind.
   *
   * @param from - the index of the first message that does not stay
   */
  async editShown(from: number, messages: ReadonlyArray<Message.Message>): Promise<Memory.Edited> {
    const idempotencyKey = this.keyOf(`page/${await this.branch()}/edit/${from}`, freeze(messages).json)
    return this.edit(from, messages, { idempotencyKey, prefix: unknownPrefix })
  }

  async branch(): Promise<number> {
    const [inForce] = await this.memory.branches(this.id)
    return inForce?.id ?? 0
  }

  /** Whether what a call of a model produces belongs to no message any more that the conversation has. */
  async isLeft(call: PlaceOfCall): Promise<boolean> {
    return isLeft(await this.memory.branches(this.id), call)
  }

  /** The whole conversation since the last clear, covered messages included, and when each message was written. */
  all(): ReturnType<typeof allMessages> {
    return allMessages(this.memory, this.id)
  }

  clear(): Promise<void> {
    return this.memory.clear(this.id)
  }
}

/**
 * Messages as the memory of a session stores them, which may have a guard: what a library sends again is compared as that. The session
 * writes them as they came.
 *
 * @example
 * ```ts
 * import { asStored, isSame, type StoredSession } from "@memfold/codec"
 * import type { Message } from "@memfold/core"
 *
 * export const isNewest = async (session: StoredSession, given: Message.Message) => {
 *   const [said] = await asStored(session, [given])
 *   return isSame(said, (await session.newest()).at(-1))
 * }
 * ```
 */
export const asStored = async (
  { memory, id }: StoredSession,
  messages: ReadonlyArray<Message.Message>,
): Promise<ReadonlyArray<Message.Message>> => {
  const stored = (await memory.known?.asStored(id, messages)) ?? messages
  for (const [at, one] of stored.entries()) if (one !== messages[at]) originals.set(one, messages[at]!)
  return stored
}
