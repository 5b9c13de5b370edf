/**
 * A strategy that keeps the newest messages verbatim and compacts older ones in batches. It follows one of the five
 * reference designs (docs/conformance.md, design 1).
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger } from "@memfold/core"
import { Duration, Schema } from "effect"

const { setting } = Strategy

const Positive = Schema.Int.pipe(Schema.positive())

const fields = {
  /**
   * The most uncovered messages in a context. When there are this many, a compaction is due. Older messages are left
   * out, and named in the layout, only where no compaction is coming: they are off, run by hand, or failed three
   * times in a row. By default 75.
   */
  contextSize: setting(
    Positive,
    75,
    "The most uncovered messages in a context. When there are this many, a compaction is due. Older messages are left out, and named in the layout, only where no compaction is coming: they are off, run by hand, or failed three times in a row.",
  ),
  /** How many of the newest messages are never compacted; smaller than contextSize. By default 40. */
  tailKeepSize: setting(
    Schema.NonNegativeInt,
    40,
    "How many of the newest messages are never compacted; smaller than contextSize.",
  ),
  /** Compact when the backlog (uncovered messages before the tail) has this many messages. By default 12. */
  compressionWindowSize: setting(
    Positive,
    12,
    "Compact when the backlog (uncovered messages before the tail) has this many messages.",
  ),
  /**
   * Compact a smaller backlog this many seconds after the last compaction, or after the first message. By default
   * 900.
   */
  compressionCooldownSec: setting(
    Positive,
    900,
    "Compact a smaller backlog this many seconds after the last compaction, or after the first message.",
  ),
  /** Compact when the backlog has this many messages, with a reason of its own in the log. By default 30. */
  compressionHardLimit: setting(
    Positive,
    30,
    "Compact when the backlog has this many messages, with a reason of its own in the log.",
  ),
}

const Settings = Schema.Struct(fields).pipe(
  Schema.filter(({ contextSize, tailKeepSize }) =>
    tailKeepSize < contextSize
      ? true
      : `tail_keep_size (${tailKeepSize}) has to be smaller than context_size (${contextSize})`,
  ),
)

/**
 * The settings of {@link SlidingWindow}: integers from 1, `tailKeepSize` from 0. `SlidingWindow.descriptions` says what each is for, and
 * `SlidingWindow.defaults` what it is by default.
 */
export type SlidingWindowSettings = Strategy.SettingsOf<typeof fields>

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
export const SlidingWindow: Strategy.Definition<SlidingWindowSettings> = Strategy.define({
  name: "sliding-window",
  settings: Settings,
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
