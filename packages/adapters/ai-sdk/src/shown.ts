/**
 * What a page shows, compared with the newest stored messages. A page sends its list of messages again with each request; an
 * edited message keeps its id, and messages that were taken back are missing.
 */
import { isAnswer, isUnfinished, isWaiting, unseenOf, withUnseen as noted } from "@memfold/codec"
import { Message } from "@memfold/core"
import { formOf, metadataOf } from "./form.js"
import { type Group, groupsOf, type PageId } from "./ui/encode.js"

/** A message of a page: the message of the AI SDK, or of a library that is built on it. */
export interface PageMessage {
  readonly id: string
  readonly role: string
}

/** The newest stored messages. */
export interface NewestMessages {
  readonly messages: ReadonlyArray<Message.Message>
  /** The index of the first of them in the conversation. */
  readonly from: number
}

/** What is to change in a session, so that it has what a page shows. */
export interface Change<Page> {
  /** The index of the first stored message that the page does not show; `null` if it shows all of them. */
  readonly from: number | null
  /** The last message of the page that is stored as it is: results of its calls may be new. */
  readonly kept: Page | undefined
  /** What comes behind the stored messages that stay: stored messages again, and new messages of the page. */
  readonly added: ReadonlyArray<
    | { readonly stored: Message.Message }
    | { readonly page: Page }
    /** An answer that the session has up to `behind` of its assistant messages: see {@link textsBehind}. */
    | { readonly answer: Page; readonly behind: number }
  >
  /** The ids of stored messages that wait for an answer and that the page does not show: another page has sent them. */
  readonly unseen?: ReadonlyArray<string>
}

/** How a list of a page is read. */
export interface ShownOptions<Page> {
  /** The ids of stored messages that no page named, by their indexes. */
  readonly idOf: PageId
  /** Whether the list ends where the page ends: then it shows nothing behind the last message of the list. */
  readonly isWhole: boolean
  /** Whether the list begins where the page begins: then it shows nothing before the first message of the list. */
  readonly isFromStart?: boolean
  /** Whether the page asks for another answer: then not even an unfinished answer stays. */
  readonly regenerates: boolean
  /** Whether a message says something else than the stored messages with its id. It is not asked about answers. */
  readonly isEdited: (page: Page, stored: Group) => boolean
}

/** A redaction leaves this text, and takes the id of the message. */
const erased = "[redacted]"

const isRedacted = (message: Message.Message): boolean =>
  message.metadata === undefined &&
  message.parts.some(
    (part) =>
      (part.type === "text" && part.text === erased) ||
      (part.type === "tool-result" && part.output === erased),
  )

const isOfAnswer = ({ messages: [first] }: Group): boolean => first !== undefined && isAnswer(first)

/** The place up to which a list and the stored messages are the same. */
interface Place<Page> {
  /** The position of the next message of the list, and of the next stored group. */
  readonly given: number
  readonly stored: number
  readonly kept: Page | undefined
}

class Comparison<Page extends PageMessage> {
  private readonly positions: ReadonlyMap<string, number>
  private readonly named: ReadonlySet<string>

  constructor(
    private readonly given: ReadonlyArray<Page>,
    private readonly groups: ReadonlyArray<Group>,
    private readonly differs: ShownOptions<Page>["isEdited"],
  ) {
    this.positions = new Map(groups.map(({ id }, position) => [id, position]))
    this.named = new Set(given.map(({ id }) => id))
  }

  /** The stored messages that a message of the list is; `undefined` if it is new or edited. */
  stored(page: Page): Group | undefined {
    const group = this.groups[this.positions.get(page.id) ?? -1]
    return group === undefined || this.isEdited(page, group) ? undefined : group
  }

  /** What an answer says is known from the log alone. */
  private isEdited(page: Page, group: Group): boolean {
    return page.role !== "assistant" && this.differs(page, group)
  }

  private isStoredAs(page: Page, group: Group | undefined): boolean {
    if (group === undefined) return false
    if (page.id === group.id) return !this.isEdited(page, group)
    if (this.positions.has(page.id) || (page.role === "assistant") !== isOfAnswer(group)) return false
    // An answer whose id the page made itself, or a message whose text was erased since the page was loaded.
    return (isOfAnswer(group) && !this.named.has(group.id)) || group.messages.some(isRedacted)
  }

  /** Where the list and the stored groups have the first message in common; `null` if they have none. */
  private beginning(isComplete: boolean, isFromStart: boolean): Pick<Place<Page>, "given" | "stored"> | null {
    if (isFromStart && isComplete && this.groups.length > 0) {
      // Pages need not show instructions.
      const said = this.groups.findIndex(
        ({ id, messages }) => messages[0]?.role !== "system" || this.named.has(id),
      )
      return { given: 0, stored: said === -1 ? this.groups.length : said }
    }
    const given = this.given.findIndex(({ id }) => this.positions.has(id))
    if (given !== -1) return { given, stored: this.positions.get(this.given[given]!.id)! }
    const isErased = isComplete && this.groups[0]?.messages.some(isRedacted) === true
    return isErased ? { given: 0, stored: 0 } : null
  }

  /** Follows both from the first message that they have in common. */
  place(isComplete: boolean, isFromStart: boolean): Place<Page> {
    const beginning = this.beginning(isComplete, isFromStart)
    if (beginning === null) return { given: 0, stored: this.groups.length, kept: undefined }
    let { stored } = beginning
    let kept: Page | undefined
    for (let position = beginning.given; position < this.given.length; position++) {
      const page = this.given[position]!
      // A page may have no message for a part of an answer that was erased.
      const at = this.groups.findIndex(
        (group, index) =>
          index >= stored && (this.isStoredAs(page, group) || !group.messages.some(isRedacted)),
      )
      if (this.isStoredAs(page, this.groups[at])) stored = at + 1
      // An answer that never came to the session, because the page or its process was gone.
      else if (page.role !== "assistant" || this.positions.has(page.id))
        return { given: position, stored, kept }
      kept = page
    }
    return { given: this.given.length, stored, kept }
  }
}

