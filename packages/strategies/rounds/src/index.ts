/**
 * The A/B rounds of reference design 2: keep A rounds raw, fold the oldest B rounds into a block of their own.
 */
import { SummaryMode, Keep, Strategy, BatchSize, Trigger, Wording } from "@memfold/core"
import { Schema } from "effect"

const positive = (fallback: number) =>
  Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { default: () => fallback })

const Settings = Schema.Struct({ fullContextTurns: positive(4), cachedContextTurns: positive(3) })

/**
 * The settings of A/B rounds. A round is a user message and all that follows it up to the next one.
 *
 * - `fullContextTurns` (4), called A: so many rounds stay raw at least
 * - `cachedContextTurns` (3), called B: so many rounds become one block
 */
export type RoundsSettings = typeof Settings.Type

/**
 * When A + B complete rounds are uncompressed, compacts exactly the oldest B of them. Below that, everything is
 * raw.
 *
 * `Rounds.resolve` reads the settings as the reference's program does: what a request asks for, then
 * `agent.contextWindow` of a settings file, then `PRIZM_FULL_CONTEXT_TURNS` and `PRIZM_CACHED_CONTEXT_TURNS` in the
 * environment, then the defaults.
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
  aliases: { A: "fullContextTurns", B: "cachedContextTurns", a: "fullContextTurns", b: "cachedContextTurns" },
  // Where the program of the reference keeps its settings: the file `agent-tools.json`, and the environment.
  section: ["agent", "contextWindow"],
  environment: {
    PRIZM_FULL_CONTEXT_TURNS: "fullContextTurns",
    PRIZM_CACHED_CONTEXT_TURNS: "cachedContextTurns",
  },
  make: ({ fullContextTurns, cachedContextTurns }) =>
    Strategy.make({
      name: "rounds",
      when: Trigger.uncovered({ turns: fullContextTurns + cachedContextTurns }, "rounds"),
      keep: Keep.lastTurns(fullContextTurns),
      batchSize: BatchSize.turns(cachedContextTurns),
      summaryMode: SummaryMode.blocks,
      context: { wording: Wording.sessionMemory },
    }),
})
