/** What of some facts would come, go and change. */
import { Struct } from "effect"
import type { Fact, FactSource } from "../event/Event.js"
import { type FactInTime, sameText } from "./inTime.js"

/** Facts by what becomes of them. */
export interface ChangedFacts {
  readonly come: ReadonlyArray<FactInTime>
  readonly go: ReadonlyArray<FactInTime>
  readonly change: ReadonlyArray<{ readonly before: FactInTime; readonly after: FactInTime }>
}

const shown = (fact: FactInTime): string => {
  const said = Struct.pick(fact, "layer", "subject", "predicate", "value", "text", "key", "origin", "sources")
  return sameText({ ...said, ...Struct.pick(fact, "validFrom", "validUntil", "timeSource") })
}

/** A text that is equal for facts that say something of one subject and predicate. */
const topicOf = ({ layer, subject = "user", predicate, kind }: Fact): string =>
  sameText([layer, subject, predicate ?? kind])

/** A text that is equal for facts that say the same, wherever that was said. */
export const sayingOf = (fact: Fact): string => sameText([topicOf(fact), fact.value ?? fact.text])

/** A message as a text. */
export const placeOf = ({ session, event }: Omit<FactSource, "quote">): string => `${event} ${session}`

const placesOf = ({ sources = [] }: Fact): ReadonlySet<string> => new Set(sources.map(placeOf))

/** Whether two facts rest on a message together. */
export const shareSource = (one: Fact, other: Fact): boolean => {
  const places = placesOf(one)
  return [...placesOf(other)].some((place) => places.has(place))
}

/** Whether two facts say the same, and were learned from the same message, whoever has learned them. */
export const isLearnedAgain = (one: Fact, other: Fact): boolean =>
  shareSource(one, other) && sayingOf(one) === sayingOf(other)

/** Compares facts before and after. A fact has changed if another one of its subject and predicate rests on the message that it rests on. */
export const factsDiff = (
  before: ReadonlyArray<FactInTime>,
  after: ReadonlyArray<FactInTime>,
): ChangedFacts => {
  const left = new Map<string, Array<FactInTime>>()
  for (const fact of before) left.set(shown(fact), [...(left.get(shown(fact)) ?? []), fact])
  const others = after.filter((fact) => left.get(shown(fact))?.pop() === undefined)
  const gone = new Set([...left.values()].flat())
  const change: Array<ChangedFacts["change"][number]> = []
  const come: Array<FactInTime> = []
  for (const fact of others) {
    const related = [...gone].filter((one) => shareSource(one, fact) && topicOf(one) === topicOf(fact))
    const earlier = related.find((one) => sayingOf(one) === sayingOf(fact)) ?? related[0]
    if (earlier === undefined) come.push(fact)
    else {
      gone.delete(earlier)
      change.push({ before: earlier, after: fact })
    }
  }
  return { come, go: before.filter((fact) => gone.has(fact)), change }
}
