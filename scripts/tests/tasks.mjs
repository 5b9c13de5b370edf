/**
 * The tasks that turbo runs: one for each group of tests in each package that has tests of it. A task is answered from the cache while
 * the files that its tests rest on are unchanged (`inputs.mjs`), as are Node, the versions of the servers, and the seed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../setup.mjs"
import { groupOf } from "./groups.mjs"
import { makeInputs } from "./inputs.mjs"

/** What all tasks rest on beside the files of their tests: how tests are run, and what is installed. */
const always = ["vitest.config.ts", "pnpm-lock.yaml", "scripts/tests/seed.ts", "scripts/tests/orphans.ts"]

/** Variables of the environment on which results depend. `MEMFOLD_TEST_PLATFORM` has the versions of programs. */
const env = ["MEMFOLD_SEED", "MEMFOLD_TEST_DEPTH", "MEMFOLD_TEST_PLATFORM"]

/** Where the counts of a task are kept, in the folder of its package. The cache brings them back. */
export const countsFile = (group) => `.turbo/tests/${group}.json`

/** The tasks: package, its folder, group, test files, and the files that they rest on. */
export const makeTasks = () => {
  const { files, manifests, of } = makeInputs()
  const places = [...manifests.values()]
    .map(({ place }) => place)
    .toSorted((one, other) => other.length - one.length)
  const nameAt = new Map([...manifests].map(([name, { place }]) => [place, name]))
  const tasks = new Map()
  for (const file of files) {
    const group = file.endsWith(".test.ts") ? groupOf(file) : undefined
    if (group === undefined) continue
    const place = places.find((folder) => file.startsWith(`${folder}/`))
    const key = `${nameAt.get(place)}#test:${group}`
    const task = tasks.get(key) ?? { key, place, group, tests: [], inputs: new Set(always) }
    task.tests.push(file)
    for (const input of of(file)) task.inputs.add(input)
    tasks.set(key, task)
  }
  return [...tasks.values()]
}

/** Writes turbo's configuration of some tasks to a file. */
export const writeTasks = (tasks, file) => {
  const { tasks: build, ...turbo } = JSON.parse(readFileSync(join(root, "turbo.json"), "utf8"))
  const entries = tasks.map(({ key, group, inputs }) => [
    key,
    {
      env: group === "corpus" ? [...env, "MEMFOLD_CORPUS_FILES"] : env,
      inputs: [...inputs].toSorted().map((input) => `$TURBO_ROOT$/${input}`),
      outputs: [countsFile(group)],
    },
  ])
  writeFileSync(file, JSON.stringify({ ...turbo, tasks: { ...build, ...Object.fromEntries(entries) } }))
}
