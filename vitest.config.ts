import { availableParallelism } from "node:os"
import { configDefaults, defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

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

/** The files that take longest begin first, so that none is left over at the end for one core alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array's, but the sequencer's
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/(simulation|mutants|shipped|worker|laws|embedded|page|listeners|templates|cli|import|copy|failover|tour|lab|published|stdio|processes|fair|strict|generated|agent|fullText|movingSlots|3-split-turn)\.test\.ts$/.test(
        moduleId,
      )
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

// Tests run from the sources: the "@memfold/source" condition of each package's exports.
export default defineConfig({
  resolve: { conditions: ["@memfold/source"] },
  ssr: { resolve: { conditions: ["@memfold/source"], externalConditions: ["@memfold/source"] } },
  test: {
    include: ["**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      "**/dist/**",
      // The tests over real transcripts, where no folder of transcripts is named.
      ...(process.env["MEMFOLD_CORPUS"] === undefined ? ["**/corpus/**"] : []),
    ],
    environment: "node",
    setupFiles: ["./scripts/seed.ts"],
    globalSetup: ["./scripts/orphans.ts"],
    provide: { seed },
    reporters: ["default", "./scripts/countsReporter.ts"],
    // No test keeps anything in a module, so the files of a worker load effect and the packages once.
    isolate: false,
    // Generated inputs die young: a larger nursery (in MiB) takes an eighth of the processor time off.
    execArgv: ["--max-semi-space-size=128"],
    sequence: { sequencer: LongestFirst },
    // Many of the tests wait for processes and disks, so one more than there are cores keeps the cores busy.
    maxWorkers: availableParallelism() + 1,
    // A process started by a test takes its time on a busy machine; what hangs is found all the same.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
