/**
 * The sliding window of reference design 1: keep the newest messages raw, compact what is older in batches.
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger } from "@memfold/core"
import { Duration, Schema } from "effect"

const positive = (fallback: number) =>
  Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => fallback })

const Settings = Schema.Struct({
  contextSize: positive(75),
  tailKeepSize: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 40 }),
  compressionWindowSize: positive(12),
  compressionCooldownSec: positive(900),
  compressionHardLimit: positive(30),
}).pipe(
  Schema.filter(({ contextSize, tailKeepSize }) =>
    tailKeepSize < contextSize
      ? true
      : `tail_keep_size (${tailKeepSize}) has to be smaller than context_size (${contextSize})`,
  ),
)

/**
 * The settings of a sliding window.
 *
 * - `contextSize` (75): at most so many history messages in a context
 * - `tailKeepSize` (40): the newest messages, never compacted; smaller than `contextSize`
 * - `compressionWindowSize` (12): compact when so many messages have piled up before the tail
 * - `compressionCooldownSec` (900): with anything before the tail, compact after so many seconds all the same
 * - `compressionHardLimit` (30): compact when so many have piled up, named apart from the window
 */
export type SlidingWindowSettings = typeof Settings.Type

/**
 * Compacts `[through, total - tailKeepSize)` when `compressionWindowSize` messages are in it, or some are and
 * the cooldown has passed.
 *
 * @example
 * ```ts
 * import { SlidingWindow } from "@memfold/strategy-sliding-window"
 *
 * const strategy = SlidingWindow({ tailKeepSize: 20, compressionWindowSize: 8 })
 * console.log(strategy.name)
 * ```
 */
export const SlidingWindow = Strategy.define({
  name: "sliding-window",
  settings: Settings,
  make: (settings) =>
    Strategy.make({
      name: "sliding-window",
      when: Trigger.any(
        Trigger.backlog({ messages: settings.compressionHardLimit }, "hard-limit"),
        Trigger.backlog({ messages: settings.compressionWindowSize }, "window"),
        Trigger.cooldown(Duration.seconds(settings.compressionCooldownSec), "cooldown"),
      ),
      keep: Keep.lastMessages(settings.tailKeepSize),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.rolling,
      context: { maxMessages: settings.contextSize },
    }),
})
