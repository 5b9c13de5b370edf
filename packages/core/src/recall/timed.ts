/** A search in time: by options, or by the words of the query. */
import type { Effect } from "effect"
import type { Candidate, IsWanted } from "../search/rank.js"
import { inSteps } from "@memfold/log/breathe"
import { hasNoTopic } from "./emptyWords.js"
import type { Postings } from "./FullTextIndex.js"
import { timeInQuery } from "./timeInQuery.js"
import type { TimeSpan } from "./TimeSpan.js"

/** When the messages of a search were said. */
export interface SearchedTime {
  readonly span: TimeSpan
  /** Whether messages of other times are left out; otherwise they come behind. */
  readonly only: boolean
}

/** The options of a search in time. */
export interface TimeOptions {
  /** Only messages from this time on are found, in milliseconds since the epoch. */
  readonly after?: number | undefined
  /** Only messages before this time are found, in milliseconds since the epoch. */
  readonly before?: number | undefined
  /** The time zone of whoever asks, by its IANA name: for words such as "yesterday". `UTC` by default. */
  readonly timeZone?: string | undefined
}

/** What is searched for, and of which time. */
export interface TimedSearch {
  readonly query: string
  readonly time: SearchedTime | null
}

/** Reads the time of a search from its options, or else from the words of the query. */
export const timeOf = (query: string, options: TimeOptions, now: number): Effect.Effect<TimedSearch> =>
  inSteps(() => timeInSteps(query, options, now))

function* timeInSteps(
  query: string,
  { after, before, timeZone = "UTC" }: TimeOptions,
  now: number,
): Generator<undefined, TimedSearch> {
  if (after !== undefined || before !== undefined) {
    const span = { from: after ?? Number.NEGATIVE_INFINITY, to: before ?? Number.POSITIVE_INFINITY }
    return { query, time: { span, only: true } }
  }
  const found = yield* timeInQuery(query, now, timeZone)
  if (found === null) return { query, time: null }
  return hasNoTopic(found.words)
    ? { query: "", time: { span: found.span, only: true } }
    : { query, time: { span: found.span, only: false } }
}

/** How many candidates a search has, and how many of them come first for their time: as many as are likely to be shown. */
const most = { all: 10_000, first: 500 }

/** The times of the messages of some sessions. */
type Times = ReadonlyArray<Pick<Postings<never>, "times">>

/** Which messages of some sessions were said in a span. */
export const saidIn =
  (searched: Times, { from, to }: TimeSpan): IsWanted =>
  (source, index) => {
    const time = searched[source]?.times[index]
    return time !== undefined && time >= from && time < to
  }

interface TimedMessage {
  readonly source: number
  readonly index: number
  readonly time: number
}

const newest = (messages: ReadonlyArray<TimedMessage>): ReadonlyArray<TimedMessage> =>
  messages
    .toSorted((one, other) => other.time - one.time || one.source - other.source || other.index - one.index)
    .slice(0, most.all)

/** The messages of a span as candidates, the newest first, where nothing is asked for but a time. A step is one session. */
export function* newestFirst(
  searched: Times,
  span: TimeSpan,
): Generator<undefined, ReadonlyArray<Candidate>> {
  const isWanted = saidIn(searched, span)
  let found: Array<TimedMessage> = []
  for (const [source, { times }] of searched.entries()) {
    for (let index = times.length - 1; index >= 0; index--)
      if (isWanted(source, index)) found.push({ source, index, time: times[index]! })
    if (found.length > 2 * most.all) found = [...newest(found)]
    yield
  }
  return newest(found).map(({ source, index }) => ({ source, index, score: 0, fits: true, covered: 0 }))
}

/** The candidates of a time, in their order; behind them, the others, unless only the time counts. */
export const inTime = (
  searched: Times,
  candidates: ReadonlyArray<Candidate>,
  { span, only }: SearchedTime,
): ReadonlyArray<Candidate> => {
  const isWanted = saidIn(searched, span)
  const isInside = ({ source, index }: Candidate) => isWanted(source, index)
  if (only) return besideFitting(candidates.filter(isInside))
  const first = candidates.slice(0, most.first)
  return [
    ...first.filter(isInside),
    ...first.filter((one) => !isInside(one)),
    ...candidates.slice(most.first),
  ]
}

/** How far a message shares what it is worth with the messages around it. */
const farthest = 2

/** The candidates that fit, and the candidates beside them: what is only beside a message of another time does not fit. */
const besideFitting = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
  const fitting = new Set(
    candidates.filter(({ fits }) => fits).map(({ source, index }) => `${source} ${index}`),
  )
  return candidates.filter(({ source, index }) => {
    for (let away = -farthest; away <= farthest; away++)
      if (fitting.has(`${source} ${index + away}`)) return true
    return false
  })
}
