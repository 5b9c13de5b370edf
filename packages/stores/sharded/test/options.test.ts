/** Options that cannot be meant are refused before anything is opened, and an error of a shard names it. */
import { EventLog, InMemoryEventLog } from "@memfold/core"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { makeSharded, sharded } from "../src/index.js"

it.each<readonly [options: object | null, words: string]>([
  [null, '"shards" must be an object of shards by their names'],
  [{}, '"shards" must be'],
  [{ shards: {} }, '"shards" must be'],
  [{ shards: ["memory:", "memory:"] }, '"shards" must be'],
  [{ shards: { 2: "memory:", a: "memory:" } }, '"shards.2" must be under a name'],
  [{ shards: { " ": "memory:" } }, "must be under a name"],
  [{ shards: { a: null } }, '"shards.a" must be the URL of a store'],
  [{ shards: { a: 5 } }, '"shards.a" must be the URL of a store'],
  [{ shards: { a: InMemoryEventLog.layer } }, "an object like { store, region, leaving }"],
  [{ shards: { a: {} } }, '"shards.a.store" must be the URL of a store, or a layer'],
  [{ shards: { a: { store: Effect.runSync(InMemoryEventLog.make) } } }, '"shards.a.store" must be'],
  [{ shards: { a: { store: "memory:", leaving: "false" } } }, '"shards.a.leaving" must be true or false'],
  [{ shards: { a: { store: "memory:", leving: true } } }, 'did you mean "shards.a.leaving"?'],
  [{ shards: { a: { store: "memory:", region: "" } } }, '"shards.a.region" must be'],
  [{ shards: { a: "memory:" }, place: "ownr" }, '"place" must be "session", "owner", or a function'],
  [{ shards: { a: "memory:" }, regionof: () => "eu" }, 'did you mean "regionOf"?'],
  [{ shards: { a: "memory:" }, regionOf: "eu" }, '"regionOf" must be a function'],
])("refuses %j", (options, words) => {
  expect(() => sharded(options as never)).toThrow(words)
})

it("names the shard whose store cannot be opened", () =>
  Effect.gen(function* () {
    for (const wrong of ["mysql://me:SECRET@host/db", "sqlite:none/such.db"]) {
      const error = yield* Effect.flip(Layer.build(sharded({ shards: { a: "memory:", b: wrong } })))
      expect(error.message).toMatch(/^The event log failed at open: the shard "b": (?!The event log)/)
      expect(error.message).not.toContain("SECRET")
    }
  }).pipe(Effect.scoped, Effect.runPromise))

it.each([null, 5, Promise.resolve("a")])("refuses %s as a place", (given) =>
  Effect.gen(function* () {
    const log = makeSharded({
      shards: [{ name: "a", log: yield* InMemoryEventLog.make }],
      place: () => given as unknown as string,
    })
    const record = { time: 1, type: "Said", schemaVersion: 1, data: "{}" }
    const error = yield* Effect.flip(log.append("s", [record], { expectedVersion: 0, batchId: "b" }))
    expect(error).toBeInstanceOf(EventLog.LogError)
    expect(error.message).toMatch(
      /of session "s": the function `place` has to answer with the name of a shard/,
    )
  }).pipe(Effect.runPromise),
)

it("names the session that was asked for, or the shard, and no log of its own, where a store is away", () =>
  Effect.gen(function* () {
    const reason = "the database refuses connections"
    const failed = (operation: string) => (session: unknown) =>
      new EventLog.LogError({
        operation,
        reason,
        ...(typeof session === "string" ? { session } : {}),
      })
    const away = (log: EventLog.Service): EventLog.Service => ({
      ...log,
      append: failed("append"),
      read: failed("read"),
      head: failed("head"),
      list: failed("list"),
      feed: failed("feed"),
      feedEnd: failed("feed")(null),
      projections: { ...log.projections, get: failed("projections") },
    })
    const logs = [yield* InMemoryEventLog.make, yield* InMemoryEventLog.make]
    const over = (at: number | null) =>
      makeSharded({
        shards: logs.map((log, one) => ({ name: "ab"[one]!, log: one === at ? away(log) : log })),
      })
    const record = { time: 1, type: "Said", schemaVersion: 1, data: "{}" }
    const sessions = Array.from({ length: 6 }, (_, at) => `s${at}`)
    for (const session of sessions)
      yield* over(null).append(session, [record], { expectedVersion: 0, batchId: "b" })
    for (const [at, shard] of [..."ab"].entries()) {
      const on = yield* Effect.filter(sessions, (session) =>
        Effect.map(over(null).placeOf(session), (place) => place === shard),
      )
      for (const session of at === 0 ? [...sessions, "new"] : on)
        for (const use of [
          over(at).head(session),
          over(at).append(session, [record], { expectedVersion: session === "new" ? 0 : 1, batchId: "c" }),
          over(at).delete(session),
        ])
          expect(yield* Effect.flip<unknown, Error, never>(use)).toMatchObject({
            _tag: "LogError",
            session,
            reason: expect.stringContaining(reason),
          })
      for (const use of [over(at).list({ limit: 9 }), over(at).feed!({ limit: 9 }), over(at).feedEnd!]) {
        const { message } = yield* Effect.flip<unknown, Error, never>(use)
        expect(message).toMatch(new RegExp(`: the (?:shard "${shard}"|directory of the shards): ${reason}$`))
      }
    }
  }).pipe(Effect.runPromise))
