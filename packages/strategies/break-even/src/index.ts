/**
 * A strategy that goes by what a compaction costs and saves, at a provider that caches prompts: it compacts when the
 * tokens it takes out of the context have become worth it, or when the cache has expired and compacting costs little.
 */
import { BatchSize, Keep, Prices, Strategy, SummaryMode, ToolNotes, Trigger, Wording } from "@memfold/core"
import { Schema } from "effect"
import { breakEvenAt, coldCache } from "./triggers.js"

const tokens = (fallback: number) =>
  Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => fallback })

const Price = Schema.Number.pipe(Schema.greaterThanOrEqualTo(0))

const presetNames = Object.keys(Prices.presets) as ReadonlyArray<Prices.PresetName>

const Settings = Schema.Struct({
  prices: Schema.optionalWith(
    Schema.Union(
      Schema.Literal(...(presetNames as readonly [Prices.PresetName, ...ReadonlyArray<Prices.PresetName>])),
      Schema.Struct({
        model: Schema.String,
        input: Price,
        cached: Price,
        cacheWrite: Price,
        output: Price,
        cacheMinutes: Price,
        asOf: Schema.String,
        source: Schema.String,
      }),
    ),
    { default: () => "claude-sonnet-5.5" as const },
  ),
  contextLimit: tokens(200_000),
  threshold: Schema.optionalWith(Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(1)), {
    default: () => 0.7,
  }),
  blockTokens: tokens(8_000),
  coldBlockTokens: tokens(4_000),
  keepTokens: tokens(2_000),
  summaryShare: Schema.optionalWith(
    Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(0.9)),
    { default: () => 0.25 },
  ),
  summaryTokens: tokens(16_000),
})

export type BreakEvenSettings = typeof Settings.Type

export const BreakEven = Strategy.define({
  name: "break-even",
  settings: Settings,
  make: (settings) => {
    const { blockTokens, coldBlockTokens, keepTokens, summaryShare, summaryTokens, contextLimit } = settings
    const prices: Prices.Prices =
      typeof settings.prices === "string" ? Prices.presets[settings.prices] : settings.prices
    const window = Math.floor(contextLimit * settings.threshold)
    return Strategy.make({
      name: "break-even",
      when: Trigger.any(
        Trigger.contextAbove(window, "window"),
        coldCache(prices.cacheMinutes, coldBlockTokens),
        breakEvenAt(prices, { least: blockTokens, summaryShare }),
      ),
      keep: Keep.all(Keep.lastTokens(keepTokens), Keep.lastMessages(1)),
      batchSize: BatchSize.all,
      summaryMode: SummaryMode.blocks,
      summarySize: { share: summaryShare, maxTokens: Math.max(32, summaryTokens >> 2) },
      mergeBlocks: { above: summaryTokens, maxTokens: Math.max(32, summaryTokens >> 2) },
      toolNotes: { files: ToolNotes.commonFileTools },
      context: { wording: Wording.separately(Wording.conversationSummary) },
    })
  },
})
