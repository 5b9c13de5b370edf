import { Clock, Duration, Effect } from "effect"
import type { SessionError, Sessions } from "../session/Sessions.js"
import { contextTokens } from "../session/SessionState.js"

/** A size that contexts must not have, and how long to wait for compactions to get below it. */
export interface Budget {
  /** In tokens. */
  readonly tokens: number
  /** 30 seconds by default. */
  readonly timeout?: Duration.DurationInput
}

/**
 * How a context came to terms with its budget.
 *
 * - `within`: nothing had to be done; `compacted`: compactions were waited for, and it is within now
 * - `nothing-to-take`: the strategy has nothing more to give; `failed`: a compaction failed, or could not be run
 * - `timed-out`: it took too long; the work goes on
 */
export type BudgetOutcome = "within" | "compacted" | "nothing-to-take" | "failed" | "timed-out"

/** How often a compaction of another process is looked at. */
const pause = "100 millis"

/** Waits until a session's context is within its budget, as long as there is hope. The work goes on if it gives up. */
export const awaitBudget = (
  sessions: Sessions,
  session: string,
  { tokens, timeout = "30 seconds" }: Budget,
  /** Has the session looked at in the background, and waits until that has come to its end, if it can be done. */
  look: Effect.Effect<boolean>,
): Effect.Effect<BudgetOutcome, SessionError> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout)
    for (let first = true; ; first = false) {
      const state = yield* sessions.load(session)
      if (contextTokens(state) <= tokens) return first ? "within" : "compacted"
      const now = yield* Clock.currentTimeMillis
      if (now >= end) return "timed-out"
      const running = state.running !== null && now < state.running.leaseUntil
      if (!first && !running) return state.failures === null ? "nothing-to-take" : "failed"
      const ended = yield* Effect.timeoutOption(look, Duration.millis(end - now))
      if (ended._tag === "None") return "timed-out"
      if (!ended.value) return contextTokens(yield* sessions.load(session)) <= tokens ? "compacted" : "failed"
      // Another process is at it: nobody tells when it is done.
      const { running: elsewhere } = yield* sessions.load(session)
      if (elsewhere !== null) yield* Effect.sleep(pause)
    }
  })
