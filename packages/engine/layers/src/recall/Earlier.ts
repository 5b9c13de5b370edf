/**
 * What was recalled for the questions of a session, kept from one context to the next: each context asks the older questions
 * again, and nearly always finds the same facts.
 */
import type { MemoryLayers, Session } from "@memfold/core"
import { origin } from "../identity.js"
import type { Places } from "../places.js"
import { wasKnown } from "./recall.js"

type Facts = ReadonlyArray<Session.KnownFact>
type Question = MemoryLayers.Question
type Recalled = MemoryLayers.Recalled

/** What was found in a session when it had these facts. */
interface EarlierRecall {
  readonly here: string
  readonly coveredTo: number
  readonly lists: ReadonlyArray<Facts>
  /** By the moment at which it was asked. */
  readonly found: ReadonlyMap<string, { readonly question: Question; readonly recalled: Recalled }>
}

/** The results for earlier questions. */
export interface Earlier {
  /** The results for the questions of a query; `find` is called for questions without a kept result. */
  readonly recall: (
    query: MemoryLayers.Query,
    places: Places,
    find: (question: Question) => Recalled,
  ) => ReadonlyArray<Recalled>
}

const listsOf = ({ own, user, scope }: Places): ReadonlyArray<Facts> =>
  [own, user, scope].map((place) => place?.facts ?? [])

/** Whether no list has lost a fact, or has a new fact that was known when one of the questions was asked. */
const stillHolds = ({ here, lists, found }: EarlierRecall, now: ReadonlyArray<Facts>): boolean => {
  const latest = { time: Number.NEGATIVE_INFINITY, total: 0 }
  for (const { question } of found.values()) {
    latest.time = Math.max(latest.time, question.asked.time)
    latest.total = Math.max(latest.total, question.asked.total)
  }
  return lists.every((before, position) => {
    const after = now[position] ?? []
    if (before === after) return true
    const [old, current] = [new Set(before), new Set(after)]
    return (
      before.every((fact) => current.has(fact)) &&
      after.every((fact) => old.has(fact) || !wasKnown(fact, latest, here))
    )
  })
}

const keyOf = ({ asked: { time, total } }: Question): string => `${time} ${total}`

/** Keeps the results of at most `capacity` sessions; the results of the least recently used session are dropped. */
export const makeEarlier = (capacity: number): Earlier => {
  const sessions = new Map<string, EarlierRecall>()
  return {
    recall: ({ state, questions, untilTime }, places, find) => {
      // A context of the past is rarely asked for twice.
      if (untilTime !== undefined) return questions.map(find)
      const { session, coveredTo } = state
      const [here, lists] = [origin(state), listsOf(places)]
      const before = sessions.get(session)
      const kept =
        before?.here === here && before.coveredTo === coveredTo && stillHolds(before, lists)
          ? before.found
          : undefined
      const all = questions.map((question) => {
        const same = kept?.get(keyOf(question))
        return question.orLater !== true && same?.question.current === question.current
          ? same.recalled
          : find(question)
      })
      // What the newest question finds is what it will find as an older one, if it found nothing that came later.
      const isSettled = (question: Question) =>
        question.orLater !== true ||
        lists.every((facts) => facts.every((fact) => wasKnown(fact, question.asked, here)))
      const found = new Map(
        questions.flatMap((question, position) =>
          isSettled(question) ? [[keyOf(question), { question, recalled: all[position]! }] as const] : [],
        ),
      )
      sessions.delete(session)
      sessions.set(session, { here, coveredTo, lists, found })
      const [oldest] = sessions.keys()
      if (sessions.size > capacity && oldest !== undefined) sessions.delete(oldest)
      return all
    },
  }
}
