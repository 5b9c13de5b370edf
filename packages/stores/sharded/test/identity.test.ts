/** Shards whose URLs or order are wrong: an error before anything begins or moves, and nothing is lost. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSharded, type Shard, type ShardedLog } from "../src/index.js"
import { often } from "@memfold/harness/depth"
import {
  appending,
  checked,
  killedAt,
  logOf,
  pausesOf,
  processOver,
  record,
  simulated,
  stores,
} from "./support.js"

const memory = InMemoryEventLog.make
const over = (...shards: ReadonlyArray<readonly [name: string, log: EventLog.Service]>) =>
  makeSharded({ shards: shards.map(([name, log]): Shard => ({ name, log })) })

const sessions = Array.from({ length: 12 }, (_, at) => `s${at}`)

/** Two stores with all sessions, as their shards see them. */
const filled = Effect.gen(function* () {
  const [one, other] = [yield* memory, yield* memory]
  const right = over(["a", one], ["b", other])
  for (const session of sessions) yield* appending(right, session, 1)
  const versions = Effect.forEach(sessions, (session) => EventLog.versionOf(right, session))
  expect(new Set(yield* Effect.forEach(sessions, right.placeOf))).toEqual(new Set(["a", "b"]))
  return { one, other, right, versions }
})

const all = sessions.map(() => 2)

/** Why each of some calls is refused; `null` for one that is not. */
const refusals = (log: ShardedLog, call: (session: string) => Effect.Effect<unknown, EventLog.LogError>) =>
  Effect.forEach(sessions, (session) =>
    Effect.map(
      Effect.either(call(session)),
      Either.match({ onLeft: ({ reason }) => reason, onRight: () => null }),
    ),
  )

const twice = (name: string, is: string) =>
  `the store of the shard "${name}" is the shard "${is}" already; give each shard a store of its own, and keep its name`

it("a session does not begin on the second of two shards in one store", () =>
  Effect.gen(function* () {
    const one = yield* memory
    const log = over(["a", one], ["b", one])
    const refused = yield* refusals(log, (session) => appending(log, session, 2))
    expect(new Set(refused)).toEqual(new Set([null, twice("b", "a")]))
    expect((yield* EventLog.logs(log).pipe(Stream.runCollect)).length).toBe(
      refused.filter((one) => one === null).length,
    )
  }).pipe(Effect.runPromise))

it.each([true, false])(
  "no move between two shards in one store deletes what it has copied (named: %s)",
  (isNamed) =>
    Effect.gen(function* () {
      const { one, right, versions } = yield* filled
      // Older stores do not say which shard they are.
      if (!isNamed) yield* one.delete("memfold:place:shard")
      const log = over(["a", one], ["b", one])
      for (const to of ["a", "b"]) yield* refusals(log, (session) => log.move(session, to))
      yield* Effect.ignore(Stream.runDrain(log.rebalance))
      expect(yield* versions).toEqual(all)
      expect((yield* EventLog.logs(right).pipe(Stream.runCollect)).length).toBe(sessions.length)
    }).pipe(Effect.runPromise),
)

it("what a broken move has left is not looked for in the store that has the session", () =>
  Effect.gen(function* () {
    const { one, other, right } = yield* filled
    const session = (yield* Effect.filter(sessions, (id) =>
      Effect.map(right.placeOf(id), (on) => on === "a"),
    ))[0]!
    const shards = [
      { name: "a", log: one },
      { name: "b", log: other },
    ]
    yield* Effect.exit(processOver(shards, killedAt(5, "behind")).move(session, "b"))
    // Whoever writes takes the move back; the copy on `b` stays nobody's.
    yield* right.rewrite(session, [], [record(3)], { expectedVersion: 2, batchId: "rewritten" })
    const twin = over(["a", one], ["b", one])
    yield* Effect.either(twin.rewrite(session, [], [record(4)], { expectedVersion: 3, batchId: "again" }))
    expect(yield* EventLog.versionOf(right, session)).toBeGreaterThanOrEqual(3)
  }).pipe(simulated))

it("shards whose URLs were changed for each other, and another first shard, are refused", () =>
  Effect.gen(function* () {
    const { one, other, versions } = yield* filled
    const swapped = over(["a", other], ["b", one])
    expect(new Set(yield* refusals(swapped, (session) => appending(swapped, session, 2)))).toEqual(
      new Set([twice("a", "b")]),
    )
    const withNew = over(["c", yield* memory], ["a", one], ["b", other])
    for (const refused of yield* refusals(withNew, (session) => appending(withNew, session, 2)))
      expect(refused).toMatch(/^the shard "[ab]" goes with "a" as the first shard/)
    expect(yield* refusals(withNew, withNew.head)).not.toContain(null)
    expect(yield* refusals(withNew, (session) => withNew.move(session, "b"))).not.toContain(null)
    expect(yield* versions).toEqual(all)
    const added = over(["a", one], ["b", other], ["c", yield* memory])
    expect(yield* refusals(added, (session) => appending(added, session, 2))).toEqual(
      sessions.map(() => null),
    )
  }).pipe(Effect.runPromise))

