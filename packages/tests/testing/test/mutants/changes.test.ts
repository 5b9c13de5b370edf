/** Each mutant changes a place that the source still has, once. The hunt itself takes minutes, so it runs in depth alone. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { adapterMutants } from "./adapters.js"
import { branchMutants } from "./branches.js"
import { engineMutants } from "./engines.js"
import { factMutants } from "./facts.js"
import { sources } from "./hunt.js"
import { originMutants } from "./origins.js"
import { readerMutants } from "./readers.js"
import { rimMutants } from "./rim.js"

const root = fileURLToPath(new URL("../../../../../", import.meta.url))

/** How often a text stands in the file that a mutant names. */
const places = (file: string, text: string): number =>
  sources
    .map((folder) => join(root, folder, file))
    .filter((path) => existsSync(path))
    .reduce((count, path) => count + readFileSync(path, "utf8").split(text).length - 1, 0)

describe("the places that mutants change", () => {
  it.each([
    ["engines", engineMutants],
    ["branches", branchMutants],
    ["origins", originMutants],
    ["facts", factMutants],
    ["readers", readerMutants],
    ["the service", rimMutants],
    ["adapters", adapterMutants],
  ])("%s", (_, mutants) => {
    expect(mutants.length).toBeGreaterThan(0)
    const changes = mutants.flatMap(({ changes }) => changes)
    expect(changes.filter(({ file, from }) => places(file, from) !== 1)).toEqual([])
  })
})
