import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { echoing, pairs, said, withMemory } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory } from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const names = (events: Chunk.Chunk<Memory.FedEvent>) =>
  Chunk.toReadonlyArray(events).map(({ session, version, event }) => `${session} ${version} ${event._tag}`)

describe("the feed", () => {
  it.effect("has the events of all sessions, goes on behind a position, and waits for what comes", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("one", said(1))
      yield* memory.append("two", said(1))
      const all = yield* Stream.runCollect(memory.feed({ follow: false }))
      expect(names(all)).toEqual(["one 1 MessageAppended", "two 1 MessageAppended"])
      const position = Chunk.unsafeLast(all).position
      const coming = yield* memory
        .feed({ after: position })
        .pipe(Stream.take(2), Stream.runCollect, Effect.fork)
      yield* TestClock.adjust("1 second")
      yield* memory.append("one", said(2, 1))
      yield* TestClock.adjust("1 second")
      expect(names(yield* Fiber.join(coming))).toEqual(["one 2 MessageAppended", "one 3 MessageAppended"])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("goes past an event that cannot be read, and refuses a position that is none", () =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const memory = yield* Memory.make(manual)
      const records = [{ time: 0, type: "SummaryInvalidated", schemaVersion: 1, data: "{" }] as const
      yield* log.append("bad", records, { expectedVersion: 0, batchId: "b" })
      yield* memory.append("good", said(1))
      const all = yield* Stream.runCollect(memory.feed({ follow: false }))
      expect(names(all)).toEqual(["bad 1 UnknownEvent", "good 1 MessageAppended"])
      for (const after of ["nonsense", ""])
        expect(yield* Effect.flip(Stream.runDrain(memory.feed({ after })))).toBeInstanceOf(Error)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(InMemoryEventLog.layer, echoing))),
  )

  it.effect("is said to be missing by a store without one", () =>
    Effect.gen(function* () {
      const { feed: _feed, ...log } = yield* InMemoryEventLog.make
      const memory = yield* Memory.make(manual).pipe(Effect.provideService(EventLog.EventLog, log))
      const error = yield* Effect.flip(Stream.runDrain(memory.feed()))
      expect(error.message).toContain("the store has no feed")
    }).pipe(Effect.scoped, Effect.provide(echoing)),
  )
})
