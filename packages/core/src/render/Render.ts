/**
 * Renders contexts: the messages to send to a model, with a layout that describes each section.
 *
 * The order is: pinned messages, the summary, uncovered messages (with facts and blocks before some user messages), recalled messages,
 * the newest user message, and what came after it. A strategy can also have facts between the pinned messages and the
 * summary: the facts that were known at the last compaction.
 * Between two compactions, each context is a prefix of the next (law L13), so provider prompt caches keep hitting. Facts
 * and recalled messages depend on the newest user message, so they stand right before it, behind everything that stays.
 * Facts stay there: a later question only adds facts that no earlier question has shown.
 *
 * Signed reasoning whose prefix has changed is left out (law L17): providers refuse it.
 */
import type { Message, Origin } from "@memfold/message/Message"
import { isBelow, lowest } from "@memfold/message/Origin"
import type { Prefix } from "../session/prefix.js"
import type { Entry, SessionState } from "../session/SessionState.js"
import { boundaryBefore, pinnedGroups, withoutPinned } from "../session/SessionState.js"
import {
  type Addition,
  type Additions,
  type AdditionsBefore,
  checksum,
  headsBehind,
  noAdditions,
} from "./Additions.js"
import { keepAll, leaveOutInvalid } from "./boundParts.js"
import { waitsFrom } from "@memfold/message/Structure"
import { pairResults, type Sent } from "./pairResults.js"
import { leaveOutDoubled } from "./doubledAnswers.js"
import { leaveOutUnpaired } from "./unpairedItems.js"
import { outdatedPrompts } from "../session/systemPrompt.js"
import { noFiles, shownSegments } from "../summary/Summary.js"
import * as Wording from "../summary/Wording.js"

export {
  type Addition,
  type Additions,
  type AdditionsBefore,
  noAdditions,
  type ShownBlocks,
} from "./Additions.js"

/**
 * The kind of a section.
 *
 * - `pinned`: pinned messages
 * - `user-memory` and `scope-memory`: facts from the memory layers, right before a user message or in front of the
 *   summary; their range is empty
 * - `session-memory`: a block of the summary that the summary does not show, right before the user message that needs it;
 *   with the messages that it covers
 * - `summary`: the active summary, for the messages in its range
 * - `material`: what tools, documents and pages said in the messages that the summary covers, if a summary keeps it apart
 *   (`trust: "separate"`), behind the summary; from the first message with material to the last
 * - `uncovered`: uncovered messages, word for word
 * - `recalled`: earlier messages that fit the newest user message, right before it; the range is from the first to the
 *   last of them
 * - `current`: the newest message, if it is a user message
 * - `unreadable`: messages that cannot be read, because their stored events are damaged; they are left out, and stay named when
 *   a summary covers them
 * - `gap`: uncovered messages that the strategy's `maxMessages` leaves out
 * - `open`: a group that waits for results of the application, with every message after it. It is left out until the
 *   results have come or the next user message closes the calls. A call that the provider answers itself is shown: the next
 *   request lets the provider go on.
 * - `left-out`: parts of messages in other sections are left out: `parts` names them, because the provider would refuse
 *   them. These are bound parts (see `Message.isBound`) whose prefix has changed, from the first message to the last, none
 *   in between kept; and items of the provider without their pair, by their type: a `server_tool_use` that was never
 *   answered, a result whose call is not in the context. A message that is the answer before it once more, because an append was
 *   tried again, is left out, too: providers refuse an id that comes twice. So is a system prompt whose newer form is in the context.
 *   A summary and material below the `minimumOrigin` are named as `summary` and `material`.
 */
export type SectionName =
  | "pinned"
  | "user-memory"
  | "scope-memory"
  | "session-memory"
  | "summary"
  | "material"
  | "uncovered"
  | "recalled"
  | "current"
  | "unreadable"
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
  /**
   * Of a summary, material, facts and what is recalled: the lowest origin of the messages that it rests on (law L18).
   */
  readonly origin?: Origin
}

