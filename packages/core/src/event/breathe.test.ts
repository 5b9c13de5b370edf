/** Long work on a session lets other work of the process run. */
import { Effect, Stream } from "effect"
import { describe, expect, it, vi } from "vitest"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import { EventCodec, EventLog, InMemoryEventLog, Memory } from "../index.js"

/** Each look at the clock finds that the work has held the event loop for long, on a fast machine too. */
const everyLookIsLate = () => {
  let time = Date.now()
  return vi.spyOn(Date, "now").mockImplementation(() => (time += 11))
}

/** How often the event loop went on while something ran. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const clock = everyLookIsLate()
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setTimeout(turn, 0)
  }
  setTimeout(turn, 0)
  try {
    await work()
  } finally {
    clock.mockRestore()
    over = true
  }
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
      /** For each read: its records, and how often the event loop went on meanwhile. */
      const read: Array<{ readonly records: number; readonly turns: number }> = []
      const log: EventLog.Service = {
        ...inner,
        read: (session, range) =>
          Stream.unwrap(
            Effect.sync(() => {
              const before = turns
              let records = 0
              return inner.read(session, range).pipe(
                Stream.tap(() => Effect.sync(() => records++)),
                Stream.ensuring(Effect.sync(() => read.push({ records, turns: turns - before }))),
              )
            }),
          ),
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
      const clock = everyLookIsLate()
      expect(yield* memory.fork("s", "t")).toBe(20_000)
      clock.mockRestore()
      over = true
      // The fork reads all records twice: to copy them, and for the state that tells of a running compaction.
      expect(read.filter(({ records }) => records === 20_000)).toHaveLength(2)
      for (const { records, turns } of read) {
        if (records === 20_000) expect({ records, goesOn: turns > 4 }).toEqual({ records, goesOn: true })
      }
      expect(yield* inner.version("t")).toBe(20_000)
    }).pipe(Effect.scoped, Effect.runPromise),
  )
})
