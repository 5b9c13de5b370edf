/**
 * A system prompt that is sent anew with each turn, as by a program that writes the date into it: its newest form counts. The
 * earlier ones would contradict it.
 */
import { type Message, partsFor } from "@memfold/message/Message"
import type { Entry } from "./SessionState.js"

/** The text of a system message that says nothing else; `null` for any other message. */
const textOf = (message: Message): string | null => {
  if (message.role !== "system") return null
  const parts = partsFor(message)
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.length === parts.length ? texts.join("\n").trim() : null
}

/** How much of the longer text two forms of a prompt have in common, at their beginning and their end. */
const commonShare = 2 / 3

/** Whether a system message is a system prompt in a new form: nearly all of its text is the same. */
const isNewForm = (earlier: Message, later: Message): boolean => {
  const other = textOf(later)
  const one = other === null ? null : textOf(earlier)
  if (one === null || other === null || one === "" || other === "") return false
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return start + end >= commonShare * Math.max(one.length, other.length)
}

/** Whether a pinned entry is a system prompt, and not pinned by the application. */
const isPrompt = ({ message }: Entry): boolean => message.role === "system" && message.pinned !== true

/** The pinned entries with the newest form of each system prompt among entries that a summary has come to cover. */
export const withNewestPrompts = (
  pinned: ReadonlyArray<Entry>,
  covered: ReadonlyArray<Entry>,
): ReadonlyArray<Entry> => {
  let newest = pinned
  for (const entry of covered) {
    if (entry.message.role !== "system" || newest.some(({ index }) => index === entry.index)) continue
    const at = newest.findIndex((one) => isPrompt(one) && isNewForm(one.message, entry.message))
    if (at !== -1) newest = newest.with(at, { ...entry, pinned: true })
  }
  return newest
}

/**
 * The entries without newer forms of a system prompt: a summary has nothing to say of them, for the newest form stays. The entries
 * themselves if nothing else is among them.
 *
 * @param entries - entries to summarize
 * @param pinned - the pinned entries before them, and among all that was to be summarized
 */
export const withoutPromptForms = (
  entries: ReadonlyArray<Entry>,
  pinned: ReadonlyArray<Entry>,
): ReadonlyArray<Entry> => {
  const prompts = pinned.filter(isPrompt)
  if (prompts.length === 0) return entries
  const rest = entries.filter(({ message }) => !prompts.some((one) => isNewForm(one.message, message)))
  return rest.length === 0 ? entries : rest
}

/**
 * The pinned system prompts of which a newer form is among the uncovered messages that the last compaction found. What has come since
 * changes nothing: contexts only grow between compactions (law L13).
 */
export const outdatedPrompts = (
  pinned: ReadonlyArray<Entry>,
  uncovered: ReadonlyArray<Entry>,
): ReadonlySet<Entry> =>
  new Set(
    pinned.filter(
      (one) =>
        isPrompt(one) && uncovered.some(({ message, pinned }) => !pinned && isNewForm(one.message, message)),
    ),
  )
