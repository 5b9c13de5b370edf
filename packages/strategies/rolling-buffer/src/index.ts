/**
 * Four strategies that keep a buffer of recent messages. Older messages become one rolling summary, or are dropped.
 * `RollingBuffer` follows one of the five reference designs (docs/conformance.md, design 5).
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger, Wording } from "@memfold/core"
import { Schema } from "effect"

const { setting } = Strategy

const Positive = Schema.Int.pipe(Schema.positive())

const fields = {
  /** How many of the newest messages stay uncovered after a compaction. By default 4. */
  bufferSize: setting(Positive, 4, "How many of the newest messages stay uncovered after a compaction."),
}

/** The setting of {@link RollingBuffer}: `bufferSize`, how many of the newest messages stay uncovered after a compaction. */
export type RollingBufferSettings = Strategy.SettingsOf<typeof fields>

/**
 * Keeps the newest messages verbatim and one rolling summary of all older ones. A compaction is due when more than
 * `2 × bufferSize` messages are uncovered; it covers all but the newest `bufferSize`, or a few fewer when the boundary
 * would cut a group of tool calls.
 *
 * `RollingBuffer(settings)` returns the strategy and throws a `SettingsError` on a setting out of range.
 * `RollingBuffer.decode(input)` reads unknown input and returns an `Either`.
 *
 * @example
 * ```ts
 * import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = RollingBuffer({ bufferSize: 10 })
 * console.log(strategy.name)
 * ```
 */
export const RollingBuffer: Strategy.Definition<RollingBufferSettings> = Strategy.define({
  name: "rolling-buffer",
  settings: Schema.Struct(fields),
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

const windowFields = {
  /** How many messages stay. By default 20. */
  windowSize: setting(Positive, 20, "How many messages stay."),
}

const tokenFields = {
  /** How many tokens the kept messages may have together. By default 2,000. */
  maxTokens: setting(Positive, 2_000, "How many tokens the kept messages may have together."),
}

/**
 * Keeps the newest messages and drops older ones from contexts, without a summary and without a model. The log keeps
 * every message.
 *
 * - `windowSize` (20): how many messages stay, an integer from 1; a few more when the boundary would cut a group of
 *   tool calls
 *
 * Throws a `SettingsError` on a setting out of range.
 *
 * @example
 * ```ts
 * import { Window } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = Window({ windowSize: 12 })
 * ```
 */
export const Window: Strategy.Definition<Strategy.SettingsOf<typeof windowFields>> = Strategy.define({
  name: "window",
  settings: Schema.Struct(windowFields),
  make: ({ windowSize }) =>
    Strategy.make({
      name: "window",
      when: Trigger.uncovered({ messages: windowSize + 1 }, "window"),
      keep: Keep.lastMessages(windowSize),
      summaryMode: SummaryMode.drop,
    }),
})

/** The newest messages that fit. The very newest stays even if it is larger, because the model has to answer it. */
const recent = (tokens: number) => Keep.all(Keep.lastTokens(tokens), Keep.lastMessages(1))

/**
 * Keeps the newest messages that fit into a number of tokens and drops older ones from contexts, without a summary and
 * without a model. The log keeps every message.
 *
 * - `maxTokens` (2,000): how many tokens the kept messages may have together, an integer from 1; the newest message
 *   stays even if it has more
 *
 * Throws a `SettingsError` on a setting out of range.
 *
 * @example
 * ```ts
 * import { TokenBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = TokenBuffer({ maxTokens: 8_000 })
 * ```
 */
export const TokenBuffer: Strategy.Definition<Strategy.SettingsOf<typeof tokenFields>> = Strategy.define({
  name: "token-buffer",
  settings: Schema.Struct(tokenFields),
  make: ({ maxTokens }) =>
    Strategy.make({
      name: "token-buffer",
      when: Trigger.uncovered({ tokens: maxTokens + 1 }, "tokens"),
      keep: recent(maxTokens),
      summaryMode: SummaryMode.drop,
    }),
})

/**
 * Keeps the newest messages that fit into a number of tokens verbatim, and one rolling summary of all older ones.
 *
 * - `maxTokens` (2,000): how many tokens the uncovered messages may have together, an integer from 1; the newest
 *   message stays even if it has more
 *
 * Throws a `SettingsError` on a setting out of range.
 *
 * @example
 * ```ts
 * import { SummaryBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * const strategy = SummaryBuffer({ maxTokens: 8_000 })
 * ```
 */
export const SummaryBuffer: Strategy.Definition<Strategy.SettingsOf<typeof tokenFields>> = Strategy.define({
  name: "summary-buffer",
  settings: Schema.Struct(tokenFields),
  make: ({ maxTokens }) =>
    Strategy.make({
      name: "summary-buffer",
      when: Trigger.uncovered({ tokens: maxTokens + 1 }, "tokens"),
      keep: recent(maxTokens),
      summaryMode: SummaryMode.rolling,
      context: { wording: Wording.earlierConversation },
    }),
})
