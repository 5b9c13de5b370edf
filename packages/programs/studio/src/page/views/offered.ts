/** What the views offer: the models whose prices are known, and the strategies. */
import { Prices } from "@memfold/prices"

export type Model = keyof typeof Prices.presets

/** The models, with their names. */
export const models = (Object.keys(Prices.presets) as ReadonlyArray<Model>).map(
  (one) => [one, Prices.presets[one].model] as const,
)

/** The strategies that a session can be compacted with. */
export const strategies = ["break-even", "sliding-window", "rounds", "split-turn", "rolling-buffer"] as const
