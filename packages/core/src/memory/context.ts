/** The context of a session: what a model is sent next, or would have been sent at a version. */
import { Clock, Effect } from "effect"
import * as metrics from "../observe/metrics.js"
import { span } from "../observe/spans.js"
import { recalledSection } from "../recall/recalledSection.js"
import { type Context, shownIndexes } from "../render/Render.js"
import type { BudgetOutcome } from "../shell/waitForBudget.js"
import { checkRecall, checkSession } from "./input.js"
import { withDraft } from "./draft.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { ContextOptions, MemoryError, StrategyOptions } from "./MemoryOptions.js"
import { plainContext } from "./plainContext.js"
import { readState, timeOf } from "./readState.js"

/** Renders the context of a session. It reads, and waits for compactions if the memory has a budget; it appends nothing. */
export const contextOf = (
  parts: MemoryParts,
  session: string,
  request: ContextOptions & StrategyOptions = {},
): Effect.Effect<Context & { readonly budget?: BudgetOutcome }, MemoryError> =>
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
        : yield* recalledSection(parts.reading, state, shownIndexes(plain), recall.tokens ?? 1_000)
    const rendered = recalled === null ? plain : yield* withRecalled(recalled)
    // What is in the log by now is what an append compares with.
    const context = { ...rendered, prefix: { ...rendered.prefix, version: stored.version } }
    yield* metrics.record(metrics.contextTokens, context.tokens)
    return budget === undefined ? context : { ...context, budget }
  }).pipe(span("memfold.context", { session }))
