/** Looking at a session without a write. */
import { Effect } from "effect"
import { isGivenUp } from "../shell/dispatch.js"
import type { MemoryError, StrategyOptions } from "./MemoryOptions.js"
import type { MemoryParts } from "./MemoryParts.js"
import { readState } from "./readState.js"

/** Does what follows a write to a session: starts or dispatches what is due, and sets the timer for what comes due later. */
export const lookAt = (
  { sessions, schedule, strategyOf }: Pick<MemoryParts, "sessions" | "schedule" | "strategyOf">,
  session: string,
  request?: StrategyOptions,
): Effect.Effect<void, MemoryError> =>
  Effect.gen(function* () {
    const state = yield* readState(sessions, session)
    const strategy = yield* strategyOf(session, request)
    if (!isGivenUp(state)) yield* schedule.check(state, strategy)
  })
