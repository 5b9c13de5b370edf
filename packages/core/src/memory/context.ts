/** The context of a session: what a model is sent next, or would have been sent at a version. */
import { Clock, Effect } from "effect"
import { recallFacts } from "../layers/recallFacts.js"
import * as metrics from "../observe/metrics.js"
import { span } from "../observe/spans.js"
import type { Strategy } from "../policy/Strategy.js"
import { recalledSection } from "../recall/recalledSection.js"
import { type Additions, type AdditionsBefore, addTo, noAdditions } from "../render/Additions.js"
import { type Context, render, shownIndexes } from "../render/Render.js"
import type { SessionState } from "../session/SessionState.js"
import type { BudgetOutcome } from "../shell/waitForBudget.js"
import { checkRecall, checkSession } from "./input.js"
import type { MemoryParts } from "./MemoryParts.js"
import type { ContextOptions, MemoryError, StrategyOptions } from "./MemoryService.js"
import { readState, timeOf } from "./readState.js"

/** When a context is rendered, in milliseconds since the epoch, and for a context of the past until when facts were known. */
interface Moment {
  readonly now: number
  readonly untilTime?: number | undefined
}

/** A context without recalled messages, and how it is rendered again with them. */
export const plainContext = (
  {
    counter,
    layers,
    styleOf,
    boundReasoning,
  }: Pick<MemoryParts, "counter" | "layers" | "styleOf" | "boundReasoning">,
  state: SessionState,
  strategy: Strategy,
  { now, untilTime }: Moment,
) =>
  Effect.gen(function* () {
    const { maxMessages } = styleOf(strategy, state, now)
    const { factsInFront } = strategy.context
    const facts =
      layers === null
        ? noAdditions
        : yield* recallFacts(layers, counter, state, { factsInFront, maxMessages, untilTime })
    const rendered = (additions: Additions): Effect.Effect<Context> =>
      Effect.sync(() => render(state, { maxMessages, boundReasoning }, additions)).pipe(
        span("memfold.render"),
      )
    return {
      plain: yield* rendered(facts),
      withRecalled: (recalled: AdditionsBefore) => rendered(addTo(facts, recalled)),
    }
  })

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
    const state = yield* readState(parts.sessions, session, request)
    const untilTime = yield* timeOf(parts.sessions, session, request)
    const now = untilTime ?? (yield* Clock.currentTimeMillis)
    const { plain, withRecalled } = yield* plainContext(parts, state, strategy, { now, untilTime })
    const recalled =
      recall === undefined
        ? null
        : yield* recalledSection(parts.reading, state, shownIndexes(plain), recall.tokens ?? 1_000)
    const context = recalled === null ? plain : yield* withRecalled(recalled)
    yield* metrics.record(metrics.contextTokens, context.tokens)
    return budget === undefined ? context : { ...context, budget }
  }).pipe(span("memfold.context", { session }))
