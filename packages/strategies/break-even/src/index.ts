/**
 * A strategy that goes by what a compaction costs and saves at a provider that caches prompts. It compacts when that has
 * become worth it, or when the cache has expired and compacting costs little, and at the model's window in any case.
 */
import { BatchSize, type Keep, Strategy, SummaryMode, ToolNotes, Trigger, Wording } from "@memfold/core"
import { Prices } from "@memfold/prices"
import { Schema } from "effect"
import { breakEven, coldCache } from "./triggers.js"

export { breakEven, coldCache } from "./triggers.js"

const { setting } = Strategy

const Positive = Schema.Int.pipe(Schema.positive())

const share = (most: number) => Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(most))

const presetNames = Object.keys(Prices.presets) as [Prices.PresetName, ...ReadonlyArray<Prices.PresetName>]

const fields = {
  /**
   * The name of a preset in Prices.presets of @memfold/prices, which have a date, or prices of your own: they say
   * when a compaction is worth it, and how long the provider's cache lives. By default `"claude-sonnet-5.5"`.
   */
  prices: setting(
    Schema.Union(Schema.Literal(...presetNames), Prices.Prices),
    "claude-sonnet-5.5",
    "The name of a preset in Prices.presets of @memfold/prices, which have a date, or prices of your own: they say when a compaction is worth it, and how long the provider's cache lives.",
  ),
  /**
   * The model's context window, in tokens; also that of a summarizer that does not state its own. By default 200,000.
   */
  contextLimit: setting(
    Positive,
    200_000,
    "The model's context window, in tokens; also that of a summarizer that does not state its own.",
  ),
  /** Compact above this share of the window, whatever it costs; above 0 and at most 1. By default 0.7. */
  compactionThreshold: setting(
    share(1),
    0.7,
    "Compact above this share of the window, whatever it costs; above 0 and at most 1.",
  ),
  /** How many tokens of the newest messages stay uncovered, at most a quarter of the window. By default 2,000. */
  keepTokens: setting(
    Positive,
    2_000,
    "How many tokens of the newest messages stay uncovered, at most a quarter of the window.",
  ),
  /**
   * How many of the newest messages stay uncovered, if they are more than keepTokens; at most a quarter of the
   * window. By default 12.
   */
  keepMessages: setting(
    Positive,
    12,
    "How many of the newest messages stay uncovered, if they are more than keepTokens; at most a quarter of the window.",
  ),
  /** How many tokens of messages become one block, at the least. By default 6,000. */
  blockTokens: setting(Positive, 6_000, "How many tokens of messages become one block, at the least."),
  /** The same as blockTokens when the provider's cache has expired. By default 1,500. */
  coldBlockTokens: setting(Positive, 1_500, "The same as blockTokens when the provider's cache has expired."),
  /** The share of these tokens that a block takes; above 0 and at most 0.9. By default 0.12. */
  summaryShare: setting(
    share(0.9),
    0.12,
    "The share of these tokens that a block takes; above 0 and at most 0.9.",
  ),
  /** When all blocks together take more tokens, they are merged into one of a quarter of that. By default 8,000. */
  summaryTokens: setting(
    Positive,
    8_000,
    "When all blocks together take more tokens, they are merged into one of a quarter of that.",
  ),
}

/**
 * The settings of {@link BreakEven}. Tokens are integers from 1. `BreakEven.descriptions` says what each is for, and `BreakEven.defaults`
 * what it is by default.
 *
 * Use the `prices` of your model. If the summarizer asks in context, a compaction costs less, and pays sooner; and it is due half a
 * minute before the cache expires, not after it.
 */
export type BreakEvenSettings = Strategy.SettingsOf<typeof fields>

/**
 * Keeps the newest tokens, or the newest messages if that is more, within a limit. The very newest stays even if it is
 * larger, because the model has to answer it.
 */
const newest = (limits: {
  readonly tokens: number
  readonly messages: number
  readonly most: number
}): Keep.Keep => ({
  describe: `the last ${limits.tokens} tokens or ${limits.messages} messages, at most ${limits.most} tokens`,
  from: ({ total, startOfLastTokens }) =>
    Math.min(
      Math.max(
        Math.min(startOfLastTokens(limits.tokens), total - limits.messages),
        startOfLastTokens(limits.most),
      ),
      Math.max(total - 1, 0),
    ),
})

/** What a window has room for: a quarter each for the kept messages, the summary and a new block. */
const partOfWindow = 1 / 4

/** Above the threshold, at least this part of it is compacted at once: not a message at a time. */
const leastAtWindow = 1 / 16

/** The part of the room for summaries that merged blocks may take. */
const mergedShare = 1 / 4

/** The shortest text that summarizers are asked for, in tokens. */
const shortest = 32

/**
 * Compacts when it pays. The newest messages stay verbatim; older ones become blocks, each a message of its own, so that a
 * new block leaves the older ones in the provider's cache. A compaction is due
 *
 * - when the backlog has reached the break-even point, and `blockTokens` (`break-even`)
 * - when the provider's cache has expired since the last call, and the backlog has `coldBlockTokens` (`cold-cache`), or just
 *   before it does (`expiring-cache`), if the summarizer asks in context
 * - when the context is above the threshold of the window, whatever it costs (`window+backlog`)
 *
 * The files that tools read and changed are listed with the summary. In a small window, the other sizes are at most a
 * quarter of it.
 *
 * `BreakEven(settings)` returns the strategy and throws a `SettingsError` on a setting out of range.
 *
 * @example
 * ```ts
 * import { BreakEven } from "@memfold/strategy-break-even"
 *
 * const strategy = BreakEven({ prices: "gpt-6.2-sol", contextLimit: 272_000 })
 * console.log(strategy.name)
 * ```
 */
export const BreakEven: Strategy.Definition<BreakEvenSettings> = Strategy.define({
  name: "break-even",
  settings: Schema.Struct(fields),
  aliases: { threshold: "compactionThreshold", contextWindow: "contextLimit" },
  make: ({ contextLimit, compactionThreshold, keepMessages, summaryShare, ...settings }) => {
    const prices = typeof settings.prices === "string" ? Prices.presets[settings.prices] : settings.prices
    const window = Math.max(1, Math.floor(contextLimit * compactionThreshold))
    const most = Math.max(1, Math.floor(window * partOfWindow))
    const summaryTokens = Math.min(settings.summaryTokens, most)
    const mergedTokens = Math.max(shortest, Math.floor(summaryTokens * mergedShare))
    return Strategy.make({
      name: "break-even",
      contextLimit,
      when: Trigger.any(
        Trigger.all(
          Trigger.contextAbove(window, "window"),
          Trigger.backlog({ tokens: Math.max(1, Math.floor(window * leastAtWindow)) }, "backlog"),
        ),
        coldCache(prices, Math.min(settings.coldBlockTokens, most)),
        breakEven(prices, { least: Math.min(settings.blockTokens, most), summaryShare }),
      ),
      keep: newest({ tokens: Math.min(settings.keepTokens, most), messages: keepMessages, most }),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.blocks,
      summarySize: { share: summaryShare, maxTokens: mergedTokens },
      mergeBlocks: { above: summaryTokens, maxTokens: mergedTokens },
      toolNotes: { files: ToolNotes.commonFileTools },
      context: { wording: Wording.separately(Wording.conversationSummary) },
    })
  },
})
