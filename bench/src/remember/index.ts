/**
 * `npm run bench -- remember`: what stands in contexts when it is needed, and what it costs, on LoCoMo, LongMemEval, tau-bench
 * and a coding session; the folder with the data comes from `MEMFOLD_DATA`.
 */
import { startWorkers } from "@memfold/lab"
import { availableParallelism } from "node:os"
import { indexedAppends } from "../search.js"
import { addedTo } from "./additions.js"
import { type Bound, printBounds } from "./bounds.js"
import { dataSets } from "./dataSets.js"
import { recallOf } from "./recall.js"
import { strategies } from "./strategies.js"
import { summaries } from "./summaries.js"

/** Measures and prints. Returns whether every bound holds. */
export const remember = async (): Promise<boolean> => {
  const sets = dataSets()
  if (sets === null) return false
  // Measured by the clock, so nothing else runs beside it.
  const bounds: Array<Bound> = [...(await indexedAppends())]
  const workers = startWorkers({
    module: new URL("./worker.js", import.meta.url),
    size: availableParallelism(),
  })
  try {
    bounds.push(...(await recallOf(sets.locomo.conversations)))
    bounds.push(...(await strategies(sets, workers)))
    for (const set of [sets.locomo, sets.longMemEval, sets.cases, sets.coding])
      bounds.push(...(await addedTo(set, workers)))
  } finally {
    await workers.close()
  }
  bounds.push(...(await summaries(sets)))
  return printBounds(bounds)
}
