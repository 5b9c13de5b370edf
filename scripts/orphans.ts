/**
 * After all tests, no process that a test started is left: it would hold its port, and work for whoever gets that port next. Runs once for
 * the whole test run; processes are told by a variable of their environment, which `/proc` shows, so only Linux is looked at.
 */
import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
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
  const ours = new Set(
    readdirSync("/proc").filter(
      (pid) => /^\d+$/u.test(pid) && read(pid, "environ").split("\0").includes(`${variable}=${run}`),
    ),
  )
  return [...ours].filter((pid) => {
    const parent = parentOf(pid)
    return parent !== "" && parent !== String(process.pid) && !ours.has(parent)
  })
}

export const setup = (): void => {
  process.env[variable] = run
}

export const teardown = async (): Promise<void> => {
  if (!existsSync("/proc/self/environ")) return
  let left = orphans()
  for (let tries = 0; tries < patience * 10 && left.length > 0; tries++) {
    await sleep(100)
    left = orphans()
  }
  if (left.length === 0) return
  const commands = left.map((pid) => `${pid}: ${read(pid, "cmdline").replaceAll("\0", " ").trim()}`)
  for (const pid of left) process.kill(Number(pid), "SIGKILL")
  console.error(`tests left processes behind, which were killed now:\n${commands.join("\n")}`)
  // Vitest prints an error of a teardown, and succeeds.
  process.exitCode = 1
}
