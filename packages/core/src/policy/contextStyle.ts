/** How the next context of a session is rendered. */
import type { SessionState } from "../session/SessionState.js"
import { decide, type DecideOptions } from "./decide.js"
import type { ContextStyle, Strategy } from "./Strategy.js"

/**
 * After so many failures in a row, contexts do not wait for a compaction any more: with the back-off between them, a summarizer
 * that comes back has done so by then.
 */
export const failuresUntilCap = 3

/**
 * The style of the next context: the style of the strategy, without its cap while a compaction runs or waits.
 *
 * A message that a cap leaves out and no summary covers is in neither: the model does not know of it. So the cap holds
 * only where nothing is going to cover the message: compactions are off or run by hand, or the strategy does not ask for
 * one. As long as a compaction runs, waits for a lease, a back-off, a pause or the end of the turn, or is about to start,
 * the context is longer than the cap instead; not for ever, though: after {@link failuresUntilCap} failures in a row, the cap
 * holds, until a compaction succeeds.
 *
 * @param strategy the strategy of the context
 * @param state the state to render
 * @param options the time, and who runs compactions: nobody (`off`), only explicit calls (`manual`), or the memory
 *   (`automatic`)
 */
export const contextStyle = (
  strategy: Strategy,
  state: SessionState,
  options: DecideOptions & { readonly compactions: "off" | "manual" | "automatic" },
): ContextStyle => {
  const { compactions } = options
  const { maxMessages } = strategy.context
  if (maxMessages === undefined || state.uncovered.length <= maxMessages || compactions === "off") {
    return strategy.context
  }
  // A summarizer that fails for good brings no summary: the cap holds, and the layout names the gap.
  if ((state.failures?.count ?? 0) >= failuresUntilCap) return strategy.context
  const waits = state.running !== null || state.failures !== null || state.total < state.pausedUntil
  const isDue = () => {
    if (compactions !== "automatic") return false
    const decision = decide(strategy, state, options)
    return state.damaged.length > 0 || decision._tag === "Due" || decision.reason === "turn-running"
  }
  if (!waits && !isDue()) return strategy.context
  const { maxMessages: _cap, ...uncapped } = strategy.context
  return uncapped
}
