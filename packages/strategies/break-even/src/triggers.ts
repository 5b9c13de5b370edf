/** Triggers that know prices: when a compaction has become worth it, and when it costs little. */
import type { Trigger } from "@memfold/core"
import { Cost, type Prices } from "@memfold/prices"

/** The tokens that a compaction can take. */
const backlogOf = ({ tokens, coveredTo, tailFrom }: Trigger.TriggerInput): number =>
  tokens(coveredTo, tailFrom)

/** The tokens of the instructions for a summarizer: about the size of the instructions in `Prompt.forRequest`. */
const instructionTokens = 600

/** How long before the cache expires a summarizer that asks in context still finds it, in milliseconds. */
const early = 30_000

/**
 * Due when the backlog has reached the break-even point: then a compaction saves as much in later calls as it costs
 * now (`Cost.breakEven`). How fast the context grows, and so how long it takes to save that much, is read from the
 * session: all its tokens, divided by the calls of the model.
 *
 * @param prices - The prices of the model.
 * @param options - `least`: the tokens that the backlog must have at the least. `summaryShare`: the share of them that the
 *   summary takes, from 0 to 1.
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 * import { Prices } from "@memfold/prices"
 * import { breakEven } from "@memfold/strategy-break-even"
 *
 * const prices = Prices.presets["gpt-6.2-sol"]
 * export const when = Trigger.any(
 *   Trigger.contextAbove(100_000),
 *   breakEven(prices, { least: 4_000, summaryShare: 0.2 }),
 * )
 * ```
 */
export const breakEven = (
  prices: Prices.Prices,
  { least, summaryShare }: { readonly least: number; readonly summaryShare: number },
): Trigger.Trigger => {
  const summary = summaryShare * least
  return {
    due: (input) => {
      const backlog = backlogOf(input)
      if (backlog < least) return null
      const enough = Cost.breakEven(prices, {
        perCall: input.appendedTokens / Math.max(input.modelCalls, 1),
        summary,
        kept: input.tokens(input.tailFrom, input.total),
        // A summarizer that asks in context reads all but the question from the cache.
        summarizerInput: input.asksInContext ? instructionTokens : least + instructionTokens,
        summarizerCached: input.asksInContext ? input.contextTokens : 0,
        summarizerOutput: summary,
      })
      return backlog >= enough ? "break-even" : null
    },
  }
}

/**
 * Due when the cache has expired since the last call of the model, and the backlog has this many tokens. The next call has
 * to write its whole prompt to the cache anyway, so a shorter prompt costs nothing more than the call of the summarizer.
 *
 * If the summarizer asks in context, it is due half a minute before the cache expires, as long as the summarizer can read
 * from it (`expiring-cache`). A memory that compacts in the background does it at that time; others before the next answer.
 *
 * @param prices - How long the cache lives.
 * @param least - The tokens that the backlog must have.
 *
 * @example
 * ```ts
 * import { Trigger } from "@memfold/core"
 * import { Prices } from "@memfold/prices"
 * import { coldCache } from "@memfold/strategy-break-even"
 *
 * export const when = Trigger.any(
 *   Trigger.contextAbove(100_000),
 *   coldCache(Prices.presets["claude-sonnet-5.5"], 2_000),
 * )
 * ```
 */
export const coldCache = (
  { cacheMinutes }: Pick<Prices.Prices, "cacheMinutes">,
  least: number,
): Trigger.Trigger => {
  const life = cacheMinutes * 60_000
  const waitOf = ({ asksInContext }: Trigger.TriggerInput): number =>
    asksInContext ? Math.max(life - early, 0) : life
  return {
    due: (input) => {
      const since = input.now - input.lastModelCallTime
      if (backlogOf(input) < least || since <= waitOf(input)) return null
      return since > life ? "cold-cache" : "expiring-cache"
    },
    dueTime: (input) => (backlogOf(input) >= least ? input.lastModelCallTime + waitOf(input) + 1 : null),
  }
}
