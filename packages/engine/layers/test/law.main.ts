/** Checks the laws of facts with the layers that are bundled with it, until one of them does not hold. */
import { parseArgs } from "node:util"
import * as fc from "fast-check"
import { examine, factProperties, title } from "@memfold/testing"
import { playedLayers } from "./played.js"

const { values } = parseArgs({
  options: { law: { type: "string" }, runs: { type: "string" }, seed: { type: "string" } },
})
fc.configureGlobal({ endOnFailure: true })
const [law] = factProperties({ layers: playedLayers })
const verdict = await examine(law!, { numRuns: Number(values.runs), seed: Number(values.seed) })
const caught = verdict._tag === "Broken" ? { law: title(law!), runs: verdict.runs } : null
console.log(`caught: ${JSON.stringify(caught)}`)
