/** Which of the active facts a context shows, and in which order. */
import { MemoryLayers, Message, Search, type Session } from "@memfold/core"
import { standingKinds } from "../Extractor.js"
import { origin, originOfFact } from "../identity.js"
import { factsOf, type LogFacts, logsOf, type Places } from "../places.js"
import type { Indexes, Scores } from "./Indexes.js"

type Facts = ReadonlyArray<MemoryLayers.FactInTime>

/** How many facts of each layer are shown for one question, and which besides those that are true. */
export interface Shown {
  readonly mostUser: number
  readonly mostScope: number
  readonly showPast: boolean
  readonly unconfirmedSessions: number
}

/** The search terms of the current message; none if there is nothing to search for. */
const termsOf = (current: Message.Message | null): ReadonlyArray<string> =>
  current === null ? [] : Search.queryTermsOf(Message.text(current))

const newest = (facts: Facts, most: number): Facts => (most === 0 ? [] : facts.slice(-most))

/** Best match first; the newer fact wins a tie. The facts are in the order in which they were learned. */
const best = (facts: Facts, scores: Scores, most: number): Facts =>
  facts
    .map((fact, order) => ({ fact, order, score: scores.get(fact.id) ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || other.order - one.order)
    .slice(0, most)
    .map(({ fact }) => fact)

/** Whether a fact was known at a moment of the session: the clock may say so also of what it learned from later messages. */
export const wasKnown = (
  fact: Session.KnownFact,
  { time, total }: MemoryLayers.Moment,
  here: string,
): boolean => fact.time <= time && (fact.to <= total || originOfFact(fact) !== here)

/** A fact that is no longer true, as a context shows it. */
const asPast = (fact: MemoryLayers.FactInTime): MemoryLayers.FactInTime => ({
  ...fact,
  text: `${fact.text} (no longer true since ${new Date(fact.validUntil ?? 0).toISOString().slice(0, 10)})`,
})

/**
 * The facts of a layer that were known at a moment: those that are true, and those that were. What has ended since leaves also older
 * questions.
 */
const knownAt = (
  places: Places,
  layer: "user" | "scope",
  { asked, orLater }: Pick<MemoryLayers.Question, "asked" | "orLater">,
  here: string,
): { readonly current: Facts; readonly past: Facts } => {
  const all = factsOf(places, layer)
  // What was learned since is true since, by the clock of whoever has learned it.
  const now = Math.max(asked.time, ...all.map(({ time }) => time))
  const known = all.filter((fact) => orLater === true || wasKnown(fact, asked, here))
  return {
    current: known.filter((fact) => MemoryLayers.isTrueAt(fact, now)),
    past: known.filter(
      ({ validFrom = Number.NEGATIVE_INFINITY, validUntil }) =>
        validUntil !== undefined && validUntil <= now && validFrom < validUntil,
    ),
  }
}

/** The sessions that facts about the user were said in last. */
const newestSessions = ({ own, user }: Places, most: number): ReadonlySet<string> => {
  const newest = new Set<string>()
  for (const { layer, sources = [] } of [...own.facts, ...(user?.facts ?? [])].toSorted(
    (one, other) => other.time - one.time,
  ))
    for (const { session } of layer === "user" ? sources : []) if (newest.size < most) newest.add(session)
  return newest
}

/** Whether a fact was said in one of the newest sessions, was judged to be true, or has no session. */
const isConfirmed =
  (newest: ReadonlySet<string>) =>
  ({ sources = [], confirmed }: MemoryLayers.FactInTime): boolean =>
    confirmed === true || sources.length === 0 || sources.some(({ session }) => newest.has(session))

/** The places as they were known at a question: what was learned since does not change how well its facts fit. */
const knownOf = (
  { own, user, scope }: Places,
  { asked, orLater }: MemoryLayers.Question,
  here: string,
): Places => {
  const place = <Place extends LogFacts | null>(given: Place): Place =>
    given === null || orLater === true
      ? given
      : { ...given, facts: given.facts.filter((fact) => wasKnown(fact, asked, here)) }
  return { own: place(own), user: place(user), scope: place(scope) }
}

const scoresOf = (places: Places, terms: ReadonlyArray<string>, indexes: Indexes): Scores => {
  const having = logsOf(places).filter(({ facts }) => facts.length > 0)
  return new Map(having.flatMap(({ log, facts }) => [...indexes.scores(log, facts, terms)]))
}

/**
 * The facts recalled for a question, by an index of the facts that were known then. User layer: the standing kinds, then facts that fit. Scope layer: facts that fit.
 * Without a question, or without a word to search for in it, the newest facts are used instead of fitting facts.
 *
 * Scope facts from messages that the context shows anyway are left out.
 */
export const select = (
  state: Session.SessionState,
  question: MemoryLayers.Question,
  places: Places,
  indexes: Indexes,
  { mostUser, mostScope, showPast, unconfirmedSessions }: Shown,
): MemoryLayers.Recalled => {
  const here = origin(state)
  const terms = termsOf(question.current)
  const then = knownOf(places, question, here)
  const scores = terms.length === 0 ? null : scoresOf(then, terms, indexes)
  const ofUser = knownAt(places, "user", question, here)
  const ofScope = knownAt(places, "scope", question, here)
  const confirmed = isConfirmed(newestSessions(then, unconfirmedSessions))
  const fitting = (facts: Facts, past: Facts, limit: number): Facts =>
    scores === null
      ? newest(facts.filter(confirmed), limit)
      : best([...facts, ...(showPast ? past.map(asPast) : [])], scores, limit)

  // The kinds in their order: who the user is comes before what they ask for.
  const standing: Array<MemoryLayers.FactInTime> = []
  const stands = (fact: MemoryLayers.FactInTime) => standingKinds.includes(fact.kind) && confirmed(fact)
  for (const kind of standingKinds) {
    const ofKind = ofUser.current.filter((fact) => fact.kind === kind && stands(fact))
    standing.push(...newest(ofKind, mostUser - standing.length))
  }
  const others = ofUser.current.filter((fact) => !stands(fact))
  const elsewhere = (fact: MemoryLayers.FactInTime) =>
    fact.from < state.coveredTo || originOfFact(fact) !== here
  return {
    user: [...standing, ...fitting(others, ofUser.past, mostUser - standing.length)],
    scope: fitting(ofScope.current.filter(elsewhere), ofScope.past.filter(elsewhere), mostScope),
  }
}
