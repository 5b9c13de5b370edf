/** Going on from an earlier place: the events of an edit, and of a return to another branch. */
import type { BranchSwitched, Event } from "../event/Event.js"
import { recordedAfter } from "../event/EventCodec.js"
import type { Strategy } from "../policy/Strategy.js"
import { evolve } from "../session/evolve.js"
import type { Origin } from "../session/prefix.js"
import type { SessionState } from "../session/SessionState.js"
import { reaches, type States } from "../session/switchBranch.js"
import { type CountedMessage, messageEvents } from "./append.js"

export interface Switch {
  readonly event: BranchSwitched
  readonly states: States
}

/**
 * The switch to the first `index` messages of the conversation.
 *
 * @param before - a state that has these messages, with a summary that covers nothing beyond them
 * @returns `null` if the state does not: another one has to be found in the log
 */
export const switchTo = (before: SessionState, index: number): Switch | null =>
  reaches(before, index)
    ? {
        event: { _tag: "BranchSwitched", version: before.version, index },
        states: new Map([[before.version, before]]),
      }
    : null

/** The switch back to a branch, from the state at which it was left. */
export const switchBack = (left: SessionState): Switch => ({
  event: { _tag: "BranchSwitched", version: left.version, index: left.total, branch: left.branch.id },
  states: new Map([[left.version, left]]),
})

/** The state after events that are written nowhere. They count as one batch, with an id of its own for each version. */
export const stateAfter = (
  state: SessionState,
  events: ReadonlyArray<Event>,
  time: number,
  states?: States,
): SessionState =>
  recordedAfter(
    state,
    `preview-${state.version}`,
    events.map((event) => ({ time, event })),
  ).reduce((before, recorded) => evolve(before, recorded, { states }), state)

/** The events of a switch, if there is one, and of the messages behind it. */
export const edited = (
  state: SessionState,
  goBack: Switch | null,
  {
    messages,
    strategy,
    origin,
    time,
  }: {
    readonly messages: ReadonlyArray<CountedMessage>
    readonly strategy: Strategy
    readonly origin?: (before: SessionState) => Origin
    readonly time: number
  },
): ReadonlyArray<Event> => {
  const before = goBack === null ? state : stateAfter(state, [goBack.event], time, goBack.states)
  const appended = messageEvents(strategy, before, messages, () => origin?.(before) ?? {})
  return goBack === null ? appended : [goBack.event, ...appended]
}
