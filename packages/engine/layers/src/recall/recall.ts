/** Which of the active facts a context shows, and in which order. */
import { type Event, Message, type MemoryLayers, Search, type Session } from "@memfold/core"
import { standingKinds } from "../Extractor.js"
import { origin, originOfFact } from "../identity.js"
import type { LogFacts, Places } from "../places.js"
import { activeFacts } from "../places.js"
import type { Indexes, Scores } from "./Indexes.js"

type Facts = ReadonlyArray<Session.KnownFact>

/** At most this many facts of each layer for one question. */
export type Most = { readonly [Layer in Event.Fact["layer"]]: number }

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

/** The facts that were known at a moment. */
const knownAt = ({ own, user, scope }: Places, moment: MemoryLayers.Moment, here: string): Places => {
  const place = ({ log, facts }: LogFacts): LogFacts => ({
    log,
    facts: facts.filter((fact) => wasKnown(fact, moment, here)),
  })
  return {
    own: place(own),
    user: user === null ? null : place(user),
    scope: scope === null ? null : place(scope),
  }
}

/** The scores of all facts for a question. */
const scoresOf = (places: Places, terms: ReadonlyArray<string>, indexes: Indexes): Scores => {
  const all = [places.own, places.user, places.scope].flatMap((place) =>
    place === null || place.facts.length === 0 ? [] : [indexes.scores(place.log, place.facts, terms)],
  )
  return new Map(all.flatMap((scores) => [...scores]))
}

/**
 * The facts recalled for a question, by an index of the facts that were known then. User layer: the standing kinds, then facts that fit. Scope layer: facts that fit.
 * Without a question, or without a word to search for in it, the newest facts are used instead of fitting facts.
 *
 * Scope facts from messages that the context shows anyway are left out.
 */
export const select = (
  state: Session.SessionState,
  { current, asked, orLater }: MemoryLayers.Question,
  all: Places,
  indexes: Indexes,
  most: Most,
): MemoryLayers.Recalled => {
  const here = origin(state)
  const places = orLater === true ? all : knownAt(all, asked, here)
  const terms = termsOf(current)
  const scores = terms.length === 0 ? null : scoresOf(places, terms, indexes)
  const fitting = (facts: Facts, limit: number): Facts =>
    scores === null ? newest(facts, limit) : best(facts, scores, limit)

  const user = activeFacts(places, "user")
  // The kinds in their order: who the user is comes before what they ask for.
  const standing: Array<Session.KnownFact> = []
  for (const kind of standingKinds) {
    const ofKind = user.filter((fact) => fact.kind === kind)
    standing.push(...newest(ofKind, most.user - standing.length))
  }
  const others = user.filter(({ kind }) => !standingKinds.includes(kind))
  const scope = activeFacts(places, "scope").filter(
    (fact) => fact.from < state.coveredTo || originOfFact(fact) !== here,
  )
  return {
    user: [...standing, ...fitting(others, most.user - standing.length)],
    scope: fitting(scope, most.scope),
  }
}
