/**
 * A service under 10,000 hostile requests, of the generators of the tests: malformed ones from clients, and questions to an upstream that
 * answers with anything. Measures its memory and how long it holds the event loop.
 */
import { serve } from "@memfold/server"
import { fork, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { told, within } from "./measure.js"

interface Taken {
  /** The most memory of the process, in bytes, and the longest time for which it held the event loop, in milliseconds. */
  readonly memory: number
  readonly longest: number
}

const count = 10_000
const mostMemory = 512 * 2 ** 20
const longestHold = 50

/** The service, as a child process of this benchmark: it says its address, and at the end what it took. */
const served = async (upstream: string): Promise<void> => {
  const { url, close } = await serve({
    store: "memory:",
    port: 0,
    upstream,
    upstreamTimeout: "100 millis",
    log: "none",
  })
  let [longest, before, last] = [0, process.cpuUsage(), performance.now()]
  // A hold is as long as the clock says, and no longer than the processor works: other processes, and threads that compile or collect
  // beside the loop, hold nothing.
  const looking = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    const passed = performance.now() - last
    before = process.cpuUsage()
    last = performance.now()
    longest = Math.max(longest, Math.min(passed, (user + system) / 1_000))
  }, 1)
  process.send?.(url)
  await once(process, "message")
  const taken: Taken = { memory: process.resourceUsage().maxRSS * 1_024, longest }
  clearInterval(looking)
  process.send?.(taken)
  await close()
  process.disconnect()
}

/** The attackers, bundled from the tests: so many requests; how many were answered. */
const attacked = async (
  folder: string,
  requests: number,
  begin: (upstream: string) => Promise<string>,
): Promise<number> => {
  const root = new URL("../../", import.meta.url)
  const { bundle } = (await import(new URL("scripts/bundle.mjs", root).href)) as {
    readonly bundle: (
      entry: string,
      options: { readonly outDir: string; readonly name: string },
    ) => Promise<string>
  }
  const program = await bundle("packages/tests/harness/src/hostile.main.ts", {
    outDir: folder,
    name: "hostile",
  })
  const child = spawn(process.execPath, [program, String(requests)], { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  child.stdin.write(`${await begin(await next())}\n`)
  return Number(await next())
}

/** Measures and prints. Returns whether the service lives and is within its bounds. */
export const hostile = async (): Promise<boolean> => {
  console.log(`\nThe service under ${count.toLocaleString("en-US")} hostile requests`)
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    let service: ReturnType<typeof fork> | null = null
    const say = async (what: string): Promise<unknown> => {
      service!.send(what)
      return (await once(service!, "message"))[0] as unknown
    }
    const begin = async (upstream: string): Promise<string> => {
      service?.kill()
      service = fork(fileURLToPath(import.meta.url), [upstream])
      const [url] = (await once(service, "message")) as [string]
      return url
    }
    const answered = await attacked(folder, count, begin)
    const { memory, longest } = (await say("end")) as Taken
    told("requests that were answered; the others were no requests", answered.toLocaleString("en-US"))
    told(
      "the most memory of the process",
      `${Math.round(memory / 2 ** 20)} MiB  (bound ${mostMemory / 2 ** 20} MiB)`,
    )
    return within("the longest hold of the event loop", longest, longestHold) && memory <= mostMemory
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const [upstream] = process.argv.slice(2)
if (process.send !== undefined && upstream?.startsWith("http") === true) await served(upstream)
