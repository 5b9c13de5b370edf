/** The owner and the title of sessions: where they are set, what keeps them, and the list of an owner's sessions. */
import { describe, expect, it } from "@effect/vitest"
import { replaceRows } from "@memfold/harness/logs"
import { Effect, Stream, TestClock } from "effect"
import { pairs, said, withMemory } from "@memfold/harness/engine"
import { EventLog, Memory, Repair, Verify } from "../index.js"

const live = withMemory({ strategy: pairs, compaction: { mode: "manual" } })
const [hello] = said(1)

describe("the owner and the title of a session", () => {
  it.effect("are set with an append or later, changed and removed, each by itself", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      const now = () => Effect.map(memory.state("s"), ({ description: { owner, title } }) => [owner, title])
      yield* memory.append("s", hello!)
      expect(yield* now()).toEqual([null, null])
      yield* memory.append("s", hello!, { owner: "ann" })
      expect(yield* now()).toEqual(["ann", null])
      yield* memory.describe("s", { title: "Plans" })
      expect(yield* now()).toEqual(["ann", "Plans"])
      const version = yield* EventLog.versionOf(log, "s")
      yield* memory.describe("s", { title: "Plans", owner: "ann" })
      yield* memory.append("s", [], { owner: "ann" })
      expect(yield* EventLog.versionOf(log, "s")).toBe(version)
      yield* memory.describe("s", { owner: null })
      expect(yield* now()).toEqual([null, "Plans"])
      expect((yield* memory.state("s", { atVersion: version })).description.owner).toBe("ann")
      const [row] = yield* log.projections.get("s", "description")
      expect(JSON.parse(row!.data)).toEqual({ owner: null, title: "Plans" })
      yield* memory.describe("new", { owner: "ann", title: "Not begun" })
      expect((yield* memory.sessionsOf("ann")).sessions).toMatchObject([
        { session: "new", owner: "ann", title: "Not begun", version: 1 },
      ])
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.provide(live)),
  )

  it.effect("are applied once with an idempotency key", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const once = memory.append("s", hello!, { idempotencyKey: "k", owner: "ann" })
      expect(yield* once).toMatchObject({ from: 0, to: 1, version: 2, duplicate: false })
      yield* memory.describe("s", { owner: "bob" })
      expect(yield* once).toMatchObject({ from: 0, to: 1, duplicate: true })
      expect((yield* memory.state("s")).description.owner).toBe("bob")
    }).pipe(Effect.provide(live)),
  )

  it.effect("are not taken by an append: another owner is refused, and nothing is written", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", hello!, { owner: "ann", title: "Plans" })
      const version = yield* EventLog.versionOf(log, "s")
      for (const change of [{ owner: "bob" }, { owner: null }, { owner: "bob", title: "Mine" }]) {
        for (const messages of [[], [hello!]]) {
          for (const key of [{}, { idempotencyKey: "k" }]) {
            const error = yield* Effect.flip(memory.append("s", messages, { ...change, ...key }))
            expect(error).toMatchObject({ _tag: "OwnerMismatch", session: "s" })
            expect(error.message).toContain("describe")
            expect(error.message).not.toContain("ann")
          }
        }
      }
      expect(yield* EventLog.versionOf(log, "s")).toBe(version)
      expect((yield* memory.sessionsOf("bob")).sessions).toEqual([])
      yield* memory.append("s", hello!, { owner: "ann" })
      yield* memory.describe("s", { owner: "bob" })
      yield* memory.append("s", hello!, { owner: "bob" })
      expect((yield* memory.state("s")).total).toBe(3)
      expect((yield* memory.sessionsOf("bob")).sessions).toMatchObject([{ session: "s", title: "Plans" }])
    }).pipe(Effect.provide(live)),
  )

  it.effect("are not taken by an append of a process that does not know the owner yet", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", hello!)
      const log = yield* EventLog.EventLog
      const other = yield* Memory.make({ strategy: pairs, compaction: { mode: "manual" } })
      yield* other.describe("s", { owner: "ann" })
      expect(yield* Effect.flip(memory.append("s", hello!, { owner: "bob" }))).toMatchObject({
        _tag: "OwnerMismatch",
      })
      // The cached state of this process is the older one: what is refused there may be allowed in the store.
      yield* other.describe("s", { owner: "bob" })
      yield* memory.append("s", hello!, { owner: "bob" })
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.effect("stay through a clear, and go with a deletion", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", hello!, { owner: "ann", title: "Plans" })
      yield* memory.clear("s")
      expect(yield* memory.state("s")).toMatchObject({
        total: 0,
        description: { owner: "ann", title: "Plans" },
      })
      expect((yield* memory.sessionsOf("ann")).sessions).toHaveLength(1)
      yield* memory.delete("s")
      expect(yield* memory.sessionsOf("ann")).toEqual({ sessions: [], before: null })
      yield* memory.append("s", hello!)
      expect((yield* memory.state("s")).description.owner).toBe(null)
    }).pipe(Effect.provide(live)),
  )

  it.effect("of a fork are the current ones of its source, also in a fork at an older version", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", hello!, { owner: "ann" })
      yield* memory.append("s", hello!)
      yield* memory.describe("s", { owner: "bob", title: "Handed over" })
      yield* memory.fork("s", "now")
      yield* memory.fork("s", "before", { atVersion: 2 })
      expect((yield* memory.sessionsOf("bob")).sessions.map(({ session }) => session)).toEqual([
        "before",
        "now",
        "s",
      ])
      expect((yield* memory.sessionsOf("ann")).sessions).toEqual([])
      for (const session of ["s", "now", "before"]) {
        expect(yield* memory.state(session)).toMatchObject({
          description: { owner: "bob", title: "Handed over" },
        })
        expect(yield* Verify.session(log, session)).toEqual([])
      }
    }).pipe(Effect.provide(live)),
  )

  it.effect("that another program changed in the store are found, and listed as in the log again", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const log = yield* EventLog.EventLog
      yield* memory.append("s", hello!, { owner: "ann", idempotencyKey: "k" })
      yield* replaceRows(log, "s", "description", [
        { key: "", data: JSON.stringify({ owner: "eve", title: null }) },
      ])
      expect((yield* Verify.session(log, "s")).map(({ rule }) => rule)).toEqual(["description"])
      expect(yield* Repair.repair(log, "s")).toMatchObject({
        mended: ["listed the session with its owner and title again"],
        left: [],
      })
      expect((yield* memory.sessionsOf("ann")).sessions).toHaveLength(1)
      expect((yield* memory.sessionsOf("eve")).sessions).toEqual([])
    }).pipe(Effect.provide(live)),
  )

  it.effect("must be texts that are not empty", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const wrong of [
        "",
        " ",
        5,
        {},
        "\ud83d",
        "x".repeat(1_001),
      ] as ReadonlyArray<unknown> as ReadonlyArray<never>) {
        for (const attempt of [
          memory.append("s", hello!, { owner: wrong }),
          memory.append("s", hello!, { title: wrong }),
          memory.describe("s", { owner: wrong }),
          memory.sessionsOf(wrong),
        ]) {
          expect(
            yield* Effect.flip(attempt as Effect.Effect<unknown, { readonly _tag: string }>),
          ).toMatchObject({
            _tag: "InvalidInput",
          })
        }
      }
      expect((yield* memory.state("s")).version).toBe(0)
    }).pipe(Effect.provide(live)),
  )
})

