/** The SQLite store against bare better-sqlite3: the same bytes with the same durability. */
import { EventCodec, Memory, type Strategy } from "@memfold/core"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Rounds } from "@memfold/strategy-rounds"
import { SlidingWindow } from "@memfold/strategy-sliding-window"
import { Effect } from "effect"
import { large } from "./large.js"
import { claim, commitOf, event, median, milliseconds, told, turn } from "./measure.js"
import { statSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

/** As much of better-sqlite3 as is measured against. */
interface Driver {
  readonly prepare: (sql: string) => { readonly run: (...parameters: ReadonlyArray<unknown>) => unknown }
  readonly exec: (sql: string) => void
  readonly pragma: (sql: string) => unknown
  readonly close: () => void
}

/** The driver is a dependency of the store's client, so it is looked up from there. */
const openBare = (file: string): Driver => {
  const fromHere = createRequire(import.meta.url)
  const fromStore = createRequire(fromHere.resolve("@memfold/store-sqlite/package.json"))
  const fromClient = createRequire(fromStore.resolve("@effect/sql-sqlite-node"))
  const Sqlite = fromClient("better-sqlite3") as new (file: string) => Driver
  return new Sqlite(file)
}

interface Appends {
  /** Median milliseconds of one: inserted bare, appended by a single writer, appended by 64 sessions at once. */
  readonly bare: number
  readonly single: number
  readonly many: number
}

const rounds = 60
const perRound = 128
const sessionsAtOnce = 64

/** The bare insert is of the same record, by the same key; everything else is the store's cost. */
const appends = (folder: string, synchronous: "full" | "normal"): Promise<Appends> =>
  Effect.gen(function* () {
    const log = yield* SqliteEventLog.make({ filename: join(folder, `${synchronous}.db`), synchronous })
    const bare = openBare(join(folder, `${synchronous}-bare.db`))
    bare.pragma("journal_mode = WAL")
    bare.pragma(`synchronous = ${synchronous}`)
    bare.exec(
      `CREATE TABLE records (session TEXT, seq INTEGER, commit_id TEXT, at INTEGER, type TEXT, version INTEGER,
         data TEXT, checksum INTEGER, PRIMARY KEY (session, seq))`,
    )
    const statement = bare.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
    const records = Array.from({ length: rounds * perRound }, (_, index) => ({
      at: 1_800_000_000_000 + index,
      ...EventCodec.encode(event(index)),
    }))
    const append = (session: string, version: number, position: number) =>
      log.append(session, [records[position]!], {
        expected: version,
        after: version === 0 ? undefined : commitOf(version - 1),
        commit: commitOf(version),
      })
    const times = { bare: [] as Array<number>, single: [] as Array<number>, many: [] as Array<number> }
    const each = perRound / sessionsAtOnce
    for (let round = 0; round < rounds; round++) {
      const start = round * perRound
      const positions = Array.from({ length: perRound }, (_, index) => start + index)
      const bareTime = yield* Effect.promise(() =>
        milliseconds(() => {
          for (const index of positions) {
            const { at, type, version, data, checksum } = records[index]!
            statement.run("s", index + 1, commitOf(index), at, type, version, data, checksum)
          }
        }),
      )
      const single = Effect.forEach(positions, (index) => append("s", index, index), { discard: true })
      const singleTime = yield* Effect.promise(() => milliseconds(() => Effect.runPromise(single)))
      const many = Effect.forEach(
        Array.from({ length: sessionsAtOnce }, (_, session) => session),
        (session) =>
          Effect.forEach(
            Array.from({ length: each }, (_, index) => index),
            (index) => append(`s${session}`, round * each + index, start + session * each + index),
          ),
        { concurrency: "unbounded", discard: true },
      )
      const manyTime = yield* Effect.promise(() => milliseconds(() => Effect.runPromise(many)))
      // The first ones compile the code.
      if (round < 20) continue
      times.bare.push(bareTime / perRound)
      times.single.push(singleTime / perRound)
      times.many.push(manyTime / perRound)
    }
    bare.close()
    return { bare: median(times.bare), single: median(times.single), many: median(times.many) }
  }).pipe(Effect.scoped, Effect.runPromise)

/** Bytes of a file for every byte of the messages in it, appended one by one. */
const bytes = async (filename: string, size: number, strategy: Strategy.Strategy | null): Promise<number> => {
  await Effect.gen(function* () {
    const memory = yield* Memory.make({
      strategy: strategy ?? SlidingWindow(),
      compaction: strategy === null ? "off" : "inline",
    })
    for (let index = 0; index < size; index++) yield* memory.append("s", turn(index))
  }).pipe(
    Effect.provide(SqliteEventLog.layer({ filename, synchronous: "normal" })),
    Effect.scoped,
    Effect.runPromise,
  )
  const own = Array.from({ length: size }, (_, index) => Buffer.byteLength(JSON.stringify(turn(index))))
  return statSync(filename).size / own.reduce((sum, length) => sum + length, 0)
}

/** Measures and prints; answers whether every ratio is within its bound. */
export const sqlite = async (folder: string): Promise<boolean> => {
  const outcomes: Array<boolean> = []
  for (const synchronous of ["full", "normal"] as const) {
    const { bare, single, many } = await appends(folder, synchronous)
    const second = (millis: number) => `${Math.round(1_000 / millis).toLocaleString("en-US")}/s`
    console.log(`\nSQLite, synchronous ${synchronous.toUpperCase()}: appending a message`)
    told("a bare insert with better-sqlite3", second(bare))
    told("an append, one writer", second(single))
    told(`an append, ${sessionsAtOnce} sessions at once`, second(many))
    // Without a wait for the disk there is nothing to share, and a bare insert is next to nothing.
    const [one, several] = synchronous === "full" ? [2, 1] : [Infinity, Infinity]
    outcomes.push(claim("one writer against bare inserts", single / bare, one))
    outcomes.push(claim(`${sessionsAtOnce} sessions at once against bare inserts`, many / bare, several))
  }

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
