/**
 * A strategy that keeps A turns verbatim and compacts the oldest B turns into a block of their own. It follows one of
 * the five reference designs (docs/conformance.md, design 2), which calls turns rounds; the package name and the
 * settings keep that design's names.
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger, Wording } from "@memfold/core"
import { Schema } from "effect"

const { setting } = Strategy

const Positive = Schema.Int.pipe(Schema.positive())

const fields = {
  /** A: how many complete turns always stay word for word. By default 4. */
  fullContextTurns: setting(Positive, 4, "A: how many complete turns always stay word for word."),
  /** B: how many turns become one block of the summary. By default 3. */
  cachedContextTurns: setting(Positive, 3, "B: how many turns become one block of the summary."),
  /**
   * The most tokens of the blocks in front of the messages; without it, all blocks are shown. If the blocks take
   * more, each compaction chooses which to show: the newest, and the best matches for the newest user message. The
   * block that a later question needs stands right before it; all of these take as many tokens at most. By default
   * `null`.
   */
  sessionMemoryTokens: setting(
    Schema.NullOr(Positive),
    null,
    "The most tokens of the blocks in front of the messages; without it, all blocks are shown. If the blocks take more, each compaction chooses which to show: the newest, and the best matches for the newest user message. The block that a later question needs stands right before it; all of these take as many tokens at most.",
  ),
}

/**
 * The settings of {@link Rounds}: integers from 1, `sessionMemoryTokens` without a limit by default. A turn is a user message and
 * everything up to the next one. `Rounds.descriptions` says what each is for, and `Rounds.defaults` what it is by default.
 */
export type RoundsSettings = Strategy.SettingsOf<typeof fields>

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
export const Rounds: Strategy.Definition<RoundsSettings> = Strategy.define({
  name: "rounds",
  settings: Schema.Struct(fields),
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
