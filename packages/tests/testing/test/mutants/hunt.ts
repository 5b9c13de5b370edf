/** Runs the simulation, or laws of a memory, over a mutant of the engine, in a process of its own. */
import { execFile } from "node:child_process"
import { dirname, join } from "node:path"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { bundle } from "../../../../../scripts/bundle.mjs"
import type { EngineMutant } from "./engines.js"
import type { Caught } from "./Mutant.js"
import type { RimMutant } from "./rim.js"

/** Where the engine is, the messages and the log that it runs on, the readers of transcripts, the service with its proxy, and the adapters. */
export const sources = [
  "packages/core/src",
  "packages/engine",
  "packages/ports/log/src",
  "packages/ports/message/src",
  "packages/programs/cli/src",
  "packages/programs",
  "packages",
]

/** Makes the changes, or fails: a mutant must not quietly become the original. */
export const mutation = ({ name, changes }: EngineMutant) => ({
  name: `mutant: ${name}`,
  enforce: "pre" as const,
  transform: (code: string, id: string) => {
    const here = changes.filter(({ file }) => sources.some((folder) => id.endsWith(join(folder, file))))
    if (here.length === 0) return null
    const changed = here.reduce((text, { file, from, to }) => {
      if (text.split(from).length !== 2) throw new Error(`${file} has to have one place with: ${from}`)
      return text.replace(from, () => to)
    }, code)
    return { code: changed, map: null }
  },
})

/** Bundles a program with a mutant of the engine. */
const bundled = (mutant: EngineMutant, program: string, outDir: string): Promise<string> =>
  bundle(program, {
    outDir,
    name: mutant.name.replaceAll(/\W+/gu, "-"),
    plugins: [mutation(mutant)],
  })

/** What a program prints on both streams. */
const printedBy = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): Promise<string> =>
  new Promise((resolve) => {
    const options = { maxBuffer: 1 << 26, env: { ...process.env, ...env } }
    execFile(process.execPath, [...args], options, (_error, out, err) => resolve(`${out}\n${err}`))
  })

/** Runs the law that names the fault: of a memory, or of what `program` tests; `null` if it holds. */
export const huntByLaws = async (
  mutant: EngineMutant,
  outDir: string,
  { runs, seed }: { readonly runs: number; readonly seed: number },
  laws = "packages/tests/testing/test/mutants/laws.main.ts",
): Promise<Caught | null> => {
  const program = await bundled(mutant, laws, outDir)
  const printed = await printedBy([
    program,
    "--law",
    mutant.law,
    "--runs",
    String(runs),
    "--seed",
    String(seed),
  ])
  const answer = /^caught: (.*)$/mu.exec(printed)?.[1]
  if (answer === undefined) throw new Error(`the laws came to no end: ${printed.slice(-2_000)}`)
  return JSON.parse(answer) as Caught | null
}

/** Runs the test of the service, or of an adapter, that names the fault; `null` if it passes. */
export const huntByTests = async (mutant: RimMutant): Promise<Caught | null> => {
  const { resolve } = createRequire(import.meta.url)
  const vitest = join(dirname(resolve("vitest/package.json")), "vitest.mjs")
  const config = fileURLToPath(new URL("rim.config.ts", import.meta.url))
  const pattern = `^${mutant.law.replaceAll(/[.*+?^${}()|[\]\\]/gu, "\\$&")}`
  const args = [vitest, "run", mutant.test, "-t", pattern, "--config", config, "--reporter", "json"]
  const printed = await printedBy(args, {
    MEMFOLD_MUTANT: JSON.stringify(mutant),
    MEMFOLD_TEST_DEPTH: "quick",
  })
  const report = /^\{"numTotalTestSuites".*$/mu.exec(printed)?.[0]
  if (report === undefined) throw new Error(`the tests came to no end: ${printed.slice(-2_000)}`)
  const { testResults } = JSON.parse(report) as {
    readonly testResults: ReadonlyArray<{
      readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
    }>
  }
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  const tried = results.filter(({ status }) => status === "passed" || status === "failed")
  if (tried.length === 0) throw new Error(`there is no test "${mutant.law}": ${printed.slice(-2_000)}`)
  const failed = tried.find(({ status }) => status === "failed")
  return failed === undefined ? null : { law: failed.fullName.trim(), runs: 1 }
}

/**
 * Runs seeds until the law that names the fault is broken; `null` if it never is. A fault may break other laws as well,
 * and whichever comes first is luck.
 */
export const hunt = async (mutant: EngineMutant, outDir: string, seeds: number): Promise<Caught | null> => {
  const program = await bundled(mutant, "packages/core/test/simulation/main.ts", outDir)
  for (let from = 1; from <= seeds;) {
    const caught = await firstBroken(program, from, seeds)
    if (caught === null || caught.law === mutant.law) return caught
    from = caught.runs + 1
  }
  return null
}

/** Runs seeds from one on until any law is broken; `null` if none is. */
const firstBroken = async (program: string, from: number, to: number): Promise<Caught | null> => {
  const printed = await printedBy([program, "--from", String(from), "--seeds", String(to + 1 - from)])
  const found = /seed ([\d,]+) fails after [\d,]+ steps: (\w+): (.*)/u.exec(printed)
  if (found === null) {
    if (/simulation: [\d,]+ seeds/u.test(printed)) return null
    throw new Error(`the simulation of a mutant came to no end: ${printed.slice(-2_000)}`)
  }
  const [, seed = "", law = ""] = found
  return { law, runs: Number(seed.replaceAll(",", "")) }
}
