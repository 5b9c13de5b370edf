/**
 * Renders contexts: the messages to send to a model, with a layout that describes each section.
 *
 * The order is: pinned messages, user memory, scope memory, the summary, uncovered messages, recalled messages, the
 * current message.
 * Between two compactions, each context is a prefix of the next (law L13), so provider prompt caches keep hitting. Only
 * the sections of the memory layers change in between, since they depend on the current message; and recalled messages,
 * which stand right before the newest user message, behind everything that stays.
 *
 * Signed reasoning whose prefix has changed is left out (law L17): providers refuse it.
 */
import type { Message } from "../message/Message.js"
import { crc32 } from "../event/checksum.js"
import type { Prefix } from "../session/prefix.js"
import type { Entry, SessionState } from "../session/SessionState.js"
import { boundaryBefore, pinnedGroups, withoutPinned } from "../session/SessionState.js"
import { keepAll, leaveOutInvalid } from "./boundParts.js"
import { pairResults, type Sent } from "./pairResults.js"
import * as Wording from "../summary/Wording.js"

/**
 * The kind of a section.
 *
 * - `pinned`: pinned messages
 * - `user-memory` and `scope-memory`: facts from the memory layers; their range is empty
 * - `summary`: the active summary, for the messages in its range
 * - `raw`: uncovered messages, word for word
 * - `recalled`: earlier messages that fit the newest user message, right before it; the range is from the first to the
 *   last of them
 * - `current`: the newest message, if it is a user message
 * - `gap`: uncovered messages that the strategy's `maxMessages` leaves out
 * - `open`: a group whose tool calls are open, with every message after it. It is left out until the results have come
 *   or the next user message closes the calls.
 * - `left-out`: parts of messages in other sections are left out: `parts` names them. These are the bound parts
 *   (see `Message.isBound`) of the first message to the last, none in between kept: their prefix has changed, and the
 *   provider would refuse them.
 */
export type SectionName =
  | "pinned"
  | "user-memory"
  | "scope-memory"
  | "summary"
  | "uncovered"
  | "recalled"
  | "current"
  | "gap"
  | "open"
  | "left-out"

/** A section of a context: the messages `[from, to)` and the tokens they take, 0 if they are left out. */
export interface Section {
  readonly section: SectionName
  readonly from: number
  readonly to: number
  readonly tokens: number
  /** The kinds of parts that the section is about, if it is not about whole messages. */
  readonly parts?: ReadonlyArray<string>
}

/** The next messages for a model. A codec turns them into the provider's format. */
export interface Context {
  readonly messages: ReadonlyArray<Message>
  /** For each message its message index; `null` for memory, the summary, and notes for missing results. */
  readonly sources: ReadonlyArray<number | null>
  /** The sections, in the order of the messages. */
  readonly layout: ReadonlyArray<Section>
  /** The tokens of all sections together. */
  readonly tokens: number
  /** What an answer to this context is produced behind. Hand it to the append of the answer. */
  readonly prefix: Prefix
}

/** The indexes of the messages that a context shows word for word. */
export const shownIndexes = ({ sources }: Pick<Context, "sources">): ReadonlySet<number> =>
  new Set(sources.filter((source) => source !== null))

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
export const preambleEnd = (state: SessionState): number => {
  const openFrom = state.structure.open?.from ?? state.total
  const { uncovered, coveredTo } = state
  if (coveredTo > 0) return coveredTo
  const isPreamble = (entry: Entry | undefined) => entry?.pinned === true && entry.message.role === "system"
  let end = 0
  while (end < openFrom && isPreamble(uncovered.at(end))) end++
  return boundaryBefore(state, end)
}

/**
 * The summary as messages: none if it has no text, as with summary mode `drop`; more than one if its wording is
 * `separate`. If its history has provider data, an opaque part replaces the text of the history for that provider; what
 * else the message says follows in a text of its own. For everyone else the texts are one (see `Message.partsFor`).
 */
