/**
 * Recall: finds the messages of a session that fit a query, within a budget of tokens. It reads the log, so every message
 * is found word for word, covered by a summary or not.
 */
import { Effect, Stream } from "effect"
import { calls, type Message, results, type Role } from "../message/Message.js"
import * as Structure from "../message/Structure.js"
import type { Service as TokenCounter } from "../message/TokenCounter.js"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import type { SessionState } from "../session/SessionState.js"
import { excerpt } from "./excerpt.js"
import type { Service as FullTextIndex, Source } from "./FullTextIndex.js"
import { type Candidate, rank } from "./rank.js"
import { hasRecall, mostSearched, readableText } from "./searchText.js"
import { queryTermsOf } from "./terms.js"

/** A message that was found. */
export interface RecalledMessage {
  /** The message index. */
  readonly index: number
  /** The version of the event that appended it. */
  readonly version: number
  /** When it was written, in milliseconds since the epoch. */
  readonly time: number
  readonly role: Role
  /**
   * The message as it is in the log; of an excerpt, only its author and the excerpt. Messages with tool calls and results
   * come in whole groups or as excerpts.
   */
  readonly message: Message
  /** The text of the message, or the part of it that fits the query. */
  readonly text: string
  /** Whether `text` is only a part of the message; `…` marks what is left out. */
  readonly excerpt: boolean
}

/** The messages that were found, in the order of the conversation. */
export interface Recalled {
  readonly messages: ReadonlyArray<RecalledMessage>
  /** All of them as one text for a prompt: each with its message index, author and text, below the day it was written. */
  readonly text: string
  /** The tokens of `text`, at most those asked for. */
  readonly tokens: number
}

/** How to search. */
export interface RecallRequest {
  readonly query: string
  /** The most tokens of the result. */
  readonly tokens: number
  /** Only messages before this index are found. */
  readonly before: number
  /** Messages that are not wanted, because the context has them already. */
  readonly without: (index: number) => boolean
  /** Leaves out what has little to do with the query, and finds nothing if that is everything. */
  readonly onlyRelevant: boolean
}

/** What recall needs to read a session. */
export interface Reading {
  readonly sessions: Sessions
  readonly index: FullTextIndex
  readonly counter: TokenCounter
}

const nothing: Recalled = { messages: [], text: "", tokens: 0 }

/** A message takes at most this part of the budget, or so many tokens if that is more; of a longer one, an excerpt is shown. */
const largestShare = 1 / 4
const leastShare = 60

/** A group of tool calls is shown whole if it takes at most this part of the budget. */
const largestGroup = 1 / 2

/** With less than this left, the search ends: no message fits. */
const fewestTokens = 12

/** How many candidates are read at a time, and how many at most: those after them are hardly better than chance. */
const batch = 24
const mostCandidates = 480

/** How far around a message its group of tool calls is looked for, in events: mostly it is near. */
const around = [6, 40]

/**
 * What counts as relevant: the messages around the best candidate have at least this part of the query's weight, and a
 * candidate has at least this part of the best one's score. Decision 40 has the measurement.
 */
const leastCovered = 0.3
const leastScore = 0.35

/** A text of more UTF-16 code units for each token than this is too long, and does not have to be counted. */
const longestToken = 16

const isLong = (text: string, tokens: number): boolean => text.length > longestToken * tokens

interface Read {
  readonly index: number
  readonly version: number
  readonly time: number
  readonly message: Message
}

/** Reads events of a session, each once. */
type Reader = (from: number, to: number) => Effect.Effect<ReadonlyArray<RecordedEvent>, SessionError>

/** A reader for one search: the groups around what was found overlap. */
const readerOf = (sessions: Sessions, { session, version }: SessionState): Reader => {
  const seen = new Map<number, RecordedEvent>()
  const between = (from: number, to: number) => {
    const last = Math.min(to, version)
    return Array.from({ length: Math.max(last - from + 1, 0) }, (_, at) => from + at)
  }
  return (from, to) =>
    Effect.gen(function* () {
      const missing = rangesOf(
        between(from, to).filter((at) => !seen.has(at)),
        1,
      )
      for (const range of missing) {
        yield* Stream.runForEach(sessions.events(session, range), (recorded) =>
          Effect.sync(() => seen.set(recorded.version, recorded)),
        )
      }
      return between(from, to).flatMap((at) => seen.get(at) ?? [])
    })
}

/** The ranges of ascending versions; those at most `apart` from each other are one range. */
const rangesOf = (versions: ReadonlyArray<number>, apart: number) => {
  const ranges: Array<{ fromVersion: number; toVersion: number }> = []
  for (const version of versions) {
    const last = ranges.at(-1)
    if (last !== undefined && version - last.toVersion <= apart) last.toVersion = version
    else ranges.push({ fromVersion: version, toVersion: version })
  }
  return ranges
}

