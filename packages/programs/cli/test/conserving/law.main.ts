/** Runs one law over the files of all writers: for mutants of the readers. */
import { parseArgs } from "node:util"
import { broken, laws, writers } from "./law.js"

const { values } = parseArgs({
  options: { law: { type: "string" }, runs: { type: "string" }, seed: { type: "string" } },
})
const law = laws.find(({ name }) => `L23: ${name}`.startsWith(values.law ?? ""))
if (law === undefined) throw new Error(`there is no law ${values.law}`)
const options = { runs: Number(values.runs), seed: Number(values.seed) }
const found = writers
  .filter(law.applies)
  .map((writer) => broken(law, writer, options))
  .find((one) => one !== null)
console.log(
  `caught: ${JSON.stringify(found === undefined ? null : { law: `L23: ${law.name}`, runs: found.runs })}`,
)
