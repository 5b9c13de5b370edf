/**
 * Measures processes that append to one session of a SQLite file at the same time: how the appends are shared out, and
 * how long each takes. The process with the most appends is compared with the process with the fewest.
 */
import { Memory, Message } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { told } from "./measure.js"

interface Share {
  readonly appends: number
  readonly failed: number
  /** The 99th percentile and the longest time of an append, in milliseconds. */
  readonly p99: number
  readonly longest: number
}

const millis = 10_000

/** Appends to one session as fast as it can; what a child process of this benchmark does. */
const appending = (filename: string): Promise<Share> =>
  Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
      Effect.provide(ExtractiveSummarizer.layer()),
    )
    yield* memory.context("s")
    yield* Effect.promise(async () => {
      process.send?.("ready")
      await once(process, "message")
    })
    const times: Array<number> = []
    let failed = 0
    const end = performance.now() + millis
    while (performance.now() < end) {
      const before = performance.now()
      const done = yield* Effect.exit(memory.append("s", Message.user(`message ${times.length}`)))
      if (done._tag === "Failure") failed++
      times.push(performance.now() - before)
    }
    times.sort((one, other) => one - other)
    return {
      appends: times.length - failed,
      failed,
      p99: times[Math.floor(times.length * 0.99)] ?? 0,
      longest: times.at(-1) ?? 0,
    }
  }).pipe(Effect.provide(SqliteEventLog.layer({ filename })), Effect.scoped, Effect.runPromise)

const together = async (processes: number): Promise<ReadonlyArray<Share>> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const self = fileURLToPath(import.meta.url)
    const children = Array.from({ length: processes }, () => fork(self, [join(folder, "chats.db")]))
    await Promise.all(children.map((child) => once(child, "message")))
    const shares = children.map(async (child): Promise<Share> => (await once(child, "message"))[0] as Share)
    for (const child of children) child.send("go")
    return await Promise.all(shares)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Measures and prints. Returns whether every process has appended, and no append failed. */
export const fairness = async (): Promise<boolean> => {
  console.log("\nProcesses that append to one session of a SQLite file, synchronous FULL")
  const outcomes: Array<boolean> = []
  for (const processes of [2, 3, 8]) {
    const shares = await together(processes)
    const counts = shares.map(({ appends }) => appends)
    const failed = shares.reduce((sum, share) => sum + share.failed, 0)
    const total = counts.reduce((sum, count) => sum + count, 0)
    told(`${processes} processes, all appends`, `${Math.round((1_000 * total) / millis)}/s`)
    told("99th percentile of an append", `${Math.max(...shares.map(({ p99 }) => p99)).toFixed(0)} ms`)
    told("the longest append", `${Math.max(...shares.map(({ longest }) => longest)).toFixed(0)} ms`)
    told("failed appends", String(failed))
    told(
      "the most appends of a process against the fewest",
      `${(Math.max(...counts) / Math.min(...counts)).toFixed(1)}×`,
    )
    outcomes.push(failed === 0 && Math.min(...counts) > 0)
  }
  return outcomes.every(Boolean)
}

const [filename] = process.argv.slice(2)
if (process.send !== undefined && filename !== undefined) {
  process.send(await appending(filename))
  process.disconnect()
}
