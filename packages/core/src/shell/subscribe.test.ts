import { describe, expect, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, PubSub, Stream, TestClock } from "effect"
import { echo, pairs, said, withMemory } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Summarizer } from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const seqs = (events: Chunk.Chunk<{ readonly version: number }>) =>
  Chunk.toReadonlyArray(events).map(({ version }) => version)
const upTo = (last: number) => Array.from({ length: last }, (_, position) => position + 1)

describe("a subscription", () => {
  it.effect("has what is there and what comes, each once and in order, while many write", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(5))
      const seen = yield* memory.subscribe("s").pipe(Stream.take(65), Stream.runCollect, Effect.fork)
      yield* Effect.forEach(
        upTo(30),
        (n) => Effect.zipRight(Effect.yieldNow(), memory.append("s", said(2, n))),
        { concurrency: 5 },
      )
      expect(seqs(yield* Fiber.join(seen))).toEqual(upTo(65))
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("begins where it is told to, and goes on to compactions", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(5))
      const seen = yield* memory
        .subscribe("s", { fromVersion: 4 })
        .pipe(Stream.take(5), Stream.runCollect, Effect.fork)
      yield* Effect.yieldNow()
      yield* memory.append("s", said(1, 5))
      yield* memory.compact("s", { which: "due" })
      const tags = Chunk.toReadonlyArray(yield* Fiber.join(seen)).map(
        ({ version, event }) => `${version} ${event._tag}`,
      )
      expect(tags).toEqual([
        "4 MessageAppended",
        "5 MessageAppended",
        "6 MessageAppended",
        "7 CompactionStarted",
        "8 SummaryCommitted",
      ])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("sees what another process writes, by looking now and then", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const make = Memory.make(manual).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const here = yield* make
      const elsewhere = yield* make
      const seen = yield* here
        .subscribe("s", { pollInterval: "5 seconds" })
        .pipe(Stream.take(3), Stream.runCollect, Effect.fork)
      yield* TestClock.adjust("1 second")
      yield* elsewhere.append("s", said(3))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.poll(seen)).toMatchObject({ _tag: "None" })
      yield* TestClock.adjust("5 seconds")
      expect(seqs(yield* Fiber.join(seen))).toEqual([1, 2, 3])
    }).pipe(Effect.scoped),
  )

  it.effect("hears of it from a store that tells, and need not look", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const written = yield* PubSub.unbounded<void>()
      const telling: EventLog.Service = {
        ...log,
        append: (...given) => Effect.zipLeft(log.append(...given), written.publish(undefined)),
        changes: () => Stream.fromPubSub(written),
      }
      const make = Memory.make(manual).pipe(
        Effect.provideService(EventLog.EventLog, telling),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const here = yield* make
      const elsewhere = yield* make
      const heard = yield* Effect.fork(
        Stream.runCollect(Stream.take(here.subscribe("s", { pollInterval: "1 day" }), 2)),
      )
      yield* TestClock.adjust("1 second")
      yield* elsewhere.append("s", said(1))
      yield* elsewhere.append("s", said(1, 1))
      expect(seqs(yield* Fiber.join(heard))).toEqual([1, 2])
    }).pipe(Effect.scoped),
  )

  it.effect("goes on with a session that was deleted and begun anew", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(3))
      const seen = yield* memory.subscribe("s").pipe(Stream.take(5), Stream.runCollect, Effect.fork)
      yield* TestClock.adjust("1 second")
      yield* memory.delete("s")
      yield* memory.append("s", said(2))
      yield* TestClock.adjust("1 second")
      expect(seqs(yield* Fiber.join(seen))).toEqual([1, 2, 3, 1, 2])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("delivers no event twice that a retried append brings back after a deletion", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(2), { idempotencyKey: "first" })
      const seen = yield* memory.subscribe("s").pipe(Stream.take(3), Stream.runCollect, Effect.fork)
      yield* TestClock.adjust("1 second")
      yield* memory.delete("s")
      yield* memory.append("s", said(2), { idempotencyKey: "first" })
      yield* memory.append("s", said(1, 2))
      yield* TestClock.adjust("1 second")
      expect(seqs(yield* Fiber.join(seen))).toEqual([1, 2, 3])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("says what is wrong with a session id", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* Effect.flip(Stream.runCollect(memory.subscribe("")))).toMatchObject({
        _tag: "InvalidInput",
      })
    }).pipe(Effect.provide(withMemory(manual))),
  )
})
