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
import type { Message } from "@memfold/message/Message"
import { isBelow, type Origin } from "@memfold/message/Origin"
import type { Prefix } from "../session/prefix.js"
import { type Entry, pinnedGroups, type SessionState, withoutPinned } from "../session/SessionState.js"
import { outdatedPrompts } from "../session/systemPrompt.js"
import {
  type Addition,
  type Additions,
  type AdditionsBefore,
  checksum,
  headsBehind,
  noAdditions,
} from "./Additions.js"
import { hasRest, keepAll, leaveOutInvalid, leftOutOf } from "./boundParts.js"
import { leaveOutDoubled } from "./doubledAnswers.js"
import { pairResults, type Sent } from "./pairResults.js"
import type { Section, SectionName } from "./Section.js"
import { summarySections } from "./shownSummary.js"
import { leaveOutUnpaired } from "./unpairedItems.js"
import { placesOf, type Window, windowOf } from "./window.js"

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

const added = ({ message }: Addition): Sent => ({ message, source: null })

/** Additions without what only the messages need. */
const sectionOf = ({ message: _message, ...section }: Addition): Section => section

/** Additions without those of a lower origin. */
const without = (additions: Additions, minimum: Origin | undefined): Additions => {
  if (minimum === undefined) return additions
  const high = (all: ReadonlyArray<Addition>) => all.filter(({ origin }) => !isBelow(origin, minimum))
  return {
    ...additions,
    front: high(additions.front),
    among: additions.among
      .map((one) => ({ ...one, additions: high(one.additions) }))
      .filter((one) => one.additions.length > 0),
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
  const kept = without(additions, minimumOrigin)
  const { front, among, blocks } = kept
  const summary =
    state.summary === null || blocks === undefined
      ? state.summary
      : { ...state.summary, shown: blocks.positions, tokens: blocks.tokens }
  const window = windowOf(state, maxMessages)
  const { openFrom, preambleTo, shownFrom } = window
  const prefixHead = headFrom(window, kept, minimumOrigin)
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
  const unreadable = new Set(state.unreadable.map(({ index }) => index))
  const sections = sectionsOf(unreadable)
  const sentOf = (entries: ReadonlyArray<Entry>, whole: ReadonlyArray<Entry>): ReadonlyArray<Sent> =>
    pairResults(entries.filter((entry, at) => hasRest(entry, whole[at]) && !unreadable.has(entry.index)))
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
    ...[...outdated].map((entry) => leftOutOf(entry, ["text"])),
    ...doubled.leftOut,
    ...pinnedItems.leftOut,
    ...shownItems.leftOut,
    ...withAdditions(sections, earlier, among, shownFrom),
    ...sections("current", isCurrent ? [last] : []),
    ...sections("open", state.uncovered.slice(openFrom)).map((open) => ({ ...open, tokens: 0 })),
  ]
  const head: ReadonlyArray<Sent> = [
    ...sentOf(pinned, pinnedEntries),
    ...front.map(added),
    ...(summarized?.messages ?? []).map((message) => ({ message, source: null })),
  ]
  const uncovered = marked(sentOf(shown, uncoveredEntries), state)
  const sent = [...head]
  // Up to here, the context stays as it is in the next turn; what is before the newest question may not.
  let stays: number | null = null
  const newest = among.length === 0 ? null : placesOf(state, maxMessages).newest
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
