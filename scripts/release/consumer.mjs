/** A project outside the workspace that installs the packages, as whoever uses them does. */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { packages, readme } from "./packages.mjs"

/** READMEs whose first block is compiled, and not run. */
const notRun = {
  "@memfold/store-redis": "needs a Redis server",
  "@memfold/sqlite-vec": "declares the model that it calls",
  "@memfold/mcp": "serves until its client goes away",
}

/** Files that a block reads. */
const files = { "chat.jsonl": `${JSON.stringify({ role: "user", content: "Hello" })}\n` }

const compilers = {
  nodenext: { module: "nodenext", outDir: "out" },
  node16: { module: "node16", noEmit: true },
  bundler: { module: "esnext", moduleResolution: "bundler", noEmit: true },
}

/** Where this Node has its headers: a native package that has to be compiled need not load them. */
const nodeFolder = dirname(dirname(process.execPath))
const headers = existsSync(join(nodeFolder, "include/node/node.h")) ? { npm_config_nodedir: nodeFolder } : {}

const call = (folder, command, args, timeout = 600_000) => {
  const env = { ...process.env, npm_config_user_agent: undefined, OPENAI_API_KEY: "none", ...headers }
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout,
    env,
    maxBuffer: 1e8,
  })
  return { ok: status === 0, out: `${stdout}${stderr}${error === undefined ? "" : String(error)}` }
}

/** A program of the repository, which is the compiler here. */
const tsc = (folder) => join(folder, "node_modules/.bin/tsc")

const managers = {
  npm: { install: ["install", "--no-audit", "--no-fund"], command: ["npm"] },
  // Nothing is found that a package does not declare.
  pnpm: { install: ["add", "--config.hoist=false"], command: ["npx", "--yes", "pnpm@12.21.0"] },
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

/** Installs with a package manager; throws if that fails. */
const install = (folder, manager, names) => {
  const { command, install: verb } = managers[manager]
  const { ok, out } = call(folder, command[0], [...command.slice(1), ...verb, ...names], 900_000)
  if (!ok) throw new Error(`${manager} ${names.join(" ")}\n${out}`)
}

const megabytes = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0) / 1e6

/** What `npm install` of some packages brings, before anything is compiled: how many packages, and how many MB. */
export const weigh = (folder, registry, names) => {
  project(folder, "npm", registry)
  install(folder, "npm", ["--ignore-scripts", ...names])
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"))
  return {
    packages: Object.keys(lock.packages).filter((path) => path !== "").length,
    megabytes: Math.round(megabytes(join(folder, "node_modules"))),
  }
}

/** Errors of the compiler in what is ours: in the examples, and in our declarations. */
const ours = (out) =>
  out
    .split("\n")
    .filter(
      (line) => /error TS/u.test(line) && !/node_modules\/(?!(?:.*\/)?(?:memfold|@memfold)\/)/u.test(line),
    )

/** Installs all packages, compiles the first block of each README under each resolution, and runs it. Returns what fails. */
export const tryAll = (folder, manager, registry, say) => {
  const failures = []
  project(folder, manager, registry)
  const examples = packages.map(({ folder: source, manifest: { name } }) => ({ name, ...readme(source) }))
  const names = new Set(examples.flatMap(({ name, install }) => [name, ...install]))
  for (const name of [
    "typescript@7",
    "@types/node@20",
    "@anthropic-ai/sdk",
    "openai",
    "@modelcontextprotocol/server",
  ])
    names.add(name)
  install(folder, manager, [...names])
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const fileOf = (name) => name.replace("@", "").replace("/", "-")
  for (const { name, code } of examples)
    if (code !== undefined) writeFileSync(join(folder, `${fileOf(name)}.ts`), `${code}\nexport {}\n`)
  for (const [name, options] of Object.entries(compilers)) {
    const compilerOptions = {
      target: "es2022",
      strict: true,
      skipLibCheck: false,
      types: ["node"],
      ...options,
    }
    writeFileSync(
      join(folder, `tsconfig.${name}.json`),
      JSON.stringify({ compilerOptions, include: ["*.ts"] }),
    )
    const { out } = call(folder, tsc(folder), ["-p", `tsconfig.${name}.json`])
    const errors = ours(out)
    failures.push(...errors.map((line) => `${manager}, ${name}: ${line}`))
    const others = out.split("\n").filter((line) => /error TS/u.test(line)).length - errors.length
    say(`${manager}: ${name} with skipLibCheck off, ${errors.length} errors (${others} in other libraries)`)
  }
  let passed = 0
  for (const { name, code } of examples) {
    if (code === undefined || name in notRun) {
      say(`${manager}: not run: ${name}, ${notRun[name] ?? "its README has no block"}`)
      continue
    }
    const file = `${fileOf(name)}.js`
    const isTest = name === "@memfold/testing"
    const { ok, out } = isTest
      ? call(
          folder,
          join(folder, "node_modules/.bin/vitest"),
          ["run", "--dir", ".", "--include", `out/${file}`],
          180_000,
        )
      : call(folder, process.execPath, [join("out", file)], 120_000)
    if (ok) passed++
    else failures.push(`${manager}: the first block of ${name} failed\n${out.slice(-2_000)}`)
  }
  say(`${manager}: ${passed} first blocks run`)
  return failures
}