/** The next messages for a model. A codec turns them into the provider's format. */
export interface Context {
  readonly messages: ReadonlyArray<Message>
  /** For each message its message index; `null` for memory, the summary, and notes for missing results. */
  readonly sources: ReadonlyArray<number | null>
  /** The sections, in the order of the messages. */
  readonly layout: ReadonlyArray<Section>
  readonly tokens: number
  /** What an answer to this context is produced behind. Hand it to the append of the answer. */
  readonly prefix: Prefix
  /**
   * Positions in `messages` behind which a prompt cache is worth setting, for providers that want to be told: behind what
   * stays until the next compaction, behind what stays in the next turn, and behind everything. Ascending, at most three.
   */
  readonly cacheMarks: ReadonlyArray<number>
}

/** The indexes of the messages that a context shows word for word. */
export const shownIndexes = ({ sources }: Pick<Context, "sources">): ReadonlySet<number> =>
  new Set(sources.filter((source) => source !== null))

/** Makes the sections of entries: one for each unbroken range, and one for those among them that cannot be read. */
const sectionsOf =
  (unreadable: ReadonlySet<number>) =>
  (name: SectionName, entries: ReadonlyArray<Entry>): ReadonlyArray<Section> => {
    const found: Array<{ section: SectionName; from: number; to: number; tokens: number }> = []
    for (const { index, tokens } of entries) {
      const section = unreadable.has(index) ? "unreadable" : name
      const last = found.at(-1)
      if (last?.to === index && last.section === section) {
        last.to++
        last.tokens += tokens
      } else {
        found.push({ section, from: index, to: index + 1, tokens })
      }
    }
    return found
  }

/**
 * The end of the system prompt: the leading pinned system messages, as long as no summary covers them. A system message
 * with a tool call does not belong to it, because its group may go on.
 */
export const preambleEnd = (state: SessionState): number => {
  const openFrom = waitsFrom(state.structure) ?? state.total
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
  summary: Pick<NonNullable<SessionState["summary"]>, "segments" | "shown" | "files" | "wording">,
): ReadonlyArray<Message> => {
  const { wording, files } = summary
  const { role } = wording
  const segments = shownSegments(summary)
  const messages = Wording.written(wording, { segments, files }).map(({ text, material }): Message => ({
    role: material ? "user" : role,
    parts: [{ type: "text", text }],
  }))
  const [first] = segments
  const { providerData } = first ?? {}
  if (first === undefined || providerData === undefined) return messages
  const [text = ""] = Wording.texts(wording, { segments, files })
  const { provider, model, data } = providerData
  const history = wording.heading + first.text
  const alone = text === history + (wording.footer ?? "")
  const parts: Message["parts"] = [
    { type: "text", text: alone ? text : history },
    { type: "opaque", provider, data, replaces: "text-before", ...(model === undefined ? {} : { model }) },
    ...(alone ? [] : [{ type: "text" as const, text: text.slice(history.length) }]),
  ]
  return [{ role, parts }, ...messages.slice(1)]
}

/** How a context is rendered. */
export interface RenderStyle {
  /** The most uncovered messages to show; the newest group is always shown. */
  readonly maxMessages?: number | undefined
  /** What happens to bound parts whose prefix has changed; `leave-out` by default. */
  readonly boundReasoning?: BoundReasoning
  /** Leaves out summaries, material, facts and recalled messages of a lower origin; nothing by default. */
  readonly minimumOrigin?: Origin | undefined
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
  const openFrom = waitsFrom(structure) ?? total
  const preambleTo = preambleEnd(state)
  // The newest group is always shown: without it, the model would have nothing to answer.
  const newest = Math.max(openFrom > coveredTo ? boundaryBefore(state, openFrom - 1) : coveredTo, preambleTo)
  // A group at the edge is shown whole. Otherwise a tail that a group makes longer would have a gap that no compaction
  // could close.
  const start = boundaryBefore(state, Math.max(preambleTo, total - maxMessages))
  return { openFrom, preambleTo, shownFrom: Math.min(start, newest, openFrom) }
}

/** Where a context can have additions: before the messages from the user that it shows, by their indexes. */
export interface Places {
  readonly questions: ReadonlyArray<number>
  /** Before the newest of them; without any, in front of the first uncovered message. */
  readonly newest: number
}

