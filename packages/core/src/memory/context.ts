/** The context of a session: what a model is sent next, or would have been sent at a version. */
import { Clock, Effect } from "effect"
import * as metrics from "../observe/metrics.js"
import { span } from "../observe/spans.js"
import { recalledSection } from "../recall/recalledSection.js"
import { type Context, shownIndexes } from "../render/Render.js"
import type { Strategy } from "../policy/Strategy.js"
import type { SessionState } from "../session/SessionState.js"
import type { SpendReached } from "../shell/Spend.js"
import type { BudgetOutcome } from "../shell/waitForBudget.js"
import { checkRecall, checkSession } from "./input.js"
import { withDraft } from "./draft.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { ContextOptions, MemoryError, StrategyOptions } from "./MemoryOptions.js"
import { plainContext } from "./plainContext.js"
import { readState, timeOf } from "./readState.js"

/** A context, and what the memory did about its size. */
export interface AnsweredContext extends Context {
  /** How the context met the budget; absent where the memory has none. */
  readonly budget?: BudgetOutcome
  /** A compaction is due, and waits until a time, because the spend of the day has reached this cap. */
  readonly waits?: SpendReached
}

/** The cap that a due compaction waits for; `null` if none is due, or none was reached. */
const waitsForSpend = (
  { spend, schedule }: MemoryParts,
  state: SessionState,
  strategy: Strategy,
  now: number,
): Effect.Effect<SpendReached | null, MemoryError> =>
  spend !== null && schedule.isDue(state, strategy, now) ? spend.reached(state.session) : Effect.succeed(null)

/** Renders the context of a session. It reads, and waits for compactions if the memory has a budget; it appends nothing. */
export const contextOf = (
  parts: MemoryParts,
  session: string,
  request: ContextOptions & StrategyOptions = {},
): Effect.Effect<AnsweredContext, MemoryError> =>
  Effect.gen(function* () {
    const { recall, atVersion } = request
    yield* checkSession(session)
    if (recall !== undefined) yield* checkRecall(session, recall)
    const strategy = yield* parts.strategyOf(session, request)
    // A context of the past does not change, so there is nothing to wait for.
    const budget =
      atVersion === undefined ? yield* parts.schedule.waitForBudget(session, strategy) : undefined
    const stored = yield* readState(parts.sessions, session, request)
    const state = yield* withDraft(parts, stored, strategy, request)
    const untilTime = yield* timeOf(parts.sessions, session, request)
    const now = untilTime ?? (yield* Clock.currentTimeMillis)
    const { plain, withRecalled } = yield* plainContext(parts, state, strategy, {
      now,
      untilTime,
      ownStrategy: request.strategy !== undefined,
    })
    const recalled =
      recall === undefined
        ? null
        : yield* recalledSection(parts.reading, state, shownIndexes(plain), {
            tokens: recall.tokens ?? 1_000,
            trust: strategy.context.trust,
          })
    const rendered = recalled === null ? plain : yield* withRecalled(recalled)
    // What is in the log by now is what an append compares with.
    const context = { ...rendered, prefix: { ...rendered.prefix, version: stored.version } }
    yield* metrics.record(metrics.contextTokens, context.tokens)
    const waits = atVersion === undefined ? yield* waitsForSpend(parts, state, strategy, now) : null
    return {
      ...context,
      ...(budget === undefined ? {} : { budget }),
      ...(waits === null ? {} : { waits }),
    }
  }).pipe(span("memfold.context", { session }))
