/** The processor time of processes, which other work on the machine hardly changes. Linux has it in files; elsewhere it is 0. */
import { readdirSync, readFileSync } from "node:fs"

/** The fields behind the name of a program, which may have spaces: parent, and the time of itself and of children that ended. */
const statOf = (pid: string): { readonly parent: number; readonly own: number; readonly ended: number } => {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8")
    const at = line
      .slice(line.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number)
    const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
      (field) => at[field],
    )
    // A hundred ticks a second, on every machine that Node has a program for.
    return { parent, own: (user + system) * 10, ended: (endedUser + endedSystem) * 10 }
  } catch {
    return { parent: 0, own: 0, ended: 0 }
  }
}

/** What a process has taken so far, in milliseconds. */
export const processorOf = (pid: number): number => statOf(String(pid)).own

/** What a process and those that it has started have taken so far, in milliseconds. */
export const processorOfAll = (pid: number): number => {
  const itself = statOf(String(pid))
  const children =
    process.platform === "linux" ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : []
  return children
    .map(statOf)
    .filter(({ parent }) => parent === pid)
    .reduce((sum, { own, ended }) => sum + own + ended, itself.own + itself.ended)
}
