/** Shards whose URLs or order are wrong: an error before anything begins or moves, and nothing is lost. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Either, Stream } from "effect"
import { expect, it } from "vitest"
import { makeSharded, type Shard, type ShardedLog } from "../src/index.js"
import { appending, killedAt, processOver, record, simulated } from "./support.js"

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
    const [first] = yield* Effect.zipRight(
      appending(log, "s0", 1),
      EventLog.logs(log).pipe(Stream.runCollect),
    )
    expect(first?.session).toBe("s0")
    const is = (yield* log.placeOf("s0"))!
    const refused = new Set(yield* refusals(log, (session) => appending(log, session, 2)))
    expect(refused).toEqual(new Set([null, twice(is === "a" ? "b" : "a", is)]))
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
