/** When a compaction is worth its price, and when it costs little. */
import { Cost, type Prices, type Trigger } from "@memfold/core"

/** The tokens of the messages that a compaction can take. */
const backlogOf = (input: Trigger.TriggerInput): number => input.tokens(input.coveredTo, input.tailFrom)

/** The tokens of the instructions for a summarizer. */
const instructionTokens = 600

export const breakEvenAt = (
  prices: Prices.Prices,
  { least, summaryShare }: { readonly least: number; readonly summaryShare: number },
): Trigger.Trigger => ({
  due: (input) => {
    const backlog = backlogOf(input)
    if (backlog < least) return null
    const summary = summaryShare * least
    const enough = Cost.breakEven(prices, {
      perCall: input.appendedTokens / Math.max(input.modelCalls, 1),
      summary,
      kept: input.tokens(input.tailFrom, input.total),
      summarizerInput: least + instructionTokens,
      summarizerOutput: summary,
    })
    return backlog >= enough ? "break-even" : null
  },
})

/**
 * Due when the provider's cache has expired since the last call of the model, and the backlog has this many tokens.
 */
export const coldCache = (cacheMinutes: number, least: number): Trigger.Trigger => {
  const life = cacheMinutes * 60_000
  return {
    due: (input) =>
      backlogOf(input) >= least && input.now - input.lastModelCallTime > life ? "cold-cache" : null,
    dueTime: (input) => (backlogOf(input) >= least ? input.lastModelCallTime + life + 1 : null),
  }
}
