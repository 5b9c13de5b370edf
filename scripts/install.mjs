/** Finds the programs that tests start, database servers and a browser, and installs them where that needs no question. */
import { spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"

export const say = (text) => process.stderr.write(`memfold: ${text}\n`)

/** The path of a program, as a shell would find it; then in further folders. */
export const which = (name, folders = []) => {
  for (const folder of [...(process.env.PATH ?? "").split(delimiter), ...folders]) {
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

/** Runs a program, with its output on standard error; whether it ended well. */
export const succeeds = (command, args, options = {}) =>
  spawnSync(command, args, { stdio: ["ignore", process.stderr, process.stderr], ...options }).status === 0

/** Debian runs this program before it starts a service; exit code 101 forbids the start. */
const policy = "/usr/sbin/policy-rc.d"

const installOnDebian = (packages, services) => {
  const root = process.getuid?.() === 0
  if (!root && (which("sudo") === undefined || !succeeds("sudo", ["-n", "true"], { stdio: "ignore" }))) return
  const [command, ...before] = root ? ["env"] : ["sudo", "-n", "env"]
  const apt = (...args) =>
    succeeds(command, [...before, "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", ...args])
  const quiet = root && !existsSync(policy)
  if (quiet) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  try {
    if (!apt("update") || !apt("install", "--no-install-recommends", ...packages)) return
    // The packages may have started services. The tests start their own servers.
    if (quiet) return
    for (const service of services)
      succeeds(command, [...before, "service", service, "stop"], { stdio: "ignore" })
  } finally {
    if (quiet) rmSync(policy, { force: true })
  }
}

/**
 * What `find` finds, now or after an installation: as root, with a `sudo` without a password, or with Homebrew. No service is
 * left running. If nothing can be found or installed, prints what to type and returns `undefined`.
 */
export const findOrInstall = ({ what, purpose, find, debian, services, brew, variables }) => {
  const found = find()
  if (found !== undefined) return found
  if (which("apt-get") !== undefined) {
    say(`installing ${what}, which ${purpose} start`)
    installOnDebian(debian, services)
  } else if (which("brew") !== undefined) {
    say(`installing ${brew.join(" and ")} with Homebrew; ${purpose} start it`)
    succeeds("brew", ["install", ...brew])
  }
  const installed = find()
  if (installed !== undefined) return installed
  const line =
    which("apt-get") !== undefined
      ? `sudo apt-get update && sudo apt-get install -y ${debian.join(" ")}`
      : which("brew") !== undefined
        ? `brew install ${brew.join(" ")}`
        : `${variables} npm test`
  say(`${purpose} need ${what}; type: ${line}`)
  return undefined
}
