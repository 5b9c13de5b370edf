/**
 * The summary memory of reference design 5: a buffer of recent messages, and one rolling summary before it.
 */
import { Fold, Keep, Strategy, Take, Trigger, Wording } from "@memfold/core"
import { Schema } from "effect"

const Settings = Schema.Struct({
  bufferSize: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => 4 }),
})

/**
 * The setting of a rolling buffer.
 *
 * - `bufferSize` (4): so many of the newest messages stay raw when it compacts
 */
export type RollingBufferSettings = typeof Settings.Type

/**
 * With more than twice `bufferSize` raw messages, folds all but the newest `bufferSize` into the summary.
 *
 * @example
 * ```ts
 * import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = RollingBuffer({ bufferSize: 10 })
 * console.log(strategy.name)
 * ```
 */
export const RollingBuffer = Strategy.define({
  name: "rolling-buffer",
  settings: Settings,
  make: ({ bufferSize }) =>
    Strategy.make({
      name: "rolling-buffer",
      when: Trigger.raw({ messages: 2 * bufferSize + 1 }, "buffer"),
      keep: Keep.lastMessages(bufferSize),
      take: Take.all,
      fold: Fold.rolling,
      context: { wording: Wording.earlierConversation },
    }),
})