export const summaryMessages = (
  summary: Pick<NonNullable<SessionState["summary"]>, "segments" | "files" | "wording">,
): ReadonlyArray<Message> => {
  const { wording, segments } = summary
  const { role } = wording
  const [text, ...others] = Wording.texts(wording, summary)
  if (text === undefined) return []
  const rest = others.map((other): Message => ({ role, parts: [{ type: "text", text: other }] }))
  const [first] = segments
  const { providerData } = first ?? {}
  if (first === undefined || providerData === undefined)
    return [{ role, parts: [{ type: "text", text }] }, ...rest]
  const { provider, model, data } = providerData
  const history = wording.heading + first.text
  const alone = text === history + (wording.footer ?? "")
  const parts: Message["parts"] = [
    { type: "text", text: alone ? text : history },
    { type: "opaque", provider, data, replaces: "text-before", ...(model === undefined ? {} : { model }) },
    ...(alone ? [] : [{ type: "text" as const, text: text.slice(history.length) }]),
  ]
  return [{ role, parts }, ...rest]
}

/** Facts that a memory layer recalled, as one message of the context. */
export interface MemorySection {
  readonly section: "user-memory" | "scope-memory"
  readonly message: Message
  readonly tokens: number
}

/** Recalled messages as one message of the context, right before the message with the index `at`. */
export interface RecalledSection {
  readonly at: number
  /** The first of the recalled messages, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly message: Message
  readonly tokens: number
}

/** How a context is rendered. */
export interface RenderStyle {
  /** The most uncovered messages to show; the newest group is always shown. */
  readonly maxMessages?: number
  /** What happens to bound parts whose prefix has changed; `leave-out` by default. */
  readonly boundReasoning?: BoundReasoning
}

/**
 * What happens to signed reasoning, and to other bound parts (see `Message.isBound`), once its prefix has changed.
 *
 * - `leave-out` (default): contexts leave it out, and the layout names it
 * - `keep`: contexts keep it, for a provider that does not check it or is told to drop it by itself
 */
export type BoundReasoning = "leave-out" | "keep"

/** Which uncovered messages a context shows, besides the system prompt in front; a cap moves `shownFrom`. */
interface Window {
  /** Where the open group starts: from here on, messages are left out. */
  readonly openFrom: number
  readonly preambleTo: number
  readonly shownFrom: number
}

const windowOf = (state: SessionState, maxMessages = Number.POSITIVE_INFINITY): Window => {
  const { coveredTo, total, structure } = state
  const openFrom = structure.open?.from ?? total
  const preambleTo = preambleEnd(state)
  // The newest group is always shown: without it, the model would have nothing to answer.
  const newest = Math.max(openFrom > coveredTo ? boundaryBefore(state, openFrom - 1) : coveredTo, preambleTo)
  // A group at the edge is shown whole. Otherwise a tail that a group makes longer would have a gap that no compaction
  // could close.
  const start = boundaryBefore(state, Math.max(preambleTo, total - maxMessages))
  return { openFrom, preambleTo, shownFrom: Math.min(start, newest, openFrom) }
}

/** The head of what stands behind recalled messages. */
const headBehind = (head: string, { at, message }: RecalledSection): string =>
  [...(head === "" ? [] : [head]), `recalled ${crc32(JSON.stringify(message))} before ${at}`].join(", ")

const headFrom = ({ shownFrom, preambleTo }: Window, memory: ReadonlyArray<MemorySection>): string =>
  [
    ...(shownFrom > preambleTo ? [`from ${shownFrom}`] : []),
    ...(memory.length === 0 ? [] : [`facts ${crc32(JSON.stringify(memory.map(({ message }) => message)))}`]),
  ].join(", ")

/** What stands in front of the messages of a context without recalled facts, and is not in the log (see `Prefix`). */
export const headOf = (state: SessionState, { maxMessages }: RenderStyle = {}): string =>
  headFrom(windowOf(state, maxMessages), [])

/** Adds metadata about the compaction to the first uncovered message. Codecs do not send it. */
const marked = (sent: ReadonlyArray<Sent>, state: SessionState): ReadonlyArray<Sent> => {
  const { summary, coveredTo } = state
  const [first, ...others] = sent
  if (summary === null || first === undefined) return sent
  const { message } = first
  const memfold = {
    ...(message.metadata?.["memfold"] as object | undefined),
    compressionTriggered: true,
    summaryId: summary.id,
    compactUpToIndex: coveredTo,
    compactedAt: summary.total,
    isSplitTurn: summary.segments.some(({ kind }) => kind === "turn-prefix"),
    compactedTime: summary.time,
  }
  return [{ ...first, message: { ...message, metadata: { ...message.metadata, memfold } } }, ...others]
}

/** Messages with the recalled ones before the one that they are recalled for. */
const inserted = (sent: ReadonlyArray<Sent>, recalled: RecalledSection | null): ReadonlyArray<Sent> => {
  const at = recalled === null ? -1 : sent.findIndex(({ source }) => source === recalled.at)
  return recalled === null || at === -1
    ? sent
    : [...sent.slice(0, at), { message: recalled.message, source: null }, ...sent.slice(at)]
}

/**
 * Renders the context of a state.
 *
 * A context has no tool call without a result and no result without a call (law L5): each result comes right after its
 * call, an interrupted call gets a note as its result, and a result without a call becomes a user message.
 *
 * @param state - The state of a session.
 * @param style - How it is rendered: the most uncovered messages, and what happens to bound reasoning. A group is shown
 *   whole or not at all: the one at the edge, and the newest one, are shown.
 * @param memory - Sections with facts from memory layers.
 * @param recalled - Recalled messages. They are left out if the context does not show the message that they stand before.
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
  { maxMessages, boundReasoning = "leave-out" }: RenderStyle = {},
  memory: ReadonlyArray<MemorySection> = [],
  found: RecalledSection | null = null,
): Context => {
  const { coveredTo, total, version, summary } = state
  const window = windowOf(state, maxMessages)
  const { openFrom, preambleTo, shownFrom } = window
  const head = headFrom(window, memory)
  const recalled = found !== null && found.at >= shownFrom && found.at < openFrom ? found : null
  const behind = recalled === null ? undefined : { from: recalled.at, head: headBehind(head, recalled) }

  const capped = state.uncovered.slice(preambleTo, shownFrom)
  const bound = boundReasoning === "keep" ? keepAll : leaveOutInvalid(state, head, behind)
  const pinned = [
    ...state.pinned,
    ...state.uncovered.slice(coveredTo, preambleTo),
    ...pinnedGroups(capped),
  ].map(bound.check)
  const shown = state.uncovered.slice(shownFrom, openFrom).map(bound.check)
  const last = shown.at(-1)
  const isCurrent = last !== undefined && last.message.role === "user" && last.index === total - 1
  const earlier = isCurrent ? shown.slice(0, -1) : shown
  const summarized = summary === null ? [] : summaryMessages(summary)

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
            tokens: summarized.length === 0 ? 0 : summary.tokens,
          },
        ]),
    ...sections("gap", withoutPinned(capped)).map((gap) => ({ ...gap, tokens: 0 })),
    ...bound.leftOut(),
    ...sections(
      "uncovered",
      earlier.filter(({ index }) => recalled === null || index < recalled.at),
    ),
    ...(recalled === null
      ? []
      : [{ section: "recalled" as const, from: recalled.from, to: recalled.to, tokens: recalled.tokens }]),
    ...sections(
      "uncovered",
      earlier.filter(({ index }) => recalled !== null && index >= recalled.at),
    ),
    ...sections("current", isCurrent ? [last] : []),
    ...sections("open", state.uncovered.slice(openFrom)).map((open) => ({ ...open, tokens: 0 })),
  ]
  const sent: ReadonlyArray<Sent> = [
    ...pairResults(pinned.filter(bound.hasRest)),
    ...[...memory.map(({ message }) => message), ...summarized].map((message) => ({ message, source: null })),
    ...inserted(marked(pairResults(shown.filter(bound.hasRest)), state), recalled),
  ]
  return {
    messages: sent.map(({ message }) => message),
    sources: sent.map(({ source }) => source),
    layout,
    tokens: layout.reduce((sum, section) => sum + section.tokens, 0),
    prefix: { version, total, head: behind?.head ?? head },
  }
}
