/** Measures appends that all wait for one session. Each of them may cost no more when there are ten times as many. */
import { Memory } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { Effect } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claim, median, milliseconds, told, turn } from "./measure.js"

const few = 1_000
const many = 10_000

/** Appends `count` messages to a new session, all calls at once, and returns the milliseconds per message. */
const appendAtOnce = (memory: Memory.Service, session: string, count: number) =>
  Effect.promise(async () => {
    const all = Effect.all(
      Array.from({ length: count }, (_, index) => memory.append(session, turn(index))),
      { concurrency: "unbounded", discard: true },
    )
    return (await milliseconds(() => Effect.runPromise(all))) / count
  })

/** Measures and prints. Returns whether the ratio is within its bound. */
export const waiting = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    return await Effect.gen(function* () {
      const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
        Effect.provide(ExtractiveSummarizer.layer()),
      )
      yield* appendAtOnce(memory, "warm-up", few)
      const times = { few: [] as Array<number>, many: [] as Array<number> }
      for (let turn = 0; turn < 3; turn++) {
        times.few.push(yield* appendAtOnce(memory, `few ${turn}`, few))
        times.many.push(yield* appendAtOnce(memory, `many ${turn}`, many))
      }
      const [one, other] = [median(times.few), median(times.many)]
      const seconds = (each: number, count: number) => `${((each * count) / 1_000).toFixed(1)} s`
      console.log("\nSQLite, synchronous FULL: appends to one session, all called at once")
      told(`${few.toLocaleString("en-US")} appends`, seconds(one, few))
      told(`${many.toLocaleString("en-US")} appends`, seconds(other, many))
      return claim("each of ten times as many", other / one, 2)
    }).pipe(
      Effect.provide(SqliteEventLog.layer({ filename: join(folder, "waiting.db") })),
      Effect.scoped,
      Effect.runPromise,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
