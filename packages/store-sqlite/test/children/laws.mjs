/** `laws.mjs FOLDER RUNS SEED`: checks the laws of stores over files in a folder, and prints a line for each. */
import { check, eventLogProperties, title } from "@memfold/testing"
import { join } from "node:path"
import { layer } from "../../src/index.js"

const [folder, runs, seed] = process.argv.slice(2)
let files = 0
const fresh = () => layer({ filename: join(folder, `${++files}.db`), synchronous: "normal" })

const laws = eventLogProperties({ layer: fresh, reopen: fresh, numRuns: Number(runs) })
for (const law of laws) {
  const broken = await check(law, { seed: Number(seed), timeLimit: 60_000 }).then(
    () => null,
    (error) => error,
  )
  console.log(broken === null ? `holds ${title(law)}` : `broken ${title(law)}: ${broken.message}`)
}
console.log(`${laws.length} laws, ${files} files`)
