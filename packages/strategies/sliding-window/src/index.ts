/**
 * A strategy that keeps the newest messages verbatim and compacts older ones in batches. It follows one of the five
 * reference designs (docs/conformance.md, design 1).
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
 * The settings of {@link SlidingWindow}: integers from 1, `tailKeepSize` from 0.
 *
 * - `contextSize` (75): the maximum of uncovered messages in a context. When there are this many, a compaction is due, so
 *   older messages are left out only where none is coming: compactions are off or run by hand
 * - `tailKeepSize` (40): how many of the newest messages are never compacted; smaller than `contextSize`
 * - `compressionWindowSize` (12): compact when the backlog has this many messages
 * - `compressionCooldownSec` (900): compact a smaller backlog this many seconds after the last compaction, or after
 *   the first message
 * - `compressionHardLimit` (30): compact when the backlog has this many messages, with a reason of its own in the log
 */
export type SlidingWindowSettings = typeof Settings.Type

/**
 * Keeps the newest `tailKeepSize` messages verbatim and one rolling summary of all older ones. A compaction is due when
 * the backlog `[coveredTo, total - tailKeepSize)` has `compressionWindowSize` messages, or when it has any and either
 * the uncovered messages fill the context or the cooldown has passed.
 *
 * `SlidingWindow(settings)` returns the strategy and throws a `SettingsError` on a setting out of range.
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
  descriptions: {
    contextSize: "The most uncovered messages in a context. When there are this many, a compaction is due.",
    tailKeepSize: "How many of the newest messages are never compacted; smaller than contextSize.",
    compressionWindowSize: "Compact when this many messages are older than the tail.",
    compressionCooldownSec:
      "Compact fewer messages this many seconds after the last compaction, or after the first message.",
    compressionHardLimit:
      "Compact when this many messages are older than the tail, with a reason of its own in the log.",
  },
  make: (settings) =>
    Strategy.make({
      name: "sliding-window",
      when: Trigger.any(
        Trigger.backlog({ messages: settings.compressionHardLimit }, "hard-limit"),
        Trigger.backlog({ messages: settings.compressionWindowSize }, "window"),
        // With little room between the tail and the context size, the window would come too late.
        Trigger.uncovered({ messages: settings.contextSize }, "context-size"),
        Trigger.cooldown(Duration.seconds(settings.compressionCooldownSec), "cooldown"),
      ),
      keep: Keep.lastMessages(settings.tailKeepSize),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.rolling,
      context: { maxMessages: settings.contextSize },
    }),
})
