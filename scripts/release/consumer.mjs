/** A project outside the workspace that installs the packages, as whoever uses them does. */
import { spawnSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { delimiter, dirname, isAbsolute, join } from "node:path"
import { which } from "../install.mjs"
import { installedRuntimes, installRuntimes } from "../runtimes.mjs"
import { examples, notRun, runExample, writeExamples } from "./examples.mjs"
import { measured } from "./measured.mjs"
import { pnpm } from "./prepare.mjs"

const compilers = {
  nodenext: { module: "nodenext", outDir: "out" },
  node16: { module: "node16", noEmit: true },
  bundler: { module: "esnext", moduleResolution: "bundler", noEmit: true },
}

/** Where this Node has its headers: a native package that has to be compiled need not load them. */
const nodeFolder = dirname(dirname(process.execPath))
export const headers = existsSync(join(nodeFolder, "include/node/node.h"))
  ? { npm_config_nodedir: nodeFolder }
  : {}

/** The Node of the projects: one with a SQLite of its own where npm has it, so that no driver has to be compiled. */
const node = () =>
  installedRuntimes().find(({ name }) => name === "node-24")?.program ??
  (process.getBuiltinModule?.("node:sqlite") === undefined ? undefined : process.execPath)

/** The environment of programs in a project, which find the Node of the projects first. */
const environment = (command) => {
  const first = dirname(isAbsolute(command) ? command : (node() ?? process.execPath))
  const path = `${first}${delimiter}${process.env.PATH}`
  const own = { npm_config_user_agent: undefined, OPENAI_API_KEY: "none", PATH: path, ...headers }
  return { ...process.env, ...own }
}

const call = (folder, command, args, timeout = 600_000) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout,
    env: environment(command),
    maxBuffer: 1e8,
  })
  return { ok: status === 0, out: `${stdout}${stderr}${error === undefined ? "" : String(error)}` }
}

const managers = {
  npm: { install: ["install", "--no-audit", "--no-fund"], command: "npm" },
  // Nothing is found that a package does not declare.
  pnpm: { install: ["add", "--config.hoist=false"], command: pnpm },
  bun: { install: ["add"], command: "bun" },
}

const project = (folder, manager, registry) => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "consumer", private: true, type: "module" }),
  )
  writeFileSync(join(folder, ".npmrc"), `registry=${registry}\n`)
  if (manager === "pnpm")
    writeFileSync(
      join(folder, "pnpm-workspace.yaml"),
      "hoist: false\nallowBuilds:\n  better-sqlite3: true\n  msgpackr-extract: false\n  esbuild: false\n  '@parcel/watcher': false\nminimumReleaseAge: 0\n",
    )
}

/** Installs with a package manager, whose program is where `program` says or on the path; throws if that fails. */
const install = (folder, manager, names, program = managers[manager].command) => {
  const { install: verb } = managers[manager]
  const { ok, out } = call(folder, program, [...verb, ...names], 1_800_000)
  if (!ok) throw new Error(`${manager} ${names.join(" ")}\n${out}`)
}

const megabytes = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0) / 1e6

/** How many packages are in a project. */
const countOf = (folder, manager) => {
  if (manager === "npm") {
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"))
    return Object.keys(lock.packages).filter((path) => path !== "").length
  }
  return readdirSync(join(folder, "node_modules/.pnpm")).filter((name) => name.includes("@")).length
}

/**
 * What the installation of some packages brings: how many packages, how many MB, and how many seconds the last of some times took,
 * from the second time on with all of them in the manager's cache. Nothing is compiled.
 */
export const weigh = (parent, manager, registry, names, { times = 2 } = {}) => {
  const folder = join(parent, `weigh-${manager}`)
  const once = () => {
    rmSync(folder, { recursive: true, force: true })
    project(folder, manager, registry)
    const began = performance.now()
    install(folder, manager, ["--ignore-scripts", ...names])
    return (performance.now() - began) / 1000
  }
  let seconds = 0
  for (let time = 0; time < times; time++) seconds = once()
  const weight = {
    seconds,
    packages: countOf(folder, manager),
    megabytes: Math.round(megabytes(join(folder, "node_modules"))),
  }
  rmSync(folder, { recursive: true, force: true })
  return weight
}

/** Errors of the compiler in what is ours: in the examples, and in our declarations. */
const ours = (out) =>
  out
    .split("\n")
    .filter(
      (line) => /error TS/u.test(line) && !/node_modules\/(?!(?:.*\/)?(?:memfold|@memfold)\/)/u.test(line),
    )

/** The name under which a project has the oldest version of TypeScript that our declarations are for. */
const oldest = "typescript-oldest"

