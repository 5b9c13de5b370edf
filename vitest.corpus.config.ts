import { defineConfig, mergeConfig } from "vitest/config"
import base from "./vitest.config.js"

/** The second suite: every strategy over the real transcripts in the folder that MEMFOLD_CORPUS names. */
const config = mergeConfig(base, defineConfig({ test: { testTimeout: 300_000 } }))
export default { ...config, test: { ...config.test, include: ["packages/memfold/corpus/**/*.test.ts"] } }
