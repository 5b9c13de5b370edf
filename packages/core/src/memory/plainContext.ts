/** The context of a state, without what a request recalls by itself. */
import { Clock, Effect } from "effect"
import type { Service as Layers } from "../layers/MemoryLayers.js"
import { blocksFor, neededBlocks } from "../engine/neededBlocks.js"
import { recallFacts } from "../layers/recallFacts.js"
import type { Service as Counter } from "@memfold/message/TokenCounter"
import { span } from "../observe/spans.js"
import * as SummaryMode from "../policy/SummaryMode.js"
import type { ContextStyle, Strategy } from "../policy/Strategy.js"
import { type Additions, type AdditionsBefore, addTo, noAdditions } from "../render/Additions.js"
import { type BoundReasoning, type Context, render } from "../render/Render.js"
import { placesOf } from "../render/window.js"
import type { SessionState } from "../session/SessionState.js"

export interface RenderingParts {
  readonly counter: Counter
  readonly layers: Layers | null
  readonly boundReasoning: BoundReasoning
  readonly styleOf: (strategy: Strategy, state: SessionState, now: number) => ContextStyle
}

/** When a context is rendered, in milliseconds since the epoch, and for a context of the past until when facts were known. */
interface Moment {
  readonly now: number
  readonly untilTime?: number | undefined
  /** Whether the request has a strategy or settings of its own. */
  readonly ownStrategy?: boolean
}

/** The additions, with the blocks that the strategy shows and the blocks that the questions need. */
const withBlocks = (
  additions: Additions,
  counter: Counter,
  state: SessionState,
  { summaryMode, recallBlocks }: Strategy,
  { maxMessages, ownStrategy }: { readonly maxMessages: number | undefined; readonly ownStrategy: boolean },
): Additions => {
  const maxTokens = recallBlocks?.maxTokens
  const blocks =
    ownStrategy && summaryMode === SummaryMode.blocks ? blocksFor(state, { counter, maxTokens }) : null
  const chosen = blocks === null ? additions : { ...additions, blocks }
  if (maxTokens === undefined) return chosen
  const shown = blocks === null ? state.summary?.shown : blocks.positions
  const { questions } = placesOf(state, maxMessages)
  return neededBlocks(state, questions, { counter, shown, maxTokens }).reduce(addTo, chosen)
}

/** A context without recalled messages, and how it is rendered again with them. */
export const plainContext = (
  { counter, layers, styleOf, boundReasoning }: RenderingParts,
  state: SessionState,
  strategy: Strategy,
  { now, untilTime, ownStrategy = false }: Moment,
) =>
  Effect.gen(function* () {
    const { maxMessages, minimumOrigin, trust } = styleOf(strategy, state, now)
    const { factsInFront } = strategy.context
    const facts =
      layers === null
        ? noAdditions
        : yield* recallFacts(layers, counter, state, { factsInFront, maxMessages, untilTime, trust })
    const additions = withBlocks(facts, counter, state, strategy, { maxMessages, ownStrategy })
    const rendered = (all: Additions): Effect.Effect<Context> =>
      Effect.sync(() => render(state, { maxMessages, boundReasoning, minimumOrigin }, all)).pipe(
        span("memfold.render"),
      )
    return {
      plain: yield* rendered(additions),
      withRecalled: (recalled: AdditionsBefore) => rendered(addTo(additions, recalled)),
    }
  })

/** The context of a state as a model would get it now. */
export const contextNow = (
  parts: RenderingParts,
  state: SessionState,
  strategy: Strategy,
): Effect.Effect<Context> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.map(plainContext(parts, state, strategy, { now }), ({ plain }) => plain),
  )
