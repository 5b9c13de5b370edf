/**
 * `npm test -- --busy`: a machine with too much to do. Processes of Node.js that the tests run in, or start, stand still for up to a second
 * now and then, so that a test that counts on its time fails. It needs Linux, whose `/proc` has the processes.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { basename } from "node:path"

/** How long processes run and stand still, in milliseconds. */
const [running, still] = [
  [100, 1_200],
  [200, 900],
]

const between = ([least, most]) => least + Math.random() * (most - least)

/** The process that started another one; `undefined` if that has ended. */
const parentOf = (pid) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name of a program may have blanks and parentheses.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return undefined
  }
}

const isNode = (pid) => {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)) === "node"
  } catch {
    return false
  }
}

/** The processes of Node.js that this one has started, and that they have started. */
const started = () => {
  const pids = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const parents = new Map(pids.map((pid) => [pid, parentOf(pid)]))
  const isOurs = (pid) => pid !== undefined && (parents.get(pid) === process.pid || isOurs(parents.get(pid)))
  return pids.filter((pid) => isOurs(pid) && isNode(pid))
}

const signal = (pids, name) => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Lets processes stand still, as long as a run takes. */
export const whileBusy = async (run) => {
  if (process.platform !== "linux") throw new Error("--busy needs Linux; run the tests without it")
  let [timer, stopped] = [undefined, []]
  const goOn = () => {
    signal(stopped, "SIGCONT")
    stopped = []
    timer = setTimeout(stop, between(running))
  }
  const stop = () => {
    stopped = started().filter(() => Math.random() < 0.7)
    signal(stopped, "SIGSTOP")
    timer = setTimeout(goOn, between(still))
  }
  goOn()
  try {
    return await run()
  } finally {
    clearTimeout(timer)
    signal(stopped, "SIGCONT")
  }
}
