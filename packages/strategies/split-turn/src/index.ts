/**
 * The token threshold and split turn of reference design 3: compact when the context fills its window, and when
 * the current turn alone is too large for it, summarize the turn's beginning apart from the history.
 */
import { SummaryMode, Keep, ToolNotes, Prune, Split, Strategy, BatchSize, Trigger } from "@memfold/core"
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
  adaptiveSplit: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  pruneToolOutputs: Schema.optionalWith(Schema.Literal("off", "soft-trim", "hard-clear"), {
    default: () => "off" as const,
  }),
  toolFailures: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 8 }),
  trackFiles: Schema.optionalWith(Schema.Boolean, { default: () => true }),
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
 * - `splitBudget` (0.5) and `splitMargin` (1.2): when what stays is above their product, the turn is split, and at
 *   most so much of its beginning becomes the prefix
 * - `adaptiveSplit` (false): the prefix takes 0.4 of the window instead; down to 0.15 when messages take more than a
 *   tenth of it each
 * - `pruneToolOutputs` (off): along with a compaction, `soft-trim` leaves the two ends of long tool outputs that stay
 *   raw; `hard-clear` does so, and leaves a note alone of those older than the most recent messages
 * - `toolFailures` (8): so many failed tool calls are listed behind the prefix of a split turn, word for word, with
 *   at most 240 characters each
 * - `trackFiles` (true): files read and changed by tools are listed with the summary, across compactions
 */
export type SplitTurnSettings = typeof Settings.Type

/**
 * Large messages leave little to choose from, so that less goes at a time (reference design 3, adaptive ratio). Those
 * of more than a tenth of the window on average count as large.
 */
const adaptiveRatio = (averageShare: number): number =>
  averageShare > 0.1 ? Math.max(0.4 - 2 * averageShare, 0.15) : 0.4

/** At most so many characters of a failure are noted down. */
const failureCharacters = 240

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
  make: (settings) => {
    const { contextLimit, splitMargin } = settings
    const share = (part: number) => Math.floor(contextLimit * part)
    const newContent = share(settings.splitBudget * splitMargin)
    const recent = Keep.lastTokens(share(settings.keepRecentShare))
    const newest = Keep.lastMessages(2)
    return Strategy.make({
      name: "split-turn",
      when: Trigger.contextAbove(share(settings.compactionThreshold), "threshold"),
      keep: Keep.all(Keep.currentTurn, recent),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.rolling,
      split: Split.tailAbove(newContent, {
        prefix: settings.adaptiveSplit
          ? ({ messages, tokens }) => share(adaptiveRatio(((tokens / messages) * splitMargin) / contextLimit))
          : newContent,
      }),
      prune: {
        off: [],
        "soft-trim": [Prune.softTrim({ keep: newest })],
        "hard-clear": [Prune.softTrim({ keep: newest }), Prune.hardClear({ keep: recent })],
      }[settings.pruneToolOutputs],
      toolNotes: {
        ...(settings.toolFailures === 0
          ? {}
          : { failures: { maxFailures: settings.toolFailures, maxCharacters: failureCharacters } }),
        ...(settings.trackFiles ? { files: ToolNotes.commonFileTools } : {}),
      },
    })
  },
})
