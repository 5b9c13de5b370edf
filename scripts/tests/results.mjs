/**
 * What each test file came to when it last ran. A file that passed does not run again while what decides its result is unchanged: the
 * files that it rests on (`inputs.mjs`), how tests are run, what is installed, Node, the versions of the servers, and the seed. The counts
 * of its tests are kept outside of the clone, under a hash of all these.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../setup.mjs"
import { cacheFolder } from "./cache.mjs"
import { groupOf } from "./groups.mjs"
import { makeInputs } from "./inputs.mjs"

/** What all test files rest on. */
const always = ["vitest.config.ts", "pnpm-lock.yaml", "scripts/tests/seed.ts", "scripts/tests/orphans.ts"]

const hashOf = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part).update("\0")
  return hash.digest("hex")
}

/** The test files: path, group, and the files that each rests on. */
export const testFiles = () => {
  const { files, of } = makeInputs()
  return files
    .filter((file) => file.endsWith(".test.ts") && groupOf(file) !== undefined)
    .map((file) => ({ file, group: groupOf(file), inputs: new Set([...always, ...of(file)]) }))
}

const resultFile = (key) => join(cacheFolder("tests"), `${key}.json`)

/**
 * The test files of some groups, each with its key and with the counts of an earlier run.
 *
 * @param groups - their names
 * @param surroundings - what decides results beside files: a text for each group
 */
export const plannedTests = (groups, surroundings) => {
  const hashes = new Map()
  const hashOfFile = (file) => {
    const known = hashes.get(file) ?? hashOf(readFileSync(join(root, file)))
    hashes.set(file, known)
    return known
  }
  return testFiles()
    .filter(({ group }) => groups.includes(group))
    .map(({ file, group, inputs }) => {
      const parts = [...inputs].toSorted().flatMap((input) => [input, hashOfFile(input)])
      const key = hashOf(file, surroundings(group), ...parts)
      const kept = existsSync(resultFile(key)) ? JSON.parse(readFileSync(resultFile(key), "utf8")) : undefined
      return { file, group, key, kept }
    })
}

/** Keeps the counts of a file that passed. */
export const keepResult = (key, counts) => {
  mkdirSync(cacheFolder("tests"), { recursive: true })
  writeFileSync(resultFile(key), JSON.stringify(counts))
}
