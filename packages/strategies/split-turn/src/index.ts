/**
 * The token threshold and split turn of reference design 3: compact when the context fills its window, and when
 * the current turn alone is too large for it, summarize the turn's beginning apart from the history.
 */
import { Fold, Keep, Split, Strategy, Take, Trigger } from "@memfold/core"
import { Schema } from "effect"

const Share = Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(1))
const Tokens = Schema.Int.pipe(Schema.positive())

const Settings = Schema.Struct({
  contextLimit: Schema.optionalWith(Tokens, { default: () => 200_000 }),
  compactionThreshold: Schema.optionalWith(Share, { default: () => 0.7 }),
  keepRecentShare: Schema.optionalWith(Share, { default: () => 0.1 }),
  splitBudget: Schema.optionalWith(Share, { default: () => 0.5 }),
  splitMargin: Schema.optionalWith(Schema.Number.pipe(Schema.greaterThanOrEqualTo(1)), {
    default: () => 1.2,
  }),
}).pipe(
  Schema.filter(({ keepRecentShare, compactionThreshold }) =>
    keepRecentShare < compactionThreshold
      ? true
      : `keep_recent_share (${keepRecentShare}) has to be smaller than compaction_threshold (${compactionThreshold})`,
  ),
)

/**
 * The settings of a split turn; shares are of `contextLimit`.
 *
 * - `contextLimit` (200,000): the model's context window, in tokens
 * - `compactionThreshold` (0.7): compact when the context is above this share
 * - `keepRecentShare` (0.1): the newest messages that stay raw, besides the current turn
 * - `splitBudget` (0.5) and `splitMargin` (1.2): when what stays is above their product, the turn is split
 */
export type SplitTurnSettings = typeof Settings.Type

/**
 * Above the threshold, compacts everything before the current turn and the most recent messages. If those alone
 * take more than `splitBudget × splitMargin` of the window, their beginning, up to that much, becomes a summary
 * of its own: the turn prefix.
 *
 * @example
 * ```ts
 * import { SplitTurn } from "@memfold/strategy-split-turn"
 *
 * const strategy = SplitTurn({ contextLimit: 128_000, compactionThreshold: 0.6 })
 * console.log(strategy.name)
 * ```
 */
export const SplitTurn = Strategy.define({
  name: "split-turn",
  settings: Settings,
  aliases: { threshold: "compactionThreshold", contextWindow: "contextLimit" },
  make: ({ contextLimit, compactionThreshold, keepRecentShare, splitBudget, splitMargin }) => {
    const share = (part: number) => Math.floor(contextLimit * part)
    const newContent = share(splitBudget * splitMargin)
    return Strategy.make({
      name: "split-turn",
      when: Trigger.contextAbove(share(compactionThreshold), "threshold"),
      keep: Keep.all(Keep.currentRound, Keep.lastTokens(share(keepRecentShare))),
      take: Take.all,
      fold: Fold.rolling,
      split: Split.tailAbove(newContent, { prefix: newContent }),
    })
  },
})
