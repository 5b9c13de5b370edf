/** The laws that every strategy has to keep, as properties. */
import type { Law } from "../law/Law.js"
import { kitOf, type StrategyPropertiesOptions, type Subject } from "./input.js"
import { contextLaws } from "./laws/context.js"
import { coverageLaws } from "./laws/coverage.js"
import { groupLaws } from "./laws/groups.js"
import { purityLaws } from "./laws/purity.js"
import { restartLaws } from "./laws/restart.js"
import { turnLaws } from "./laws/rounds.js"
import { settlingLaws } from "./laws/settling.js"
import { tailLaws } from "./laws/tail.js"
import { timeLaws } from "./laws/time.js"
import { workLaws } from "./laws/work.js"

/**
 * The laws that a strategy has to keep, as properties for any test runner; `strategyLaws` of `@memfold/testing/vitest`
 * makes tests of them.
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
 *   turns: (settings) => ({ keep: settings.fullContextTurns, take: settings.cachedContextTurns }),
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
    groupLaws,
    purityLaws,
    settlingLaws,
    timeLaws,
    restartLaws,
  ].flatMap((laws) => laws(kit))
}
