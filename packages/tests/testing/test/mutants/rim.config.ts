/** Vitest over the service, the proxy and the adapters with a fault, which `MEMFOLD_MUTANT` has; see `huntByTests`. */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import type { EngineMutant } from "./engines.js"
import { mutation } from "./hunt.js"

process.env["TZ"] = "America/St_Johns"

export default defineConfig({
  root: fileURLToPath(new URL("../../../../../", import.meta.url)),
  plugins: [mutation(JSON.parse(process.env["MEMFOLD_MUTANT"] ?? "{}") as EngineMutant)],
  resolve: { conditions: ["@memfold/source"] },
  ssr: { resolve: { conditions: ["@memfold/source"], externalConditions: ["@memfold/source"] } },
  test: {
    include: ["packages/programs/server/test/*.test.ts", "packages/adapters/*/src/*.test.ts"],
    setupFiles: ["./scripts/tests/seed.ts"],
    provide: { seed: 1 },
    isolate: false,
    // What waits for ever because of the fault has been found.
    testTimeout: 30_000,
  },
})
