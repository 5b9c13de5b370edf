/** Finding the states that the conversation goes back to: for an edit, and for a return to a branch. */
import { Effect, Stream } from "effect"
import { batchIdOf, type RecordedEvent } from "../event/EventCodec.js"
import type { Service as EventLog } from "../log/EventLog.js"
import { earlierSnapshots, newestOf } from "../projection/earlierSnapshots.js"
import type { StateInLog } from "../projection/Snapshot.js"
import { isOnBranch } from "../session/branches.js"
import { evolve, requiresReplay } from "../session/evolve.js"
import { keepTip, placeOf, reaches } from "../session/switchBranch.js"
import type { SessionState } from "../session/SessionState.js"
import { openSession, type SessionError } from "./openSession.js"
import { type ReadTo, replay } from "./replay.js"
import { retryTransient } from "./retry.js"

type Find = (state: SessionState) => boolean

/** The newest state, from the first event to the newest, that a condition accepts; `null` if there is none. */
const newestOfAll = <E>(
  { session, version: newest }: SessionState,
  read: ReadTo<E>,
  accepts: Find,
): Effect.Effect<SessionState | null, E> =>
  Effect.map(
    replay(session, (to = newest) => read(to), {
      start: () => null as SessionState | null,
      step: (found, { after }) => (accepts(after) ? after : found),
    }),
    ({ collected }) => collected,
  )

/**
 * The newest state from a snapshot on that a condition accepts; `null` if the snapshot is of another log, or an event needs more
 * than is known from there.
 */
const newestFrom = (
  log: EventLog,
  { session, version: newest }: SessionState,
  start: StateInLog,
  readRange: (from: number, to: number) => Stream.Stream<RecordedEvent, SessionError>,
  accepts: Find,
): Effect.Effect<SessionState | null, SessionError> =>
  Effect.suspend(() => {
    const states = new Map<number, SessionState>()
    let found: SessionState | null = start.state
    let state: SessionState | null = start.state
    return Stream.runForEachWhile(readRange(start.state.version, newest), (recorded) =>
      Effect.gen(function* () {
        if (state === null) return false
        const { event, version } = recorded
        if (version === start.state.version) {
          if (batchIdOf(recorded) !== start.batchId) state = null
          return state !== null
        }
        keepTip(states, state, recorded)
        if (
          event._tag === "BranchSwitched" &&
          !states.has(event.version) &&
          event.version >= state.invalidatedAt
        )
          states.set(event.version, (yield* openSession(log, session, event.version)).read.state)
        state = requiresReplay(state, recorded, states) ? null : evolve(state, recorded, { states })
        if (state !== null && accepts(state)) found = state
        return state !== null
      }),
    ).pipe(Effect.map(() => (state === null ? null : found)))
  })

/** Access to the events of a session. */
export type ReadEvents = (
  session: string,
  range: { readonly fromVersion?: number; readonly toVersion: number },
) => Stream.Stream<RecordedEvent, SessionError>

/**
 * The newest state that has the first `index` messages of the branch in force, with a summary that covers nothing beyond them;
 * `null` if there is none, because the log says less than the state.
 *
 * @param now - the state now
 */
export const stateReaching = (
  log: EventLog,
  read: ReadEvents,
  now: SessionState,
  index: number,
): Effect.Effect<SessionState | null, SessionError> =>
  Effect.gen(function* () {
    const { session, gaps, invalidatedAt } = now
    // The message is on one branch with all messages before it, also if a clear between them was undone.
    const hasIt = (state: SessionState): boolean =>
      state.total > 0 && reaches(state, index) && isOnBranch(gaps, placeOf(state, Math.max(index, 1)))
    const rows = yield* retryTransient(log.projections.get(session, earlierSnapshots.kind)).pipe(
      Effect.orElseSucceed(() => []),
    )
    const start = newestOf(session, rows, (state) => state.version > invalidatedAt && hasIt(state))
    const range = (from: number, to: number) => read(session, { fromVersion: from, toVersion: to })
    const near = start === null ? null : yield* newestFrom(log, now, start, range, hasIt)
    return near ?? (yield* newestOfAll(now, (to = now.version) => read(session, { toVersion: to }), hasIt))
  })

/**
 * The state at a version, as it counts now: without the commits that were declared invalid since.
 *
 * @param now - the state now
 */
export const stateBack = (
  log: EventLog,
  read: ReadEvents,
  now: SessionState,
  version: number,
): Effect.Effect<SessionState, SessionError> =>
  Effect.gen(function* () {
    const { session, invalidatedAt } = now
    if (invalidatedAt > version) {
      const found = yield* newestOfAll(
        now,
        (to = now.version) => read(session, { toVersion: to }),
        (state) => state.version <= version,
      )
      if (found !== null) return found
    }
    return (yield* openSession(log, session, version)).read.state
  })
