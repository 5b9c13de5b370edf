import { Effect } from "effect"
import type { SummaryInvalidated } from "../event/Event.js"
import type { SessionError, Sessions } from "../session/Sessions.js"

/**
 * Declares stored summaries invalid that cannot be used: unreadable, or without the one they build on. The fold has
 * passed them over already, so what they stood for is raw again, and the policy has it summarized anew from the log
 * (reference design 3).
 */
export const heal = (sessions: Sessions, session: string): Effect.Effect<void, SessionError> =>
  Effect.gen(function* () {
    const { answer } = yield* sessions.transact(session, ({ damaged }) => ({
      events: damaged.map(({ seq, summary }): SummaryInvalidated => ({
        _tag: "SummaryInvalidated",
        seq,
        summary,
        reason: "damaged",
      })),
      answer: damaged.length,
    }))
    if (answer === 0) return
    yield* Effect.logWarning("a damaged summary was invalidated; it is rebuilt from the log").pipe(
      Effect.annotateLogs({ session, summaries: answer }),
    )
  })
