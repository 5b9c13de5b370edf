/** The laws of stores, as properties. */
import type { Law } from "../law/Law.js"
import { type EventLogPropertiesOptions, logKitOf } from "./input.js"
import { appendLaws } from "./laws/append.js"
import { durabilityLaws } from "./laws/durability.js"
import { feedLaws } from "./laws/feed.js"
import { modelLaws } from "./laws/model.js"
import { openingLaws } from "./laws/open.js"
import { ownerLaws } from "./laws/owners.js"
import { projectionLaws } from "./laws/projections.js"
import { raceLaws } from "./laws/races.js"
import { readLaws } from "./laws/read.js"
import { replaceLaws } from "./laws/replace.js"
import { rewriteLaws } from "./laws/rewrite.js"
import { sessionLaws } from "./laws/sessions.js"

/**
 * Returns the laws of event logs as properties for any test runner. `eventLogLaws` of `@memfold/testing/vitest` registers
 * them as tests. Each input gets a log of its own, which is closed afterwards.
 *
 * @example
 * ```ts
 * import { InMemoryEventLog } from "@memfold/core"
 * import { check, eventLogProperties } from "@memfold/testing"
 *
 * for (const law of eventLogProperties({ layer: InMemoryEventLog.layer })) await check(law)
 * ```
 */
export const eventLogProperties = (options: EventLogPropertiesOptions): ReadonlyArray<Law> => {
  const kit = logKitOf(options)
  return [
    appendLaws,
    raceLaws,
    readLaws,
    sessionLaws,
    openingLaws,
    ownerLaws,
    projectionLaws,
    rewriteLaws,
    replaceLaws,
    feedLaws,
    durabilityLaws,
    modelLaws,
  ].flatMap((laws) => laws(kit))
}