/** Reads the messages at some versions. Versions close together are read at once. */
const readAt = (
  read: Reader,
  versions: ReadonlyArray<number>,
): Effect.Effect<ReadonlyMap<number, Read>, SessionError> =>
  Effect.gen(function* () {
    const found = new Map<number, Read>()
    const ranges = rangesOf(
      versions.toSorted((one, other) => one - other),
      2,
    )
    for (const { fromVersion, toVersion } of ranges) {
      for (const recorded of yield* read(fromVersion, toVersion)) {
        const one = messageOf(recorded)
        if (one !== null) found.set(one.version, one)
      }
    }
    return found
  })

const messageOf = ({ event, version, time }: RecordedEvent): Read | null =>
  event._tag === "MessageAppended"
    ? { index: event.index, version, time: event.message.time ?? time, message: event.message }
    : null

const inGroup = (message: Message): boolean =>
  message.role === "tool" || calls(message).length > 0 || results(message).length > 0

const sourceOf = (sessions: Sessions, { session, clears }: SessionState): Source => ({
  session,
  clears,
  version: sessions.version(session),
  events: (range) => sessions.events(session, range),
})

/** Whether each call has its result and each result its call. */
export const isPaired = (messages: ReadonlyArray<Message>): boolean => {
  const open: Array<Structure.OpenCall> = []
  for (const message of messages) {
    for (const result of results(message)) {
      const at = Structure.answeredCall(open, result)
      if (at === -1) return false
      open.splice(at, 1)
    }
    open.push(...calls(message))
  }
  return open.length === 0
}

/** The group of a message with tool calls or results; `null` if it is not paired, or too long to be shown. */
const groupOf = (reader: Reader, one: Read): Effect.Effect<ReadonlyArray<Read> | null, SessionError> =>
  Effect.gen(function* () {
    for (const reach of around) {
      const recorded = yield* reader(Math.max(one.version - reach, 1), one.version + reach)
      const group = groupAmong(recorded, one)
      if (group !== null) return isPaired(group.map(({ message }) => message)) ? group : null
    }
    return null
  })

/** The group of a message among events around it; `null` if it may begin before them or end behind them. */
const groupAmong = (
  recorded: ReadonlyArray<RecordedEvent>,
  { index, version }: Read,
): ReadonlyArray<Read> | null => {
  const cleared = recorded.findLastIndex(
    (one) => one.event._tag === "SessionCleared" && one.version < version,
  )
  const near = recorded.slice(cleared + 1).flatMap((one) => messageOf(one) ?? [])
  // A user message closes every call, so what came before it does not matter.
  const start = near.findLastIndex((one) => one.index <= index && one.message.role === "user")
  const from = start === -1 && near[0]?.index === 0 ? 0 : start
  if (from === -1) return null
  let structure = Structure.empty
  const groups = new Map<number, Array<Read>>()
  let own = -1
  for (const one of near.slice(from)) {
    const placed = Structure.addMessage(structure, one.index, one.message)
    structure = placed.structure
    const list = groups.get(placed.group)
    if (list === undefined) groups.set(placed.group, [one])
    else list.push(one)
    if (one.index === index) own = placed.group
    if (own !== -1 && structure.open === null) return groups.get(own) ?? null
  }
  return null
}

const day = (time: number): string => {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10)
}

const prefixOf = ({ index, message }: Pick<Read, "index" | "message">): string =>
  `[${index}] ${message.name ?? message.role}: `

const lineOf = (one: RecalledMessage): string => prefixOf(one) + one.text

/** Recalled messages as one text, in order. */
const transcript = (messages: ReadonlyArray<RecalledMessage>): string => {
  const lines: Array<string> = []
  let last = ""
  for (const one of messages) {
    const today = day(one.time)
    if (today !== last) lines.push(`(${today})`)
    last = today
    lines.push(lineOf(one))
  }
  return lines.join("\n")
}

const whole = ({ index, version, time, message }: Read): RecalledMessage => ({
  index,
  version,
  time,
  role: message.role,
  message,
  text: readableText(message),
  excerpt: false,
})

const partOf = ({ index, version, time, message }: Read, text: string): RecalledMessage => ({
  index,
  version,
  time,
  role: message.role,
  message: {
    role: message.role,
    parts: [{ type: "text", text }],
    ...(message.name === undefined ? {} : { name: message.name }),
  },
  text,
  excerpt: true,
})

const relevant = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const [best] = candidates
  return best === undefined || best.covered < leastCovered
    ? []
    : candidates.filter(({ score }) => score >= leastScore * best.score)
}

/**
 * Searches a session.
 *
 * @param state - the state of the session, which says how many messages there are since which clear
 */
