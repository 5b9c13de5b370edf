/** Checks the laws of facts with the layers that are bundled with it, until one of them does not hold. */
import { parseArgs } from "node:util"
import * as fc from "fast-check"
import { factProperties } from "@memfold/testing"
import { catchMutant } from "../../../tests/testing/test/mutants/Mutant.js"
import { playedLayers } from "./played.js"

const { values } = parseArgs({
  options: { law: { type: "string" }, runs: { type: "string" }, seed: { type: "string" } },
})
fc.configureGlobal({ endOnFailure: true })
const caught = await catchMutant(
  { name: "", law: values.law ?? "", laws: () => factProperties({ layers: playedLayers }) },
  { runs: Number(values.runs), seed: Number(values.seed) },
)
console.log(`caught: ${JSON.stringify(caught)}`)
