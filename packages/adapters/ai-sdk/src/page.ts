/** The page of a session: what a page sends is compared with the stored conversation, and a page reads the conversation. */
import { asStored, freeze, goBack, isSame, pagesBack, type StoredSession } from "@memfold/codec"
import type { Memory, Message } from "@memfold/core"
import type { UIMessage } from "ai"
import { Either } from "effect"
import { decodeMessages } from "./decode.js"
import { formOf } from "./form.js"
import { answersOf } from "./received.js"
import { changeOf, type NewestMessages, textsBehind, withUnseen } from "./shown.js"
import { encodeUIMessages, type Group, groupsOf } from "./ui/encode.js"

/** The body of a request of `useChat`, as `DefaultChatTransport` sends it. */
export interface PageRequest {
  readonly id: string
  readonly messages: Array<UIMessage>
  /** Why the page asks: `"submit-message"` or `"regenerate-message"`. */
  readonly trigger?: string
  /** The message that was edited, or whose answer is to be made again. */
  readonly messageId?: string
}

interface PageOptions {
  readonly shows?: "all" | "end" | undefined
  readonly trigger?: string | undefined
  readonly messageId?: string | undefined
}

/** How many stored messages are read at once, to find a message far back. */
const pageSize = 500

/** Whether a page asks for another answer. */
export const regenerates = ({ trigger }: PageOptions): boolean => trigger === "regenerate-message"

/** Messages of the AI SDK as messages of the memory. It throws `AiSdkDecodeError`. */
export const decoded = (messages: ReadonlyArray<unknown>): ReadonlyArray<Message.Message> =>
  Either.getOrThrowWith(decodeMessages(messages), (error) => error)

/**
 * What messages of a page answer after the conversation went on: results of tools of the page, and approvals. Each stands behind the
 * messages that ask for it, at this position.
 */
const lateAnswers = (
  given: ReadonlyArray<UIMessage>,
  groups: ReadonlyArray<Group>,
): ReadonlyMap<number, ReadonlyArray<Message.Message>> => {
  const stored = groups.flatMap(({ messages, position }) =>
    messages.map((message) => ({ message, position })),
  )
  const late = new Map<number, ReadonlyArray<Message.Message>>()
  for (const [at, { id, messages, position }] of groups.entries()) {
    const page = given.find((one) => one.id === id)
    const isLast = !groups.slice(at + 1).some((group) => group.messages[0]?.role === "user")
    if (page === undefined || isLast) continue
    const answer = answersOf(page, messages, true)
    // Answers to two requests at once may be interleaved: then their places are not known here.
    const isTogether = stored
      .slice(position, position + messages.length)
      .every((one) => messages.includes(one.message))
    if (answer !== undefined && isTogether) late.set(position + messages.length, [answer])
  }
  return late
}

/** Whether the text or a file of a message differs from the stored message. */
const isEdited = ({ role, parts }: UIMessage, { id, messages }: Group): boolean => {
  const [stored] = encodeUIMessages(messages, () => id)
  return stored?.role !== role || !isSame(freeze(stored.parts).json, freeze(parts).json)
}

/** The page of a session. It keeps nothing. */
export class Page {
  constructor(private readonly stored: StoredSession) {}

  /** The id on the page of a message that no page named, by its index. */
  private readonly idOf = (index: number): string => `${this.stored.id}-${index}`

  private idAt(message: Message.Message, index: number): string {
    return formOf(message).ui?.id ?? this.idOf(index)
  }

  /** The newest stored messages, back to one with a wanted id. The log is read from its end. */
  private async newestWith(
    wanted: ReadonlySet<string>,
    isFar: boolean,
    isAll = false,
  ): Promise<NewestMessages> {
    const { memory, id } = this.stored
    const limit = (read: number) => (read === 0 ? 100 + wanted.size : pageSize)
    const pages: Array<Memory.MessagePage> = []
    for await (const page of pagesBack(memory, id, { limit })) {
      pages.unshift(page)
      const idAt = (message: Message.Message, position: number) => this.idAt(message, page.from + position)
      if (isAll) continue
      if (!isFar || page.messages.some((message, position) => wanted.has(idAt(message, position)))) break
    }
    return { messages: pages.flatMap(({ messages }) => messages), from: pages[0]?.from ?? 0 }
  }

  /** What a page shows, as it is stored. What an answer says is known from the log alone. */
  private async asStored(given: ReadonlyArray<UIMessage>): Promise<ReadonlyArray<UIMessage>> {
    const said = given.map((page) => (page.role === "assistant" ? [] : decoded([page])))
    const messages = said.flat()
    const stored = await asStored(this.stored, messages)
    let at = 0
    return given.map((page, position) => {
      const from = at
      at += said[position]!.length
      const own = stored.slice(from, at)
      return own.every((one, offset) => one === messages[from + offset])
        ? page
        : (encodeUIMessages(own, () => page.id)[0] ?? page)
    })
  }

