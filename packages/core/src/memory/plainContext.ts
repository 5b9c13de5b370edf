/** The context of a state, without what a request recalls by itself. */
import { Effect } from "effect"
import type { Service as Layers } from "../layers/MemoryLayers.js"
import { recallFacts } from "../layers/recallFacts.js"
import type { Service as Counter } from "../message/TokenCounter.js"
import { span } from "../observe/spans.js"
import type { ContextStyle, Strategy } from "../policy/Strategy.js"
import { type Additions, type AdditionsBefore, addTo, noAdditions } from "../render/Additions.js"
import { type BoundReasoning, type Context, render } from "../render/Render.js"
import type { SessionState } from "../session/SessionState.js"

/** What contexts are rendered with. */
export interface RenderingParts {
  readonly counter: Counter
  readonly layers: Layers | null
  readonly boundReasoning: BoundReasoning
  /** How the next context of a state is rendered. */
  readonly styleOf: (strategy: Strategy, state: SessionState, now: number) => ContextStyle
}

/** When a context is rendered, in milliseconds since the epoch, and for a context of the past until when facts were known. */
interface Moment {
  readonly now: number
  readonly untilTime?: number | undefined
}

/** A context without recalled messages, and how it is rendered again with them. */
export const plainContext = (
  { counter, layers, styleOf, boundReasoning }: RenderingParts,
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
