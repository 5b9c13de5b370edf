/** Chooses from ranked messages within a budget of tokens. Chosen messages are shown word for word or as excerpts. */
import { Effect } from "effect"
import type { Service as TokenCounter } from "@memfold/message/TokenCounter"
import { breather } from "@memfold/log/breathe"
import type { SessionError } from "../shell/Sessions.js"
import { excerpt } from "./excerpt.js"
import type { Postings } from "./FullTextIndex.js"
import type { Candidate } from "../search/rank.js"
import { reranked, type Service as Reranker } from "./Reranker.js"
import { groupOf, inGroup, type LoggedMessage, readAt, type Reader } from "./readLog.js"
import { hasRecall, mostSearched, readableText } from "./searchText.js"
import { day, lineOf, partOf, type RecalledMessage, transcript, whole } from "./transcript.js"

/** A message takes at most this part of the budget, or `leastShare` tokens if that is more. Longer messages become excerpts. */
const largestShare = 1 / 4
const leastShare = 60

/** A group of tool calls is shown whole if it takes at most this part of the budget. */
const largestGroup = 1 / 2

/** With less than this left, the search ends: no message fits. */
export const fewestTokens = 12

/** How many candidates are read at a time, and how many at most: later candidates are hardly better than chance. */
const batch = 24
const mostCandidates = 480

/** The search ends, too, when so many batches one after the other had nothing that fits into what is left. */
const mostInVain = 2

/** A text of more UTF-16 code units for each token than this is too long, and does not have to be counted. */
const longestToken = 16

const isLong = (text: string, tokens: number): boolean => text.length > longestToken * tokens

export interface Searched<E = SessionError> {
  readonly reader: Reader<E>
  readonly postings: Postings<SessionError>
  /** Only messages before this index are found. */
  readonly before: number
  readonly without: (index: number) => boolean
  /** The line above its messages; `null` for none. */
  readonly heading: string | null
}

interface Opened<E> extends Searched<E> {
  readonly chosen: Set<number>
  readonly days: Set<string>
}

interface ChosenMessage {
  readonly source: number
  readonly one: RecalledMessage
}

/** The chosen messages, in the order of their conversations. The conversation with the oldest first message comes first. */
const inOrder = (
  units: ReadonlyArray<ReadonlyArray<ChosenMessage>>,
): ReadonlyArray<readonly [number, ReadonlyArray<RecalledMessage>]> => {
  const bySource = new Map<number, Array<RecalledMessage>>()
  for (const { source, one } of units.flat()) {
    const list = bySource.get(source)
    if (list === undefined) bySource.set(source, [one])
    else list.push(one)
  }
  return [...bySource]
    .map(([source, list]) => [source, list.toSorted((one, other) => one.index - other.index)] as const)
    .toSorted(([source, one], [otherSource, other]) => one[0]!.time - other[0]!.time || source - otherSource)
}

/**
 * Chooses the best candidates that fit into the budget.
 *
 * @param ranked - the candidates, the best first
 * @param open - opens the session of a candidate: of thousands of sessions, a few have candidates that are read
 */
export const choose = <E>(
  counter: TokenCounter,
  open: (source: number) => Searched<E>,
  ranked: ReadonlyArray<Candidate>,
  {
    terms,
    tokens,
    query,
    reranker,
  }: {
    readonly terms: ReadonlyArray<string>
    readonly tokens: number
    readonly query: string
    /** Puts the best candidates in order; `null` to leave them as they are. */
    readonly reranker: Reranker | null
  },
): Effect.Effect<
  {
    readonly found: ReadonlyArray<readonly [source: number, messages: ReadonlyArray<RecalledMessage>]>
    readonly text: string
    readonly tokens: number
  },
  SessionError | E