/** Where a context can have additions. */
export const placesOf = (state: SessionState, { maxMessages }: RenderStyle = {}): Places => {
  const { shownFrom, openFrom } = windowOf(state, maxMessages)
  const questions = state.uncovered
    .slice(shownFrom, openFrom)
    .flatMap(({ index, message }) => (message.role === "user" ? [index] : []))
  return { questions, newest: questions.at(-1) ?? shownFrom }
}

const headFrom = (
  { shownFrom, preambleTo }: Window,
  { front, blocks }: Pick<Additions, "front" | "blocks">,
  minimumOrigin?: Origin,
): string =>
  [
    ...(minimumOrigin === undefined ? [] : [`above ${minimumOrigin}`]),
    ...(blocks === undefined ? [] : [`blocks ${blocks.positions?.join(" ") ?? "all"}`]),
    ...(shownFrom > preambleTo ? [`from ${shownFrom}`] : []),
    ...(front.length === 0 ? [] : [`facts ${checksum(front)}`]),
  ].join(", ")

/** What stands in front of the messages of a context without additions, and is not in the log (see `Prefix`). */
export const headOf = (state: SessionState, { maxMessages, minimumOrigin }: RenderStyle = {}): string =>
  headFrom(windowOf(state, maxMessages), noAdditions, minimumOrigin)

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

/** A system prompt that is left out, because a newer form of it is shown. */
const outdatedSection = (index: number): Section => ({
  section: "left-out",
  from: index,
  to: index + 1,
  tokens: 0,
  parts: ["text"],
})

const added = ({ message }: Addition): Sent => ({ message, source: null })

/** Additions without what only the messages need. */
const sectionOf = ({ section, from, to, tokens, origin }: Addition): Section => ({
  section,
  from,
  to,
  tokens,
  origin,
})

type Summary = NonNullable<SessionState["summary"]>

/** The positions of segments and the lists of files of a summary that a context shows, and the positions that it leaves out. */
const shownOf = ({ segments, shown, origins, files }: Summary, minimum: Origin | undefined) => {
  const positions = segments.map((_, position) => position).filter((one) => shown?.includes(one) ?? true)
  const isLow = (one: number) => minimum !== undefined && isBelow(origins[one] ?? "external", minimum)
  const lowFiles = minimum !== undefined && isBelow("tool", minimum)
  return {
    shown: positions.filter((one) => !isLow(one)),
    low: positions.filter(isLow),
    files: lowFiles ? noFiles : files,
  }
}

interface SummaryShown {
  readonly messages: ReadonlyArray<Message>
  readonly sections: ReadonlyArray<Section>
}

/** All contexts until the next compaction show a summary as it was written once: with many blocks, that is most of their work. */
const summariesShown = new WeakMap<Summary, Map<Origin | undefined, SummaryShown>>()

const summarySections = (summary: Summary, minimum: Origin | undefined): SummaryShown => {
  const known = summariesShown.get(summary) ?? new Map<Origin | undefined, SummaryShown>()
  const found = known.get(minimum) ?? shownSummary(summary, minimum)
  summariesShown.set(summary, known.set(minimum, found))
  return found
}

