/** `npm run simulate`: many seeds, or one with everything that happens in it. */
import { parseArgs } from "node:util"
import { failure, nothing, simulateAll, summary } from "./seeds.js"
import { simulate } from "./simulation.js"

const usage = `npm run simulate -- [options]

  --seeds N    how many seeds to run (10,000)
  --from SEED  the first of them (1)
  --seed SEED  run this one alone, and print every step
`

/** A whole number an option was given. */
const whole = (name: string, text: string): number => {
  const value = Number(text.replaceAll(/[,_]/gu, ""))
  if (Number.isSafeInteger(value) && value >= 0) return value
  process.stderr.write(`memfold: --${name} needs a whole number, not "${text}"\n\n${usage}`)
  process.exit(2)
}

const replay = (seed: number): void => {
  const { violation, steps } = simulate(seed, (line) => console.log(line))
  if (violation === null) return console.log(`simulation: seed ${seed} is well, after ${steps} steps`)
  if (violation.evidence !== undefined) console.log(JSON.stringify(violation.evidence, null, 2))
  console.log(`simulation: ${failure({ seed, steps, violation, counts: new Map() })}`)
  process.exitCode = 1
}

/** How many seeds run between two updates of the progress. */
const batch = 25

const runMany = (from: number, count: number): void => {
  const began = performance.now()
  const { isTTY } = process.stdout
  const took = () => performance.now() - began
  let tally = nothing
  let said = 0
  while (tally.seeds < count && tally.failed === null) {
    tally = simulateAll(from + tally.seeds, Math.min(batch, count - tally.seeds), tally)
    const [line = ""] = summary(tally, took()).split("\n")
    if (isTTY) process.stdout.write(`\r\u001b[K${line}`)
    else if (took() - said >= 10_000) {
      said = took()
      console.log(line)
    }
  }
  if (isTTY) process.stdout.write("\r\u001b[K")
  console.log(summary(tally, took()))
  if (tally.failed === null) return
  console.log(`simulation: ${failure(tally.failed)}`)
  process.exitCode = 1
}

const options = {
  seeds: { type: "string" },
  from: { type: "string" },
  seed: { type: "string" },
  help: { type: "boolean" },
} as const

const { values } = (() => {
  try {
    return parseArgs({ options })
  } catch (error) {
    process.stderr.write(`memfold: ${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    return process.exit(2)
  }
})()
if (values.help === true) console.log(usage)
else if (values.seed !== undefined) replay(whole("seed", values.seed))
else runMany(whole("from", values.from ?? "1"), whole("seeds", values.seeds ?? "10000"))
