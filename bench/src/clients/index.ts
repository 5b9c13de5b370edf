/**
 * `npm run clients [-- NAME…]`: coding agents, the real programs, through `memfold wrap` and `memfold serve` in front of a server that is
 * as strict as their providers. Each program has four conversations: without a proxy, wrapped, with a proxy that is killed again and
 * again, and with its own compaction. Nothing may be refused, fail, get lost or stand twice, and the proxy may not cost more.
 *
 * The folder with the programs is in `MEMFOLD_CLIENTS`; `scripts/clients.mjs` installs them.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { programs, type Program } from "./programs.js"
import { compacted, type Folders, killed, type Outcome, without, wrapped } from "./runs.js"

/** The conversation whose cost is measured, and the conversation of the other runs. */
const sizes = { measured: { tasks: 3, turns: 20 }, short: { tasks: 2, turns: 10 } }

const folder = process.env["MEMFOLD_CLIENTS"]
if (folder === undefined) {
  process.stderr.write("memfold: MEMFOLD_CLIENTS is the folder with the programs; npm run clients sets it\n")
  process.exit(2)
}

const number = (value: number): string => value.toLocaleString("en")

const row = ({ run, requests, fresh, cached, written, output, dollars, stored }: Outcome): string =>
  [
    run.padEnd(10),
    ...[requests, stored?.summaries ?? 0, (stored?.branches ?? 1) - 1, cached, written, fresh, output].map(
      (value, at) => number(value).padStart([8, 9, 8, 9, 9, 7, 7][at]!),
    ),
    `$${dollars.toFixed(3)}`.padStart(7),
  ].join("  ")

const versionOf = (program: Program): string =>
  (
    JSON.parse(readFileSync(join(folder, "node_modules", program.package, "package.json"), "utf8")) as {
      readonly version: string
    }
  ).version

/** Runs a program, and says whether all was well. */
const tried = async (program: Program): Promise<boolean> => {
  const runs = mkdtempSync(join(tmpdir(), "memfold-clients-"))
  const folders: Folders = { programs: join(folder, "node_modules", ".bin"), runs }
  console.log(
    `\n${program.name}: ${program.package} ${versionOf(program)}, at the prices of ${program.prices}`,
  )
  console.log("            requests  summaries  branches     cached    written    fresh   output    money")
  const outcomes: Array<Outcome> = []
  const note = (outcome: Outcome): void => {
    outcomes.push(outcome)
    console.log(row(outcome))
    for (const fault of outcome.faults) console.log(`  fault: ${fault}`)
  }
  note(await without(program, folders, sizes.measured))
  note(await wrapped(program, folders, sizes.measured))
  note(await killed(program, folders, sizes.measured))
  note(await compacted(program, folders, sizes.short))
  const [bare, through] = outcomes
  const isDearer = through!.dollars > bare!.dollars
  console.log(
    isDearer
      ? "  fault: the proxy costs more"
      : `  the proxy saves ${Math.round(100 * (1 - through!.dollars / bare!.dollars))} %`,
  )
  const isGood = !isDearer && outcomes.every(({ faults }) => faults.length === 0)
  if (isGood) rmSync(runs, { recursive: true, force: true, maxRetries: 5 })
  else console.log(`  the files of the runs are in ${runs}`)
  return isGood
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !programs.some((program) => program.name === name))
if (unknown !== undefined) {
  process.stderr.write(
    `memfold: there is no program "${unknown}"; there are: ${programs.map(({ name }) => name).join(", ")}\n`,
  )
  process.exit(2)
}
let isGood = true
for (const program of programs)
  if (asked.length === 0 || asked.includes(program.name)) isGood = (await tried(program)) && isGood
process.exit(isGood ? 0 : 1)
