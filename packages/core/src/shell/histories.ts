/** The histories of sessions: all summaries that they ever had. */
import { Effect, type Stream } from "effect"
import type { RecordedEvent } from "../event/EventCodec.js"
import type { ReadOptions, Service as EventLog } from "@memfold/log/EventLog"
import type { History } from "../projection/summaries.js"
import type { SessionState } from "../session/SessionState.js"
import type { SessionError } from "./openSession.js"
import { mendSummaries } from "./projectionCheck.js"
import { historyOf } from "./replay.js"
import { retryTransient } from "./retry.js"
import type { SessionCache } from "./SessionCache.js"

export const makeHistories = (
  log: EventLog,
  events: (session: string, options: ReadOptions) => Stream.Stream<RecordedEvent, SessionError>,
  cache: SessionCache,
) => {
  const of = (session: string): Effect.Effect<History, SessionError> =>
    Effect.gen(function* () {
      const found = yield* retryTransient(
        historyOf(session, (toVersion) => events(session, toVersion === undefined ? {} : { toVersion })),
      )
      yield* mendSummaries(log, session)
      // A summary that was damaged since this process read it is not shown any more, as after a restart.
      const cached = cache.peek(session)
      const shown = cached?.newest?.state.summary?.version
      if (
        cached !== undefined &&
        found.summaries.some(({ version, status }) => version === shown && status === "invalid")
      )
        cached.newest = null
      return found
    })

  /** The summaries of the states that they were read for; they are forgotten with their state. */
  const known = new WeakMap<SessionState, History["summaries"]>()

  const summariesAt = (state: SessionState): Effect.Effect<History["summaries"], SessionError> =>
    Effect.suspend(() => {
      const found = known.get(state)
      if (found !== undefined) return Effect.succeed(found)
      return Effect.map(of(state.session), ({ version, summaries }) => {
        if (version === state.version) known.set(state, summaries)
        return summaries
      })
    })

  return { of, summariesAt }
}