  /** The newest stored messages of the branch that a list shows: a whole list shows all of its answers, and its end counts most. */
  private async showing(
    given: ReadonlyArray<UIMessage>,
    isWhole: boolean,
    read: () => Promise<NewestMessages>,
  ): Promise<NewestMessages> {
    let newest = await read()
    const ids = new Set(newest.messages.map((message, at) => this.idAt(message, newest.from + at)))
    const answers = given.filter(({ role }) => role === "assistant")
    const last = answers.pop()
    const missing = isWhole ? answers.find(({ id }) => !ids.has(id)) : undefined
    for (const answer of [missing, last]) {
      const isAnswer = (message: Message.Message, index: number) => this.idAt(message, index) === answer?.id
      if (answer !== undefined && (await goBack(this.stored, isAnswer, newest))) newest = await read()
    }
    return newest
  }

  /**
   * Makes the session what the page shows: appends what is new, and goes on from an earlier place if the page does.
   *
   * @param isList whether the page gave a list, and not its last message alone
   */
  async receive(sent: ReadonlyArray<UIMessage>, isList: boolean, options: PageOptions): Promise<void> {
    const { messageId } = options
    const given = await this.asStored(sent)
    const isOther = regenerates(options)
    const ids = new Set([...given.map(({ id }) => id), ...(messageId === undefined ? [] : [messageId])])
    const isFromStart = isList && options.shows !== "end"
    const isFar = given.length > 1 || messageId !== undefined || isOther
    const read = () => this.newestWith(ids, isFar, isFromStart)
    const newest = isList ? await this.showing(given, isFromStart, read) : await read()
    const { from, kept, added, unseen } = changeOf(given, newest, {
      idOf: this.idOf,
      isWhole: isList,
      isFromStart,
      regenerates: isOther,
      isEdited,
    })
    const { messages } = newest
    const stay = from === null ? messages : messages.slice(0, from - newest.from)
    const isKnown = kept !== undefined && messages.some((message) => formOf(message).ui?.id === kept.id)
    const answers = kept === undefined ? undefined : answersOf(kept, stay, isKnown)
    const fresh = [
      ...(answers === undefined ? [] : [answers]),
      ...added.flatMap((one) => {
        if ("stored" in one) return [one.stored]
        return "page" in one
          ? withUnseen(decoded([sent[given.indexOf(one.page)] ?? one.page]), unseen)
          : textsBehind(decoded([one.answer]), one.behind)
      }),
    ]
    const all = [...stay, ...fresh]
    const late = lateAnswers(
      given.slice(0, -1),
      groupsOf(all, (position) => this.idOf(newest.from + position)),
    )
    const changed = Math.min(...late.keys(), from === null ? all.length : stay.length)
    if (from !== null || late.size > 0) {
      const messages = all
        .slice(changed)
        .flatMap((message, at) => [...(late.get(changed + at) ?? []), message])
      return void (await this.stored.editShown(newest.from + changed, [
        ...messages,
        ...(late.get(all.length) ?? []),
      ]))
    }
    if (fresh.length === 0) return
    // Two equal requests at once make the same key. The same words at another place, or on another branch, do not.
    const end = newest.from + messages.length
    const idempotencyKey = this.stored.keyOf(
      `page/${await this.stored.branch()}/end/${end}`,
      freeze(fresh).json,
    )
    await this.stored.append(fresh, { idempotencyKey })
  }

  /** Takes back the newest answer, or the answer that a message of the page is or asks for. */
  async takeBack(id: string | undefined): Promise<void> {
    const { memory, id: session } = this.stored
    if (id === undefined) return void (await memory.regenerate(session))
    const { messages, from } = await this.newestWith(new Set([id]), true)
    const at = messages.findIndex((message, position) => this.idAt(message, from + position) === id)
    if (at !== -1) await memory.regenerate(session, { from: from + at })
  }

  /** The conversation for the page, from its newest messages back; `limit` is how many stored messages are read at least. */
  async read(limit: number | undefined): Promise<Array<UIMessage>> {
    const pages: Array<Memory.MessagePage> = []
    const size = (read: number) => (limit === undefined ? pageSize : Math.max(limit - read, 50))
    let read = 0
    for await (const page of pagesBack(this.stored.memory, this.stored.id, { limit: size })) {
      pages.unshift(page)
      read += page.messages.length
      // The first message of the list is always whole.
      if (limit !== undefined && read >= limit && page.messages[0]?.role === "user") break
    }
    const from = pages[0]?.from ?? 0
    return encodeUIMessages(
      pages.flatMap(({ messages }) => messages),
      (position) => this.idOf(from + position),
    )
  }
}
