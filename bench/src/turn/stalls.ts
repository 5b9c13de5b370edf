/**
 * How long the event loop of a server stands still: 64 sessions at once, SQLite FULL, beside another process that writes
 * to the same file. SQLite is called in the thread of the loop, so waiting for its lock or the disk would show here.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { told } from "../measure.js"
import { turnAt } from "./conversation.js"
import { promises } from "./memories.js"

const millis = 8_000
const sessions = 64

interface Stalls {
  readonly turns: number
  /** Milliseconds that a timer came late. */
  readonly median: number
  readonly p99: number
  readonly longest: number
}

/** Works on sessions at once for a while; what both processes of this benchmark do. */
const serve = async (filename: string, prefix: string, count: number): Promise<Stalls> => {
  const memory = await promises(filename, "background")
  await memory.append(`${prefix}0`, turnAt(0))
  process.send?.("ready")
  await once(process, "message")
  const resolution = 1
  const delay = monitorEventLoopDelay({ resolution })
  let turns = 0
  const end = performance.now() + millis
  const one = async (session: string) => {
    while (performance.now() < end) {
      await memory.append(session, turnAt(turns++))
      await memory.context(session)
    }
  }
  delay.enable()
  await Promise.all(Array.from({ length: count }, (_, session) => one(`${prefix}${session}`)))
  delay.disable()
  const late = (nanoseconds: number) => Math.max(nanoseconds / 1e6 - resolution, 0)
  const stalls = {
    turns,
    median: late(delay.percentile(50)),
    p99: late(delay.percentile(99)),
    longest: late(delay.max),
  }
  await memory.close()
  return stalls
}

/** Measures and prints. Returns whether the 99th percentile is within its bound, in milliseconds. */
export const stalls = async (folder: string, bound: number): Promise<boolean> => {
  const self = fileURLToPath(import.meta.url)
  const file = join(folder, "stalls.db")
  const children = [
    ["server", String(sessions)],
    ["other", "1"],
  ].map(([prefix = "", count = ""]) => fork(self, [file, prefix, count]))
  await Promise.all(children.map((child) => once(child, "message")))
  const results = children.map(async (child): Promise<Stalls> => (await once(child, "message"))[0] as Stalls)
  for (const child of children) child.send("go")
  const [server, other] = await Promise.all(results)
  if (server === undefined || other === undefined) throw new Error("a process has ended early")
  const perSecond = ({ turns }: Stalls) => `${Math.round((1_000 * turns) / millis)}/s`
  console.log(
    `\nThe event loop of a server: ${sessions} sessions at once, beside another process that writes`,
  )
  told("turns with contexts, the server", perSecond(server))
  told("turns with contexts, the other process", perSecond(other))
  told("a stall of the event loop, median", `${server.median.toFixed(1)} ms`)
  told("the longest", `${server.longest.toFixed(1)} ms`)
  told("99th percentile", `${server.p99.toFixed(1)} ms (bound ${bound} ms)`)
  return server.p99 <= bound
}

const [filename, prefix, count] = process.argv.slice(2)
if (process.send !== undefined && filename !== undefined && prefix !== undefined) {
  process.send(await serve(filename, prefix, Number(count)))
  process.disconnect()
}
