/** Measures the SQLite store against bare better-sqlite3, with the same bytes and the same durability. */
import { Memory, type Strategy } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { ExtractiveSummarizer } from "@memfold/summarizer-extractive"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { appends } from "./appends.js"
import { large } from "./large.js"
import { claim, commitOf, told, turn } from "./measure.js"
import { statSync } from "node:fs"
import { join } from "node:path"

/** The bare insert writes the same record with the same key. Everything else is the cost of the store. */
const against = (folder: string, synchronous: "full" | "normal"): Promise<boolean> =>
  Effect.gen(function* () {
    const driver = new Sqlite(join(folder, `${synchronous}-bare.db`))
    yield* Effect.addFinalizer(() => Effect.sync(() => driver.close()))
    driver.pragma("journal_mode = WAL")
    driver.pragma(`synchronous = ${synchronous}`)
    driver.exec(
      `CREATE TABLE records (session TEXT, seq INTEGER, commit_id TEXT, at INTEGER, type TEXT, version INTEGER,
         data TEXT, checksum INTEGER, PRIMARY KEY (session, seq))`,
    )
    const statement = driver.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    return yield* appends({
      name: `SQLite, synchronous ${synchronous.toUpperCase()}`,
      log: yield* SqliteEventLog.make({ filename: join(folder, `${synchronous}.db`), synchronous }),
      bare: {
        name: "a bare insert with better-sqlite3",
        write: ({ time, type, schemaVersion: version, data, checksum }, index) =>
          statement.run("s", index + 1, commitOf(index), time, type, version, data, checksum),
      },
      turns: 60,
      warmUp: 20,
      // Without a wait for the disk there is nothing to share, and a bare insert is next to nothing.
      bounds: synchronous === "full" ? { single: 2, many: 1 } : { single: Infinity, many: Infinity },
    })
  }).pipe(Effect.scoped, Effect.runPromise)

/** The size of the file divided by the size of its messages, which are appended one by one. */
const bytes = async (filename: string, size: number, strategy: Strategy.Strategy | null): Promise<number> => {
  await Effect.gen(function* () {
    const memory = yield* Memory.make({
      strategy: strategy ?? SlidingWindow(),
      compaction: { mode: strategy === null ? "off" : "inline" },
    }).pipe(Effect.provide(ExtractiveSummarizer.layer()))
    for (let index = 0; index < size; index++) yield* memory.append("s", turn(index))
  }).pipe(
    Effect.provide(SqliteEventLog.layer({ filename, synchronous: "normal" })),
    Effect.scoped,
    Effect.runPromise,
  )
  const own = Array.from({ length: size }, (_, index) => Buffer.byteLength(JSON.stringify(turn(index))))
  return statSync(filename).size / own.reduce((sum, length) => sum + length, 0)
}

/** Measures and prints. Returns whether every ratio is within its bound. */
export const sqlite = async (folder: string): Promise<boolean> => {
  const outcomes: Array<boolean> = []
  for (const synchronous of ["full", "normal"] as const) outcomes.push(await against(folder, synchronous))
  outcomes.push(
    await large("SQLite", (size, use) =>
      SqliteEventLog.make({
        filename: join(folder, `${size}.db`),
        synchronous: use === "fill" ? "normal" : "full",
      }),
    ),
  )

  console.log("\nSQLite: bytes on the disk for every byte of the messages' own JSON")
  const plain = await bytes(join(folder, "plain.db"), 20_000, null)
  outcomes.push(claim("20,000 messages, no compaction", plain, 2))
  for (const strategy of [SlidingWindow(), Rounds()]) {
    const compacted = await bytes(join(folder, `${strategy.name}.db`), 6_000, strategy)
    told(`6,000 messages, ${strategy.name}, summaries kept`, `${compacted.toFixed(2)}×`)
  }
  return outcomes.every(Boolean)
}
