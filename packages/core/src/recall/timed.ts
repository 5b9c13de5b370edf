/** A search in time: by options, or by the words of the query. */
import { Effect } from "effect"
import { breather } from "../shell/breathe.js"
import type { Candidate } from "../search/rank.js"
import { queryTermsOf, termsOf } from "../search/terms.js"
import type { Searched } from "./choose.js"
import { readAt } from "./readLog.js"
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

/** Words that ask what was said, and are no topic. */
const asking = new Set(
  termsOf(
    "say said talk speak tell told discuss mention happen write wrote ask conversation message messages sagen gesagt reden geredet besprochen besprechen gesprochen geschrieben passiert haben habe was wir ich wann nachrichten qu'avons nous dit dire parlé parler discuté écrit passé quoi est ce que messages qué que dijimos dicho dije hablamos hablar hablado escribí pasó mensajes 我们说了什么 我说了什么 你说了什么 说过什么 我们聊了什么 聊了些什么 讨论了什么 谈了什么 发生了什么",
  ),
)

/** Reads the time of a search from its options, or else from the words of the query. */
export const timeOf = (
  query: string,
  { after, before, timeZone = "UTC" }: TimeOptions,
  now: number,
): { readonly query: string; readonly time: SearchedTime | null } => {
  if (after !== undefined || before !== undefined) {
    const span = { from: after ?? Number.NEGATIVE_INFINITY, to: before ?? Number.POSITIVE_INFINITY }
    return { query, time: { span, only: true } }
  }
  const found = timeInQuery(query, now, timeZone)
  if (found === null) return { query, time: null }
  const isOfTimeAlone = queryTermsOf(found.words).every((term) => asking.has(term))
  return isOfTimeAlone
    ? { query: "", time: { span: found.span, only: true } }
    : { query, time: { span: found.span, only: false } }
}

/** How many candidates are read for their times: all that a search ranks, or as many as are likely to be shown. */
const mostRead = { only: 10_000, first: 500 }
const batch = 200

/** The messages of some sessions as candidates, the newest first, where nothing is asked for but a time. */
export const newestFirst = (
  searched: ReadonlyArray<{ readonly lengths: { readonly length: number } }>,
): ReadonlyArray<Candidate> =>
  searched.flatMap(({ lengths: { length } }, source) =>
    Array.from({ length: Math.min(length, mostRead.only) }, (_, at) => ({
      source,
      index: length - 1 - at,
      score: 0,
      fits: true,
      covered: 0,
    })),
  )

/** The candidates of a time, in their order; behind them, the others, unless only the time counts. */
export const inTime = <E>(
  searched: ReadonlyArray<Searched<E>>,
  candidates: ReadonlyArray<Candidate>,
  { span, only }: SearchedTime,
) =>
  Effect.gen(function* () {
    const breathe = breather(1)
    const inside: Array<Candidate> = []
    const outside: Array<Candidate> = []
    const read = candidates.slice(0, only ? mostRead.only : mostRead.first)
    for (let from = 0; from < read.length; from += batch) {
      const some = read.slice(from, from + batch)
      for (const source of new Set(some.map((one) => one.source))) {
        yield* breathe() ?? Effect.void
        const { postings, reader } = searched[source]!
        const own = some.filter((one) => one.source === source)
        const versions = yield* postings.versions(own.map(({ index }) => index))
        const messages = yield* readAt(reader, [...versions.values()])
        for (const one of own) {
          const time = messages.get(versions.get(one.index) ?? -1)?.time
          const isInside = time !== undefined && time >= span.from && time < span.to
          ;(isInside ? inside : outside).push(one)
        }
      }
    }
    return only ? besideFitting(inside) : [...inside, ...outside, ...candidates.slice(read.length)]
  })

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
