/** The strategies that are shipped, by name, with settings that suit short conversations. */
import type { Strategy } from "@memfold/core"
import * as fc from "fast-check"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { type Law, strategyProperties, type StrategyPropertiesOptions } from "@memfold/testing"

const upTo = (max: number) => fc.integer({ min: 1, max })

/** A strategy that is shipped, with settings small enough for short conversations. */
export interface ShippedStrategy {
  readonly laws: (options: Pick<StrategyPropertiesOptions, "numRuns" | "conversations">) => ReadonlyArray<Law>
  /** The same with its defaults. */
  readonly defaults: ShippedStrategy["laws"]
  /** The strategy with any such settings; its name says which. */
  readonly strategies: fc.Arbitrary<Strategy.Strategy>
}

const shipped = <Settings>(
  definition: Strategy.Definition<Settings>,
  options: fc.Arbitrary<Partial<Settings>>,
  turns?: (settings: Settings) => { readonly keep: number; readonly batchSize: number },
): readonly [string, ShippedStrategy] => [
  definition.strategyName,
  {
    laws: (others) => strategyProperties(definition, { ...others, options, turns }),
    defaults: (others) => strategyProperties(definition, { ...others, turns }),
    strategies: options.map((settings) => ({
      ...definition(settings),
      name: `${definition.strategyName} ${JSON.stringify(settings)}`,
    })),
  },
]

export const strategies: ReadonlyMap<string, ShippedStrategy> = new Map([
  shipped(
    SlidingWindow,
    fc.record({
      tailKeepSize: fc.nat({ max: 6 }),
      compressionWindowSize: upTo(5),
      compressionHardLimit: upTo(8),
      contextSize: fc.integer({ min: 7, max: 30 }),
    }),
  ),
  shipped(
    Rounds,
    fc.record({
      fullContextTurns: upTo(3),
      cachedContextTurns: upTo(3),
      sessionMemoryTokens: fc.option(fc.integer({ min: 1, max: 60 }), { nil: null }),
    }),
    ({ fullContextTurns, cachedContextTurns }) => ({ keep: fullContextTurns, batchSize: cachedContextTurns }),
  ),
  shipped(
    SplitTurn,
    fc.record({
      contextLimit: fc.integer({ min: 20, max: 400 }),
      adaptiveSplit: fc.boolean(),
      pruneToolOutputs: fc.constantFrom("off", "soft-trim", "hard-clear"),
      toolFailures: fc.nat({ max: 2 }),
    }),
  ),
  shipped(
    BreakEven,
    fc.record({
      contextLimit: fc.integer({ min: 20, max: 2_000 }),
      compactionThreshold: fc.constantFrom(0.5, 1),
      keepTokens: upTo(60),
      keepMessages: upTo(4),
      blockTokens: upTo(120),
      coldBlockTokens: upTo(60),
      summaryShare: fc.constantFrom(0.1, 0.5),
      // The summaries of a rehearsal take five tokens, so these are merged now and then.
      summaryTokens: upTo(8),
    }),
  ),
  shipped(RollingBuffer, fc.record({ bufferSize: upTo(5) })),
  shipped(Window, fc.record({ windowSize: upTo(8) })),
  shipped(TokenBuffer, fc.record({ maxTokens: upTo(200) })),
  shipped(SummaryBuffer, fc.record({ maxTokens: upTo(200) })),
])
