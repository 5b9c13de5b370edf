/**
 * `npm test`: sets up what is missing and runs tests. Without further words it runs the quick groups, with `--all` all groups but `deep`.
 * A file that passed does not run again while what it rests on is unchanged (`tests/results.mjs`; `--no-cache` runs it all the same).
 * Other words go to Vitest, such as the folder of a package.
 *
 * `--deep` runs everything with the full counts, and `--corpus DIR` the tests over the real transcripts in a folder. `--busy` lets the
 * tests stand still now and then (`tests/busy.mjs`).
 */
import { createHash } from "node:crypto"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { chromium } from "./chromium.mjs"
import { minilm } from "./minilm.mjs"
import { postgresPrograms } from "./postgres.mjs"
import { redisServer } from "./redis.mjs"
import { installRuntimes } from "./runtimes.mjs"
import { root, run, setup, tool } from "./setup.mjs"
import { whileBusy } from "./tests/busy.mjs"

const words = process.argv.slice(2)
const take = (word) => {
  const at = words.indexOf(word)
  if (at !== -1) words.splice(at, 1)
  return at !== -1
}
const deep = take("--deep")
const all = take("--all")
const uncached = take("--no-cache")
const busy = take("--busy")
const env = deep ? { MEMFOLD_TEST_DEPTH: "deep" } : {}
if (words[0] === "--corpus") {
  const folder = resolve(process.env.INIT_CWD ?? root, words[1] ?? "")
  if (words[1] === undefined || !existsSync(folder)) {
    process.stderr.write(`memfold: there is no folder ${words[1] ?? ""}; type npm run test:corpus -- DIR\n`)
    process.exit(2)
  }
  env.MEMFOLD_CORPUS = folder
  words.splice(0, 2, "packages/programs/cli/corpus", "packages/programs/memfold/corpus")
}

await setup()
/** Whether tests of one of some packages run. If only some tests run, only their programs are needed, and the ones of the test servers. */
const runs = (...packages) =>
  words.every((word) => word.startsWith("-")) ||
  words.some((word) => [...packages, "harness"].some((name) => word.includes(name)))
// Without its programs, the tests of a package fail with a message.
if (runs("redis", "worker-bullmq", "cli", "server", "sealed")) {
  const server = redisServer()
  if (server !== undefined) env.MEMFOLD_REDIS_SERVER = server
}
if (runs("postgres", "worker-pg-boss", "worker-cluster", "cli", "server", "create-memfold", "sealed")) {
  const programs = postgresPrograms()
  if (programs !== undefined) {
    env.MEMFOLD_POSTGRES_BIN = programs.bin
    env.MEMFOLD_PGBOUNCER = programs.bouncer
  }
}
if ((all || deep || words.length > 0) && runs("store-sqlite", "packages/programs/memfold"))
  installRuntimes({ all: deep })
if (deep && runs("embedder-local")) {
  const folder = minilm()
  if (folder !== undefined) env.MEMFOLD_MINILM = folder
}
if (runs("ai-sdk", "studio", "create-memfold")) {
  const browser = chromium()
  if (browser !== undefined) env.MEMFOLD_CHROMIUM = browser
}

/** Runs the tests that words of Vitest name, without the cache. */
const runNamed = () => run(tool("vitest"), ["run", ...words], { stdio: "inherit", env })

/** What a program says about its version. */
const version = (program, ...args) =>
  program === undefined ? "none" : spawnSync(program, args, { encoding: "utf8" }).stdout?.trim()

/** The names and contents of all files in a folder, as one hash. */
const fingerprint = (folder) => {
  const hash = createHash("sha256")
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  )) {
    const path = join(entry.parentPath, entry.name)
    hash.update(relative(folder, path)).update(readFileSync(path))
  }
  return hash.digest("hex")
}

/** Runs the files of some groups, without those that passed before, and says at the end what all of them came to. */
const runGroups = async () => {
  // These need packages, which `setup` has installed.
  const { groups } = await import("./tests/groups.mjs")
  const { keepResult, plannedTests } = await import("./tests/results.mjs")
  const { summary } = await import("./tests/summary.mjs")
  const corpus = process.env.MEMFOLD_CORPUS
  const seed = process.env.MEMFOLD_SEED ?? "1"
  const chosen = groups
    .filter(({ name, quick }) => quick || (all && name !== "deep" && (name !== "corpus" || corpus)))
    .map(({ name }) => name)
  const platform = [
    `${process.platform} ${process.arch} node ${process.version} seed ${seed}`,
    version(env.MEMFOLD_REDIS_SERVER, "--version"),
    version(env.MEMFOLD_POSTGRES_BIN && join(env.MEMFOLD_POSTGRES_BIN, "postgres"), "--version"),
    version(env.MEMFOLD_PGBOUNCER, "--version"),
    version(env.MEMFOLD_CHROMIUM, "--version"),
  ].join("; ")
  const transcripts = corpus && all ? fingerprint(corpus) : ""
  const planned = plannedTests(chosen, (group) => platform + (group === "corpus" ? transcripts : ""))
  const asked = planned.filter(({ kept }) => uncached || kept === undefined)
  const report = join(root, "node_modules/.memfold/counts.json")
  mkdirSync(dirname(report), { recursive: true })
  rmSync(report, { force: true })
  const code =
    asked.length === 0
      ? 0
      : await run(tool("vitest"), ["run", ...asked.map(({ file }) => file)], {
          stdio: "inherit",
          env: { ...env, MEMFOLD_SEED: seed, MEMFOLD_TEST_COUNTS: report },
        })
  const { files, others } =
    asked.length === 0
      ? { files: [], others: 0 }
      : existsSync(report)
        ? JSON.parse(readFileSync(report, "utf8"))
        : { files: [], others: 1 }
  const ran = new Map(files.map(({ file, counts }) => [file, counts]))
  // A run that failed without a failed test has left something behind, and nobody knows which file did.
  const trusted = code === 0 || files.some(({ counts }) => counts.failed > 0)
  for (const { file, key } of asked) {
    const counts = ran.get(file)
    if (trusted && counts?.failed === 0) keepResult(key, counts)
  }
  const results = planned.map(({ file, group, kept }) => ({
    group,
    counts:
      ran.get(file) ??
      (asked.some((one) => one.file === file) ? { failed: 1 } : { ...kept, cached: kept.passed }),
  }))
  const { lines, failed } = summary(results, others)
  process.stdout.write(`\n${lines.join("\n")}\n`)
  return code === 0 && failed > 0 ? 1 : code
}

const runAsked = deep || words.length > 0 ? runNamed : runGroups
process.exitCode = await (busy ? whileBusy(runAsked) : runAsked())
