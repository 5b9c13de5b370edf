/** Erasing facts from the events that have them. */
import type { Event, Fact, FactSource } from "../event/Event.js"
import type { AnyEvent } from "../event/EventCodec.js"

/** Which facts to erase, which besides of those that were learned anew, and which ends: those that were said somewhere. */
export interface ErasedFacts {
  readonly erases: (fact: Fact) => boolean
  readonly erasesAnew?: (fact: Fact) => boolean
  readonly erasesEnd?: (source: FactSource) => boolean
}

/** The event without what is to be erased; `null` if it has none of that. An end that was said there ends nothing any more. */
export const withoutFacts = (
  event: AnyEvent,
  { erases, erasesAnew = () => false, erasesEnd = () => false }: ErasedFacts,
): Event | null => {
  if (event._tag === "FactEnded") {
    const { source, ...rest } = event
    return source !== undefined && erasesEnd(source) ? { ...rest, fact: "" } : null
  }
  if (event._tag !== "FactsLearned" && event._tag !== "FactsRebuilt") return null
  const isAnew = event._tag === "FactsRebuilt"
  const facts = event.facts.filter((fact) => !erases(fact) && !(isAnew && erasesAnew(fact)))
  const isSame = facts.length === event.facts.length
  if (event._tag === "FactsLearned") return isSame ? null : { ...event, facts }
  const ended = event.ended.filter(({ source }) => source === undefined || !erasesEnd(source))
  return isSame && ended.length === event.ended.length ? null : { ...event, facts, ended }
}