/** What the project of all examples installs. */
const allNames = (nodeMajor) => [
  ...new Set([
    ...examples.flatMap(({ name, install }) => [name, ...install]),
    "typescript@7",
    `${oldest}@npm:typescript@${measured().typescript}`,
    `@types/node@${nodeMajor}`,
    "@anthropic-ai/sdk",
    "openai",
    "@modelcontextprotocol/server",
  ]),
]

/** Compiles the examples under a resolution; returns what the compiler says. */
const compile = (folder, name, { skipLibCheck = false, compiler = "typescript" } = {}) => {
  const compilerOptions = {
    target: "es2022",
    strict: true,
    skipLibCheck,
    types: ["node"],
    ...compilers[name],
  }
  const file = `tsconfig.${name}.json`
  writeFileSync(join(folder, file), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
  const { ok, out } = call(folder, node() ?? process.execPath, [
    join(folder, "node_modules", compiler, "bin/tsc"),
    "-p",
    file,
  ])
  if (!ok && !out.includes("error TS")) throw new Error(`${compiler} failed\n${out}`)
  return out
}

/** Installs all packages with the npm of a Node, which chooses versions for it, and compiles the examples. */
export const projectFor = (folder, registry, { program, version }) => {
  project(folder, "npm", registry)
  const npm = join(dirname(dirname(process.execPath)), "lib/node_modules/npm/bin/npm-cli.js")
  const cli = existsSync(npm) ? npm : realpathSync(which("npm"))
  const [major] = version.split(".")
  // Node 20 has no SQLite: its driver is compiled. The others use their own.
  const scripts = major === "20" ? [] : ["--ignore-scripts"]
  const { ok, out } = call(
    folder,
    program,
    [cli, "install", "--no-audit", "--no-fund", ...scripts, ...allNames(major)],
    1_800_000,
  )
  if (!ok) throw new Error(out)
  writeExamples(folder)
  compile(folder, "nodenext", { skipLibCheck: true })
}

/** Runs the first block of each README by a runtime. Returns what each came to: `null`, or the end of what it said. */
export const runAll = async (folder, command) => {
  const results = []
  for (const { name, code } of examples) {
    if (code === undefined || name in notRun) continue
    const { ok, out } = await runExample(folder, name, command, environment(command[0]))
    results.push({ name, failure: ok ? null : out.slice(-2_000) })
  }
  return results
}

/**
 * Installs all packages, compiles the first block of each README under each resolution, and runs it: by Bun where Bun has installed
 * them. Returns what fails.
 */
export const tryAll = async (folder, { manager, program, registry, version }, say) => {
  const failures = []
  installRuntimes()
  project(folder, manager, registry)
  const runner = node()
  const scripts = runner === undefined ? [] : ["--ignore-scripts"]
  // The types are those of the Node that runs the blocks: libraries ask for them as peers.
  const { out: major } = call(folder, runner ?? process.execPath, [
    "-p",
    "process.versions.node.split('.')[0]",
  ])
  install(folder, manager, [...scripts, ...allNames(major.trim())], program)
  say(`${manager}: everything is installed`)
  const command = [manager === "bun" ? program : (runner ?? process.execPath)]
  const line = call(folder, command[0], ["node_modules/memfold/bin/memfold.js", "--version"])
  if (!line.ok || !line.out.includes(version)) failures.push(`${manager}: memfold --version\n${line.out}`)
  writeExamples(folder)
  const check = (name, compiler) => {
    const out = compile(folder, name, { compiler })
    const errors = ours(out)
    const what = `${manager}: ${compiler}, ${name}`
    failures.push(...errors.map((line) => `${what}: ${line}`))
    const others = out.split("\n").filter((line) => /error TS/u.test(line)).length - errors.length
    say(`${what} with skipLibCheck off, ${errors.length} errors (${others} in other libraries)`)
  }
  for (const name of Object.keys(compilers)) check(name, "typescript")
  // What the oldest compiler says does not depend on who has installed it.
  if (manager === "npm") check("bundler", oldest)
  for (const { name, code } of examples)
    if (code === undefined || name in notRun)
      say(`${manager}: not run: ${name}, ${notRun[name] ?? "its README has no block"}`)
  const ran = await runAll(folder, command)
  const failed = ran.filter(({ failure }) => failure !== null)
  for (const { name, failure } of failed) {
    say(`${manager}: the first block of ${name} failed`)
    failures.push(`${manager}: the first block of ${name} failed\n${failure}`)
  }
  say(`${manager}: ${ran.length - failed.length} of ${ran.length} first blocks run`)
  return failures
}
