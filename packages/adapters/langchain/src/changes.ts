/** What a list of messages that an application gives changes in the stored conversation. */
import { behindStored, isAnswer, isSame, isWaiting, unseenOf, withUnseen } from "@memfold/codec"
import { Message } from "@memfold/core"
import { formOf, metadataOf } from "./form.js"

type Messages = ReadonlyArray<Message.Message>

/** The newest stored messages, and the index of the first one. */
export interface StoredMessages {
  readonly messages: Messages
  readonly from: number
}

/** A change of the stored conversation. */
export interface Change {
  /** The index of the first message that does not stay; `null` if all messages stay. */
  readonly from: number | null
  /** The messages that come behind those that stay. */
  readonly added: Messages
}

const idOf = (message: Message.Message): string | undefined => formOf(message).id

/** What a page shows of a message, whatever content blocks it came in. */
const shown = ({ parts }: Message.Message): ReadonlyArray<unknown> =>
  parts.flatMap((part): ReadonlyArray<unknown> => {
    if (part.type === "text") return part.text === "" ? [] : [part.text]
    if (part.type === "tool-call") return [{ call: part.id }]
    if (part.type === "tool-result") return [{ result: part.id, output: part.output }]
    if (part.type !== "file") return []
    const { providerData: _data, ...file } = part
    return [file]
  })

const isRedacted = (stored: Message.Message): boolean =>
  isSame(stored.parts, Message.withoutText(stored).parts)

/** Whether a page shows the same of a given message and of a stored one. A page may show of an answer its text only. */
const lookingLike = (given: Message.Message): ((stored: Message.Message) => boolean) => {
  const { role } = given
  const [shows, text] = [shown(given), Message.text(given)]
  let redacted: ReadonlyArray<Message.Part> | undefined
  const isText = role === "assistant" && text !== "" && shows.length === 1
  return (stored) =>
    stored.role === role &&
    (isSame(shows, shown(stored)) ||
      isSame(stored.parts, (redacted ??= Message.withoutText(given).parts)) ||
      (isText && text === Message.text(stored)))
}

/** A step with tools, which a page may not show. */
const isStep = (message: Message.Message): boolean =>
  message.role === "tool" || Message.calls(message).length > 0

interface Start {
  readonly given: number
  readonly stored: number
}

/** A walk along given and stored messages, as far as they are the same. */
interface Walk {
  /** The position of the first given message that is not stored. */
  readonly given: number
  /** The position behind the last stored message that was given. */
  readonly stored: number
  /** How many answers with a text, and how many questions, were the same. */
  readonly answers: number
  readonly questions: number
}

class Comparison {
  private readonly positions: ReadonlyMap<string | undefined, number>
  private readonly givenIds: ReadonlySet<string | undefined>
  /** Whether a given message has the id of a stored one. Without that, messages are compared by what a page shows. */
  readonly hasKnownIds: boolean

  private readonly stored: Messages
  private found: ReadonlySet<Message.Message> | undefined
  /** Whether the stored messages are the whole conversation. */
  private readonly isWhole: boolean

  constructor(
    private readonly given: Messages,
    { messages: stored, from }: StoredMessages,
  ) {
    this.stored = stored
    this.isWhole = from === 0
    this.positions = new Map(stored.map((message, position) => [idOf(message), position]))
    this.givenIds = new Set(given.map(idOf))
    this.hasKnownIds = given.some((message) => this.isKnown(message))
  }

  /** The questions of other pages that this one never saw, and their answers. */
  private get unseen(): ReadonlySet<Message.Message> {
    return (this.found ??= unseenOf(this.givenIds, this.stored, (message) => ({
      id: idOf(message),
      // A step with tools may be missing as it is.
      isAnswer: isAnswer(message) && !isStep(message),
      unseen: formOf(message).unseen,
    })))
  }

  private isKnown(message: Message.Message): boolean {
    const id = idOf(message)
    return id !== undefined && this.positions.has(id)
  }

  private isSame(given: Message.Message, stored: Message.Message): boolean {
    if (!this.isKnown(given)) return lookingLike(given)(stored)
    return idOf(given) === idOf(stored) && isSame(given.parts, stored.parts)
  }

  /** Whether a stored message came through another adapter, so that it never was in a list of LangChain. */
  private isForeign(stored: Message.Message): boolean {
    return this.hasKnownIds && idOf(stored) === undefined && !isRedacted(stored)
  }

  /** Whether the list need not have a stored message. */
  private mayBeMissing(stored: Message.Message): boolean {
    if (this.isForeign(stored) || this.unseen.has(stored)) return true
    return isStep(stored) && !this.givenIds.has(idOf(stored))
  }

  /** Those of stored messages that the page never saw: it takes none of them back. */
  unseenIn(stored: Messages): Messages {
    return stored.filter((one) => this.unseen.has(one))
  }

