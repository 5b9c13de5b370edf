/**
 * Sets up a fresh clone: runs the pinned pnpm through npx, installs the packages and builds. Skips what is done already.
 * Progress goes to standard error, because standard output belongs to the result.
 *
 * Plain JavaScript without packages: this runs before there are any.
 */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const stamp = join(root, "node_modules", ".memfold-setup")

/** The repository's own programs first: turbo looks for pnpm there. */
const path = `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`

const say = (text) => process.stderr.write(`memfold: ${text}\n`)

/**
 * Runs a program, with its output on standard error unless `stdio` says otherwise. Resolves with its exit code. `onLine`
 * gets each line that it prints to a pipe.
 */
export const run = (command, args, options = {}, onLine = () => {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["inherit", process.stderr, process.stderr],
      shell: process.platform === "win32",
      ...options,
      env: { ...process.env, PATH: path, TURBO_TELEMETRY_DISABLED: "1", ...options.env },
    })
    // Passes signals on to the child and waits for its end.
    const pass = (signal) => child.kill(signal)
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, pass)
    for (const output of [child.stdout, child.stderr]) {
      if (output !== null) createInterface({ input: output }).on("line", onLine)
    }
    child.on("error", reject)
    child.on("close", (code, signal) => {
      for (const name of ["SIGINT", "SIGTERM"]) process.off(name, pass)
      resolve(code ?? (signal === null ? 1 : 130))
    })
  })

/** A program of the repository's own `node_modules`. */
export const tool = (name) => join(root, "node_modules", ".bin", name)

const checkNode = () => {
  const wanted = manifest.engines.node.replace(">=", "").split(".").map(Number)
  const have = process.versions.node.split(".").map(Number)
  const older = wanted.map((part, index) => have[index] - part).find((difference) => difference !== 0) < 0
  if (older) {
    say(
      `Node ${wanted.join(".")} or newer is needed, this is ${process.versions.node}; see https://nodejs.org`,
    )
    process.exit(2)
  }
}

/** A hash of everything that the installation depends on: lock file, settings, and the ABI of Node. */
const fingerprint = () => {
  const hash = createHash("sha256").update(`${process.versions.modules} ${process.platform} ${process.arch}`)
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json"]) {
    hash.update(file).update(readFileSync(join(root, file)))
  }
  return hash.digest("hex")
}

const installed = (wanted) => existsSync(stamp) && readFileSync(stamp, "utf8") === wanted

/** Lines of the installation that are not shown. */
const noise = /^(\.\.\.|npm warn|Downloading |Progress: |\++$)/

/** Installs the packages. Shows the whole output only after a failure. */
const install = async () => {
  const lines = []
  const began = Date.now()
  const heartbeat = setInterval(
    () => say(`still installing, ${Math.round((Date.now() - began) / 1000)} s`),
    20_000,
  )
  const code = await run(
    "npx",
    ["--yes", manifest.packageManager, "install", "--frozen-lockfile", "--reporter=append-only"],
    { stdio: ["inherit", "pipe", "pipe"] },
    (line) => {
      lines.push(line)
      if (line.trim() !== "" && !noise.test(line)) process.stderr.write(`  ${line}\n`)
    },
  )
  clearInterval(heartbeat)
  if (code !== 0) process.stderr.write(`${lines.join("\n")}\n`)
  return code
}

const fail = (what, code) => {
  say(`${what} failed (exit code ${code}); its output is above`)
  process.exit(code)
}

/** Installs and builds what is missing. */
export const setup = async () => {
  checkNode()
  const began = Date.now()
  const wanted = fingerprint()
  if (!installed(wanted)) {
    say("installing packages; SQLite's driver may have to be compiled, which takes a minute or two")
    const code = await install()
    if (code !== 0) fail("the installation", code)
    writeFileSync(stamp, wanted)
  }
  const fresh = !existsSync(join(root, "packages/programs/memfold/dist"))
  if (fresh) say("building")
  const code = await run(tool("turbo"), ["run", "build", "--output-logs=errors-only"], {
    stdio: fresh ? ["inherit", process.stderr, process.stderr] : ["inherit", "ignore", process.stderr],
  })
  if (code !== 0) {
    // The first run was silent; this one shows why it failed.
    await run(tool("turbo"), ["run", "build", "--output-logs=errors-only"])
    fail("the build", code)
  }
  if (fresh) say(`ready after ${Math.round((Date.now() - began) / 1000)} s`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setup()
