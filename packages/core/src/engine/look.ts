/** What is due for a session: the question that the engine answers after each change of a state. */
import { type Decision, decide, type DecideOptions, nextCheck, type Plan } from "../policy/decide.js"
import type { Strategy } from "../policy/Strategy.js"
import type { SessionState } from "../session/SessionState.js"

export interface DueCompaction {
  readonly _tag: "Compact"
  readonly state: SessionState
  readonly plan: Plan
}

/**
 * What is due.
 *
 * - `Compact`: a compaction, by this plan. It begins as it is, unless the session has changed before it begins
 * - `Nothing`: nothing, for a reason. `lookAgainAt` is the time at which something may come due without a message, in
 *   milliseconds since the epoch; `null` if only a message can change that
 */
export type Due =
  | DueCompaction
  | {
      readonly _tag: "Nothing"
      readonly state: SessionState
      readonly reason: Extract<Decision, { _tag: "Idle" }>["reason"]
      readonly lookAgainAt: number | null
    }

/** Looks what is due for a state. It takes constant time while nothing is due. */
export const look = (state: SessionState, strategy: Strategy, options: DecideOptions): Due => {
  const decision = decide(strategy, state, options)
  return decision._tag === "Due"
    ? { _tag: "Compact", state, plan: decision.plan }
    : {
        _tag: "Nothing",
        state,
        reason: decision.reason,
        lookAgainAt: nextCheck(strategy, state, options),
      }
}
