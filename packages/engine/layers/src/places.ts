/** The logs with a session's facts, and which of these facts are active. */
import type { Event, Session } from "@memfold/core"

type Facts = ReadonlyArray<Session.KnownFact>
type Layer = Event.Fact["layer"]

/** The layers, in the order in which their facts are shown. */
export const layers: ReadonlyArray<Layer> = ["user", "scope"]

/** A log, with its facts in the order in which they were learned. */
export interface LogFacts {
  readonly log: string
  readonly facts: Facts
}

/** The session's own log, and the shared ones if it has any. */
export interface Places {
  readonly own: LogFacts
  readonly user: LogFacts | null
  readonly scope: LogFacts | null
}

/** The session's own log may contain facts of both layers, a shared log facts of one layer. */
const placesOf = (places: Places, layer: Layer): ReadonlyArray<LogFacts> => {
  const home = places[layer]
  return home === null ? [places.own] : [places.own, home]
}

/** Whether the newer fact replaces the older one; both are of one layer. */
const replaces = (newer: Session.KnownFact, older: Session.KnownFact): boolean =>
  newer.id === older.id || (newer.key !== undefined && newer.key === older.key)

/** A text that is equal for all facts that replace each other. */
const identity = ({ id, key }: Session.KnownFact): string => (key === undefined ? `id ${id}` : `key ${key}`)

/** The active facts of a layer, oldest first. */
export const activeFacts = (places: Places, layer: Layer): Facts => {
  const [own = [], shared = []] = placesOf(places, layer).map(({ facts }) =>
    facts.filter((fact) => fact.layer === layer),
  )
  if (own.length === 0 || shared.length === 0) return own.length === 0 ? shared : own
  const merged = new Map<string, Session.KnownFact>()
  for (const fact of [...own, ...shared].toSorted((one, other) => one.time - other.time)) {
    merged.delete(identity(fact))
    merged.set(identity(fact), fact)
  }
  return [...merged.values()]
}

/** The active facts of all layers. */
export const allFacts = (places: Places): Facts => layers.flatMap((layer) => activeFacts(places, layer))

/** The facts to remove from each log to remove one fact: itself, and facts it replaced in the other log. */
export const factsToRemove = (
  places: Places,
  id: string,
): ReadonlyArray<{ readonly log: string; readonly facts: ReadonlyArray<string> }> =>
  layers.flatMap((layer) => {
    const target = activeFacts(places, layer).find((fact) => fact.id === id)
    if (target === undefined) return []
    return placesOf(places, layer)
      .map(({ log, facts }) => ({
        log,
        facts: facts.filter((fact) => fact.layer === layer && replaces(target, fact)).map((fact) => fact.id),
      }))
      .filter(({ facts }) => facts.length > 0)
  })