/**
 * What a page shows of an answer behind its first assistant messages: the texts alone. A page can say which calls it saw, but not
 * what came of them.
 */
export const textsBehind = (
  answer: ReadonlyArray<Message.Message>,
  behind: number,
): ReadonlyArray<Message.Message> =>
  answer
    .filter(({ role }) => role === "assistant")
    .slice(behind)
    .map((message) => ({
      ...message,
      parts: message.parts.filter((part) => part.type === "text" && part.text !== ""),
    }))
    .filter(({ parts }) => parts.length > 0)

/** Whether a call waits for its result: such calls wait for the page. */
const hasOpenCall = (messages: ReadonlyArray<Message.Message>): boolean => {
  const results = new Set(messages.flatMap(Message.results).map(({ id }) => id))
  return messages.flatMap(Message.calls).some(({ id }) => !results.has(id))
}

/**
 * The answer that is still to come when the user goes on: the stored end again, and what the page shows of the answer. So the
 * rest of the answer, which may be under way, belongs to the branch that is left. `null` if no answer is to come.
 */
const goesOnWithout = <Page extends PageMessage>(
  kept: Page | undefined,
  group: Group | undefined,
  last: Message.Message | undefined,
): Change<Page>["added"] | null => {
  if (kept === undefined || group === undefined || last === undefined) return null
  // Answers to two requests at once may be interleaved.
  if (last !== group.messages.at(-1) || (last.role !== "user" && last.role !== "tool")) return null
  if (hasOpenCall(group.messages)) return null
  const behind = group.messages.filter(({ role }) => role === "assistant").length
  return [{ stored: last }, ...(kept.role === "assistant" ? [{ answer: kept, behind }] : [])]
}

const storedAgain = ({ messages }: Group) => messages.map((stored) => ({ stored }))

/** The messages of a page, with a note of what the page did not show before them. */
export const withUnseen = (
  messages: ReadonlyArray<Message.Message>,
  unseen: ReadonlyArray<string> | undefined,
): ReadonlyArray<Message.Message> =>
  noted(messages, unseen, (message, ids) => {
    const form = formOf(message)
    return metadataOf({ ...form, ui: { ...form.ui, unseen: ids } })
  })

/**
 * Compares what a page shows with what is stored, from the first message that both have.
 *
 * @param given - the messages of the page, oldest first
 * @param newest - the newest stored messages: more than what the page changes
 */
export const changeOf = <Page extends PageMessage>(
  given: ReadonlyArray<Page>,
  { messages, from }: NewestMessages,
  options: ShownOptions<Page>,
): Change<Page> => {
  const all = groupsOf(messages, (position) => options.idOf(from + position))
  const unseen = unseenOf(new Set(given.map(({ id }) => id)), all, (group) => ({
    id: group.id,
    isAnswer: isOfAnswer(group),
    unseen: formOf(group.messages[0]!).ui?.unseen,
  }))
  const change = changeOfSeen(
    given,
    { messages, from },
    options,
    all.filter((group) => !unseen.has(group)),
  )
  const { from: left, added } = change
  if (left === null || unseen.size === 0) return change
  const behind = [...unseen].filter(({ position }) => from + position >= left).flatMap(storedAgain)
  return { ...change, added: [...behind, ...added] }
}

/** {@link changeOf} for the stored groups that the page has seen. */
const changeOfSeen = <Page extends PageMessage>(
  given: ReadonlyArray<Page>,
  { messages, from }: NewestMessages,
  { isWhole, isFromStart = false, regenerates, isEdited }: ShownOptions<Page>,
  groups: ReadonlyArray<Group>,
): Change<Page> => {
  const comparison = new Comparison(given, groups, isEdited)
  const place = comparison.place(from === 0, isFromStart)
  const { kept } = place
  const added = given.slice(place.given).flatMap((page): Change<Page>["added"] => {
    const group = comparison.stored(page)
    if (group !== undefined) return storedAgain(group)
    return page.role === "assistant" && messages.length > 0 ? [] : [{ page }]
  })
  const next = groups[place.stored]
  if (next === undefined) {
    const asked = groups.at(-1)
    const before = isWhole && added.length > 0 ? goesOnWithout(kept, asked, messages.at(-1)) : null
    if (before !== null)
      return { from: from + messages.length - 1, kept: undefined, added: [...before, ...added] }
    if (!regenerates || added.length > 0 || asked === undefined || isOfAnswer(asked) || kept?.id !== asked.id)
      return { from: null, kept, added }
    // Nothing is to be taken back, but an answer to the question may be under way: it belongs to the branch that is left.
    return { from: from + asked.position, kept: undefined, added: storedAgain(asked) }
  }
  const isNew =
    added.length > 0 && added.every((one) => "page" in one && groups.every(({ id }) => id !== one.page.id))
  const behind = messages.slice(next.position)
  // An answer that waits for its page has been shown: a list without it has taken it back, or is that of another page, which shows it
  // again when it goes on.
  const isUnderWay = isWaiting(behind) && !hasOpenCall(behind)
  if (isWhole && !regenerates && isNew && place.stored > 0 && isUnderWay)
    return { from: null, kept, added, unseen: groups.slice(place.stored).map(({ id }) => id) }
  const goesOn = !regenerates && (!isWhole || isUnfinished(behind))
  if (added.length === 0 && goesOn) return { from: null, kept, added }
  return { from: from + next.position, kept, added }
}