it("a directory in a store of its own stays there", () =>
  Effect.gen(function* () {
    const [one, directory] = [yield* memory, yield* memory]
    const shards = [{ name: "a", log: one }]
    yield* appending(makeSharded({ shards, directory }), "s", 1)
    yield* appending(makeSharded({ shards, directory }), "s", 2)
    const { reason } = yield* Effect.flip(appending(makeSharded({ shards }), "s", 3))
    expect(reason).toContain("goes with a directory of its own")
  }).pipe(Effect.runPromise))

/** Three sessions of a store that was there before the shards, one of them of `ann`. */
const before = Effect.gen(function* () {
  const old = yield* memory
  const description = { key: "", data: JSON.stringify({ owner: "ann", title: "Old" }) }
  for (const session of ["old-1", "old-2"]) yield* appending(old as ShardedLog, session, 0)
  yield* old.append("old-3", [record(0)], {
    expectedVersion: 0,
    batchId: "b0",
    projections: [{ kind: "description", rows: [description] }],
  })
  const position = (yield* old.feed!({ limit: 1 }))[0]!.position
  return { old, position, shards: [{ name: "a", log: old }, ...(yield* stores).slice(1)] }
})

describe("a store that is there before the shards", () => {
  it("is the first one, and keeps its sessions, while new ones begin on all", () =>
    Effect.gen(function* () {
      const { old, position, shards } = yield* before
      const log = makeSharded({ shards })
      expect(yield* Effect.forEach(["old-1", "old-2", "old-3"], log.placeOf)).toEqual(["a", "a", "a"])
      yield* appending(log, "old-1", 1)
      expect((yield* logOf(old, "old-1")).length).toBe(4)
      for (const session of sessions) yield* appending(log, session, 0)
      expect(new Set(yield* Effect.forEach(sessions, log.placeOf)).size).toBe(4)
      expect((yield* log.list({ owner: "ann", limit: 5 })).map(({ session }) => session)).toEqual(["old-3"])
      expect((yield* EventLog.sessions(log).pipe(Stream.runCollect)).length).toBe(sessions.length + 3)
      // A reader of the old store goes on.
      const fed = [...(yield* Stream.runCollect(EventLog.feed(log, { after: position, follow: false })))]
      expect(fed.filter(({ record: { session } }) => session.startsWith("old")).length).toBe(6)
      expect((yield* log.move("old-2", "b")).outcome).toBe("moved")
      expect(yield* log.delete("old-3")).toBe(true)
      const later = makeSharded({ shards })
      expect(yield* Effect.forEach(["old-1", "old-2", "old-3"], later.placeOf)).toEqual(["a", "b", null])
      expect((yield* Stream.runCollect(later.rebalance)).length).toBeLessThanOrEqual(1)
    }).pipe(Effect.runPromise))

  it("loses none of its sessions when a move of one is killed at any call, while others write to it", () =>
    fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), fc.boolean(), fc.nat(), (step, isBehind, seed) =>
        Effect.gen(function* () {
          const { shards } = yield* before
          for (const session of ["old-2", "old-3"]) yield* shards[0]!.log.delete(session)
          const mover = processOver(shards, killedAt(step, isBehind ? "behind" : "before"), pausesOf(seed))
          const writer = processOver(shards, undefined, pausesOf(seed + 1))
          const writing = Effect.forEach([1, 2, 3], (n) => appending(writer, "old-1", n))
          yield* Effect.all([Effect.exit(mover.move("old-1", "b")), writing], { concurrency: "unbounded" })
          yield* checked(shards, "old-1", [0, 1, 2, 3])
        }).pipe(simulated),
      ),
      { numRuns: often(60, 2_000) },
    ))

  it("is refused as any other shard, since its sessions would not be found", () =>
    Effect.gen(function* () {
      const { old, shards } = yield* before
      const [, b, c] = shards
      const log = makeSharded({ shards: [b!, c!, { name: "old", log: old }] })
      const refused = new Set(yield* refusals(log, (session) => appending(log, session, 0)))
      expect(refused).toContain(
        'the store of the shard "old" has sessions of its own, which would not be found; give the store that has them as the first shard, and the others empty',
      )
      expect(refused.size).toBe(2)
    }).pipe(Effect.runPromise))
})
