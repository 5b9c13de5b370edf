/**
 * A strategy that keeps A turns verbatim and compacts the oldest B turns into a block of their own. It follows one of
 * the five reference designs (docs/conformance.md, design 2), which calls turns rounds; the package name and the
 * settings keep that design's names.
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger, Wording } from "@memfold/core"
import { Schema } from "effect"

const positive = (fallback: number) =>
  Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => fallback })

const Settings = Schema.Struct({
  fullContextTurns: positive(4),
  cachedContextTurns: positive(3),
  sessionMemoryTokens: Schema.optionalWith(Schema.NullOr(Schema.Int.pipe(Schema.positive())), {
    default: () => null,
  }),
})

/**
 * The settings of {@link Rounds}. A turn is a user message and everything up to the next one.
 *
 * - `fullContextTurns` (4), called A: how many complete turns always stay uncovered; an integer from 1
 * - `cachedContextTurns` (3), called B: how many turns become one block; an integer from 1
 * - `sessionMemoryTokens` (`null`, no limit): the most tokens of the blocks in front of the messages; an integer from 1. If the
 *   blocks take more, each compaction chooses which blocks to show: the newest block, and the best matches for the newest user
 *   message. The block that a later question needs stands right before it; all of these take as many tokens at most
 */
export type RoundsSettings = typeof Settings.Type

/**
 * Compacts the oldest B turns into one block when A + B complete turns are uncovered. Older blocks are never rewritten.
 *
 * `Rounds(settings)` returns the strategy and throws a `SettingsError` on a setting out of range.
 * `Rounds.resolve` reads each setting from the first place that has it: the request, `agent.contextWindow` of a
 * settings file, `MEMFOLD_FULL_CONTEXT_TURNS` and `MEMFOLD_CACHED_CONTEXT_TURNS` in the environment, the defaults. With
 * `environmentPrefix: "PRIZM_"`, it reads the variables of the design's own program instead.
 *
 * @example
 * ```ts
 * import { Rounds } from "@memfold/strategy-rounds"
 *
 * const strategy = Rounds({ fullContextTurns: 6 })
 * console.log(strategy.name)
 * ```
 */
export const Rounds = Strategy.define({
  name: "rounds",
  settings: Settings,
  descriptions: {
    fullContextTurns: "A: how many complete turns always stay word for word.",
    cachedContextTurns: "B: how many turns become one block of the summary.",
    sessionMemoryTokens:
      "The most tokens of the blocks in front of the messages; without it, all blocks are shown.",
  },
  aliases: { A: "fullContextTurns", B: "cachedContextTurns", a: "fullContextTurns", b: "cachedContextTurns" },
  // The program of the reference design keeps its settings in the file `agent-tools.json` and in the environment.
  section: ["agent", "contextWindow"],
  environment: {
    FULL_CONTEXT_TURNS: "fullContextTurns",
    CACHED_CONTEXT_TURNS: "cachedContextTurns",
  },
  make: ({ fullContextTurns, cachedContextTurns, sessionMemoryTokens }) =>
    Strategy.make({
      name: "rounds",
      when: Trigger.uncovered({ turns: fullContextTurns + cachedContextTurns }, "rounds"),
      keep: Keep.lastTurns(fullContextTurns),
      batchSize: BatchSize.turns(cachedContextTurns),
      summaryMode: SummaryMode.blocks,
      ...(sessionMemoryTokens === null ? {} : { recallBlocks: { maxTokens: sessionMemoryTokens } }),
      context: { wording: Wording.sessionMemory, factsInFront: true },
    }),
})
