/**
 * What a page shows, compared with the newest stored messages. A page sends its list of messages again with each request; an
 * edited message keeps its id, and messages that were taken back are missing.
 */
import { freeze, isSame } from "@memfold/codec"
import type { Message } from "@memfold/core"
import type { UIMessage } from "ai"
import { encodeUIMessages, type Group, groupsOf, isAnswer, type PageId } from "./ui/encode.js"

/** The newest stored messages. */
export interface NewestMessages {
  readonly messages: ReadonlyArray<Message.Message>
  /** The index of the first of them in the conversation. */
  readonly from: number
}

/** What is to change in a session, so that it has what a page shows. */
export interface Change {
  /** The index of the first stored message that the page does not show; `null` if it shows all of them. */
  readonly from: number | null
  /** The last message of the page that is stored as it is: results of its calls may be new. */
  readonly kept: UIMessage | undefined
  /** What comes behind the stored messages that stay: stored messages again, and new messages of the page. */
  readonly added: ReadonlyArray<{ readonly stored: Message.Message } | { readonly page: UIMessage }>
}

/** How a list of a page is read. */
export interface ShownOptions {
  /** The ids of stored messages that no page named, by their indexes. */
  readonly idOf: PageId
  /** Whether the list ends where the page ends: then it shows nothing behind the last message of the list. */
  readonly isWhole: boolean
  /** Whether the page asks for another answer: then not even an unfinished answer stays. */
  readonly regenerates: boolean
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

/** Whether the text or a file differs from the stored message. What an answer says is known from the log alone. */
const isEdited = (page: UIMessage, { id, messages }: Group): boolean => {
  if (page.role === "assistant") return false
  const [stored] = encodeUIMessages(messages, () => id)
  return stored?.role !== page.role || !isSame(freeze(stored.parts).json, freeze(page.parts).json)
}

/** Whether nothing but an answer follows, whose next step is still to come. */
export const isUnfinished = (messages: ReadonlyArray<Message.Message>): boolean => {
  const last = messages.at(-1)
  const waits = last?.role === "tool" || last?.parts.some(({ type }) => type === "tool-call") === true
  return waits && messages.every(isAnswer)
}

/** The place up to which a list and the stored messages are the same. */
interface Place {
  /** The position of the next message of the list, and of the next stored group. */
  readonly given: number
  readonly stored: number
  readonly kept: UIMessage | undefined
}

/** Follows a list and the stored groups, from a place at which both have the same message. */
const follow = (
  given: ReadonlyArray<UIMessage>,
  groups: ReadonlyArray<Group>,
  positions: ReadonlyMap<string, number>,
  from: { readonly given: number; readonly stored: number },
): Place => {
  const named = new Set(given.map(({ id }) => id))
  const isStored = (page: UIMessage, group: Group): boolean => {
    if (page.id === group.id) return !isEdited(page, group)
    if (positions.has(page.id) || (page.role === "assistant") !== isOfAnswer(group)) return false
    // An answer whose id the page made itself, or a message whose text was erased since the page was loaded.
    return (isOfAnswer(group) && !named.has(group.id)) || group.messages.some(isRedacted)
  }
  let { stored } = from
  let kept: UIMessage | undefined
  for (const [position, page] of given.entries()) {
    if (position < from.given) continue
    const at = groups.findIndex((group, index) => index >= stored && !group.messages.some(isRedacted))
    const places = [stored, at].filter((one) => one !== -1)
    const found = places.find((one) => groups[one] !== undefined && isStored(page, groups[one]))
    if (found !== undefined) stored = found + 1
    // An answer that never came to the session, because the page or its process was gone.
    else if (page.role !== "assistant" || positions.has(page.id)) return { given: position, stored, kept }
    kept = page
  }
  return { given: given.length, stored, kept }
}

const storedAgain = ({ messages }: Group): Change["added"] => messages.map((stored) => ({ stored }))

/** Compares what a page shows with what is stored, from the first message that both have. */
export const changeOf = (
  given: ReadonlyArray<UIMessage>,
  { messages, from }: NewestMessages,
  { idOf, isWhole, regenerates }: ShownOptions,
): Change => {
  const groups = groupsOf(messages, (position) => idOf(from + position))
  const positions = new Map(groups.map(({ id }, position) => [id, position]))
  const first = given.findIndex(({ id }) => positions.has(id))
  const isErased = first === -1 && from === 0 && groups[0]?.messages.some(isRedacted) === true
  const place =
    first === -1
      ? isErased
        ? follow(given, groups, positions, { given: 0, stored: 0 })
        : { given: 0, stored: groups.length, kept: undefined }
      : follow(given, groups, positions, { given: first, stored: positions.get(given[first]!.id)! })
  const { kept } = place
  const added = given.slice(place.given).flatMap((page): Change["added"] => {
    const group = groups[positions.get(page.id) ?? -1]
    if (group !== undefined && !isEdited(page, group)) return storedAgain(group)
    return page.role === "assistant" && messages.length > 0 ? [] : [{ page }]
  })
  const next = groups[place.stored]
  if (next === undefined) {
    const asked = groups.at(-1)
    if (!regenerates || added.length > 0 || asked === undefined || isOfAnswer(asked) || kept?.id !== asked.id)
      return { from: null, kept, added }
    // Nothing is to be taken back, but an answer to the question may be under way: it belongs to the branch that is left.
    return { from: from + asked.position, kept: undefined, added: storedAgain(asked) }
  }
  const behind = messages.slice(next.position)
  const goesOn = !regenerates && (!isWhole || isUnfinished(behind))
  if (added.length === 0 && goesOn) return { from: null, kept, added }
  return { from: from + next.position, kept, added }
}
