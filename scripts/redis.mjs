/**
 * Finds `redis-server`, which the tests of `@memfold/store-redis` start, or installs it if that needs no question: as
 * root, with a `sudo` without a password, or with Homebrew. No service is left running.
 *
 * `node scripts/redis.mjs` prints its path.
 */
import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const say = (text) => process.stderr.write(`memfold: ${text}\n`)

/** The path of a program, as a shell would find it. */
const which = (name) => {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, name)
    try {
      if (folder !== "") accessSync(file, constants.X_OK)
      if (folder !== "") return file
    } catch {
      // Not in this one.
    }
  }
  return undefined
}

const succeeds = (command, args, options = {}) =>
  spawnSync(command, args, { stdio: ["ignore", process.stderr, process.stderr], ...options }).status === 0

const find = () => process.env.MEMFOLD_REDIS_SERVER ?? which("redis-server") ?? which("valkey-server")

/** Debian runs this program before it starts a service; exit code 101 forbids the start. */
const policy = "/usr/sbin/policy-rc.d"

const installOnDebian = () => {
  const root = process.getuid?.() === 0
  if (!root && (which("sudo") === undefined || !succeeds("sudo", ["-n", "true"], { stdio: "ignore" }))) return
  const [command, ...before] = root ? ["env"] : ["sudo", "-n", "env"]
  const apt = (...args) =>
    succeeds(command, [...before, "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", ...args])
  const quiet = root && !existsSync(policy)
  if (quiet) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  try {
    if (!apt("update") || !apt("install", "--no-install-recommends", "redis-server")) return
    // The package may have started a service. The tests start their own servers.
    if (!quiet) succeeds(command, [...before, "service", "redis-server", "stop"], { stdio: "ignore" })
  } finally {
    if (quiet) rmSync(policy, { force: true })
  }
}

/** The path of a `redis-server`. If none can be found or installed, prints what to type and returns `undefined`. */
export const redisServer = () => {
  const found = find()
  if (found !== undefined) return found
  if (which("apt-get") !== undefined) {
    say("installing redis-server, which the tests of the Redis store start")
    installOnDebian()
  } else if (which("brew") !== undefined) {
    say("installing redis with Homebrew; the tests of the Redis store start it")
    succeeds("brew", ["install", "redis"])
  }
  const installed = find()
  if (installed !== undefined) return installed
  const line =
    which("apt-get") !== undefined
      ? "sudo apt-get update && sudo apt-get install -y redis-server"
      : which("brew") !== undefined
        ? "brew install redis"
        : "MEMFOLD_REDIS_SERVER=/path/to/redis-server npm test"
  say(`the tests and benchmarks of the Redis store need redis-server; type: ${line}`)
  return undefined
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(redisServer() ?? process.exit(2))
