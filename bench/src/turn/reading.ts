/** Reading back a session of 100,000 messages without a snapshot, against reading and parsing the same rows. */
import { EventLog, Memory } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { join } from "node:path"
import { fillEvents } from "./fillEvents.js"
import { type Cost, costOf } from "./cost.js"
import { compared } from "./pairs.js"

const messages = 100_000
const rounds = 7

const fold = (filename: string): Promise<Cost> =>
  Effect.gen(function* () {
    const log = yield* SqliteEventLog.make({ filename })
    const memory = yield* Memory.make({ strategy: SlidingWindow(), compaction: { mode: "off" } }).pipe(
      Effect.provide(ExtractiveSummarizer.layer()),
      Effect.provideService(EventLog.EventLog, log),
    )
    return yield* Effect.promise(() =>
      costOf(async () => {
        const { total } = await Effect.runPromise(memory.state("s"))
        if (total !== messages) throw new Error(`the fold found ${total} messages`)
      }),
    )
  }).pipe(Effect.scoped, Effect.runPromise)

/** All columns of the log, in one statement, and each record parsed and kept. */
const bare = async (filename: string): Promise<Cost> => {
  const database = new Sqlite(filename)
  const parsed: Array<unknown> = []
  const cost = await costOf(() => {
    const rows = database.prepare("SELECT * FROM events").all() as Array<{ readonly data: string }>
    for (const row of rows) parsed.push({ ...row, data: JSON.parse(row.data) as unknown })
  })
  database.close()
  if (parsed.length !== messages) throw new Error(`the reference found ${parsed.length} records`)
  return cost
}

/** Measures and prints. Returns whether the ratio is within its bound. */
export const reading = async (folder: string): Promise<boolean> => {
  const filename = join(folder, "reading.db")
  await fillEvents(filename, messages)
  const pairs: Array<{ measured: Cost; bare: Cost }> = []
  for (let round = 0; round <= rounds; round++) {
    const reference = await bare(filename)
    const pair = { measured: await fold(filename), bare: reference }
    if (round > 0) pairs.push(pair)
  }
  console.log("\nReading back 100,000 messages, no snapshot")
  return compared({ name: "the fold", reference: "rows and JSON.parse", pairs, most: { processor: 2 } })
}
