/**
 * From a state to the messages a model is sent, with a layout that says what each part is.
 *
 * The order is: pinned messages, user memory, scope memory, the summary, raw messages, the current message. Between two compactions each
 * context is a prefix of the next (law L13), so that provider prompt caches keep hitting. What the memory layers
 * recall is the exception, since it follows the question.
 */
import type { Message } from "../message/Message.js"
import type { Entry, SessionState } from "../session/SessionState.js"
import { boundaryAfter, boundaryBefore, pinnedGroups, withoutPinned } from "../session/SessionState.js"
import { pairResults } from "./pairResults.js"
import * as Wording from "../summary/Wording.js"

/**
 * What a part of the context is.
 *
 * - `pinned`: messages shown verbatim for ever
 * - `user-memory` and `scope-memory`: what the memory layers recalled; their range is empty
 * - `summary`: the active summary, for the messages in its range
 * - `raw`: messages as they were said; `current`: the newest message, when it is the user's
 * - `gap`: raw messages that a cap leaves out
 * - `open`: an unfinished group of tool calls with all that followed it, left out until its results are in or the
 *   next user message gives them up
 */
export type SectionName =
  | "pinned"
  | "user-memory"
  | "scope-memory"
  | "summary"
  | "uncovered"
  | "current"
  | "gap"
  | "open"

/** One part of a context. Its range counts messages; `tokens` is what it takes (0 for what is left out). */
export interface Section {
  readonly section: SectionName
  readonly from: number
  readonly to: number
  readonly tokens: number
}

/** Messages ready for a provider's codec, their layout, and the tokens they take together. */
export interface Context {
  readonly messages: ReadonlyArray<Message>
  readonly layout: ReadonlyArray<Section>
  readonly tokens: number
}

/** Neighbouring entries as sections: one for each unbroken range. */
const sections = (section: SectionName, entries: ReadonlyArray<Entry>): ReadonlyArray<Section> => {
  const found: Array<{ section: SectionName; from: number; to: number; tokens: number }> = []
  for (const entry of entries) {
    const last = found.at(-1)
    if (last?.to === entry.index) {
      last.to++
      last.tokens += entry.tokens
    } else {
      found.push({ section, from: entry.index, to: entry.index + 1, tokens: entry.tokens })
    }
  }
  return found
}

/**
 * How far the system prompt reaches: the leading pinned system messages, before anything is in a summary. One that
 * calls a tool, which none should, is no part of it: its group goes on.
 */
const preambleEnd = (state: SessionState, openFrom: number): number => {
  const { uncovered, coveredTo } = state
  if (coveredTo > 0) return coveredTo
  const isPreamble = (entry: Entry | undefined) => entry?.pinned === true && entry.message.role === "system"
  let end = 0
  while (end < openFrom && isPreamble(uncovered.at(end))) end++
  return boundaryBefore(state, end)
}

/** The summary as a message; none where a strategy drops messages without a word. */
export const summaryMessage = (summary: NonNullable<SessionState["summary"]>): Message | null => {
  const text = Wording.write(summary.wording, summary)
  return text === "" ? null : { role: summary.wording.role, parts: [{ type: "text", text }] }
}

/** Facts that a memory layer recalled, as one message of the context. */
export interface MemorySection {
  readonly section: "user-memory" | "scope-memory"
  readonly message: Message
  readonly tokens: number
}

/** Says on the first message kept raw what was compacted before it (reference design 3). No codec sends it on. */
const marked = (messages: ReadonlyArray<Message>, state: SessionState): ReadonlyArray<Message> => {
  const { summary, coveredTo } = state
  const [first, ...others] = messages
  if (summary === null || first === undefined) return messages
  const memfold = {
    ...(first.metadata?.["memfold"] as object | undefined),
    compressionTriggered: true,
    summaryId: summary.id,
    compactUpToIndex: coveredTo,
    compactedAt: summary.total,
    isSplitTurn: summary.segments.some(({ kind }) => kind === "turn-prefix"),
    compactedTime: summary.time,
  }
  return [{ ...first, metadata: { ...first.metadata, memfold } }, ...others]
}

/**
 * The context of a state.
 *
 * No orphan is ever sent (law L5): results stand right after the calls they answer, a call that died is
 * answered with a note, and a result that answers no call becomes a note of the user's.
 */
export const render = (
  state: SessionState,
  style: { readonly maxMessages?: number } = {},
  memory: ReadonlyArray<MemorySection> = [],
): Context => {
  const { coveredTo, total, structure, summary } = state
  const openFrom = structure.open?.from ?? total
  const preambleTo = preambleEnd(state, openFrom)
  // The newest group is shown however small the cap is: without it there would be nothing to answer.
  const newest = Math.max(openFrom > coveredTo ? boundaryBefore(state, openFrom - 1) : coveredTo, preambleTo)
  const cap = style.maxMessages ?? Number.POSITIVE_INFINITY
  const shownFrom = Math.min(boundaryAfter(state, Math.max(preambleTo, total - cap)), newest, openFrom)

  const capped = state.uncovered.slice(preambleTo, shownFrom)
  const pinned = [...state.pinned, ...state.uncovered.slice(coveredTo, preambleTo), ...pinnedGroups(capped)]
  const shown = state.uncovered.slice(shownFrom, openFrom)
  const last = shown.at(-1)
  const isCurrent = last !== undefined && last.message.role === "user" && last.index === total - 1
  const earlier = isCurrent ? shown.slice(0, -1) : shown
  const said = summary === null ? null : summaryMessage(summary)

  const layout: ReadonlyArray<Section> = [
    ...sections("pinned", pinned),
    ...memory.map(({ section, tokens }) => ({ section, from: 0, to: 0, tokens })),
    ...(summary === null
      ? []
      : [
          { section: "summary" as const, from: 0, to: coveredTo, tokens: said === null ? 0 : summary.tokens },
        ]),
    ...sections("gap", withoutPinned(capped)).map((gap) => ({ ...gap, tokens: 0 })),
    ...sections("uncovered", earlier),
    ...sections("current", isCurrent ? [last] : []),
    ...sections("open", state.uncovered.slice(openFrom)).map((open) => ({ ...open, tokens: 0 })),
  ]
  return {
    messages: [
      ...pairResults(pinned),
      ...memory.map(({ message }) => message),
      ...(said === null ? [] : [said]),
      ...marked(pairResults(shown), state),
    ],
    layout,
    tokens: layout.reduce((sum, section) => sum + section.tokens, 0),
  }
}
