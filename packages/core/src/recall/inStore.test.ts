/** The full-text index in a store: what a search reads of it while it builds it. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { memoryOver, pairs, said } from "@memfold/harness/engine"
import { type EventLog, FullTextIndex, InMemoryEventLog, Recall } from "../index.js"

it.scoped("a part that was loaded is not loaded again, however many more a search writes", () =>
  Effect.gen(function* () {
    const log = yield* InMemoryEventLog.make
    const asked: Array<string> = []
    const projections: EventLog.Projections = {
      ...log.projections,
      get: (session, kind, filter) => {
        const keys = kind === "index" && filter !== undefined && "keys" in filter ? filter.keys : []
        asked.push(...keys.filter((key) => key !== "parts"))
        return log.projections.get(session, kind, filter)
      },
    }
    const memory = yield* memoryOver(log, { strategy: pairs, compaction: { mode: "off" } }).pipe(
      Effect.provideService(
        FullTextIndex.FullTextIndex,
        Recall.inStore(projections, { eventsPerPart: 10, largestPart: 10 }),
      ),
    )
    yield* memory.append("s", said(400))
    const found = yield* memory.recall("s", "ordinary")
    expect(found.messages.length).toBeGreaterThan(0)
    // The head of each of 40 parts, and in each the bucket of the term.
    expect(asked.length).toBeGreaterThan(40)
    expect(asked.length).toBe(new Set(asked).size)
  }),
)
