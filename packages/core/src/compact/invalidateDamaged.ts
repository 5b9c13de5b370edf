import { Effect } from "effect"
import type { SummaryInvalidated } from "../event/Event.js"
import type { SessionError, Sessions } from "../session/Sessions.js"
import type { SessionState } from "../session/SessionState.js"

/**
 * Marks stored summaries as invalid that cannot be used: those that cannot be decoded, and those whose predecessor is
 * missing. The fold has skipped them already, so their messages are uncovered, and the strategy has them summarized
 * again from the log. Returns the newest state; a session without damage is only read.
 */
export const invalidateDamaged = (
  sessions: Sessions,
  session: string,
): Effect.Effect<SessionState, SessionError> =>
  Effect.flatMap(sessions.load(session), (loaded) =>
    loaded.damaged.length === 0 ? Effect.succeed(loaded) : invalidate(sessions, session),
  )

const invalidate = (sessions: Sessions, session: string): Effect.Effect<SessionState, SessionError> =>
  Effect.gen(function* () {
    const { answer, state } = yield* sessions.transact(session, ({ damaged }) => ({
      events: damaged.map(({ version, summary }): SummaryInvalidated => ({
        _tag: "SummaryInvalidated",
        version,
        summary,
        reason: "damaged",
      })),
      answer: damaged.length,
    }))
    if (answer > 0)
      yield* Effect.logWarning("a damaged summary was invalidated; it is rebuilt from the log").pipe(
        Effect.annotateLogs({ session, summaries: answer }),
      )
    return state
  })
