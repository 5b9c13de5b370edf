/**
 * The parts this package brings along, by the names that a command line or a settings file uses for them.
 */
import { EchoSummarizer, ExtractiveSummarizer, type Strategy, type Summarizer } from "@memfold/core"
import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
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
export type AnyStrategy = Pick<Strategy.Definition<never>, "decode" | "knows" | "strategyName"> & {
  readonly defaults: object
}

const definitions: ReadonlyArray<AnyStrategy> = [SlidingWindow, Rounds, SplitTurn, RollingBuffer]

/** The shipped strategies by name, in the order of the reference designs. */
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
