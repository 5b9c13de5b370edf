/** Going back to an earlier state reads about as many events as it goes back, however long the session is. */
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import {
  EchoSummarizer,
  EventLog,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Strategy,
  Summarizer,
  SummaryMode,
  Trigger,
} from "../index.js"

const strategy = Strategy.make({
  name: "window",
  when: Trigger.backlog({ messages: 12 }),
  keep: Keep.lastMessages(20),
  summaryMode: SummaryMode.rolling,
})

/** The in-memory log, and how many records were read from it. */
const counted = Effect.map(InMemoryEventLog.make, (log) => {
  const count = { read: 0 }
  const counting: EventLog.Service = {
    ...log,
    read: (session, page) =>
      Effect.tap(log.read(session, page), (records) =>
        Effect.sync(() => {
          count.read += records.length
        }),
      ),
  }
  return { log: counting, count }
})

describe("an edit", () => {
  it("reads about as many events as it goes back, wherever the session ends", () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1_200, max: 1_500 }),
        fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 4 }),
        (length, distances) =>
          Effect.gen(function* () {
            const { log, count } = yield* counted
            const memory = yield* Memory.make({ strategy, compaction: { mode: "inline" } }).pipe(
              Effect.provideService(Summarizer.Summarizer, EchoSummarizer.make()),
              Effect.provideService(EventLog.EventLog, log),
            )
            for (let index = 0; index < length; index++) yield* memory.append("s", Message.user(`${index}`))
            let farthest = 0
            for (const distance of distances) {
              farthest = Math.max(farthest, distance)
              count.read = 0
              yield* memory.edit("s", length - distance, [])
              yield* memory.undo("s")
              // A snapshot behind the farthest edit cannot be used, since the log goes back to before it.
              expect(count.read, `events read for an edit ${distance} back`).toBeLessThan(8 * farthest + 500)
            }
          }).pipe(Effect.scoped, Effect.runPromise),
      ),
      { numRuns: often(5, 100), examples: [[1425, [23, 22]]] },
    ))
})
