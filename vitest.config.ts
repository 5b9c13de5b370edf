import { defineConfig } from "vitest/config"

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
    // Most of the tests wait for processes and disks now and then, so no core need be left free.
    maxWorkers: "100%",
    // A process started by a test takes its time on a busy machine; what hangs is found all the same.
    testTimeout: 120_000,
  },
})
