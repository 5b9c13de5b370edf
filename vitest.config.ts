import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The files that take a minute each begin first, so that none is left over at the end for one core alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // oxlint-disable-next-line unicorn/no-array-sort -- no array's, but the sequencer's
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/(simulation|mutants|shipped|cli|import|copy)\.test\.ts$/.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

// Tests run from the sources: the "@memfold/source" condition of each package's exports.
export default defineConfig({
  resolve: { conditions: ["@memfold/source"] },
  ssr: { resolve: { conditions: ["@memfold/source"], externalConditions: ["@memfold/source"] } },
  test: {
    include: [
      "packages/**/src/**/*.test.ts",
      "packages/**/test/**/*.test.ts",
      "packages/memfold/conformance/*.test.ts",
      "examples/**/*.test.ts",
    ],
    environment: "node",
    // No test keeps anything in a module, so the files of a worker load effect and the packages once.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Most of the tests wait for processes and disks now and then, so no core need be left free.
    maxWorkers: "100%",
    // A process started by a test takes its time on a busy machine; what hangs is found all the same.
    testTimeout: 120_000,
  },
})
