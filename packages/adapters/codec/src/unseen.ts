/** Pages of one conversation that ask at once: each sends its own list, without what the other one says. */
import type { Message } from "@memfold/message"
import type { Fields } from "./fields.js"

/** Whether a message is a part of an answer. */
export const isAnswer = ({ role }: Message.Message): boolean => role === "assistant" || role === "tool"

/** Whether nothing but an answer follows, whose next step is still to come. */
export const isUnfinished = (messages: ReadonlyArray<Message.Message>): boolean => {
  const last = messages.at(-1)
  const waits = last?.role === "tool" || last?.parts.some(({ type }) => type === "tool-call") === true
  return waits && messages.every(isAnswer)
}

/** Whether the messages end with a question that has no whole answer yet: another page may have asked it a moment ago. */
export const isWaiting = (messages: ReadonlyArray<Message.Message>): boolean => {
  const asked = messages.findLastIndex(({ role }) => role === "user")
  const answer = messages.slice(asked + 1)
  return asked !== -1 && (answer.length === 0 || isUnfinished(answer))
}

/** What of a stored message, or of several that a page shows as one, says which page has seen it. */
export interface Sighting {
  readonly id: string | undefined
  readonly isAnswer: boolean
  /** The ids of the messages before it that its page had not seen. */
  readonly unseen: ReadonlyArray<string> | undefined
}

/**
 * The stored messages that the page of a list never saw: two pages sent their messages at once, each without that of the other. What a
 * page never saw is not taken back by it.
 *
 * @param shown - the ids of the messages that the page shows
 * @param stored - the stored messages, in their order
 * @param sightingOf - what a stored message says of pages
 *
 * @example
 * ```ts
 * import { unseenOf } from "@memfold/codec"
 *
 * const stored = [{ id: "a", unseen: [] }, { id: "b", unseen: ["a"] }]
 * const unseen = unseenOf(new Set(["b"]), stored, (one) => ({ ...one, isAnswer: false }))
 * console.log([...unseen].map(({ id }) => id)) // ["a"]
 * ```
 */
export const unseenOf = <A>(
  shown: ReadonlySet<string | undefined>,
  stored: ReadonlyArray<A>,
  sightingOf: (stored: A) => Sighting,
): ReadonlySet<A> => {
  const all = stored.map((one) => ({ one, ...sightingOf(one) }))
  const missed = new Set(all.filter(({ id }) => shown.has(id)).flatMap(({ unseen = [] }) => unseen))
  const unseen = new Set<A>()
  for (const [at, asked] of all.entries()) {
    const isMissed = asked.id !== undefined && missed.has(asked.id)
    const isUnseen = isMissed || asked.unseen?.some((id) => shown.has(id)) === true
    if (shown.has(asked.id) || asked.isAnswer || !isUnseen) continue
    unseen.add(asked.one)
    const answer = all.slice(at).find((one) => one.isAnswer && !shown.has(one.id) && !unseen.has(one.one))
    if (answer !== undefined) unseen.add(answer.one)
  }
  return unseen
}

/**
 * The messages of a page, with a note of what the page did not show before them.
 *
 * @param unseen - the ids of the messages that it did not show; without them, there is no note
 * @param noted - the metadata of a message, with the note, as the codec of the library writes it
 */
export const withUnseen = (
  messages: ReadonlyArray<Message.Message>,
  unseen: ReadonlyArray<string> | undefined,
  noted: (message: Message.Message, unseen: ReadonlyArray<string>) => { readonly metadata?: Fields },
): ReadonlyArray<Message.Message> => {
  const [first, ...others] = messages
  if (first === undefined || unseen === undefined) return messages
  return [{ ...first, metadata: { ...first.metadata, ...noted(first, unseen).metadata } }, ...others]
}
