import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { cacheFolder } from "./scripts/tests/cache.mjs"
import { noTests, ofTranscripts } from "./scripts/tests/groups.mjs"

// Half an hour beside the hour, west of Greenwich, with daylight saving time: who takes this zone for UTC is found out.
process.env["TZ"] = "America/St_Johns"

/**
 * The seed of all generated inputs: what was asked for with `MEMFOLD_SEED`, a new one in a deep run by hand, and otherwise
 * always the same, so that a red run in continuous integration is due to the change it runs for.
 */
const seed = (() => {
  const [asked] = process.env["MEMFOLD_SEED"]?.split(":") ?? []
  if (asked !== undefined && asked.trim() !== "") {
    if (!Number.isSafeInteger(Number(asked)))
      throw new Error(`MEMFOLD_SEED is "${asked}"; a seed is a whole number`)
    return Number(asked)
  }
  const explores = process.env["MEMFOLD_TEST_DEPTH"] === "deep" && process.env["CI"] === undefined
  return explores ? Date.now() % 2 ** 31 : 1
})()

/** How long a test may take, in milliseconds. */
const patience = process.env["MEMFOLD_TEST_DEPTH"] === "deep" ? 3_600_000 : 600_000

export default defineConfig({
  // Tests run from the sources: the "@memfold/source" condition of each package's exports.
  resolve: { conditions: ["@memfold/source"] },
  ssr: { resolve: { conditions: ["@memfold/source"], externalConditions: ["@memfold/source"] } },
  // How long each file took is kept here, for the next run, which begins with the longest.
  cacheDir: cacheFolder("vitest"),
  test: {
    include: ["**/*.test.ts"],
    exclude: [...noTests, ...(process.env["MEMFOLD_CORPUS"] === undefined ? ofTranscripts : [])],
    environment: "node",
    setupFiles: ["./scripts/tests/seed.ts", "./scripts/tests/processorTime.ts"],
    globalSetup: ["./scripts/tests/orphans.ts"],
    provide: { seed },
    reporters: ["default", "./scripts/tests/countsReporter.ts"],
    // Whoever reads the results sees what failing tests have printed, and nothing of the others.
    silent: "passed-only",
    // No test keeps anything in a module, so all files of a worker load effect and the packages once.
    isolate: false,
    // Many of the tests wait for processes and disks, so one more than there are cores keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
    // Generated inputs die young: a larger nursery (in MiB) takes an eighth of the processor time off.
    execArgv: ["--max-semi-space-size=128"],
    // A process started by a test takes its time on a busy machine, and a deep run tries hundreds of cases; what hangs is found all the same.
    testTimeout: patience,
    hookTimeout: patience,
    // What is looked for until it is there may take as long: a second, the default, is short on a busy machine.
    expect: { poll: { timeout: 60_000 } },
  },
})
