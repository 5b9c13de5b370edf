/**
 * The policies and the summarizer of a run, from the arguments of the command line. The worker threads make them again
 * from the same arguments.
 */
import type { Strategy } from "@memfold/core"
import { type Setup, type Policy, reference } from "@memfold/lab"
import { Effect } from "effect"
import { strategies, strategyNamed, type UnknownName } from "@memfold/catalog"
import { UsageError } from "../command/failure.js"
import { parseSettings } from "../command/options.js"
import { labSummarizer, namesFile, policiesIn } from "./modules.js"

/** What policies are made of. It is plain data, so it can be sent to a thread. */
export interface SetupArguments {
  /** `NAME`, `NAME:key=value,…`, `FILE` or `FILE#NAME`; all shipped strategies if there is none. */
  readonly policies: ReadonlyArray<string>
  /** Settings for every shipped strategy that knows them, as `key=value`. */
  readonly set: ReadonlyArray<string>
  readonly settings: unknown
  readonly environmentPrefix: string
  /** The name of a shipped summarizer, or a file. */
  readonly summarizer: string
  readonly askInContext: boolean
  /** The tokens that contexts recall by themselves, where every policy is tried a second time with it. */
  readonly autoRecall: number | null
}

type Settings = Readonly<Record<string, unknown>>

const knownBy = (name: string, settings: Settings): Settings => {
  const knows = strategies.get(name)?.knows
  return Object.fromEntries(Object.entries(settings).filter(([key]) => knows?.(key) ?? true))
}

/** Fails for a setting that no shipped strategy knows. */
const requireKnown = (settings: Settings): Effect.Effect<void, UsageError> => {
  const definitions = [...strategies.values()]
  const unknown = Object.keys(settings).find((name) => !definitions.some(({ knows }) => knows(name)))
  if (unknown === undefined) return Effect.void
  const allowed = definitions.flatMap(({ defaults }) => Object.keys(defaults)).join(", ")
  return new UsageError({ problem: `no strategy has a setting "${unknown}"; allowed: ${allowed}` })
}

/** Names that are taken get a number: a report shows the policies by their names. */
const numbered = (policies: ReadonlyArray<Policy>): ReadonlyArray<Policy> => {
  const taken = new Set([reference.name])
  return policies.map((policy) => {
    let free = policy.name
    for (let number = 2; taken.has(free); number++) free = `${policy.name} ${number}`
    taken.add(free)
    return { ...policy, name: free }
  })
}

/** Each policy, and behind it the same with automatic recall. */
const twice = (policies: ReadonlyArray<Policy>, automaticRecall: number): ReadonlyArray<Policy> =>
  policies.flatMap((policy) => [policy, { ...policy, name: `${policy.name} + recall`, automaticRecall }])

/** All shipped strategies, each with the settings that it knows. */
export const shippedPolicies = (
  set: Settings,
  sources: Omit<Strategy.Sources, "request" | "environment"> = {},
): Effect.Effect<ReadonlyArray<Policy>, UsageError | UnknownName | Strategy.SettingsError> =>
  Effect.zipRight(
    requireKnown(set),
    Effect.forEach([...strategies.keys()], (name) =>
      Effect.map(strategyNamed(name, { ...sources, request: knownBy(name, set) }), (strategy) => ({
        name,
        strategy,
      })),
    ),
  )

/** The policies of a run, and its summarizer. */
export const setupOf = ({
  policies,
  set,
  settings,
  environmentPrefix,
  summarizer,
  askInContext,
  autoRecall,
}: SetupArguments): Effect.Effect<Required<Setup>, UsageError | UnknownName | Strategy.SettingsError> =>
  Effect.gen(function* () {
    const shared = yield* parseSettings(set)
    const sources = { file: settings, environmentPrefix }
    yield* requireKnown(shared)
    const one = (given: string) =>
      Effect.gen(function* () {
        if (namesFile(given)) return yield* policiesIn(given)
        const [name = "", ...rest] = given.split(":")
        const own = rest.join(":")
        const request = {
          ...knownBy(name, shared),
          ...(own === "" ? {} : yield* parseSettings(own.split(","), `--policy ${name}:`)),
        }
        return [{ name: given, strategy: yield* strategyNamed(name, { ...sources, request }) }]
      })
    const chosen =
      policies.length === 0
        ? yield* shippedPolicies(shared, sources)
        : (yield* Effect.forEach(policies, one)).flat()
    const named = numbered(chosen)
    const tried = autoRecall === null ? named : numbered(twice(named, autoRecall))
    return { policies: tried, summarizer: yield* labSummarizer(summarizer), askInContext }
  })