export const recallMessages = (
  { sessions, index, counter }: Reading,
  state: SessionState,
  { query, tokens, before, without, onlyRelevant }: RecallRequest,
): Effect.Effect<Recalled, SessionError> =>
  Effect.gen(function* () {
    const reader = readerOf(sessions, state)
    const terms = queryTermsOf(query)
    if (terms.length === 0 || tokens < fewestTokens) return nothing
    const postings = yield* index.lookUp(sourceOf(sessions, state), {
      terms,
      before: Math.min(before, state.total),
    })
    const ranked = rank(terms, postings)
    const fitting = (onlyRelevant ? relevant(ranked) : ranked).filter(({ index }) => !without(index))

    const chosen = new Map<number, RecalledMessage>()
    /** What was taken together, the best first. */
    const units: Array<ReadonlyArray<RecalledMessage>> = []
    const days = new Set<string>()
    let left = tokens
    const sizeOf = (one: RecalledMessage): number => {
      const today = day(one.time)
      return counter.count(lineOf(one)) + 1 + (days.has(today) ? 0 : counter.count(`(${today})`) + 1)
    }
    const take = (unit: ReadonlyArray<RecalledMessage>): void => {
      units.push(unit)
      for (const one of unit) {
        left -= sizeOf(one)
        chosen.set(one.index, one)
        days.add(day(one.time))
      }
    }
    const takePart = (read: Read, most: number): void => {
      const text = readableText(read.message).slice(0, mostSearched)
      const room = most - sizeOf(partOf(read, ""))
      const part = room <= 0 ? "" : excerpt(text, terms, (piece) => counter.count(piece), room)
      const one = partOf(read, part)
      if (part !== "" && sizeOf(one) <= left) take([one])
    }

    for (let at = 0; at < Math.min(fitting.length, mostCandidates); at += batch) {
      if (left < fewestTokens) break
      const asked = fitting.slice(at, at + batch).map(({ index }) => index)
      const versions = yield* postings.versions(asked)
      const reads = yield* readAt(reader, [...versions.values()])
      for (const position of asked) {
        const read = reads.get(versions.get(position) ?? -1)
        if (left < fewestTokens) break
        if (read === undefined || read.index !== position || chosen.has(position)) continue
        const most = Math.min(left, Math.max(tokens * largestShare, leastShare))
        if (inGroup(read.message)) {
          const alone = isLong(whole(read).text, tokens * largestGroup)
          const group = alone ? null : yield* groupOf(reader, read)
          const all = (group ?? []).map(whole)
          const long = all.some(({ text }) => isLong(text, tokens * largestGroup))
          const size = long ? Number.POSITIVE_INFINITY : all.reduce((sum, one) => sum + sizeOf(one), 0)
          const fits = size <= Math.min(left, tokens * largestGroup)
          const free = all.every(
            (one) =>
              one.index < before && !without(one.index) && !chosen.has(one.index) && !hasRecall(one.message),
          )
          if (all.length > 0 && fits && free) take(all)
          else takePart(read, most)
          continue
        }
        const one = whole(read)
        if (one.text.trim() === "") continue
        if (!isLong(one.text, most) && sizeOf(one) <= most) take([one])
        else takePart(read, most)
      }
    }
    for (;;) {
      const messages = units.flat().toSorted((one, other) => one.index - other.index)
      const text = transcript(messages)
      const size = text === "" ? 0 : counter.count(text)
      if (size <= tokens) return { messages, text, tokens: size }
      // A counter may count more for a text than for its lines together.
      units.pop()
    }
  })

/**
 * Reads the messages `[from, to)` of a session as they would be recalled, in order, until the budget is used up. A message
 * that is too long is cut at its end.
 */
export const readRange = (
  { sessions, index, counter }: Reading,
  state: SessionState,
  { from, to, tokens }: { readonly from: number; readonly to: number; readonly tokens: number },
): Effect.Effect<Recalled, SessionError> =>
  Effect.gen(function* () {
    const asked = Array.from({ length: Math.max(Math.min(to, state.total) - from, 0) }, (_, at) => from + at)
    const postings = yield* index.lookUp(sourceOf(sessions, state), { terms: [], before: state.total })
    const versions = yield* postings.versions(asked)
    const reads = yield* readAt(readerOf(sessions, state), [...versions.values()])
    const messages: Array<RecalledMessage> = []
    for (const position of asked) {
      const read = reads.get(versions.get(position) ?? -1)
      if (read?.index !== position) continue
      const sizeWith = (one: RecalledMessage) => counter.count(transcript([...messages, one]))
      if (sizeWith(whole(read)) <= tokens) {
        messages.push(whole(read))
        continue
      }
      const text = excerpt(readableText(read.message), [], (part) => sizeWith(partOf(read, part)), tokens)
      if (text !== "") messages.push(partOf(read, text))
      break
    }
    const text = transcript(messages)
    return { messages, text, tokens: text === "" ? 0 : counter.count(text) }
  })
