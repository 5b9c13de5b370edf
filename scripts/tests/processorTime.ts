/**
 * For `MEMFOLD_TEST_TIMES=FILE`: the processor time of each test file, with the processes that it started and what Vite made of its sources,
 * as a line of JSON in that file. Other than the clock, it does not go on while the machine is busy with something else.
 *
 * Only with `--maxWorkers=1`: what several workers do at once belongs to no file. Only on Linux, which shows it in `/proc`.
 */
import { appendFileSync } from "node:fs"
import { relative } from "node:path"
import { processTimes } from "@memfold/harness/processTime"
import { afterAll, expect } from "vitest"

/** The time of this worker so far, in milliseconds, with all that it started, and of the process that started it, which transforms its sources. */
const timeSoFar = (): number => {
  const processes = processTimes()
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
      `${JSON.stringify({ file: path, seconds: Math.round((now - (worker.memfoldTimes ?? 0)) / 10) / 100 })}\n`,
    )
    worker.memfoldTimes = now
  })
}
