/** `npm run bench [-- NAME…]`: sets up what is missing and measures. */
import { join } from "node:path"
import { chromium } from "./chromium.mjs"
import { minilm } from "./minilm.mjs"
import { postgresPrograms } from "./postgres.mjs"
import { redisServer } from "./redis.mjs"
import { root, run, setup, tool } from "./setup.mjs"

await setup()
const given = process.argv.slice(2)
const asked = given.filter((name) => name !== "extractive")
// The extractive summarizer is measured on the transcripts in MEMFOLD_CORPUS, or on the shipped samples.
if (given.length === 0 || given.includes("extractive")) {
  const samples = join(root, "packages/programs/cli/samples")
  const env = { MEMFOLD_CORPUS: process.env.MEMFOLD_CORPUS ?? samples }
  process.exitCode = await run(tool("vitest"), ["run", "packages/programs/cli/corpus/extractive"], {
    stdio: "inherit",
    env,
  })
  if (given.length === 1) process.exit()
}
// Recall is measured on the data sets in the folder MEMFOLD_DATA, ../shared/data by default.
const needsBoth =
  asked.length === 0 ||
  asked.some((name) =>
    ["databases", "first", "load", "moving", "scale", "serve", "sessions", "shards", "stampede"].includes(
      name,
    ),
  )
const env = needsBoth
  ? {
      MEMFOLD_REDIS_SERVER: redisServer() ?? process.exit(2),
      MEMFOLD_POSTGRES_BIN: (postgresPrograms() ?? process.exit(2)).bin,
    }
  : asked.some((name) => ["stores", "turn"].includes(name))
    ? { MEMFOLD_REDIS_SERVER: redisServer() ?? process.exit(2) }
    : {}
if (asked.includes("meaning")) env.MEMFOLD_MINILM = minilm() ?? process.exit(2)
if (asked.length === 0 || asked.includes("studio")) env.MEMFOLD_CHROMIUM = chromium() ?? process.exit(2)
process.exitCode ||= await run(process.execPath, [join(root, "bench/dist/main.js"), ...asked], {
  stdio: "inherit",
  shell: false,
  env,
})
