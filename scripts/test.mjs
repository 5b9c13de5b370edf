/**
 * `npm test`: sets up what is missing and runs the tests; further arguments go to Vitest. `--deep` runs them with the full
 * counts, and `--corpus DIR` runs those over the real transcripts in a folder.
 */
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { chromium } from "./chromium.mjs"
import { postgresPrograms } from "./postgres.mjs"
import { redisServer } from "./redis.mjs"
import { installRuntimes } from "./runtimes.mjs"
import { root, run, setup, tool } from "./setup.mjs"

const env = {}
const args = process.argv.slice(2).filter((arg) => arg !== "--deep")
if (args.length < process.argv.length - 2) env.MEMFOLD_TEST_DEPTH = "deep"
if (args[0] === "--corpus") {
  const folder = resolve(process.env.INIT_CWD ?? root, args[1] ?? "")
  if (args[1] === undefined || !existsSync(folder)) {
    process.stderr.write(`memfold: there is no folder ${args[1] ?? ""}; type npm run test:corpus -- DIR\n`)
    process.exit(2)
  }
  env.MEMFOLD_CORPUS = folder
  args.splice(0, 2, "packages/cli/corpus", "packages/memfold/corpus")
}

await setup()
/** Whether tests of one of some packages run. If only some tests run, only their programs are needed, and the ones of the test servers. */
const runs = (...packages) =>
  args.every((arg) => arg.startsWith("-")) ||
  args.some((arg) => [...packages, "harness"].some((name) => arg.includes(name)))
// Without its programs, the tests of a package fail with a message.
if (runs("redis", "worker-bullmq", "cli", "server")) {
  const server = redisServer()
  if (server !== undefined) env.MEMFOLD_REDIS_SERVER = server
}
if (runs("postgres", "worker-pg-boss", "worker-cluster", "cli", "server", "create-memfold")) {
  const programs = postgresPrograms()
  if (programs !== undefined) {
    env.MEMFOLD_POSTGRES_BIN = programs.bin
    env.MEMFOLD_PGBOUNCER = programs.bouncer
  }
}
if (runs("store-sqlite", "packages/memfold")) installRuntimes({ all: env.MEMFOLD_TEST_DEPTH === "deep" })
if (runs("ai-sdk", "studio", "create-memfold")) {
  const browser = chromium()
  if (browser !== undefined) env.MEMFOLD_CHROMIUM = browser
}
process.exitCode = await run(tool("vitest"), ["run", ...args], { stdio: "inherit", env })
