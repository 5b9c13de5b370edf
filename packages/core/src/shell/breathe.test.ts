/** Long work on a session lets other work of the process run. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import { EventCodec, EventLog, InMemoryEventLog, Memory } from "../index.js"

/** How often the event loop went on while something ran. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setTimeout(turn, 0)
  }
  setTimeout(turn, 0)
  await work()
  over = true
  return turns
}

describe("a session of 20,000 messages", () => {
  it(
    "does not hold the event loop while it is copied, redacted, compacted anew or read",
    { timeout: 60_000 },
    () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        for (let from = 0; from < 20_000; from += 1_000) yield* memory.append("s", said(1_000, from))
        const works: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]> = [
          ["fork", memory.fork("s", "t")],
          ["redact", memory.redact("s", 5)],
          ["recompact", memory.recompact("s")],
          ["state", memory.state("s", { atVersion: 19_999 })],
        ]
        for (const [name, work] of works) {
          const turns = yield* Effect.promise(() => turnsDuring(() => Effect.runPromise(work)))
          expect({ name, goesOn: turns > 4 }).toEqual({ name, goesOn: true })
        }
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" })), Effect.runPromise),
  )
})

describe("a session of 20,000 events", () => {
  it("does not hold the event loop while a fork reads its records", { timeout: 60_000 }, () =>
    Effect.gen(function* () {
      const inner = yield* InMemoryEventLog.make
      const record = { time: 0, ...EventCodec.encode({ _tag: "CompactionReleased", compaction: "k" }) }
      const [first, ...rest] = Array.from({ length: 20_000 }, () => record)
      yield* inner.append("s", [first!, ...rest], { expectedVersion: 0, batchId: "a" })
      let turns = 0
      let over = false
      /** For each read of the log, page after page: its records, and how often the event loop went on meanwhile. */
      const read: Array<{ readonly before: number; records: number; turns: number }> = []
      const log: EventLog.Service = {
        ...inner,
        read: (session, page) =>
          Effect.map(inner.read(session, page), (records) => {
            const current = read.at(-1)
            if (page.fromVersion === 1 || current === undefined)
              read.push({ before: turns, records: records.length, turns: 0 })
            else {
              current.records += records.length
              current.turns = turns - current.before
            }
            return records
          }),
      }
      const turn = () => {
        turns++
        if (!over) setTimeout(turn, 0)
      }
      setTimeout(turn, 0)
      const memory = yield* Effect.provideService(
        Memory.make({ strategy: pairs, compaction: "manual" }),
        EventLog.EventLog,
        log,
      )
      // The state is known, and only the fork reads all records.
      yield* memory.state("s")
      read.length = 0
      expect(yield* memory.fork("s", "t")).toBe(20_000)
      over = true
      // The fork reads all records twice: to copy them, and for the state that tells of a running compaction.
      expect(read.filter(({ records }) => records === 20_000)).toHaveLength(2)
      for (const { records, turns } of read) {
        if (records === 20_000) expect({ records, goesOn: turns > 4 }).toEqual({ records, goesOn: true })
      }
      expect(yield* EventLog.versionOf(inner, "t")).toBe(20_000)
    }).pipe(Effect.scoped, Effect.runPromise),
  )
})
