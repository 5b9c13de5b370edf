/**
 * Parts with faults, each found by the law that names its fault, in at most 200 runs, or 1,500 for rare ones. A surviving
 * mutant shows that a law is missing. A quick run tries every third mutant, and no rare ones. docs/mutants.md has the results; `npm run test:deep -- mutants -u` writes it anew.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { adapterMutants } from "./adapters.js"
import { branchMutants } from "./branches.js"
import { type EngineMutant, engineMutants } from "./engines.js"
import { factMutants } from "./facts.js"
import { hunt, huntByLaws, huntByTests } from "./hunt.js"
import { type Caught, catchMutant, type Mutant } from "./Mutant.js"
import { originMutants } from "./origins.js"
import { readerMutants } from "./readers.js"
import { rendererMutants } from "./renderers.js"
import { rimMutants } from "./rim.js"
import { storeMutants } from "./stores.js"
import { strategyMutants } from "./strategies.js"
import { deep } from "@memfold/harness/depth"
import { page, type Row } from "./table.js"

const runs = 200
const runsOfRare = 1_500
const seed = 20_260

const found: Array<Row> = []

/** Every third one in a quick run, and no rare ones. */
const tried = <One extends Mutant | EngineMutant>(mutants: ReadonlyArray<One>): ReadonlyArray<One> =>
  deep ? mutants : mutants.filter((mutant) => !("rare" in mutant)).filter((_, position) => position % 3 === 0)

/** The rows of the tables of a page, without what lines them up. */
const rowsOf = (page: string) =>
  page.split("\n").flatMap((line) => (/^\| [a-z]/u.test(line) ? [line.replaceAll(/ +/gu, " ")] : []))

const note = (part: string, name: string, caught: Caught | null): void => {
  expect(caught, `nothing is wrong with ${part} that ${name}: a law is missing`).not.toBeNull()
  if (caught !== null) found.push({ part, name, ...caught })
}

const parts: ReadonlyArray<readonly [string, ReadonlyArray<Mutant>]> = [
  ["a strategy", strategyMutants],
  ["a renderer", rendererMutants],
  ["a store", storeMutants],
]

describe.each(parts)("%s that", (part, mutants) => {
  it.each(tried(mutants))("$name", async (mutant) => {
    note(part, mutant.name, await catchMutant(mutant, { runs, seed }))
  })
})

let outDir = ""
beforeAll(() => {
  outDir = mkdtempSync(join(tmpdir(), "memfold-mutants-"))
})
afterAll(() => rmSync(outDir, { recursive: true, force: true }))

describe("an engine that", () => {
  it.each(tried(engineMutants))("$name", async (mutant) => {
    const caught = await hunt(mutant, outDir, mutant.rare === true ? runsOfRare : runs)
    expect(caught ?? { law: "" }).toMatchObject({ law: mutant.law })
    note("an engine", mutant.name, caught)
  })
})

describe("an engine with branches that", () => {
  it.each(tried(branchMutants))("$name", async (mutant) => {
    note("an engine with branches", mutant.name, await huntByLaws(mutant, outDir, { runs, seed }))
  })
})

describe("an engine with origins that", () => {
  it.each(tried(originMutants))("$name", async (mutant) => {
    note("an engine with origins", mutant.name, await huntByLaws(mutant, outDir, { runs, seed }))
  })
})

describe("a memory layer that", () => {
  const laws = "packages/engine/layers/test/law.main.ts"
  it.each(tried(factMutants))("$name", async (mutant) => {
    note("a memory layer", mutant.name, await huntByLaws(mutant, outDir, { runs, seed }, laws))
  })
})

describe("a reader of transcripts that", () => {
  const laws = "packages/programs/cli/test/conserving/law.main.ts"
  it.each(tried(readerMutants))("$name", async (mutant) => {
    note("a reader of transcripts", mutant.name, await huntByLaws(mutant, outDir, { runs, seed }, laws))
  })
})

describe("a service that", () => {
  // Each starts a run of tests of its own, so a quick run has one.
  it.each(deep ? rimMutants : rimMutants.slice(0, 1))("$name", async (mutant) => {
    note("a service", mutant.name, await huntByTests(mutant))
  })
})

describe("an adapter that", () => {
  it.each(deep ? adapterMutants : adapterMutants.slice(0, 1))("$name", async (mutant) => {
    note("an adapter", mutant.name, await huntByTests(mutant))
  })
})

it("the page says what was found", async () => {
  const file = new URL("../../../../../docs/mutants.md", import.meta.url)
  if (deep) return expect(page(found)).toMatchFileSnapshot(fileURLToPath(file))
  const written = rowsOf(readFileSync(file, "utf8"))
  expect(written).toEqual(expect.arrayContaining([...rowsOf(page(found))]))
})
