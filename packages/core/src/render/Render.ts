/**
 * Renders contexts: the messages to send to a model, with a layout that describes each section.
 *
 * The order is: pinned messages, user memory, scope memory, the summary, uncovered messages, the current message.
 * Between two compactions, each context is a prefix of the next (law L13), so provider prompt caches keep hitting. Only
 * the sections of the memory layers change in between, since they depend on the current message.
 */
import type { Message } from "../message/Message.js"
import type { Entry, SessionState } from "../session/SessionState.js"
import { boundaryAfter, boundaryBefore, pinnedGroups, withoutPinned } from "../session/SessionState.js"
import { pairResults } from "./pairResults.js"
import * as Wording from "../summary/Wording.js"

/**
 * The kind of a section.
 *
 * - `pinned`: pinned messages
 * - `user-memory` and `scope-memory`: facts from the memory layers; their range is empty
 * - `summary`: the active summary, for the messages in its range
 * - `raw`: uncovered messages, word for word
 * - `current`: the newest message, if it is a user message
 * - `gap`: uncovered messages that the strategy's `maxMessages` leaves out
 * - `open`: a group whose tool calls are open, with every message after it. It is left out until the results have come
 *   or the next user message closes the calls.
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

/** A section of a context: the messages `[from, to)` and the tokens they take, 0 if they are left out. */
export interface Section {
  readonly section: SectionName
  readonly from: number
  readonly to: number
  readonly tokens: number
}

/** The next messages for a model. A codec turns them into the provider's format. */
export interface Context {
  readonly messages: ReadonlyArray<Message>
  /** The sections, in the order of the messages. */
  readonly layout: ReadonlyArray<Section>
  /** The tokens of all sections together. */
  readonly tokens: number
}

/** One section for each unbroken range of entries. */
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
 * The end of the system prompt: the leading pinned system messages, as long as no summary covers them. A system message
 * with a tool call does not belong to it, because its group may go on.
 */
const preambleEnd = (state: SessionState, openFrom: number): number => {
  const { uncovered, coveredTo } = state
  if (coveredTo > 0) return coveredTo
  const isPreamble = (entry: Entry | undefined) => entry?.pinned === true && entry.message.role === "system"
  let end = 0
  while (end < openFrom && isPreamble(uncovered.at(end))) end++
  return boundaryBefore(state, end)
}

/** The summary as a message; `null` if it has no text, as with summary mode `drop`. */
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

/** Adds metadata about the compaction to the first uncovered message. Codecs do not send it. */
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
 * Renders the context of a state.
 *
 * A context has no tool call without a result and no result without a call (law L5): each result comes right after its
 * call, an interrupted call gets a note as its result, and a result without a call becomes a user message.
 *
 * @param state - The state of a session.
 * @param style - `maxMessages`: the most uncovered messages to show; the newest group is always shown.
 * @param memory - Sections with facts from memory layers.
 *
 * @example
 * ```ts
 * import { Memory, Render } from "@memfold/core"
 * import { Effect } from "effect"
 *
 * export const contextOf = (session: string) =>
 *   Effect.gen(function* () {
 *     const memory = yield* Memory.Memory
 *     return Render.render(yield* memory.state(session), { maxMessages: 50 })
 *   })
 * ```
 */
export const render = (
  state: SessionState,
  style: { readonly maxMessages?: number } = {},
  memory: ReadonlyArray<MemorySection> = [],
): Context => {
  const { coveredTo, total, structure, summary } = state
  const openFrom = structure.open?.from ?? total
  const preambleTo = preambleEnd(state, openFrom)
  // The newest group is always shown: without it, the model would have nothing to answer.
  const newest = Math.max(openFrom > coveredTo ? boundaryBefore(state, openFrom - 1) : coveredTo, preambleTo)
  const cap = style.maxMessages ?? Number.POSITIVE_INFINITY
  const shownFrom = Math.min(boundaryAfter(state, Math.max(preambleTo, total - cap)), newest, openFrom)

  const capped = state.uncovered.slice(preambleTo, shownFrom)
  const pinned = [...state.pinned, ...state.uncovered.slice(coveredTo, preambleTo), ...pinnedGroups(capped)]
  const shown = state.uncovered.slice(shownFrom, openFrom)
  const last = shown.at(-1)
  const isCurrent = last !== undefined && last.message.role === "user" && last.index === total - 1
  const earlier = isCurrent ? shown.slice(0, -1) : shown
  const summarized = summary === null ? null : summaryMessage(summary)

  const layout: ReadonlyArray<Section> = [
    ...sections("pinned", pinned),
    ...memory.map(({ section, tokens }) => ({ section, from: 0, to: 0, tokens })),
    ...(summary === null
      ? []
      : [
          {
            section: "summary" as const,
            from: 0,
            to: coveredTo,
            tokens: summarized === null ? 0 : summary.tokens,
          },
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
      ...(summarized === null ? [] : [summarized]),
      ...marked(pairResults(shown), state),
    ],
    layout,
    tokens: layout.reduce((sum, section) => sum + section.tokens, 0),
  }
}
