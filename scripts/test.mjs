/**
 * `npm test`: sets up what is missing and runs tests. Without further words it runs the quick groups, with `--all` all groups but `deep`;
 * each package's tests of a group are one task of turbo, which answers from its cache while what they rest on is unchanged
 * (`--no-cache` runs them all the same). Other words go to Vitest, such as the folder of a package.
 *
 * `--deep` runs everything with the full counts, and `--corpus DIR` the tests over the real transcripts in a folder.
 */
import { createHash, randomInt } from "node:crypto"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { chromium } from "./chromium.mjs"
import { postgresPrograms } from "./postgres.mjs"
import { redisServer } from "./redis.mjs"
import { installRuntimes } from "./runtimes.mjs"
import { root, run, setup, tool } from "./setup.mjs"

const words = process.argv.slice(2)
const take = (word) => {
  const at = words.indexOf(word)
  if (at !== -1) words.splice(at, 1)
  return at !== -1
}
const deep = take("--deep")
const all = take("--all")
const uncached = take("--no-cache")
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
if ((all || deep || words.length > 0) && runs("store-sqlite", "packages/programs/memfold"))
  installRuntimes({ all: deep })
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

/** Runs groups of tests as tasks of turbo, and says at the end how many tests passed, and for how many the cache answered. */
const runGroups = async () => {
  // These need packages, which `setup` has installed.
  const { cacheFolder } = await import("./tests/cache.mjs")
  const { groups } = await import("./tests/groups.mjs")
  const { makeTasks, writeTasks, countsFile } = await import("./tests/tasks.mjs")
  const corpus = process.env.MEMFOLD_CORPUS
  const chosen = groups.filter(
    ({ name, quick }) => quick || (all && name !== "deep" && (name !== "corpus" || corpus)),
  )
  const names = new Set(chosen.map(({ name }) => name))
  const tasks = makeTasks().filter(({ group }) => names.has(group))
  const results = tasks.map((task) => ({ ...task, file: join(root, task.place, countsFile(task.group)) }))
  for (const { file } of results) rmSync(file, { force: true })
  const configuration = join(root, "node_modules/.memfold/tests.json")
  mkdirSync(join(configuration, ".."), { recursive: true })
  writeTasks(tasks, configuration)
  const id = String(randomInt(2 ** 40))
  const code = await run(
    tool("turbo"),
    [
      "run",
      ...chosen.map(({ name }) => `test:${name}`),
      `--root-turbo-json=${configuration}`,
      `--cache-dir=${cacheFolder("tests")}`,
      ...(uncached ? ["--force"] : []),
      "--continue=always",
      "--concurrency=2",
      "--env-mode=loose",
      "--output-logs=new-only",
      "--log-prefix=none",
      "--log-order=grouped",
    ],
    {
      stdio: "inherit",
      env: {
        ...env,
        MEMFOLD_SEED: process.env.MEMFOLD_SEED ?? "1",
        MEMFOLD_TEST_REPORT: id,
        MEMFOLD_TEST_WORKERS: "2",
        MEMFOLD_TEST_PLATFORM: [
          `${process.platform} ${process.arch} node ${process.version}`,
          version(env.MEMFOLD_REDIS_SERVER, "--version"),
          version(env.MEMFOLD_POSTGRES_BIN && join(env.MEMFOLD_POSTGRES_BIN, "postgres"), "--version"),
          version(env.MEMFOLD_PGBOUNCER, "--version"),
          version(env.MEMFOLD_CHROMIUM, "--version"),
        ].join("; "),
        ...(corpus ? { MEMFOLD_CORPUS_FILES: fingerprint(corpus) } : {}),
      },
    },
  )
  const { summary } = await import("./tests/summary.mjs")
  const { lines, failed } = summary(results, id)
  process.stdout.write(`\n${lines.join("\n")}\n`)
  return code === 0 && failed > 0 ? 1 : code
}

process.exitCode = await (deep || words.length > 0 ? runNamed() : runGroups())
