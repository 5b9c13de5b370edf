/**
 * Names that the same rounds get every time, so that what is learned twice is one thing: no randomness, no clock.
 */
import type { Event, MemoryLayers, Session } from "@memfold/core"

type State = Pick<Session.SessionState, "session" | "startedAt" | "clears">
type Range = Pick<MemoryLayers.Rounds, "from" | "to">

/** The session as it has been since it was begun, or cleared last: message 3 after that is another one. */
export const origin = ({ session, startedAt, clears }: State): string =>
  `${startedAt ?? 0}.${clears}.${session}`

/** The id of the fact at a position of what was learned for a layer. */
export const factId = (
  layer: Event.Fact["layer"],
  position: number,
  { from, to }: Range,
  state: State,
): string => `${layer}.${position}@${from}-${to}.${origin(state)}`

/** The {@link origin} of the session a fact was learned in; `null` if somebody else named it. */
export const originOfFact = ({ id }: Pick<Event.Fact, "id">): string | null =>
  /^[a-z]+\.\d+@\d+-\d+\.(.*)$/su.exec(id)?.[1] ?? null

/** The commit id under which a layer's facts of these rounds are put into a shared log. */
export const commitId = (layer: Event.Fact["layer"], { from, to }: Range, state: State): string =>
  `learned.${layer}@${from}-${to}.${origin(state)}`
