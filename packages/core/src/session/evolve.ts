/**
 * The fold: one pure, total reducer per event.
 *
 * Total means that no log can make it throw. The commit of a compaction that is not the running one changes only the
 * version: a compaction that lost its lock cannot commit.
 */
import type { RecordedEvent } from "../event/EventCodec.js"
import { prefixAfter } from "./prefix.js"
import { reducerOf, released } from "./reducers.js"
import { type SessionState } from "./SessionState.js"
import type { States } from "./switchBranch.js"

/** The versions of commits that later events invalidate. */
export type Invalidated = ReadonlySet<number>

/**
 * What is known besides the state and the event.
 *
 * - `invalidated`: the versions of commits to skip; a skipped commit only releases the lock
 * - `states`: earlier states, which a switch to another branch goes back to
 */
export interface EvolveOptions {
  readonly invalidated?: Invalidated | undefined
  readonly states?: States | undefined
}

const noStates: States = new Map()

/**
 * Computes the state after one more event. It is a pure function and never throws.
 *
 * @param state the state before the event
 * @param recorded the event with version `state.version + 1`
 * @param known commits to skip, and earlier states to go back to; without it, a switch to another branch than to an earlier
 *   place of the branch in force changes nothing
 *
 * @example
 * ```ts
 * import { type EventCodec, Session } from "@memfold/core"
 *
 * const stateAfter = (session: string, events: ReadonlyArray<EventCodec.RecordedEvent>) =>
 *   events.reduce((state, recorded) => Session.evolve(state, recorded), Session.empty(session))
 * ```
 */
export const evolve = (
  state: SessionState,
  recorded: RecordedEvent,
  { invalidated, states = noStates }: EvolveOptions = {},
): SessionState => {
  const reduce =
    isCommit(recorded) && invalidated?.has(recorded.version) === true ? released : reducerOf(recorded.event)
  const after = reduce(state, recorded, states)
  // Complete already: nearly all events are messages, and a copy of the state is half the work.
  if (recorded.event._tag === "MessageAppended" || recorded.event._tag === "DamagedMessage") return after
  return { ...after, version: recorded.version, prefix: prefixAfter(state, after, recorded) }
}

/** Whether an event is a commit. Only commits can be invalidated, never messages. */
const isCommit = ({ event }: RecordedEvent): boolean =>
  event._tag === "SummaryCommitted" || event._tag === "ToolOutputsPruned"

/**
 * Computes the state after several events. A commit that a later one of them invalidates is skipped. A switch to another branch
 * can go back to the states between them.
 *
 * @param state the state before the events
 * @param events the next events, in order
 *
 * @example
 * ```ts
 * import { type EventCodec, Session } from "@memfold/core"
 *
 * const tokensAfter = (session: string, events: ReadonlyArray<EventCodec.RecordedEvent>) =>
 *   Session.contextTokens(Session.fold(Session.empty(session), events))
 * ```
 */
export const fold = (state: SessionState, events: ReadonlyArray<RecordedEvent>): SessionState => {
  const invalidated = new Set<number>()
  const returned = new Set<number>()
  for (const { event, version } of events) {
    if (event._tag === "SummaryInvalidated" && event.version < version) invalidated.add(event.version)
    if (event._tag === "BranchSwitched") returned.add(event.version)
  }
  const states = new Map<number, SessionState>()
  let current = state
  for (const recorded of events) {
    if (returned.has(current.version)) states.set(current.version, current)
    current = evolve(current, recorded, { invalidated, states })
  }
  return current
}

/**
 * Whether an event needs more than the state: it invalidates a commit, erases a message, or goes back to a state that is not
 * known. Then the session must be folded from its first event, because the state no longer has the messages that were covered.
 *
 * @param states the earlier states that are known
 */
export const requiresReplay = (
  state: SessionState,
  { event }: RecordedEvent,
  states: States = noStates,
): boolean => {
  switch (event._tag) {
    case "MessageRedacted":
      return event.version <= state.version
    // It was erased from earlier events, and so was what says it, too.
    case "FactRedacted":
      return event.fact !== ""
    case "SummaryInvalidated":
      return event.version <= state.version && !state.damaged.some(({ version }) => version === event.version)
    case "BranchSwitched":
      return event.version < state.version && !states.has(event.version)
    default:
      return false
  }
}
