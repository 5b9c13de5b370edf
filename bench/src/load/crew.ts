/**
 * The processes of a load run. One that is killed, or ends before its work is done, is started again.
 *
 * A process is killed only once it is at work, and the one that has run longest comes first. On a busy machine a process takes longer to
 * start than the time between two kills: without that, some would be killed before they have done anything, again and again.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { processorOf } from "./processor.js"

/** The arguments of Node for each process: web processes, which append and then end, workers, and consumers of the feed. */
export type Commands = Readonly<
  Record<"web" | "worker", ReadonlyArray<ReadonlyArray<string>>> &
    Partial<Record<"consumer", ReadonlyArray<ReadonlyArray<string>>>>
>

/** The processes, while the run goes on. */
export interface Crew {
  /** The lines of web processes: the appends that the store has acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** The lines of consumers, in the order in which they came: with those that came again. */
  readonly consumed: ReadonlyArray<string>
  /** How many processes ended without being killed, before their work was done, and what the last of them said. */
  readonly endedBy: { readonly themselves: number; readonly lastError: string }
  /** The processor time of each kind of process so far, in milliseconds: of those that run, and as they were last seen of those that ended. */
  readonly processor: () => Readonly<Record<keyof Commands, number>>
  /** Whether each web process has said that it is done. */
  readonly isAppended: () => boolean
  /** Kills the process that has run longest; `false` if none is at work, and none is killed. */
  readonly kill: () => boolean
  /** Kills all, and starts none again. */
  readonly end: () => void
}

interface Running {
  readonly kind: keyof Commands
  readonly child: ChildProcess
  /** It has said something since it was started. */
  isAtWork: boolean
}

/** The pause before a process is started again, in milliseconds. */
const pause = 200

/** Starts the processes. */
export const startCrew = (commands: Commands): Crew => {
  const acknowledged = new Set<string>()
  const consumed: Array<string> = []
  const finished = new Set<number>()
  /** In the order in which they were started. */
  const running = new Set<Running>()
  const processor = new Map<number | undefined, { readonly kind: keyof Commands; readonly millis: number }>()
  const endedBy = { themselves: 0, lastError: "" }
  let isStopping = false

  const start = (kind: keyof Commands, at: number): void => {
    if (isStopping) return
    const child = spawn(process.execPath, commands[kind]?.[at] ?? [], { stdio: ["pipe", "pipe", "pipe"] })
    const one: Running = { kind, child, isAtWork: false }
    running.add(one)
    // A process that is killed while it begins reads no further.
    child.stdin.on("error", () => undefined)
    if (kind === "web") child.stdin.end([...acknowledged].join("\n"))
    createInterface({ input: child.stdout }).on("line", (line) => {
      one.isAtWork = true
      if (kind === "worker") return
      if (kind === "consumer") consumed.push(line)
      else if (line === "done") finished.add(at)
      else acknowledged.add(line)
    })
    let error = ""
    child.stderr.on("data", (text: Buffer) => {
      // A worker says there that it is ready.
      one.isAtWork = true
      error = /^.*(?:Error|memfold):.*$/m.exec(text.toString())?.[0] ?? error
    })
    // Not "exit": its last lines may still be on their way then.
    child.on("close", (code) => {
      running.delete(one)
      const isDone = kind === "web" && finished.has(at)
      if (!isDone && code !== null) {
        endedBy.themselves++
        endedBy.lastError = error
      }
      if (!isDone) void setTimeout(pause).then(() => start(kind, at))
    })
  }
  for (const kind of ["web", "worker", "consumer"] as const)
    for (const at of commands[kind]?.keys() ?? []) start(kind, at)

  return {
    acknowledged,
    consumed,
    endedBy,
    processor: () => {
      for (const { kind, child } of running)
        if (child.pid !== undefined) {
          const before = processor.get(child.pid)?.millis ?? 0
          // 0 of one that has ended.
          processor.set(child.pid, { kind, millis: Math.max(processorOf(child.pid), before) })
        }
      const sums = { web: 0, worker: 0, consumer: 0 }
      for (const { kind, millis } of processor.values()) sums[kind] += millis
      return sums
    },
    isAppended: () => finished.size === commands.web.length,
    kill: () => {
      const next = [...running].find(({ isAtWork, child }) => isAtWork && !child.killed)
      return next?.child.kill("SIGKILL") ?? false
    },
    end: () => {
      isStopping = true
      for (const { child } of running) child.kill("SIGKILL")
    },
  }
}