/** A summary as a context shows it, with the sections that it takes. The names of files are whatever tools say. */
const shownSummary = (summary: Summary, minimum: Origin | undefined): SummaryShown => {
  const { segments, origins, wording, coveredTo, tokens } = summary
  const { shown, low, files } = shownOf(summary, minimum)
  const isMaterial = (one: number) => segments[one]?.kind === "material"
  const messages = summaryMessages({ segments, wording, shown, files })
  const written = Wording.written(wording, { segments: shown.map((one) => segments[one]!), files })
  // How the tokens of the whole are divided: as the lengths of the texts are.
  const whole = Wording.written(wording, { segments: shownSegments(summary), files: summary.files })
  const lengthOf = (texts: typeof whole) =>
    texts
      .flatMap(({ pieces }) => pieces)
      .reduce((sum, { before, text, behind }) => sum + before.length + text.length + behind.length, 0)
  const share = (texts: typeof whole) =>
    texts.length === 0 ? 0 : Math.round((tokens * lengthOf(texts)) / Math.max(lengthOf(whole), 1))
  const apart = written.filter(({ material }) => material)
  const ofMaterial = share(apart)
  const all = written.length === 0 ? 0 : low.length === 0 ? tokens : share(written)
  const listed = files.read.length + files.modified.length > 0 ? (["tool"] as const) : []
  const [ofSummary, ofApart] = [shown.filter((one) => !isMaterial(one)), shown.filter(isMaterial)].map(
    (positions, material) =>
      lowest([
        ...positions.map((one) => origins[one] ?? "external"),
        ...((wording.material !== undefined) === (material === 1) ? listed : []),
      ]),
  )
  const range = ofApart === undefined ? [] : shown.filter(isMaterial).map((one) => segments[one]!)
  return {
    messages,
    sections: [
      {
        section: "summary",
        from: 0,
        to: coveredTo,
        tokens: all - ofMaterial,
        ...(ofSummary === undefined ? {} : { origin: ofSummary }),
      },
      ...(ofApart === undefined
        ? []
        : [
            {
              section: "material" as const,
              from: range[0]?.from ?? 0,
              to: range.at(-1)?.to ?? coveredTo,
              tokens: ofMaterial,
              origin: ofApart,
            },
          ]),
      ...low.map((one): Section => ({
        section: "left-out",
        from: segments[one]!.from,
        to: segments[one]!.to,
        tokens: 0,
        parts: [isMaterial(one) ? "material" : "summary"],
        origin: origins[one] ?? "external",
      })),
    ],
  }
}

/** Additions without those of a lower origin. */
const without = ({ front, among, blocks }: Additions, minimum: Origin | undefined): Additions => {
  if (minimum === undefined) return { front, among, ...(blocks === undefined ? {} : { blocks }) }
  const high = (all: ReadonlyArray<Addition>) => all.filter(({ origin }) => !isBelow(origin, minimum))
  return {
    front: high(front),
    among: among
      .map(({ index, additions }) => ({ index, additions: high(additions) }))
      .filter(({ additions }) => additions.length > 0),
    ...(blocks === undefined ? {} : { blocks }),
  }
}

/** The sections of entries that follow one another from an index on, and of the additions among them. */
const withAdditions = (
  sections: ReturnType<typeof sectionsOf>,
  entries: ReadonlyArray<Entry>,
  among: ReadonlyArray<AdditionsBefore>,
  from: number,
): ReadonlyArray<Section> => {
  const found: Array<Section> = []
  let at = from
  for (const { index, additions } of among) {
    found.push(...sections("uncovered", entries.slice(at - from, index - from)), ...additions.map(sectionOf))
    at = index
  }
  return [...found, ...sections("uncovered", entries.slice(at - from))]
}

