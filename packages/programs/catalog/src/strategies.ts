/** The shipped strategies by their names. */
import type { Strategy } from "@memfold/core"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { Either, type Schema } from "effect"
import { byName, type Suggested, type UnknownName } from "./names.js"

/** The parts of a strategy's definition that do not depend on the type of its settings. */
export type AnyStrategy = Pick<
  Strategy.Definition<never>,
  "descriptions" | "knows" | "resolve" | "strategyName" | "unknownIn" | "section"
> & {
  readonly defaults: object
  readonly settings: Schema.Schema.All
}

const shipped = {
  "sliding-window": SlidingWindow,
  rounds: Rounds,
  "split-turn": SplitTurn,
  "rolling-buffer": RollingBuffer,
  window: Window,
  "token-buffer": TokenBuffer,
  "summary-buffer": SummaryBuffer,
  "break-even": BreakEven,
} satisfies Record<string, AnyStrategy>

/** A name of a shipped strategy. */
export type ShippedStrategy = keyof typeof shipped | "rolling"

/** The name of a shipped strategy. */
export type StrategyName = Suggested<ShippedStrategy>

/** The name of the strategy that a memory has if none is named. */
export const defaultStrategy = "break-even" satisfies keyof typeof shipped

/** The shipped strategies by name: four that follow published designs, three simpler strategies, and a strategy that goes by
 * prices. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(Object.entries(shipped))

/** The strategies by all their names: `rolling` is the name under which the states of such a program are imported. */
const strategyNames: ReadonlyMap<string, AnyStrategy> = new Map<string, AnyStrategy>([
  ...strategies,
  ["rolling", RollingBuffer],
])

/**
 * The names in a settings file that no shipped strategy knows as a setting. If the file has the section of one, only
 * that section counts.
 */
export const unknownSettings = (file: unknown): ReadonlyArray<string> => {
  const found = [...strategies.values()].map(({ unknownIn }) => unknownIn(file))
  const section = found.find(({ inSection }) => inSection)
  if (section !== undefined) return section.names
  const [first, ...others] = found
  return first?.names.filter((name) => others.every(({ names }) => names.includes(name))) ?? []
}

/**
 * The shipped strategy of a name. Settings come from the request, the settings file, and the environment, in this order
 * of precedence.
 */
export const strategyNamed = (
  name: string,
  sources: Pick<Strategy.Sources, "request" | "file" | "environmentPrefix">,
): Either.Either<Strategy.Strategy, UnknownName | Strategy.SettingsError> =>
  Either.flatMap(byName("strategy", strategyNames, name), ({ resolve }) =>
    resolve({ ...sources, environment: globalThis.process?.env ?? {} }),
  )
