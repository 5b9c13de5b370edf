/** Checks laws of a memory with the engine that is bundled with it, until one of them does not hold. */
import { parseArgs } from "node:util"
import * as fc from "fast-check"
import { memoryProperties } from "../../src/index.js"
import { catchMutant } from "./Mutant.js"

const { values } = parseArgs({
  options: { law: { type: "string" }, runs: { type: "string" }, seed: { type: "string" } },
})
// Nobody reads the counterexample of a mutant: it need not be made smaller.
fc.configureGlobal({ endOnFailure: true })
const caught = await catchMutant(
  { name: "", law: values.law ?? "", laws: memoryProperties },
  { runs: Number(values.runs), seed: Number(values.seed) },
)
console.log(`caught: ${JSON.stringify(caught)}`)
