/** Tracing: the messages that a text rests on, and the summaries that a message lives on in. */
import { Effect, type Exit } from "effect"
import type { MessageName, UnknownMessage } from "../history/redact.js"
import { UnknownSummary } from "../history/revert.js"
import { span } from "../observe/spans.js"
import type { SummaryRecord } from "../projection/summaries.js"
import type { Postings } from "../recall/FullTextIndex.js"
import { sourceOf } from "../recall/readLog.js"
import type { SessionState } from "../session/SessionState.js"
import { inSteps } from "@memfold/log/breathe"
import type { SessionError } from "../shell/Sessions.js"
import { sentencesOf } from "../trace/sentences.js"
import {
  mayRestOn,
  type MessageRange,
  type ParsedSentence,
  parsedSentences,
  supportOf,
  type TracedSentence,
  weigh,
} from "../trace/support.js"
import { indexOf } from "./branching.js"
import { checkMessageName, checkText, type InvalidInput, refuse } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { MemoryError } from "./MemoryOptions.js"
import { readState } from "./readState.js"

export type { SupportingMessage, TracedSentence } from "../trace/support.js"

/** What is traced: a text, or a summary by its id. */
export type Traced = string | { readonly summary: string }

/** A text with what its sentences rest on. */
export interface Trace {
  /** The version of the session that it was traced at. */
  readonly version: number
  /** The text: the given one, or the summary's. The places of the sentences are places in it. */
  readonly text: string
  /** Its sentences; those that say nothing, such as a line of signs, are left out. */
  readonly sentences: ReadonlyArray<TracedSentence>
}

/** A summary that covers a message, and its sentences that rest on the message. */
export interface TracedSummary {
  readonly summary: string
  readonly status: SummaryRecord["status"]
  /** The sentences that rest on the message; none if the message is lost in this summary. */
  readonly sentences: ReadonlyArray<{
    readonly text: string
    /** How much of the sentence's weight the message has, from 0 to 1. */
    readonly share: number
    readonly words: ReadonlyArray<string>
  }>
}

interface Part {
  readonly text: string
  readonly range: MessageRange
}

/** The days, in UTC, on which the messages of a range were said: found once a sentence may name one, which few do. */
const daysOf = (times: ArrayLike<number>, range: MessageRange): Pick<ReadonlySet<string>, "has"> => {
  let days: ReadonlySet<string> | undefined
  return { has: (text) => /^\d{4}-/u.test(text) && (days ??= daysIn(times, range)).has(text) }
}

const daysIn = (times: ArrayLike<number>, { from, to }: MessageRange): ReadonlySet<string> => {
  const days = new Set<number>()
  for (let at = from; at < Math.min(to, times.length); at++) days.add(Math.floor(times[at]! / 86_400_000))
  return new Set(
    [...days].flatMap((day) => {
      const date = new Date(day * 86_400_000)
      return Number.isNaN(date.getTime()) ? [] : [date.toISOString().slice(0, 10)]
    }),
  )
}

/** What the traces of summaries of one state have read: one after another, they are about the same summaries. */
interface Ground {
  readonly state: SessionState
  readonly parsed: Map<string, ReadonlyArray<ParsedSentence>>
  readonly looked: Set<string>
  postings: Postings<SessionError> | null
}

const noGround = (state: SessionState): Ground => ({
  state,
  parsed: new Map(),
  looked: new Set(),
  postings: null,
})

/** The newest ground of each memory. */
const grounds = new WeakMap<MemoryParts["reading"], Ground>()

/** The ground of a state, with the sentences of these texts and the postings of their terms. */
const groundFor = (
  { sessions, reading }: MemoryParts,
  known: Ground,
  texts: ReadonlyArray<string>,
): Effect.Effect<Postings<SessionError>, SessionError> =>
  Effect.gen(function* () {
    const { state, parsed, looked } = known
    const unknown = [...new Set(texts)].filter((text) => !parsed.has(text))
    const sentences = yield* inSteps(() => parsedSentences(unknown))
    for (const [at, text] of unknown.entries()) parsed.set(text, sentences[at]!)
    // Of texts that another trace reads at this moment, the terms are not looked up yet.
    const terms = new Set<string>()
    for (const text of texts)
      for (const { terms: own, identifiers } of parsed.get(text)!)
        for (const term of [...own, ...identifiers.flatMap((one) => one.terms)])
          if (!looked.has(term)) terms.add(term)
    if (known.postings !== null && terms.size === 0) return known.postings
    const found = yield* reading.index.lookUp(sourceOf(sessions, state), {
      terms: [...terms],
      before: state.total,
    })
    for (const term of terms) looked.add(term)
    known.postings = { ...found, terms: new Map([...(known.postings?.terms ?? []), ...found.terms]) }
    return known.postings
  })

const summaryGround = ({ reading }: MemoryParts, state: SessionState): Ground => {
  const before = grounds.get(reading)
  const found = before?.state === state ? before : noGround(state)
  grounds.set(reading, found)
  return found
}

