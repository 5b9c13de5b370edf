/**
 * The strategies and summarizers of this package by their names, for options and the command line.
 */
import { EchoSummarizer, ExtractiveSummarizer, type Strategy, type Summarizer } from "@memfold/core"
import { BreakEven } from "@memfold/strategy-break-even"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { Either, Schema } from "effect"

/** There is no such strategy, summarizer or store. `allowed` lists the names that there are. */
export class UnknownName extends Schema.TaggedError<UnknownName>()("UnknownName", {
  kind: Schema.String,
  name: Schema.String,
  allowed: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return `there is no ${this.kind} "${this.name}"; allowed: ${this.allowed.join(", ")}`
  }
}

/** The parts of a strategy's definition that do not depend on the type of its settings. */
export type AnyStrategy = Pick<
  Strategy.Definition<never>,
  "knows" | "resolve" | "strategyName" | "unknownIn"
> & {
  readonly defaults: object
}

/** A text for which an editor suggests these names; any other text is checked at run time. */
type Suggested<Name extends string> = Name | (string & {})

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

/** The name of a shipped strategy. */
export type StrategyName = Suggested<keyof typeof shipped | "rolling">

/** The name of a shipped summarizer. */
export type SummarizerName = Suggested<"extractive" | "echo">

/** The shipped strategies by name: four that follow published designs, three simpler ones, and one that goes by
 * prices. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(Object.entries(shipped))

/** The strategies by all their names: `rolling` is the name under which the states of such a program are imported. */
const strategyNames: ReadonlyMap<string, AnyStrategy> = new Map([...strategies, ["rolling", RollingBuffer]])

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

/** The shipped summarizers by name; none of them needs a model or a network. */
export const summarizers: ReadonlyMap<string, Summarizer.Service> = new Map(
  [ExtractiveSummarizer.make(), EchoSummarizer.make()].map((summarizer) => [summarizer.name, summarizer]),
)

/** Finds a part by its name. `kind` is the word for it in the error. */
export const byName = <A>(
  kind: string,
  parts: ReadonlyMap<string, A>,
  name: string,
): Either.Either<A, UnknownName> => {
  const part = parts.get(name)
  return part === undefined
    ? Either.left(new UnknownName({ kind, name, allowed: [...parts.keys()] }))
    : Either.right(part)
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
    resolve({ ...sources, environment: process.env }),
  )
