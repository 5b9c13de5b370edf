/**
 * Finds the runtimes under which tests run stores, or installs them from npm: Node 22 and 24, and with `--all` Node 20 and 26, Bun and
 * Deno. Their versions are in `runtimes/package.json`. npm has these programs for Linux on x64.
 *
 * `node scripts/runtimes.mjs` prints their paths.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { say } from "./install.mjs"

const folder = join(dirname(fileURLToPath(import.meta.url)), "runtimes")
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
const { dependencies: usual, optionalDependencies: further } = manifest

const runtimeNames = Object.keys({ ...usual, ...further })

/** Where a package has its program. */
const programIn = (name) => (name === "deno" ? "deno" : join("bin", name === "bun" ? "bun" : "node"))

const programOf = (name) => join(folder, "node_modules", name, programIn(name))

const versionOf = (spec) => spec.slice(spec.lastIndexOf("@") + 1)

/** Whether npm has programs for this system. */
export const hasRuntimes = process.platform === "linux" && process.arch === "x64"

/** The runtimes that are installed: names (`node-24`, `bun`), versions, and the paths of their programs. */
export const installedRuntimes = () =>
  Object.entries({ ...usual, ...further })
    .map(([name, spec]) => ({ name, version: versionOf(spec), program: programOf(name) }))
    .filter(({ name, program, version }) => {
      const installed = join(folder, "node_modules", name, "package.json")
      return existsSync(program) && JSON.parse(readFileSync(installed, "utf8")).version === version
    })

/** Installs what is missing; `all` says whether the optional ones as well. */
export const installRuntimes = ({ all = false } = {}) => {
  if (!hasRuntimes) {
    say("tests under other runtimes are left out: npm has their programs for Linux on x64 alone")
    return
  }
  const wanted = Object.keys(all ? { ...usual, ...further } : usual)
  const found = new Set(installedRuntimes().map(({ name }) => name))
  if (wanted.every((name) => found.has(name))) return
  say(`installing ${wanted.join(", ")} from npm, under which tests run stores`)
  const args = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", ...(all ? [] : ["--omit=optional"])]
  const { status } = spawnSync("npm", args, {
    cwd: folder,
    stdio: ["ignore", process.stderr, process.stderr],
  })
  if (status !== 0) say("they could not be installed; the tests under them fail with a message")
}

/** Runtimes by their names, installed if need be; fails for one that npm could not install, or does not have. */
export const requireRuntimes = (names = runtimeNames) => {
  installRuntimes({ all: true })
  const installed = installedRuntimes()
  return names.map((wanted) => {
    const found = installed.find(({ name }) => name === wanted)
    if (found !== undefined) return found
    const all = runtimeNames.join(", ")
    throw new Error(`${wanted} is not installed; npm has ${all}, for Linux on x64 alone`)
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installRuntimes({ all: process.argv.includes("--all") })
  for (const { name, version, program } of installedRuntimes()) console.log(`${name} ${version} ${program}`)
}
