/** The shipped strategies by their names. */
import { OptionGroup, Strategy } from "@memfold/core"
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

/** A name in a settings file that is no setting; `guess` is the setting that was meant, if its name is near one. */
export interface UnknownSetting {
  readonly name: string
  readonly guess: string | undefined
}

/**
 * The names in a settings file that no shipped strategy knows as a setting. If the file has the section of one, only
 * that section counts. A mistyped one, which has a guess, is refused; any other belongs to another program or to another version, and
 * is worth a warning.
 */
export const unknownSettings = (file: unknown): ReadonlyArray<UnknownSetting> => {
  const found = [...strategies.values()].map(({ unknownIn }) => unknownIn(file))
  const section = found.find(({ inSection }) => inSection)
  const [first, ...others] = found
  const names =
    section?.names ?? first?.names.filter((name) => others.every((one) => one.names.includes(name))) ?? []
  const known = [...strategies.values()].flatMap(({ defaults }) => Object.keys(defaults))
  return names.map((name) => ({ name, guess: OptionGroup.closest(name, known) }))
}

/** What a warning says of the names in a settings file that are no settings, and are ignored; `null` if there are none. */
export const ignoredSettings = (file: unknown): string | null => {
  // A mistyped one is refused.
  const names = unknownSettings(file).flatMap(({ name, guess }) =>
    guess === undefined ? [JSON.stringify(name)] : [],
  )
  return names.length === 0 ? null : `no strategy has a setting ${names.join(", ")}; ignored`
}

/**
 * The shipped strategy of a name. Settings come from the request, the settings file, and the environment, in this order
 * of precedence. A settings file with a mistyped name is refused; other names that are no settings are ignored.
 */
export const strategyNamed = (
  name: string,
  sources: Pick<Strategy.Sources, "request" | "file" | "environmentPrefix">,
): Either.Either<Strategy.Strategy, UnknownName | Strategy.SettingsError> =>
  Either.flatMap(byName("strategy", strategyNames, name), ({ resolve }) => {
    const typo = unknownSettings(sources.file).find(({ guess }) => guess !== undefined)
    if (typo === undefined) return resolve({ ...sources, environment: globalThis.process?.env ?? {} })
    const detail = `there is no setting "${typo.name}"; ${OptionGroup.didYouMean(typo.guess)}(in the settings file)`
    return Either.left(new Strategy.SettingsError({ strategy: name, detail }))
  })
