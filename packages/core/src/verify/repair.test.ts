import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Stream, TestClock } from "effect"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import { replaceRows, snapshotOf, versionIn } from "@memfold/harness/logs"
import { EventCodec, EventLog, Memory, Repair, Verify } from "../index.js"

/** What is appended by whoever rewrites a record by hand; it changes nothing. */
const harmless = { time: 0, ...EventCodec.encode({ _tag: "CompactionReleased", compaction: "k" }) }

/** A session with a summary, and the snapshot that was taken with it. */
const compacted = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  const log = yield* EventLog.EventLog
  yield* memory.append("s", said(6))
  yield* memory.compact("s", { which: "due" })
  return { memory, log, good: (yield* snapshotOf(log, "s"))! }
})

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

describe("repair", () => {
  it.effect("declares a damaged summary invalid, and the session verifies", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      const version = yield* EventLog.versionOf(log, "s")
      const broken = { version: 8, schemaVersion: 1, data: '{"half":', checksum: 0 }
      yield* log.rewrite("s", [broken], [harmless], { expectedVersion: version, batchId: "damage" })
      expect((yield* Verify.session(log, "s")).map(({ rule, version }) => `${rule} ${version}`)).toEqual([
        "decodable 8",
      ])
      const { mended, left } = yield* Repair.repair(log, "s")
      expect(mended).toEqual([expect.stringContaining("event 8")])
      expect(left).toEqual([])
      expect(yield* Verify.session(log, "s")).toEqual([])
      expect(yield* Repair.repair(log, "s")).toEqual({ session: "s", mended: [], left: [] })
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { _tag: "Committed", started: { from: 0, to: 4 } },
      ])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("makes a damaged snapshot anew, whether it is unreadable or another state's", () =>
    Effect.gen(function* () {
      const { memory, log, good } = yield* compacted
      for (const data of ["", good.data.slice(0, -1), good.data.replace("number 4", "number 5")]) {
        yield* replaceRows(log, "s", "snapshot", [{ ...good, data }])
        expect((yield* Verify.session(log, "s")).map(({ rule }) => rule)).toEqual(["snapshot"])
        const again = yield* Memory.make(manual)
        expect(yield* again.context("s")).toEqual(yield* memory.context("s"))
        expect((yield* Repair.repair(log, "s")).mended).toEqual(["replaced the snapshot"])
        expect(yield* Verify.session(log, "s")).toEqual([])
      }
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )

  it.effect("gives back a lock that nobody ended, once its lease is over", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", said(6))
      const started = {
        _tag: "CompactionStarted" as const,
        compaction: "gone",
        strategy: "pairs",
        reason: "backlog",
        from: 0,
        to: 4,
        tailFrom: 4,
        parts: [{ kind: "history" as const, from: 0, to: 4 }],
        leaseUntil: 1_000,
      }
      yield* log.append("s", [{ time: 0, ...EventCodec.encode(started) }], {
        expectedVersion: 6,
        batchId: "k",
      })
      expect((yield* Repair.repair(log, "s")).mended).toEqual([])
      yield* TestClock.adjust("1 second")
      expect((yield* Repair.repair(log, "s")).mended).toEqual([expect.stringContaining("lock")])
      expect((yield* memory.state("s")).running).toBeNull()
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("sets a message that cannot be read aside, and leaves its record as it is", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", said(3))
      yield* memory.append("other", said(3))
      yield* log.rewrite("s", [{ version: 2, schemaVersion: 1, data: "?", checksum: 1 }], [harmless], {
        expectedVersion: 3,
        batchId: "damage",
      })
      expect(yield* Verify.session(log, "s")).toMatchObject([{ session: "s", version: 2, rule: "decodable" }])
      const { mended, left } = yield* Repair.repair(log, "s")
      expect(mended).toEqual([
        "set the message of event 2 aside, which cannot be read; the session goes on without it",
      ])
      expect(left).toEqual([])
      expect(yield* Repair.repair(log, "s")).toMatchObject({ mended: [], left: [] })
      const second = Option.getOrThrow(yield* Stream.runHead(EventLog.records(log, "s", { fromVersion: 2 })))
      expect(second).toMatchObject({ type: "MessageAppended", data: "?" })
      const fresh = yield* Memory.make(manual)
      expect((yield* fresh.context("s")).messages).toHaveLength(2)
      expect((yield* fresh.context("s")).layout).toContainEqual({
        section: "unreadable",
        from: 1,
        to: 2,
        tokens: 0,
      })
      expect((yield* fresh.context("other")).messages).toHaveLength(3)
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )

  it.effect("leaves the snapshot of a log with a missing message, which may know it, as it is (L6)", () =>
    Effect.gen(function* () {
      const { log, good } = yield* compacted
      const third = Option.getOrThrow(yield* Stream.runHead(EventLog.records(log, "s", { fromVersion: 3 })))
      yield* log.rewrite(
        "s",
        [
          {
            version: 3,
            schemaVersion: third.schemaVersion,
            data: third.data.replace('"index":2', '"index":3'),
          },
        ],
        [harmless],
        {
          expectedVersion: versionIn(good),
          batchId: "damage",
        },
      )
      yield* replaceRows(log, "s", "snapshot", [good])
      const found = yield* Verify.session(log, "s")
      expect(found[0]).toMatchObject({ version: 3, rule: "contiguous" })
      expect(found.map(({ rule }) => rule)).not.toContain("snapshot")
      expect(yield* Repair.repair(log, "s")).toEqual({ session: "s", mended: [], left: found })
      expect(yield* snapshotOf(log, "s")).toEqual(good)
    }).pipe(Effect.provide(withMemory(manual))),
  )
})
