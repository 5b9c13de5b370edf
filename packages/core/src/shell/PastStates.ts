/**
 * States of the past that were read: a page that goes through the versions of a session reads each one near another. A past state
 * does not change, except by a redaction, or when the session is deleted and begun anew.
 */
import { Effect, Stream } from "effect"
import type { LogPosition, Service as EventLog } from "@memfold/log/EventLog"
import { Newest } from "@memfold/log/Newest"
import { records } from "@memfold/log/pages"
import { empty, type SessionState } from "../session/SessionState.js"
import { openSession, readOn, type SessionError } from "./openSession.js"
import { retryTransient } from "./retry.js"

/** Of the states on the way to the wanted one, one in so many is kept: going on from there takes a few milliseconds. */
const apart = 32

/** A kept state is gone on from if it is at most so many events away; a snapshot of the store may be nearer than any other. */
const near = 8 * apart

/** How many states of a session are kept. They share most of what they consist of. */
const mostStates = 1_024

const mostSessions = 8

interface Past {
  /** The head of the log when it was last known that the states are those of this log. */
  head: LogPosition
  readonly states: Newest<SessionState, number>
}

const nearest = ({ states }: Past, version: number): SessionState | null => {
  for (let at = version; at >= Math.max(version - near, 1); at--) {
    const state = states.get(at)
    if (state !== undefined) return state
  }
  return null
}

export const makePastStates = (log: EventLog) => {
  const sessions = new Newest<Past>(mostSessions)

  /** Whether the states are still those of the log: what has come since, begins where they ended, and has no redaction. */
  const isSame = (
    { head }: Past,
    session: string,
    newest: LogPosition,
  ): Effect.Effect<boolean, SessionError> => {
    if (newest.version === head.version && newest.batchId === head.batchId) return Effect.succeed(true)
    if (newest.version < head.version) return Effect.succeed(false)
    return retryTransient(
      Stream.runFold(
        records(log, session, { fromVersion: head.version, toVersion: newest.version }),
        false,
        (same, { version, batchId, type }) =>
          version === head.version ? batchId === head.batchId : same && type !== "MessageRedacted",
      ),
    )
  }

  const pastOf = (session: string, head: LogPosition): Effect.Effect<Past, SessionError> =>
    Effect.gen(function* () {
      const known = sessions.get(session)
      const past =
        known !== undefined && (yield* isSame(known, session, head))
          ? known
          : { head, states: new Newest<SessionState, number>(mostStates) }
      past.head = head
      sessions.set(session, past)
      return past
    })

  return {
    /** The state at a version; the newest state if the session has not reached that version. */
    at: (session: string, version: number): Effect.Effect<SessionState, SessionError> =>
      Effect.gen(function* () {
        const head = yield* retryTransient(log.head(session))
        if (head === null) return empty(session)
        const past = yield* pastOf(session, head)
        const wanted = Math.min(version, head.version)
        const from = nearest(past, wanted)
        if (from?.version === wanted) return from
        const visit = (state: SessionState) => {
          if (state.version % apart === 0) past.states.set(state.version, state)
        }
        const read =
          from === null
            ? null
            : yield* readOn(log, { state: from, batchId: null }, { toVersion: wanted, visit })
        const state =
          read?.state.version === wanted
            ? read.state
            : (yield* openSession(log, session, { toVersion: wanted, visit })).read.state
        past.states.set(state.version, state)
        return state
      }),
    /** Forgets the states of a session: it was deleted, or a message of it was redacted (law L15). */
    forget: (session: string): void => sessions.delete(session),
  }
}
