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

/** The logs that a session has. */
export const logsOf = ({ own, user, scope }: Places): ReadonlyArray<LogFacts> =>
  [own, user, scope].filter((place) => place !== null)

/** The facts in all logs of a session, as they were learned. */
export const knownIn = (places: Places): LogFacts["facts"] => logsOf(places).flatMap(({ facts }) => facts)

/** The facts of a layer in time, in the order in which they were learned. */
export const factsOf = (places: Places, layer: Layer): Facts => {
  const own = places.own.facts
  const shared = places[layer]?.facts ?? []
  const all =
    own.length === 0
      ? shared
      : shared.length === 0
        ? own
        : [...own, ...shared].toSorted((one, other) => one.time - other.time)
  // The session's own log may have facts of both layers.
  return MemoryLayers.inTime(all).filter((fact) => fact.layer === layer)
}

/** The facts of all layers in time. */
export const allFacts = (places: Places): Facts => layers.flatMap((layer) => factsOf(places, layer))

/** The facts of each log to change, to change one fact: itself, and what else says it or was replaced by it in another log. */
export const sayingIt = (places: Places, id: string): ReadonlyArray<LogFacts> => {
  const fact = allFacts(places).find((one) => one.id === id)
  const ids = new Set(fact?.observed ?? [id])
  return logsOf(places)
    .map(({ log, facts }) => ({ log, facts: facts.filter((one) => ids.has(one.id)) }))
    .filter(({ facts }) => facts.length > 0)
}
