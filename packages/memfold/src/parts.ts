/**
 * The parts this package brings along, by the names that a command line or a settings file uses for them.
 */
import { EchoSummarizer, ExtractiveSummarizer, type Strategy, type Summarizer } from "@memfold/core"
import { RollingBuffer, SummaryBuffer, TokenBuffer, Window } from "@memfold/strategy-rolling-buffer"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { SplitTurn } from "@memfold/strategy-split-turn"
import { Either, Schema } from "effect"

/** A name that names nothing, with the names there are. */
export class UnknownName extends Schema.TaggedError<UnknownName>()("UnknownName", {
  kind: Schema.String,
  name: Schema.String,
  allowed: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return `there is no ${this.kind} "${this.name}"; allowed: ${this.allowed.join(", ")}`
  }
}

/** What the command line needs of a strategy's definition, whatever its settings are. */
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

/** The shipped strategies by name: those of the reference designs in their order, and three simpler ones. */
export const strategies: ReadonlyMap<string, AnyStrategy> = new Map(
  definitions.map((definition) => [definition.strategyName, definition]),
)

/** The shipped summarizers by name; none of them needs a model or a network. */
export const summarizers: ReadonlyMap<string, Summarizer.Service> = new Map(
  [ExtractiveSummarizer.make(), EchoSummarizer.make()].map((summarizer) => [summarizer.name, summarizer]),
)

/** Looks a part up by its name. */
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
 * The strategy of a name: with the settings of a request, of a settings file, and of the environment, in this order
 * of precedence.
 */
export const strategyNamed = (
  name: string,
  sources: Pick<Strategy.Sources, "request" | "file">,
): Either.Either<Strategy.Strategy, UnknownName | Strategy.SettingsError> =>
  Either.flatMap(byName("strategy", strategies, name), ({ resolve }) =>
    resolve({ ...sources, environment: process.env }),
  )