/**
 * Renders the context of a state.
 *
 * A context has no tool call without a result and no result without a call (law L5): each result comes right after its
 * call, an interrupted call gets a note as its result, and a result without a call becomes a user message.
 *
 * @param state - The state of a session.
 * @param style - How it is rendered: the most uncovered messages, and what happens to bound reasoning. A group is shown
 *   whole or not at all: the group at the edge and the newest group are shown.
 * @param additions - Facts from memory layers, blocks that questions need, and recalled messages.
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
  style: RenderStyle = {},
  additions: Additions = noAdditions,
): Context => {
  const { coveredTo, total, version } = state
  const { maxMessages, boundReasoning = "leave-out", minimumOrigin } = style
  const { front, among, blocks } = without(additions, minimumOrigin)
  const summary =
    state.summary === null || blocks === undefined
      ? state.summary
      : { ...state.summary, shown: blocks.positions, tokens: blocks.tokens }
  const window = windowOf(state, maxMessages)
  const { openFrom, preambleTo, shownFrom } = window
  const prefixHead = headFrom(window, { front, ...(blocks === undefined ? {} : { blocks }) }, minimumOrigin)
  const heads = headsBehind(prefixHead, among)
  const headAt = (index: number) => heads.findLast(({ from }) => from <= index)?.head ?? prefixHead

  const capped = state.uncovered.slice(preambleTo, shownFrom)
  const bound = boundReasoning === "keep" ? keepAll : leaveOutInvalid(state, headAt)
  const outdated = outdatedPrompts(
    state.pinned,
    state.uncovered.slice(Math.max(coveredTo, shownFrom), Math.max(state.totalAtCommit, shownFrom)),
  )
  const pinnedEntries = [
    ...state.pinned.filter((entry) => !outdated.has(entry)),
    ...state.uncovered.slice(coveredTo, preambleTo),
    ...pinnedGroups(capped),
  ]
  const uncoveredEntries = state.uncovered.slice(shownFrom, openFrom)
  const doubled = leaveOutDoubled(uncoveredEntries)
  const pinnedItems = leaveOutUnpaired(pinnedEntries, null, boundReasoning)
  // A group that the provider can still answer is the newest one.
  const shownItems = leaveOutUnpaired(doubled.entries, state.structure.open?.from ?? null, boundReasoning)
  const pinned = pinnedItems.entries.map(bound.check)
  const shown = shownItems.entries.map(bound.check)
  const last = shown.at(-1)
  const emptied = new Set([...doubled.emptied, ...pinnedItems.emptied, ...shownItems.emptied])
  const unreadable = new Set(state.unreadable.map(({ index }) => index))
  const sections = sectionsOf(unreadable)
  const hasRest = (entry: Entry): boolean =>
    bound.hasRest(entry) && !emptied.has(entry.index) && !unreadable.has(entry.index)
  const isCurrent = last !== undefined && last.message.role === "user" && last.index === total - 1
  const earlier = isCurrent ? shown.slice(0, -1) : shown
  const summarized = summary === null ? null : summarySections(summary, minimumOrigin)

  const layout: ReadonlyArray<Section> = [
    ...sections("pinned", pinned),
    ...front.map(sectionOf),
    ...(summarized?.sections ?? []),
    // What a summary covers without having read it stays named.
    ...state.unreadable
      .filter(({ index }) => index < coveredTo)
      .map(({ index }) => ({ section: "unreadable" as const, from: index, to: index + 1, tokens: 0 })),
    ...sections("gap", withoutPinned(capped)).map((gap) => ({ ...gap, tokens: 0 })),
    ...bound.leftOut(),
    ...[...outdated].map(({ index }) => outdatedSection(index)),
    ...doubled.leftOut,
    ...pinnedItems.leftOut,
    ...shownItems.leftOut,
    ...withAdditions(sections, earlier, among, shownFrom),
    ...sections("current", isCurrent ? [last] : []),
    ...sections("open", state.uncovered.slice(openFrom)).map((open) => ({ ...open, tokens: 0 })),
  ]
  const head: ReadonlyArray<Sent> = [
    ...pairResults(pinned.filter(hasRest)),
    ...front.map(added),
    ...(summarized?.messages ?? []).map((message) => ({ message, source: null })),
  ]
  const uncovered = marked(pairResults(shown.filter(hasRest)), state)
  const sent = [...head]
  // Up to here, the context stays as it is in the next turn; what is before the newest question may not.
  let stays: number | null = null
  const newest = among.length === 0 ? null : placesOf(state, style).newest
  let place = 0
  const addUpTo = (source: number) => {
    for (let next = among[place]; next !== undefined && next.index <= source; next = among[++place]) {
      if (next.index === newest) stays = sent.length
      sent.push(...next.additions.map(added))
    }
  }
  for (const one of uncovered) {
    if (one.source !== null) addUpTo(one.source)
    sent.push(one)
  }
  addUpTo(Number.POSITIVE_INFINITY)
  const ends = [head.length, stays ?? sent.length, sent.length]
  return {
    messages: sent.map(({ message }) => message),
    sources: sent.map(({ source }) => source),
    layout,
    tokens: layout.reduce((sum, section) => sum + section.tokens, 0),
    prefix: { version, total, head: headAt(total) },
    cacheMarks: [...new Set(ends.filter((end) => end > 0).map((end) => end - 1))],
  }
}
