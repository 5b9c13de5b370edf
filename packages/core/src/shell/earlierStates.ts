/** Finding the states that the conversation goes back to: for an edit, and for a return to a branch. */
import { Effect, type Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { Service as EventLog } from "@memfold/log/EventLog"
import { earlierSnapshots, newestFirst } from "../projection/earlierSnapshots.js"
import type { StateInLog } from "../projection/Snapshot.js"
import { isOnBranch } from "../session/branches.js"
import { placeOf, reaches } from "../session/switchBranch.js"
import type { SessionState } from "../session/SessionState.js"
import { openSession, readOn, type SessionError } from "./openSession.js"
import { replay } from "./replay.js"
import { retryTransient } from "./retry.js"

type Find = (state: SessionState) => boolean

type ReadEvents = (
  session: string,
  range: { readonly toVersion: number },
) => Stream.Stream<RecordedEvent, SessionError>

/** The newest state, from the first event to the newest, that a condition accepts; `null` if there is none. */
const newestOfAll = (
  { session, version: newest }: SessionState,
  read: ReadEvents,
  accepts: Find,
): Effect.Effect<SessionState | null, SessionError> =>
  Effect.map(
    replay(session, (toVersion = newest) => read(session, { toVersion }), {
      start: () => null as SessionState | null,
      step: (found, { after }) => (accepts(after) ? after : found),
    }),
    ({ collected }) => collected,
  )

/**
 * The newest state from a snapshot on, up to a version, that a condition accepts; `"none"` if there is none, and `"unknown"` if the snapshot is
 * of another log, or an event needs more than is known from there.
 */
const newestFrom = (
  log: EventLog,
  start: StateInLog,
  until: number,
  accepts: Find,
): Effect.Effect<SessionState | "none" | "unknown", SessionError> => {
  let found: SessionState | "none" = accepts(start.state) ? start.state : "none"
  const visit = (state: SessionState) => {
    if (accepts(state)) found = state
  }
  return Effect.map(readOn(log, start, { toVersion: until, isSnapshot: true, visit }), (read) =>
    read?.state.version === until ? found : "unknown",
  )
}

/** See `Sessions.stateReaching`. There is no such state if the log says less than the state of now. */
export const stateReaching = (
  log: EventLog,
  read: ReadEvents,
  now: SessionState,
  index: number,
  isWanted: (state: SessionState, index: number) => boolean,
): Effect.Effect<SessionState | null, SessionError> =>
  Effect.gen(function* () {
    const { session, gaps, invalidatedAt } = now
    // A message is on one branch with all messages before it, also if a clear between them was undone.
    const hasOnBranch = (state: SessionState, count: number): boolean =>
      state.total > 0 && isOnBranch(gaps, placeOf(state, Math.max(count, 1)))
    const hasIt = (state: SessionState): boolean =>
      reaches(state, index) && hasOnBranch(state, index) && isWanted(state, index)
    // A state with fewer messages leads to a state that has all messages up to the index.
    const leadsToIt = (state: SessionState): boolean =>
      state.coveredTo <= index && hasOnBranch(state, Math.min(index, state.total))
    const rows = yield* retryTransient(log.projections.get(session, earlierSnapshots.kind)).pipe(
      Effect.orElseSucceed(() => []),
    )
    const starts = newestFirst(session, rows, (state) => state.version > invalidatedAt && leadsToIt(state))
    // A branch that was left may have ended before the place. The older a snapshot, the farther it is from the next one.
    let until = now.version
    for (const start of starts) {
      const near = yield* newestFrom(log, start, until, hasIt)
      if (typeof near !== "string") return near
      // From there on, no state is wanted.
      if (near === "none") until = start.state.version
    }
    return yield* newestOfAll(now, read, hasIt)
  })

/** See `Sessions.stateBack`. */
export const stateBack = (
  log: EventLog,
  read: ReadEvents,
  now: SessionState,
  version: number,
): Effect.Effect<SessionState, SessionError> =>
  Effect.gen(function* () {
    const { session, invalidatedAt } = now
    if (invalidatedAt > version) {
      const found = yield* newestOfAll(now, read, (state) => state.version <= version)
      if (found !== null) return found
    }
    return (yield* openSession(log, session, { toVersion: version })).read.state
  })
