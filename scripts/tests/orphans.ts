/**
 * Tests leave nothing behind: neither a process, which would hold its port and work for whoever gets that port next, nor a folder.
 *
 * Processes are told by a variable of their environment, which `/proc` shows, so only Linux is looked at. The temporary folder of the tests
 * is one of their own, and goes with what is left in it.
 */
import { randomUUID } from "node:crypto"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const variable = "MEMFOLD_TEST_RUN"
const run = randomUUID()

/** How long processes may take to end after the tests, in seconds. */
const patience = 10

const read = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8")
  } catch {
    // It has ended meanwhile.
    return ""
  }
}

/** The parent of a process: the second field behind its name, which may have spaces. */
const parentOf = (pid: string): string =>
  read(pid, "stat")
    .replace(/^.*\) /su, "")
    .split(" ")[1] ?? ""

/** The processes of this run whose parent is gone. */
const orphans = (): ReadonlyArray<string> => {
  const started = new Set(
    readdirSync("/proc").filter(
      (pid) => /^\d+$/u.test(pid) && read(pid, "environ").split("\0").includes(`${variable}=${run}`),
    ),
  )
  return [...started].filter((pid) => {
    const parent = parentOf(pid)
    return parent !== "" && parent !== String(process.pid) && !started.has(parent)
  })
}

/** What memfold makes in the temporary folder; what servers and browsers leave there is theirs. */
const ours = /^memfold-/u

let folder = ""

export const setup = (): void => {
  process.env[variable] = run
  // Programs name the package manager that started them.
  delete process.env["npm_config_user_agent"]
  // Short, because the path of a Unix socket is.
  folder = mkdtempSync(join(tmpdir(), "mf-"))
  // Database servers run as another user.
  chmodSync(folder, 0o755)
  process.env["TMPDIR"] = folder
}

const leftProcesses = async (): Promise<ReadonlyArray<string>> => {
  if (!existsSync("/proc/self/environ")) return []
  let left = orphans()
  for (let tries = 0; tries < patience * 10 && left.length > 0; tries++) {
    await sleep(100)
    left = orphans()
  }
  const commands = left.map((pid) => `${pid}: ${read(pid, "cmdline").replaceAll("\0", " ").trim()}`)
  for (const pid of left) process.kill(Number(pid), "SIGKILL")
  return commands
}

export const teardown = async (): Promise<void> => {
  const processes = await leftProcesses()
  const folders = readdirSync(folder).filter((name) => ours.test(name))
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  if (processes.length > 0)
    console.error(`tests left processes behind, which were killed now:\n${processes.join("\n")}`)
  if (folders.length > 0)
    console.error(`tests left folders behind, which were removed now:\n${folders.join("\n")}`)
  // Vitest prints an error of a teardown, and succeeds.
  if (processes.length + folders.length > 0) process.exitCode = 1
}
