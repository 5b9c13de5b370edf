/** The laws of strategies, as properties. */
import type { Law } from "../law/Law.js"
import { kitOf, type StrategyPropertiesOptions, type Subject } from "./input.js"
import { contextLaws } from "./laws/context.js"
import { coverageLaws } from "./laws/coverage.js"
import { groupLaws } from "./laws/groups.js"
import { purityLaws } from "./laws/purity.js"
import { restartLaws } from "./laws/restart.js"
import { reasoningLaws } from "./laws/reasoning.js"
import { turnLaws } from "./laws/turns.js"
import { settlingLaws } from "./laws/ending.js"
import { tailLaws } from "./laws/tail.js"
import { timeLaws } from "./laws/time.js"
import { trustLaws } from "./laws/trust.js"
import { workLaws } from "./laws/work.js"

/**
 * Returns the laws of strategies as properties for any test runner. `strategyLaws` of `@memfold/testing/vitest` registers
 * them as tests. Throws a `TypeError` if `turns` is a function and the subject is no definition.
 *
 * The subject is a strategy, a definition with an arbitrary of its settings, or an arbitrary of strategies.
 *
 * @example
 * ```ts
 * import { check, strategyProperties } from "@memfold/testing"
 * import { Rounds } from "@memfold/strategy-rounds"
 * import * as fc from "fast-check"
 *
 * const upToThree = fc.integer({ min: 1, max: 3 })
 * const laws = strategyProperties(Rounds, {
 *   options: fc.record({ fullContextTurns: upToThree, cachedContextTurns: upToThree }),
 *   turns: (settings) => ({ keep: settings.fullContextTurns, batchSize: settings.cachedContextTurns }),
 * })
 * for (const law of laws) await check(law)
 * ```
 */
export const strategyProperties = <Settings>(
  subject: Subject<Settings>,
  options: StrategyPropertiesOptions<Settings> = {},
): ReadonlyArray<Law> => {
  const kit = kitOf(subject, options)
  return [
    workLaws,
    tailLaws,
    turnLaws,
    coverageLaws,
    contextLaws,
    reasoningLaws,
    groupLaws,
    purityLaws,
    settlingLaws,
    timeLaws,
    restartLaws,
    trustLaws,
  ].flatMap((laws) => laws(kit))
}
