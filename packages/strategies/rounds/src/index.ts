/**
 * The A/B rounds of reference design 2: keep A rounds raw, fold the oldest B rounds into a block of their own.
 */
import { Fold, Keep, Strategy, Take, Trigger, Wording } from "@memfold/core"
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
  make: ({ fullContextTurns, cachedContextTurns }) =>
    Strategy.make({
      name: "rounds",
      when: Trigger.raw({ rounds: fullContextTurns + cachedContextTurns }, "rounds"),
      keep: Keep.lastRounds(fullContextTurns),
      take: Take.rounds(cachedContextTurns),
      fold: Fold.blocks,
      context: { wording: Wording.sessionMemory },
    }),
})
