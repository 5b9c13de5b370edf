/**
 * Measures a turn as the history grows: append, context and open, and an edit of the last message and of a message that a
 * summary covers (taken back each time), at 100, 10,000 and 100,000 messages in one session. The session of 100 messages is the reference of the same run; only ratios are claims.
 */
import { EventLog, Memory, Message } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect, Exit, Logger, LogLevel, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Bench } from "tinybench"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import { median as middleOf, milliseconds } from "./measure.js"

const sizes = [100, 10_000, 100_000] as const

const turn = (index: number) => {
  const text = `Message ${index} of a long conversation; it is about as long as people's messages are on average.`
  return index % 2 === 0 ? Message.user(text) : Message.assistant(text)
}

/** Runs an effect. That a session was opened is no news here. */
const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Logger.withMinimumLogLevel(effect, LogLevel.Warning))

const say = (text: string) => process.stderr.write(`${text}\n`)

/** Writes a file with one session of `size` messages, compacted as it grew. */
const prepare = (filename: string, size: number) =>
  Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "manual" } }).pipe(
      Effect.provide(ExtractiveSummarizer.layer()),
    )
    for (let from = 0; from < size; from += 50) {
      yield* memory.append(
        "s",
        Array.from({ length: 50 }, (_, position) => turn(from + position)),
      )
      yield* memory.compact("s", { which: "due" })
      if (from > 0 && from % 10_000 === 0)
        say(`  ${from.toLocaleString("en-US")} of ${size.toLocaleString("en-US")}`)
    }
  }).pipe(Effect.provide(SqliteEventLog.layer({ filename, synchronous: "normal" })), Effect.scoped, run)

/** A memory on a file, and how to close it. */
const opened = async (filename: string) => {
  const scope = await run(Scope.make())
  const memory = await run(
    Effect.gen(function* () {
      const log = yield* SqliteEventLog.make({ filename, synchronous: "normal" })
      return yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "manual" } }).pipe(
        Effect.provide(ExtractiveSummarizer.layer()),
        Effect.provideService(EventLog.EventLog, log),
      )
    }).pipe(Scope.extend(scope)),
  )
  return { memory, close: () => run(Scope.close(scope, Exit.void)) }
}

const operations = ["append", "context", "open", "edit", "edit and undo"] as const

type Measured = { readonly [Operation in (typeof operations)[number]]: number }

/** Median milliseconds of a few runs. People edit seldom: thousands of edits of one session would measure something else. */
const medianOf = async (work: () => Promise<unknown>): Promise<number> => {
  const times: Array<number> = []
  for (let round = 0; round < 15; round++) times.push(await milliseconds(work))
  return middleOf(times)
}

/**
 * Median milliseconds of each operation. Appending goes last: it makes the session longer, and the smallest one is
 * what the others are measured against.
 */
const measure = async (filename: string, size: number): Promise<Measured> => {
  const bench = new Bench({ time: 1_500, warmupTime: 300 })
  const { memory, close } = await opened(filename)
  await run(memory.context("s"))
  let index = size
  bench
    .add("context", () => run(memory.context("s")))
    .add("open", async () => {
      const other = await opened(filename)
      await run(other.memory.context("s"))
      await other.close()
    })
    .add("append", () =>
      run(memory.append("s", turn(index++)).pipe(Effect.zipRight(memory.compact("s", { which: "due" })))),
    )
  await bench.run()
  const { total } = await run(memory.state("s"))
  const edit = await medianOf(() => run(memory.edit("s", total - 1, turn(index++))))
  // Before the 40 messages that stay verbatim.
  const undone = await medianOf(() =>
    run(Effect.zipRight(memory.edit("s", total - 60, turn(index++)), memory.undo("s"))),
  )
  await close()
  const median = (name: string): number => {
    const result = bench.getTask(name)?.result
    if (result?.state !== "completed") throw new Error(`the measurement of ${name} did not finish`)
    return result.latency.p50
  }
  return {
    append: median("append"),
    context: median("context"),
    open: median("open"),
    edit,
    "edit and undo": undone,
  }
}

/** Prepares, measures and prints. Returns whether every ratio is within the bound. */
export const history = async (bound: number): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "memfold-bench-"))
  try {
    const rows: Array<Measured> = []
    for (const size of sizes) {
      say(`preparing a session of ${size.toLocaleString("en-US")} messages`)
      const filename = join(folder, `${size}.db`)
      await prepare(filename, size)
      rows.push(await measure(filename, size))
    }
    const reference = rows[0]!
    const cell = (value: number, base: number) =>
      `${value.toFixed(3)} ms ${(value / base).toFixed(2)}×`.padStart(20)
    console.log(
      "\nThe cost of a turn as the history grows (SQLite, synchronous NORMAL, sliding window; medians)",
    )
    console.log(`${"messages".padStart(10)}${operations.map((name) => name.padStart(20)).join("")}`)
    rows.forEach((row, position) => {
      const name = sizes[position]!.toLocaleString("en-US").padStart(10)
      const cells = operations.map((key) => cell(row[key], reference[key]))
      console.log(name + cells.join(""))
    })
    const largest = rows.at(-1)!
    const worst = Math.max(...operations.map((key) => largest[key] / reference[key]))
    console.log(`largest ratio at 100,000 messages: ${worst.toFixed(2)}× (bound ${bound}×)`)
    return worst <= bound
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
