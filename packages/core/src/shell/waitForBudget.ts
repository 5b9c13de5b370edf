/** Waiting for compactions until a session's context is small enough. */
import { Clock, Duration, Effect } from "effect"
import type { CompactionParts } from "./runCompaction.js"
import type { SessionError } from "./Sessions.js"
import { contextTokens } from "../session/SessionState.js"

/** The largest context that is returned at once, and how long to wait for compactions if it is larger. */
export interface Budget {
  /** The largest context, in tokens, with the margin of the token counter. */
  readonly tokens: number
  /** How long to wait; 30 seconds by default. */
  readonly timeout?: Duration.DurationInput
}

/**
 * How a context met its budget, or why it did not.
 *
 * - `within`: it was within the budget already
 * - `compacted`: it is within the budget after waiting for compactions
 * - `nothing-to-take`: the strategy has nothing more to compact
 * - `spend-reached`: a compaction waits for the next day, because the spend of the day has reached its cap
 * - `failed`: a compaction failed, or could not run
 * - `timed-out`: the time is over; the compaction goes on in the background
 */
export type BudgetOutcome =
  | "within"
  | "compacted"
  | "nothing-to-take"
  | "spend-reached"
  | "failed"
  | "timed-out"

/** The interval at which a compaction of another process is polled: this process is not told when it ends. */
const pollInterval = "100 millis"

/**
 * Waits until a session's context is within its budget, no compaction is left that could shrink it, or the time is
 * over. Compactions go on when it stops waiting.
 */
export const waitForBudget = (
  { sessions, leases, spend }: Pick<CompactionParts, "sessions" | "leases" | "spend">,
  session: string,
  { tokens, timeout = "30 seconds", margin }: Budget & { readonly margin: number },
  /** Checks the session in the background and waits until that has ended; `false` if the work could not be done. */
  check: Effect.Effect<boolean>,
): Effect.Effect<BudgetOutcome, SessionError> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout)
    for (let first = true; ; first = false) {
      const state = yield* sessions.load(session)
      if (contextTokens(state, margin) <= tokens) return first ? "within" : "compacted"
      const now = yield* Clock.currentTimeMillis
      if (now >= end) return "timed-out"
      const running = now < leases.until(state, now)
      if (!first && !running && now < spend.waitsUntil(session)) return "spend-reached"
      if (!first && !running) return state.failures === null ? "nothing-to-take" : "failed"
      const done = yield* Effect.timeoutOption(check, Duration.millis(end - now))
      if (done._tag === "None") return "timed-out"
      if (!done.value)
        return contextTokens(yield* sessions.load(session), margin) <= tokens ? "compacted" : "failed"
      const { running: elsewhere } = yield* sessions.load(session)
      if (elsewhere !== null) yield* Effect.sleep(pollInterval)
    }
  })