/** Traces texts, each to the messages of its range: all their sentences, or those that may rest on the message `about`. */
const traced = (
  memory: MemoryParts,
  known: Ground,
  parts: ReadonlyArray<Part>,
  about?: number,
): Effect.Effect<ReadonlyArray<ReadonlyArray<TracedSentence>>, SessionError> =>
  Effect.gen(function* () {
    const postings = yield* groundFor(
      memory,
      known,
      parts.map(({ text }) => text),
    )
    // A long text over a long session takes its time; others have their turn.
    return yield* inSteps(function* () {
      const found: Array<ReadonlyArray<TracedSentence>> = []
      for (const { text, range } of parts) {
        const ground = { postings, range, days: daysOf(postings.times, range) }
        const own: Array<TracedSentence> = []
        for (const sentence of known.parsed.get(text)!) {
          yield
          const weighed = weigh(sentence, ground)
          if (about === undefined || mayRestOn(weighed, about)) own.push(supportOf(weighed))
        }
        found.push(own)
      }
      return found
    })
  })

/** The sentences of several parts, with their places in the text that the parts make up. */
const placed = (
  parts: ReadonlyArray<Part>,
  traces: ReadonlyArray<ReadonlyArray<TracedSentence>>,
): ReadonlyArray<TracedSentence> => {
  let offset = 0
  return parts.flatMap(({ text }, at) => {
    const start = offset
    offset += text.length + 2
    return traces[at]!.map((one) => ({ ...one, from: one.from + start, to: one.to + start }))
  })
}

/** The longest text that is traced at a time: each of its sentences is weighed against the whole session. */
const most = { characters: 200_000, sentences: 1_000 }

const checkTraced = (session: string, text: unknown): Exit.Exit<void, InvalidInput> =>
  typeof text === "string" && (text.length > most.characters || sentencesOf(text).length > most.sentences)
    ? refuse(
        session,
        `"text" has more than ${most.sentences} sentences or ${most.characters} characters; trace it in parts`,
      )
    : checkText(session, "text", text)

/** Traces a text or a summary to messages. */
export const traceOf = (
  parts: MemoryParts,
  session: string,
  what: Traced,
): Effect.Effect<Trace, MemoryError | UnknownSummary> =>
  Effect.gen(function* () {
    const state = yield* readState(parts.sessions, session)
    if (typeof what === "object" && what !== null) {
      yield* checkText(session, "summary", what.summary)
      const summaries = yield* parts.sessions.summariesAt(state)
      const record = summaries.findLast(({ id }) => id === what.summary)
      if (record === undefined) return yield* new UnknownSummary({ session, summary: what.summary })
      const text = record.segments.map((one) => one.text).join("\n\n")
      const segments = record.segments.map(({ text, from, to }) => ({ text, range: { from, to } }))
      const sentences = placed(segments, yield* traced(parts, summaryGround(parts, state), segments))
      return { version: state.version, text, sentences }
    }
    yield* checkTraced(session, what)
    const range = { from: 0, to: state.total }
    const [sentences = []] = yield* traced(parts, noGround(state), [{ text: what, range }])
    return { version: state.version, text: what, sentences }
  }).pipe(parts.reading.inPlace, span("memfold.trace", { session }))

/** The summaries that cover a message, with the sentences of each that rest on it. */
export const traceMessageOf = (
  parts: MemoryParts,
  session: string,
  name: MessageName,
): Effect.Effect<ReadonlyArray<TracedSummary>, MemoryError | UnknownMessage> =>
  Effect.gen(function* () {
    const state = yield* readState(parts.sessions, session)
    yield* checkMessageName(session, name)
    const index = yield* indexOf(parts.sessions, state, name)
    const summaries = yield* parts.sessions.summariesAt(state)
    const covering = summaries.flatMap(({ id, status, segments }) => {
      const own = segments.filter(({ from, to }) => from <= index && index < to)
      return own.length === 0 ? [] : [{ summary: id, status, segments: own }]
    })
    // Blocks are carried from summary to summary: each text is traced once.
    const keyOf = ({ from, to, text }: Part["range"] & { readonly text: string }) => `${from} ${to} ${text}`
    const texts = new Map(
      covering.flatMap(({ segments }) => segments.map((one) => [keyOf(one), one] as const)),
    )
    const known = [...texts.values()].map(({ text, from, to }) => ({ text, range: { from, to } }))
    const traces = yield* traced(parts, summaryGround(parts, state), known, index)
    const byKey = new Map([...texts.keys()].map((key, at) => [key, traces[at]!]))
    return covering.map(({ segments, ...rest }) => ({
      ...rest,
      sentences: segments
        .flatMap((one) => byKey.get(keyOf(one)) ?? [])
        .flatMap(({ text, messages }) => {
          const own = messages.find((message) => message.index === index)
          return own === undefined ? [] : [{ text, share: own.share, words: own.words }]
        }),
    }))
  }).pipe(parts.reading.inPlace, span("memfold.traceMessage", { session }))
