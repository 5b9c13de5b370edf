/**
 * The strategies and summarizers of this package by their names, for options and the command line.
 */
import { EchoSummarizer, ExtractiveSummarizer, type Strategy, type Summarizer } from "@memfold/core"
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
export type AnyStrategy = Pick<Strategy.Definition<never>, "knows" | "resolve" | "strategyName"> & {
  readonly defaults: object
}

const definitions: ReadonlyArray<AnyStrategy> = [
  SlidingWindow,
  Rounds,
  SplitTurn,
  RollingBuffer,
  Window,
  TokenBuffer,
  SummaryBuffer,
]

/** The shipped strategies by name: four that follow published designs, and three simpler ones. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(
  definitions.map((definition) => [definition.strategyName, definition]),
)

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
  sources: Pick<Strategy.Sources, "request" | "file">,
): Either.Either<Strategy.Strategy, UnknownName | Strategy.SettingsError> =>
  Either.flatMap(byName("strategy", strategies, name), ({ resolve }) =>
    resolve({ ...sources, environment: process.env }),
  )