describe("the sessions of an owner", () => {
  it.effect("are listed page by page, the newest activity first", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (const session of ["a", "b:1", "c", "d", "e"]) {
        yield* memory.append(session, hello!, { owner: session === "d" ? "bob" : "ann" })
        yield* TestClock.adjust("1 second")
      }
      yield* memory.append("a", hello!)
      const names = ({ sessions }: Memory.SessionPage) => sessions.map(({ session }) => session)
      expect(names(yield* memory.sessionsOf("ann"))).toEqual(["a", "e", "c", "b:1"])
      const first = yield* memory.sessionsOf("ann", { limit: 2 })
      expect(names(first)).toEqual(["a", "e"])
      const second = yield* memory.sessionsOf("ann", { limit: 2, before: first.before! })
      expect([names(second), second.before]).toEqual([["c", "b:1"], null])
      const third = yield* memory.sessionsOf("ann", { limit: 3 })
      expect(names(yield* memory.sessionsOf("ann", { before: third.before! }))).toEqual(["b:1"])
      for (const wrong of [{ limit: 0 }, { before: "x" }, { before: "x:y" }]) {
        expect(yield* Effect.flip(memory.sessionsOf("ann", wrong))).toMatchObject({ _tag: "InvalidInput" })
      }
    }).pipe(Effect.provide(live)),
  )

  const owned = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    for (const session of ["a", "b", "c"])
      yield* memory.append(session, [...said(2), hello!], { owner: session === "c" ? "bob" : "ann" })
    yield* memory.append("nobody's", hello!)
    return memory
  })

  it.effect("are read as events in one call, session by session", () =>
    Effect.gen(function* () {
      const memory = yield* owned
      const events = [...(yield* Stream.runCollect(memory.eventsOf("ann")))]
      const apart = yield* Effect.forEach(["a", "b"], (session) => Stream.runCollect(memory.events(session)))
      expect(events).toHaveLength(apart.reduce((sum, one) => sum + one.length, 0))
      expect(new Set(events.map(({ session }) => session))).toEqual(new Set(["a", "b"]))
      expect(events.filter(({ session }) => session === "a")).toEqual([...apart[0]!])
      expect([...(yield* Stream.runCollect(memory.eventsOf("eve")))]).toEqual([])
    }).pipe(Effect.provide(live)),
  )

  it.effect("are deleted in one call, and no other's", () =>
    Effect.gen(function* () {
      const memory = yield* owned
      const log = yield* EventLog.EventLog
      expect(yield* memory.deleteOf("ann")).toBe(2)
      const left = [...(yield* Stream.runCollect(EventLog.sessions(log)))].map(({ session }) => session)
      expect(left.toSorted()).toEqual(["c", "nobody's"])
      expect((yield* memory.sessionsOf("ann")).sessions).toEqual([])
      expect((yield* memory.recallOf("ann", "message number")).messages).toEqual([])
      expect(yield* memory.deleteOf("ann")).toBe(0)
      expect((yield* memory.state("a")).total).toBe(0)
    }).pipe(Effect.provide(live)),
  )

  it.effect("are of an owner with a name", () =>
    Effect.gen(function* () {
      const memory = yield* owned
      for (const wrong of ["", "\ud800", 7 as never]) {
        expect(yield* Effect.flip(memory.deleteOf(wrong))).toMatchObject({ _tag: "InvalidInput" })
        expect(yield* Effect.flip(Stream.runDrain(memory.eventsOf(wrong)))).toMatchObject({
          _tag: "InvalidInput",
        })
      }
      expect((yield* memory.sessionsOf("ann")).sessions).toHaveLength(2)
    }).pipe(Effect.provide(live)),
  )
})
