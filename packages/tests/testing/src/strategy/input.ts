/** The input of a law of strategies: a strategy with settings, and a conversation in batches. */
import { type Message, Policy, Render, type Strategy } from "@memfold/core"
import * as fc from "fast-check"
import { conversation } from "../arbitrary/conversation.js"
import { batched } from "../arbitrary/interleaving.js"
import { type LawOptions, type Law, makeLaw } from "../law/Law.js"
import { picture } from "./picture.js"
import { type Rehearsal, type RehearsalOptions, rehearse } from "./rehearse.js"

/** How many turns a strategy claims to keep and to take. */
export interface TurnsClaim {
  /** At least this many complete turns stay uncovered. */
  readonly keep: number
  /** A compaction takes exactly this many turns, as soon as there are this many besides the kept ones. */
  readonly batchSize?: number
}

/** A strategy, a family of strategies with settings, or an arbitrary of strategies. */
export type Subject<Settings> =
  | Strategy.Strategy
  | Strategy.Definition<Settings>
  | fc.Arbitrary<Strategy.Strategy>

/**
 * Options of the laws of a strategy.
 *
 * - `name`: the name in titles; by default the strategy's own
 * - `options`: an arbitrary of settings for a definition, small enough that conversations of some twenty messages are
 *   compacted; by default only its defaults
 * - `turns`: for a strategy that counts turns, how many it keeps and takes; a number is how many it keeps
 * - `conversations`: the conversations to use instead of `conversation` of `@memfold/testing/arbitrary`
 * - `numRuns`: how many inputs each law is checked with; by default the number that fast-check is configured with
 *   (`fc.configureGlobal`), and otherwise 100
 * - `decide`, `render`: functions of your own engine, to check them instead of memfold's
 */
export interface StrategyPropertiesOptions<Settings = unknown> {
  readonly name?: string | undefined
  readonly options?: fc.Arbitrary<Partial<Settings>> | undefined
  readonly turns?: number | TurnsClaim | ((settings: Settings) => number | TurnsClaim) | undefined
  readonly conversations?: fc.Arbitrary<ReadonlyArray<Message.Message>> | undefined
  readonly numRuns?: number | undefined
  readonly decide?: typeof Policy.decide | undefined
  readonly render?: typeof Render.render | undefined
}

/** One input of a law. `label` names the strategy in a counterexample. */
export interface Input {
  readonly label: string
  readonly strategy: Strategy.Strategy
  readonly batches: ReadonlyArray<ReadonlyArray<Message.Message>>
  readonly turns: TurnsClaim | null
}

/** The values and helpers that the laws of one strategy share. */
export interface Kit {
  readonly inputs: fc.Arbitrary<Input>
  readonly numRuns: number
  /** Whether the strategy makes a claim about turns. */
  readonly claimsRounds: boolean
  readonly decide: typeof Policy.decide
  readonly render: typeof Render.render
  readonly rehearse: (input: Input, options?: RehearsalOptions) => Rehearsal
  /** A law about rehearsals. */
  readonly law: (law: RehearsalLaw) => Law
}

/** A law about rehearsals, with its own number of runs if it names one. */
export interface RehearsalLaw extends Pick<LawOptions<Input>, "id" | "name" | "explanation"> {
  readonly numRuns?: number
  readonly inputs?: fc.Arbitrary<Input>
  readonly holds: (input: Input, rehearse: Kit["rehearse"]) => void | Promise<void>
}

const isArbitrary = (subject: object): subject is fc.Arbitrary<Strategy.Strategy> =>
  "generate" in subject && "shrink" in subject

const claimOf = (claim: number | TurnsClaim | undefined): TurnsClaim | null =>
  claim === undefined ? null : typeof claim === "number" ? { keep: claim } : claim

/** The strategies to check, each with its label and its claim. */
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
      "`turns` can be a function only for a definition, because a strategy has no settings; give a number",
    )
  }
  const claim = claimOf(turns)
  return (isArbitrary(subject) ? subject : fc.constant(subject)).map((strategy) => ({
    label: strategy.name,
    strategy,
    turns: claim,
  }))
}

/** The name of the subject, for titles. */
export const nameOf = <Settings>(subject: Subject<Settings>, name?: string): string =>
  name ??
  (typeof subject === "function" ? subject.strategyName : isArbitrary(subject) ? "any policy" : subject.name)

/** The values and helpers that the laws of a strategy share. */
export const kitOf = <Settings>(
  subject: Subject<Settings>,
  options: StrategyPropertiesOptions<Settings>,
): Kit => {
  const {
    numRuns = fc.readConfigureGlobal().numRuns ?? 100,
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
