/** The logs with a session's facts, and when these facts are true. */
import { type Event, MemoryLayers, type Session } from "@memfold/core"

type Facts = ReadonlyArray<MemoryLayers.FactInTime>
type Layer = Event.Fact["layer"]

/** The layers, in the order in which their facts are shown. */
export const layers: ReadonlyArray<Layer> = ["user", "scope"]

/** A log, with its facts as they were learned, oldest first. */
export interface LogFacts {
  readonly log: string
  readonly facts: ReadonlyArray<Session.KnownFact>
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

/** The facts of a layer in time, in the order in which they were learned. */
export const factsOf = (places: Places, layer: Layer): Facts => {
  const [own = [], shared = []] = placesOf(places, layer).map(({ facts }) => facts)
  const all =
    own.length === 0 || shared.length === 0
      ? own.length === 0
        ? shared
        : own
      : [...own, ...shared].toSorted((one, other) => one.time - other.time)
  return MemoryLayers.inTime(all).filter((fact) => fact.layer === layer)
}

/** The facts of all layers in time. */
export const allFacts = (places: Places): Facts => layers.flatMap((layer) => factsOf(places, layer))

/** The facts of each log to change, to change one fact: itself, and what else says it or was replaced by it in another log. */
export const sayingIt = (places: Places, id: string): ReadonlyArray<LogFacts> => {
  const all = [places.own, places.user, places.scope].filter((place) => place !== null)
  const fact = allFacts(places).find((one) => one.id === id)
  const ids = new Set(fact?.observed ?? [id])
  return all
    .map(({ log, facts }) => ({ log, facts: facts.filter((one) => ids.has(one.id)) }))
    .filter(({ facts }) => facts.length > 0)
}
