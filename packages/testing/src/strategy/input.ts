/** What a law of strategies is tried with: a strategy with settings, and a conversation in batches. */
import { type Message, Policy, Render, type Strategy } from "@memfold/core"
import * as fc from "fast-check"
import { conversation } from "../arbitrary/conversation.js"
import { batched } from "../arbitrary/interleaving.js"
import { type LawOptions, type Law, makeLaw } from "../law/Law.js"
import { picture } from "./picture.js"
import { type Rehearsal, type RehearsalOptions, rehearse } from "./rehearse.js"

/** What a strategy says of itself in rounds. */
export interface RoundsClaim {
  /** So many complete rounds stay raw, at least. */
  readonly keep: number
  /** Exactly so many go at a time, as soon as so many and the kept ones are there. */
  readonly batchSize?: number
}

/** A strategy, a family of strategies with settings, or an arbitrary of strategies. */
export type Subject<Settings> =
  | Strategy.Strategy
  | Strategy.Definition<Settings>
  | fc.Arbitrary<Strategy.Strategy>

/**
 * What the laws of a strategy are told besides the strategy.
 *
 * - `name`: what it is called in titles; the strategy's own name by default
 * - `options`: settings for a definition, small enough for conversations of some twenty messages to be compacted;
 *   its defaults alone by default
 * - `rounds`: for a strategy that counts rounds, how many it keeps and takes; a number is how many it keeps
 * - `conversations`: other conversations than `Arbitrary.conversation`
 * - `numRuns` (100): how often each law is tried
 * - `decide`, `render`: for an engine of one's own, held against the same laws
 */
export interface StrategyPropertiesOptions<Settings = unknown> {
  readonly name?: string | undefined
  readonly options?: fc.Arbitrary<Partial<Settings>> | undefined
  readonly turns?: number | RoundsClaim | ((settings: Settings) => number | RoundsClaim) | undefined
  readonly conversations?: fc.Arbitrary<ReadonlyArray<Message.Message>> | undefined
  readonly numRuns?: number | undefined
  readonly decide?: typeof Policy.decide | undefined
  readonly render?: typeof Render.render | undefined
}

/** What one run of a law is made from. `label` names the strategy in a counterexample. */
export interface Input {
  readonly label: string
  readonly strategy: Strategy.Strategy
  readonly batches: ReadonlyArray<ReadonlyArray<Message.Message>>
  readonly turns: RoundsClaim | null
}

/** What the laws of one strategy are made with. */
export interface Kit {
  readonly inputs: fc.Arbitrary<Input>
  readonly numRuns: number
  /** Whether the strategy says anything of rounds. */
  readonly claimsRounds: boolean
  readonly decide: typeof Policy.decide
  readonly render: typeof Render.render
  readonly rehearse: (input: Input, options?: RehearsalOptions) => Rehearsal
  /** A law about rehearsals. */
  readonly law: (law: RehearsalLaw) => Law
}

/** A law about rehearsals, in its own number of runs where that is said. */
export interface RehearsalLaw extends Pick<LawOptions<Input>, "id" | "name" | "explanation"> {
  readonly numRuns?: number
  readonly inputs?: fc.Arbitrary<Input>
  readonly holds: (input: Input, rehearse: Kit["rehearse"]) => void | Promise<void>
}

const isArbitrary = (subject: object): subject is fc.Arbitrary<Strategy.Strategy> =>
  "generate" in subject && "shrink" in subject

const claimOf = (claim: number | RoundsClaim | undefined): RoundsClaim | null =>
  claim === undefined ? null : typeof claim === "number" ? { keep: claim } : claim

/** The strategies there are to try, each with its label and its claim. */
const strategiesOf = <Settings>(
  subject: Subject<Settings>,
  { options, turns }: StrategyPropertiesOptions<Settings>,
): fc.Arbitrary<Omit<Input, "batches">> => {
  if (typeof subject === "function") {
    return (options ?? fc.constant<Partial<Settings>>({})).map((given) => ({
      label: `${subject.strategyName} ${fc.stringify(given)}`,
      strategy: subject(given),
      turns: claimOf(typeof turns === "function" ? turns({ ...subject.defaults, ...given }) : turns),
    }))
  }
  if (typeof turns === "function") {
    throw new TypeError(
      "rounds can depend on settings only for a definition; a strategy has none: say a number",
    )
  }
  const claim = claimOf(turns)
  return (isArbitrary(subject) ? subject : fc.constant(subject)).map((strategy) => ({
    label: strategy.name,
    strategy,
    turns: claim,
  }))
}

/** The name of what is tried, for titles. */
export const nameOf = <Settings>(subject: Subject<Settings>, name?: string): string =>
  name ??
  (typeof subject === "function" ? subject.strategyName : isArbitrary(subject) ? "any policy" : subject.name)

/** Everything that the laws of a strategy share. */
export const kitOf = <Settings>(
  subject: Subject<Settings>,
  options: StrategyPropertiesOptions<Settings>,
): Kit => {
  const {
    numRuns = 100,
    conversations = conversation,
    decide = Policy.decide,
    render = Render.render,
  } = options
  const rehearseInput: Kit["rehearse"] = ({ strategy, batches }, others) =>
    rehearse(strategy, batches, { decide, render, afterwards: true, ...others })
  const inputs = fc
    .tuple(strategiesOf(subject, options), batched(conversations))
    .map(([strategy, batches]): Input => ({ ...strategy, batches }))
  const describe = (input: Input) => {
    const sizes = input.batches.map((batch) => batch.length)
    const together = sizes.every((size) => size === 1) ? "one at a time" : `in batches of ${sizes.join(", ")}`
    return `${input.label}; messages come ${together}\n\n${picture(rehearseInput(input))}`
  }
  return {
    inputs,
    numRuns,
    claimsRounds: options.turns !== undefined,
    decide,
    render,
    rehearse: rehearseInput,
    law: ({ holds, numRuns: own, inputs: others = inputs, ...law }) =>
      makeLaw({
        ...law,
        numRuns: own ?? numRuns,
        arbitrary: others,
        holds: (input) => holds(input, rehearseInput),
        describe,
      }),
  }
}
