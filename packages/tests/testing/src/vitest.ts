/** The laws as suites of Vitest, each law a test of its own. */
// Titles are made of laws, and what a test asserts is in them.
/* oxlint-disable vitest/valid-title, vitest/expect-expect */
import { describe, it } from "vitest"
import { check, type CheckOptions, title } from "./law/check.js"
import type { Law } from "./law/Law.js"
import { eventLogProperties } from "./log/eventLogProperties.js"
import type { EventLogPropertiesOptions } from "./log/input.js"
import { memoryProperties } from "./memory/memoryProperties.js"
import type { MemoryPropertiesOptions } from "./memory/input.js"
import { nameOf, type StrategyPropertiesOptions, type Subject } from "./strategy/input.js"
import { strategyProperties } from "./strategy/strategyProperties.js"
import type { VectorIndexPropertiesOptions } from "./vectors/input.js"
import { vectorIndexProperties } from "./vectors/vectorIndexProperties.js"

/**
 * Options of a suite.
 *
 * - `seed`, `path`: the values of a report, to find its counterexample again
 * - `timeout` (120,000): the limit for each law in milliseconds; shortly before it, the law reports its findings
 * - `timeLimit` (30,000): the limit for one input in milliseconds
 * - `skip`: laws to skip, by title (`L5: …`) or number (`L5`), each with the reason, which the report shows; a name
 *   without a law is a `TypeError`
 */
export interface SuiteOptions extends Pick<CheckOptions, "seed" | "path" | "timeLimit"> {
  readonly timeout?: number | undefined
  readonly skip?: Readonly<Record<string, string>> | undefined
}

/** Registers laws as tests under a name. Throws a `TypeError` if `skip` names no law. */
export const lawSuite = (name: string, laws: ReadonlyArray<Law>, options: SuiteOptions = {}): void => {
  const { skip = {}, timeout = 120_000, seed, path, timeLimit } = options
  const matches = (law: Law) => Object.keys(skip).find((key) => key === law.id || key === title(law))
  for (const key of Object.keys(skip)) {
    if (!laws.some((law) => law.id === key || title(law) === key)) {
      throw new TypeError(`there is no law "${key}" to skip; there are: ${laws.map(title).join("; ")}`)
    }
  }
  describe(name, () => {
    for (const law of laws) {
      const key = matches(law)
      it(title(law), { timeout }, async (context) => {
        if (key !== undefined) return context.skip(skip[key])
        await check(law, { seed, path, timeLimit, within: 0.9 * timeout })
      })
    }
  })
}

/**
 * Registers the laws of strategies as tests of your strategy.
 *
 * @example
 * ```ts
 * import { Keep, Strategy, SummaryMode, Trigger } from "@memfold/core"
 * import { strategyLaws } from "@memfold/testing/vitest"
 *
 * strategyLaws(
 *   Strategy.make({
 *     name: "mine",
 *     when: Trigger.uncovered({ messages: 12 }),
 *     keep: Keep.lastTurns(2),
 *     summaryMode: SummaryMode.rolling,
 *   }),
 *   { turns: 2 },
 * )
 * ```
 */
export const strategyLaws = <Settings>(
  subject: Subject<Settings>,
  options: StrategyPropertiesOptions<Settings> & SuiteOptions = {},
): void =>
  lawSuite(`${nameOf(subject, options.name)}: a strategy`, strategyProperties(subject, options), options)

/**
 * Registers the laws of stores as tests of your store.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog } from "@memfold/core"
 * import { eventLogLaws } from "@memfold/testing/vitest"
 *
 * eventLogLaws({ name: "in memory", layer: InMemoryEventLog.layer })
 * ```
 */
export const eventLogLaws = (
  options: EventLogPropertiesOptions & SuiteOptions & { readonly name: string },
): void => lawSuite(`${options.name}: an event log`, eventLogProperties(options), options)

/**
 * Registers the laws of vector indexes as tests of your index.
 *
 * @example
 * ```ts
 * import { Recall, VectorIndex } from "@memfold/core"
 * import { vectorIndexLaws } from "@memfold/testing/vitest"
 * import { Layer } from "effect"
 *
 * const layer = Layer.sync(VectorIndex.VectorIndex, () => Recall.vectorsInProcess())
 * vectorIndexLaws({ name: "in the process", layer })
 * ```
 */
export const vectorIndexLaws = (
  options: VectorIndexPropertiesOptions & SuiteOptions & { readonly name: string },
): void => lawSuite(`${options.name}: a vector index`, vectorIndexProperties(options), options)

/**
 * Registers the laws of whole memories as tests, over your store or with your strategies.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog } from "@memfold/core"
 * import { memoryLaws } from "@memfold/testing/vitest"
 *
 * memoryLaws({ name: "in memory", layer: InMemoryEventLog.layer })
 * ```
 */
export const memoryLaws = (
  options: MemoryPropertiesOptions & SuiteOptions & { readonly name: string },
): void => lawSuite(`${options.name}: a memory`, memoryProperties(options), options)
