/**
 * For `MEMFOLD_TEST_TIMES=FILE`: the processor time of each test file, with the processes that it started and what Vite made of its sources,
 * as a line of JSON in that file. Other than the clock, it does not go on while the machine is busy with something else.
 *
 * Only with `--maxWorkers=1`: what several workers do at once belongs to no file. Only on Linux, which shows it in `/proc`.
 */
import { appendFileSync, readFileSync, readdirSync } from "node:fs"
import { relative } from "node:path"
import { afterAll, expect } from "vitest"

interface Times {
  readonly parent: number
  /** Of the process itself, in seconds. */
  readonly own: number
  /** Of its children that have ended. */
  readonly ended: number
}

const ticks = 100

const timesOf = (pid: number): Times | undefined => {
  try {
    // The second field, the name, may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /su, "")
      .split(" ")
      .map(Number)
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    return { parent: fields[1] ?? 0, own: (user + system) / ticks, ended: (endedUser + endedSystem) / ticks }
  } catch {
    return undefined
  }
}

/** The time of this worker so far, with all that it started, and of the process that started it, which transforms its sources. */
const timeSoFar = (): number => {
  const processes = new Map<number, Times>()
  for (const name of readdirSync("/proc")) {
    const times = /^\d+$/u.test(name) ? timesOf(Number(name)) : undefined
    if (times !== undefined) processes.set(Number(name), times)
  }
  const belongs = (pid: number): boolean =>
    pid === process.pid || (pid > 1 && belongs(processes.get(pid)?.parent ?? 0))
  return [...processes]
    .filter(([pid]) => belongs(pid))
    .reduce((total, [, { own, ended }]) => total + own + ended, processes.get(process.ppid)?.own ?? 0)
}

const file = process.env["MEMFOLD_TEST_TIMES"]
if (file !== undefined) {
  // The files of a worker follow each other, and this module is loaded before each.
  const worker = globalThis as { memfoldTimes?: number }
  afterAll(() => {
    const now = timeSoFar()
    const path = relative(process.cwd(), expect.getState().testPath ?? "")
    appendFileSync(
      file,
      `${JSON.stringify({ file: path, seconds: Number((now - (worker.memfoldTimes ?? 0)).toFixed(2)) })}\n`,
    )
    worker.memfoldTimes = now
  })
}
