import type { Law } from "../law/Law.js"
import { memoryKitOf, type MemoryPropertiesOptions } from "./input.js"
import {
  branchCoverageLaw,
  branchFoldLaw,
  branchMessagesLaw,
  branchPastLaw,
  branchRecallLaw,
  branchRedactionLaw,
} from "./laws/branches.js"
import { branchRacesLaw } from "./laws/branchRaces.js"
import { modelLaw } from "./laws/commands.js"
import { lostAnswersLaw, summarizerLaw } from "./laws/failures.js"
import { meaningLaw } from "./laws/meaning.js"
import { ownerRecallLaw } from "./laws/ownerRecall.js"
import { pendingLaw } from "./laws/pending.js"
import { leaseLaw, racesLaw } from "./laws/processes.js"
import { recallLaw } from "./laws/recall.js"
import { trustLaw } from "../law/trust.js"
import { conversation } from "../arbitrary/conversation.js"
import { batched } from "../arbitrary/interleaving.js"
import * as fc from "fast-check"
import { redactionLaw } from "./laws/redaction.js"

/**
 * Returns the laws of a whole memory over a log as properties for any test runner. `memoryLaws` of
 * `@memfold/testing/vitest` registers them as tests. They check that the engine works over your store, or with your
 * strategies.
 *
 * @example
 * ```ts
 * import { check, memoryProperties } from "@memfold/testing"
 * import { RollingBuffer } from "@memfold/strategy-rolling-buffer"
 *
 * for (const law of memoryProperties({ strategies: [RollingBuffer({ bufferSize: 2 })] })) await check(law)
 * ```
 */
export const memoryProperties = (options: MemoryPropertiesOptions = {}): ReadonlyArray<Law> => {
  const kit = memoryKitOf(options)
  return [
    modelLaw,
    summarizerLaw,
    lostAnswersLaw,
    racesLaw,
    leaseLaw,
    pendingLaw,
    redactionLaw,
    recallLaw,
    ownerRecallLaw,
    meaningLaw,
    branchCoverageLaw,
    branchMessagesLaw,
    branchFoldLaw,
    branchPastLaw,
    branchRedactionLaw,
    branchRecallLaw,
    branchRacesLaw,
    ({ strategies, numRuns, options }: typeof kit) =>
      trustLaw({
        inputs: fc.record({ strategy: strategies, batches: batched(conversation) }),
        numRuns,
        options,
      }),
  ].map((law) => law(kit))
}
