/**
 * `npm test`: sets up what is missing and runs every test; further arguments go to Vitest. `--corpus DIR` runs
 * the second suite instead, over real transcripts in a folder.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { redisServer } from "./redis.mjs"
import { root, run, setup, tool } from "./setup.mjs"

const args = process.argv.slice(2)
const corpus = args[0] === "--corpus"
const env = {}
if (corpus) {
  const folder = args[1] === undefined ? undefined : resolve(process.env.INIT_CWD ?? root, args[1])
  if (folder === undefined || !existsSync(folder)) {
    process.stderr.write(`memfold: there is no folder ${folder ?? ""}; type npm run test:corpus -- DIR\n`)
    process.exit(2)
  }
  env.MEMFOLD_CORPUS = folder
  args.splice(0, 2)
}

await setup()
// Of a part of the tests, only those of the Redis store need a server.
if (!corpus && (args.every((arg) => arg.startsWith("-")) || args.some((arg) => arg.includes("redis")))) {
  env.MEMFOLD_REDIS_SERVER = redisServer()
}
const folder = mkdtempSync(join(tmpdir(), "memfold-test-"))
const results = join(folder, "results.json")
const code = await run(
  tool("vitest"),
  [
    "run",
    ...(corpus ? ["--config", "vitest.corpus.config.ts"] : []),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${results}`,
    ...args,
  ],
  { stdio: "inherit", env },
)
if (existsSync(results)) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
    readFileSync(results, "utf8"),
  )
  const skipped = numPendingTests + numTodoTests
  console.log(
    `${corpus ? "corpus" : "tests"}: ${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped`,
  )
}
rmSync(folder, { recursive: true, force: true })
process.exitCode = code