> =>
  Effect.gen(function* () {
    const breathe = breather(1)
    const opened = new Map<number, Opened<E>>()
    const openedAt = (source: number): Opened<E> => {
      const known = opened.get(source)
      if (known !== undefined) return known
      const session = { ...open(source), chosen: new Set<number>(), days: new Set<string>() }
      opened.set(source, session)
      return session
    }
    /** What was taken together, the best first. */
    const units: Array<ReadonlyArray<ChosenMessage>> = []
    let left = tokens
    const lineSize = (line: string): number => counter.count(line) + 1
    const sizeOf = (source: number, one: RecalledMessage): number => {
      const today = day(one.time)
      const { heading, chosen, days } = openedAt(source)
      const headingSize = heading === null || chosen.size > 0 ? 0 : lineSize(heading)
      return lineSize(lineOf(one)) + headingSize + (days.has(today) ? 0 : lineSize(`(${today})`))
    }
    const take = (source: number, unit: ReadonlyArray<RecalledMessage>): void => {
      const rank = units.length + 1
      const { chosen, days } = openedAt(source)
      units.push(unit.map((one) => ({ source, one: { ...one, rank } })))
      for (const one of unit) {
        left -= sizeOf(source, one)
        chosen.add(one.index)
        days.add(day(one.time))
      }
    }
    const takePart = ({ source, offset }: Candidate, read: LoggedMessage, most: number): void => {
      const text = readableText(read.message).slice(0, mostSearched)
      const room = most - sizeOf(source, partOf(read, ""))
      const part = room <= 0 ? "" : excerpt(text, terms, (piece) => counter.count(piece), room, offset)
      const one = partOf(read, part)
      if (part !== "" && sizeOf(source, one) <= left) take(source, [one])
    }

    const readAll = (asked: ReadonlyArray<Candidate>) =>
      Effect.gen(function* () {
        const reads = new Map<Candidate, LoggedMessage>()
        for (const source of new Set(asked.map(({ source }) => source))) {
          // Each session may have to be opened.
          yield* breathe() ?? Effect.void
          const { postings, reader } = openedAt(source)
          const ofSource = asked.filter((one) => one.source === source)
          const versions = yield* postings.versions(ofSource.map(({ index }) => index))
          const atVersions = yield* readAt(reader, [...versions.values()])
          for (const one of ofSource) {
            const read = atVersions.get(versions.get(one.index) ?? -1)
            if (read?.index === one.index) reads.set(one, read)
          }
        }
        return reads
      })
    const candidates =
      reranker === null
        ? ranked
        : yield* reranked(reranker, query, ranked, (asked) =>
            Effect.map(readAll(asked), (reads) =>
              asked.map((one) => {
                const read = reads.get(one)
                return read === undefined ? null : readableText(read.message)
              }),
            ),
          )

    let inVain = 0
    for (let at = 0; at < Math.min(candidates.length, mostCandidates) && inVain < mostInVain; at += batch) {
      if (left < fewestTokens) break
      const before = units.length
      yield* breathe() ?? Effect.void
      const asked = candidates.slice(at, at + batch)
      const reads = yield* readAll(asked)
      for (const candidate of asked) {
        yield* breathe() ?? Effect.void
        const { source, index: position } = candidate
        const { reader, before, without, chosen } = openedAt(source)
        const read = reads.get(candidate)
        if (left < fewestTokens) break
        if (read === undefined || chosen.has(position)) continue
        const most = Math.min(left, Math.max(tokens * largestShare, leastShare))
        if (inGroup(read.message)) {
          const alone = isLong(whole(read).text, tokens * largestGroup)
          const group = alone ? null : yield* groupOf(reader, read)
          const all = (group ?? []).map(whole)
          const long = all.some(({ text }) => isLong(text, tokens * largestGroup))
          const size = long
            ? Number.POSITIVE_INFINITY
            : all.reduce((sum, one) => sum + sizeOf(source, one), 0)
          const fits = size <= Math.min(left, tokens * largestGroup)
          const free = all.every(
            (one) =>
              one.index < before && !without(one.index) && !chosen.has(one.index) && !hasRecall(one.message),
          )
          if (all.length > 0 && fits && free) take(source, all)
          else takePart(candidate, read, most)
          continue
        }
        const one = whole(read)
        if (one.text.trim() === "") continue
        if (!isLong(one.text, most) && sizeOf(source, one) <= most) take(source, [one])
        else takePart(candidate, read, most)
      }
      inVain = units.length === before ? inVain + 1 : 0
    }
    for (;;) {
      const found = inOrder(units)
      const text = found
        .map(([source, messages]) => {
          const { heading } = openedAt(source)
          return heading === null ? transcript(messages) : `${heading}\n${transcript(messages)}`
        })
        .join("\n")
      const size = text === "" ? 0 : counter.count(text)
      if (size <= tokens) return { found, text, tokens: size }
      // A counter may count more for a text than for its lines together.
      units.pop()
    }
  })
