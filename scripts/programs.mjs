/**
 * Finds the programs that tests start, or installs them if that needs no question: as root, with a `sudo` without a password, or
 * with Homebrew. No service is left running.
 */
import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"

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

/** Debian runs this program before it starts a service; exit code 101 forbids the start. */
const policy = "/usr/sbin/policy-rc.d"

const installOnDebian = (name) => {
  const root = process.getuid?.() === 0
  if (!root && (which("sudo") === undefined || !succeeds("sudo", ["-n", "true"], { stdio: "ignore" }))) return
  const [command, ...before] = root ? ["env"] : ["sudo", "-n", "env"]
  const apt = (...args) =>
    succeeds(command, [...before, "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", ...args])
  const quiet = root && !existsSync(policy)
  if (quiet) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  try {
    if (!apt("update") || !apt("install", "--no-install-recommends", name)) return
    // The package may have started a service. The tests start their own servers.
    if (!quiet) succeeds(command, [...before, "service", name, "stop"], { stdio: "ignore" })
  } finally {
    if (quiet) rmSync(policy, { force: true })
  }
}

/**
 * The path of a program. If none can be found or installed, prints what to type and returns `undefined`.
 *
 * @param names - what the program can be called, the package of Debian first
 * @param brew - the arguments of `brew install`
 * @param variable - the environment variable that names its path
 * @param user - who starts the program
 */
export const program = ({ names, brew, variable, user }) => {
  const find = () => process.env[variable] ?? names.map(which).find((path) => path !== undefined)
  const found = find()
  if (found !== undefined) return found
  const [name] = names
  if (which("apt-get") !== undefined) {
    say(`installing ${name}, which ${user} start`)
    installOnDebian(name)
  } else if (which("brew") !== undefined) {
    say(`installing ${name} with Homebrew; ${user} start it`)
    succeeds("brew", ["install", ...brew])
  }
  const installed = find()
  if (installed !== undefined) return installed
  const line =
    which("apt-get") !== undefined
      ? `sudo apt-get update && sudo apt-get install -y ${name}`
      : which("brew") !== undefined
        ? `brew install ${brew.join(" ")}`
        : `${variable}=/path/to/${name} npm test`
  say(`${user} need ${name}; type: ${line}`)
  return undefined
}