  /**
   * The ids of what another page asked a moment ago, if nothing but that stands behind a position, and what is given behind another is
   * new; `undefined` if it is not so.
   */
  asksAtOnce({ given, stored }: Walk): ReadonlyArray<string> | undefined {
    const [added, behind] = [this.given.slice(given), this.stored.slice(stored)]
    const isNew = added.length > 0 && added.every((one) => one.role === "user" && !this.isKnown(one))
    if (!this.hasKnownIds || stored === 0 || !isNew || !isWaiting(behind)) return undefined
    return behind.flatMap((one) => (one.role === "user" ? (idOf(one) ?? []) : []))
  }

  private walk(start: Start): Walk {
    const { given, stored } = this
    let [at, position, answers, questions] = [start.given, start.stored, 0, 0]
    for (; at < given.length; at++) {
      const message = given[at]!
      let next = position
      const isPassed = (one: Message.Message) => !this.isSame(message, one) && this.mayBeMissing(one)
      while (next < stored.length && isPassed(stored[next]!)) next++
      if (next === stored.length || !this.isSame(message, stored[next]!)) break
      position = next + 1
      if (message.role === "assistant" && Message.text(message) !== "") answers++
      if (message.role === "user") questions++
    }
    return { given: at, stored: position, answers, questions }
  }

  private byIds(): Walk {
    const given = this.given.findIndex((message) => this.isKnown(message))
    return this.walk({ given, stored: this.positions.get(idOf(this.given[given]!))! })
  }

  /**
   * The walk with the most answers; `undefined` if no answer is the same. As long as the stored messages are not the whole
   * conversation, the walk begins with the first given message, and has a question, too: answers look alike.
   */
  private byContent(): Walk | undefined {
    const { given, stored } = this
    const first = given.findIndex(({ role }) => role !== "system")
    for (let at = Math.max(first, 0); at < given.length; at++) {
      const looksSame = lookingLike(given[at]!)
      const best = stored
        .flatMap((one, position) => (looksSame(one) ? [position] : []))
        .map((position) => this.walk({ given: at, stored: position }))
        .filter(({ questions }) => this.isWhole || questions > 0)
        .reduce<Walk | undefined>(
          (most, one) => (one.answers >= (most?.answers ?? 1) ? one : most),
          undefined,
        )
      if (best !== undefined || !this.isWhole) return best
    }
    return undefined
  }

  compare(): Walk | undefined {
    return this.hasKnownIds ? this.byIds() : this.byContent()
  }

  /** The position of the first stored message, from a position on, that the list would have if it stayed. */
  missingFrom(position: number): number | null {
    const { stored } = this
    if (stored.slice(position).every((one) => this.mayBeMissing(one))) return null
    return stored.findIndex((one, at) => at >= position && !this.isForeign(one))
  }
}

/**
 * What the list of an application changes, with which it begins a call of an agent; `null` if nothing of the list is stored. The
 * list is the conversation as the application shows it, or its newest messages:
 *
 * - a message with a stored id and another content replaces the stored one, and what was said behind it
 * - a stored message that is missing behind a given one was removed, with what was said behind it
 * - without ids, messages are the same if a page shows the same; a list without an answer that is stored is new
 * - steps with tools may be missing, messages that came through another adapter, and what another page said that this one never saw
 */
export const changeOf = (given: Messages, stored: StoredMessages): Change | null => {
  const comparison = new Comparison(given, stored)
  const walk = comparison.compare()
  if (walk === undefined) return null
  const added = given.slice(walk.given)
  const missing = comparison.missingFrom(walk.stored)
  if (missing === null) return { from: null, added }
  const unseen = comparison.asksAtOnce(walk)
  if (unseen !== undefined) {
    const noted = withUnseen(added, unseen, (one, ids) => metadataOf({ ...formOf(one), unseen: ids }))
    return { from: null, added: noted }
  }
  return {
    from: stored.from + missing,
    added: [...comparison.unseenIn(stored.messages.slice(missing)), ...added],
  }
}

/** What messages that are added change: like {@link changeOf}, but they are no list of what there is. */
export const additionOf = (given: Messages, stored: StoredMessages): Change | null => {
  if (!new Comparison(given, stored).hasKnownIds) return null
  const change = changeOf(given, stored)
  return change?.added.length === 0 ? { ...change, from: null } : change
}

/** What is new in the list of a call of an agent that has begun: nothing is removed by then, and others may have said something. */
export const progressOf = (given: Messages, stored: StoredMessages): Change | null => {
  const byId = new Map(stored.messages.map((message) => [idOf(message), message]))
  if (!given.map(idOf).some((id) => id !== undefined && byId.has(id))) {
    const change = changeOf(given, stored)
    return change === null ? null : { ...change, from: null }
  }
  const added = behindStored(given, (message) => {
    const id = idOf(message)
    return id !== undefined && isSame(byId.get(id)?.parts, message.parts)
  })
  return { from: null, added }
}
