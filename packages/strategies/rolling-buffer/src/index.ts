/**
 * The summary memory of reference design 5: a buffer of recent messages, and one rolling summary before it.
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger, Wording } from "@memfold/core"
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
      when: Trigger.uncovered({ messages: 2 * bufferSize + 1 }, "buffer"),
      keep: Keep.lastMessages(bufferSize),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.rolling,
      context: { wording: Wording.earlierConversation },
    }),
})

const size = (fallback: number) =>
  Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => fallback })

/**
 * The window memory that reference design 5 names beside its own: exactly the newest messages, nothing before them,
 * and no model.
 *
 * - `windowSize` (20): so many messages, or a few more where the cut would fall into a group of tool calls
 *
 * @example
 * ```ts
 * import { Window } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = Window({ windowSize: 12 })
 * ```
 */
export const Window = Strategy.define({
  name: "window",
  settings: Schema.Struct({ windowSize: size(20) }),
  make: ({ windowSize }) =>
    Strategy.make({
      name: "window",
      when: Trigger.uncovered({ messages: windowSize + 1 }, "window"),
      keep: Keep.lastMessages(windowSize),
      summaryMode: SummaryMode.drop,
    }),
})

/** The messages that fit, and the newest one however large it is: that is what is to be answered. */
const recent = (tokens: number) => Keep.all(Keep.lastTokens(tokens), Keep.lastMessages(1))

/**
 * The token buffer memory that reference design 5 names beside its own: the newest messages that fit, nothing before
 * them, and no model.
 *
 * - `maxTokens` (2,000): the tokens of the messages that stay; the newest one stays even if it has more
 *
 * @example
 * ```ts
 * import { TokenBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = TokenBuffer({ maxTokens: 8_000 })
 * ```
 */
export const TokenBuffer = Strategy.define({
  name: "token-buffer",
  settings: Schema.Struct({ maxTokens: size(2_000) }),
  make: ({ maxTokens }) =>
    Strategy.make({
      name: "token-buffer",
      when: Trigger.uncovered({ tokens: maxTokens + 1 }, "tokens"),
      keep: recent(maxTokens),
      summaryMode: SummaryMode.drop,
    }),
})

/**
 * The summary buffer memory that reference design 5 names beside its own: the newest messages that fit, word for
 * word, and one rolling summary of all before them.
 *
 * - `maxTokens` (2,000): the tokens of the messages that stay raw; the newest one stays even if it has more
 *
 * @example
 * ```ts
 * import { SummaryBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = SummaryBuffer({ maxTokens: 8_000 })
 * ```
 */
export const SummaryBuffer = Strategy.define({
  name: "summary-buffer",
  settings: Schema.Struct({ maxTokens: size(2_000) }),
  make: ({ maxTokens }) =>
    Strategy.make({
      name: "summary-buffer",
      when: Trigger.uncovered({ tokens: maxTokens + 1 }, "tokens"),
      keep: recent(maxTokens),
      summaryMode: SummaryMode.rolling,
      context: { wording: Wording.earlierConversation },
    }),
})
