/** The fold of facts: what each event makes of the facts of a log. When they are true follows from them, see `layers/inTime.ts`. */
import type { Fact, FactEnded, FactRedacted, FactsLearned } from "../event/Event.js"
import { type KnownFact, mostFacts, type SessionState } from "./SessionState.js"

type Facts = ReadonlyArray<KnownFact>
type Named = { readonly fact: string }

/** A fact without sources replaces the fact of its key: a fact with sources ends it, which its time says. */
const replaces = (newer: Fact, older: KnownFact): boolean =>
  newer.id === older.id ||
  (newer.sources === undefined &&
    newer.key !== undefined &&
    newer.key === older.key &&
    newer.layer === older.layer)

/** The facts and those that were learned, one after the other: it is all the same which of them are in one event. */
export const withLearned = (facts: Facts, { facts: learned }: FactsLearned, time: number): Facts => {
  if (learned.length === 0) return facts
  let all = [...facts]
  for (const fact of learned) {
    all = all.filter((older) => !replaces(fact, older))
    all.push({ ...fact, time })
  }
  return all.length <= mostFacts ? all : newestOfEach(all)
}

/** The newest facts of each layer: many facts about a scope must not push out the facts about the user. */
const newestOfEach = (facts: Facts): Facts => {
  const newest = (layer: Fact["layer"]) => facts.filter((fact) => fact.layer === layer).slice(-mostFacts)
  const kept = new Set([...newest("user"), ...newest("scope")])
  return facts.filter((fact) => kept.has(fact))
}

const withChange = (facts: Facts, { fact: id }: Named, change: (fact: KnownFact) => KnownFact): Facts =>
  facts.some((fact) => fact.id === id) ? facts.map((fact) => (fact.id === id ? change(fact) : fact)) : facts

export const withoutFact = (facts: Facts, { fact }: Named): Facts => facts.filter(({ id }) => id !== fact)

/** The messages that nothing new is learned from, with those of one more event. */
export const withRedactions = (
  redactions: SessionState["redactions"],
  { fact, places = [] }: Pick<FactRedacted, "fact" | "places">,
): SessionState["redactions"] => {
  const whole = fact === ""
  const added = places.filter(
    ({ session, event }) =>
      !redactions.some((one) => one.session === session && one.event === event && (one.whole || !whole)),
  )
  return added.length === 0
    ? redactions
    : [...redactions, ...added.map(({ session, event }) => ({ session, event, whole }))]
}

/** A fact ends once; a time that was said then takes the place of one that was assumed, and never the other way round. */
export const withEnd = (facts: Facts, event: FactEnded): Facts =>
  withChange(facts, event, (fact) => {
    const mayEnd =
      fact.retracted !== true &&
      (fact.ended === undefined || (fact.ended.timeSource === "assumed" && event.timeSource === "said"))
    if (!mayEnd) return fact
    const { until, timeSource, source } = event
    return { ...fact, ended: { until, timeSource, ...(source === undefined ? {} : { source }) } }
  })

export const withRetraction = (facts: Facts, event: Named): Facts =>
  withChange(facts, event, (fact) => ({ ...fact, retracted: true }))

export const withConfirmed = (facts: Facts, event: Named): Facts =>
  withChange(facts, event, (fact) => ({ ...fact, confirmed: true }))

/** The facts without the newest change of one: a fact that is retracted is not ended any more, so its retraction is newer. */
export const withReverted = (facts: Facts, event: Named): Facts =>
  withChange(facts, event, ({ retracted, ended, ...fact }) => {
    if (retracted === true) return ended === undefined ? fact : { ...fact, ended }
    return ended?.source === undefined ? fact : { ...fact, notEnded: [...(fact.notEnded ?? []), ended] }
  })
