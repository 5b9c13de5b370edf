/** The processor time of processes, which other work on the machine hardly changes. Only Linux tells it, in `/proc`. */
import { readFileSync, readdirSync } from "node:fs"

/** The processor time of a process so far, in milliseconds. */
export interface ProcessTime {
  readonly parent: number
  readonly own: number
  /** Of its children that have ended. */
  readonly ended: number
}

/** The time of a process; none of one that has ended, and of none where there is no `/proc`. */
export const processTime = (pid: number): ProcessTime | undefined => {
  try {
    // The second field, the name, may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /su, "")
      .split(" ")
      .map(Number)
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    // A hundred ticks a second, on every machine that Node has a program for.
    return { parent: fields[1] ?? 0, own: (user + system) * 10, ended: (endedUser + endedSystem) * 10 }
  } catch {
    return undefined
  }
}

/** The times of all processes, by their numbers. */
export const processTimes = (): ReadonlyMap<number, ProcessTime> => {
  const names = process.platform === "linux" ? readdirSync("/proc") : []
  return new Map(
    names
      .filter((name) => /^\d+$/u.test(name))
      .flatMap((name) => {
        const time = processTime(Number(name))
        return time === undefined ? [] : [[Number(name), time] as const]
      }),
  )
}
