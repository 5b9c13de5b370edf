/**
 * Ids that are the same each time for the same turns, without randomness or a clock, so learning twice adds nothing.
 */
import type { Event, MemoryLayers, Session } from "@memfold/core"

type State = Pick<Session.SessionState, "session" | "startTime" | "clears">
type Range = Pick<MemoryLayers.CompletedTurns, "from" | "to">

/** The session since its start or last clear. Message indexes start again at 0 after a clear, so the number of clears is part of the id. */
export const origin = ({ session, startTime, clears }: State): string =>
  `${startTime ?? 0}.${clears}.${session}`

/** The id of the fact at a position among the facts learned for a layer. */
export const factId = (
  layer: Event.Fact["layer"],
  position: number,
  { from, to }: Range,
  state: State,
): string => `${layer}.${position}@${from}-${to}.${origin(state)}`

/** The {@link origin} of the session a fact was learned in; `null` if the id has another form. */
export const originOfFact = ({ id }: Pick<Event.Fact, "id">): string | null =>
  /^[a-z]+\.\d+@\d+-\d+\.(.*)$/su.exec(id)?.[1] ?? null

/** The batch id for appending a layer's facts from these turns to a shared log. */
export const batchIdOf = (layer: Event.Fact["layer"], { from, to }: Range, state: State): string =>
  `learned.${layer}@${from}-${to}.${origin(state)}`
