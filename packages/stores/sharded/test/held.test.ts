/** Sessions whose writers never pause: they are held for the last step of a move, and by nobody for long. */
import { EventLog } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { Cause, Clock, Deferred, Effect, Exit, Fiber } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { directoryIn, placePrefix } from "../src/Directory.js"
import { makeSharded, type Shard, type ShardedLog } from "../src/index.js"
import {
  appending,
  checked,
  type Fate,
  logOf,
  pausesOf,
  processOver,
  record,
  simulated,
  stores,
} from "./support.js"

const isHeld = (shards: ReadonlyArray<Shard>) =>
  Effect.map(directoryIn(shards[0]!.log).find("s"), (place) => place?.held === true)

describe("a move of a session whose writers never pause", () => {
  /** Writers of several processes append without a pause until they are told, each as long as its own seed says. */
  const under = <A>(
    writerSeeds: ReadonlyArray<number>,
    run: (shards: ReadonlyArray<Shard>, names: ReadonlyArray<string>) => Effect.Effect<A>,
    { length = 1 }: { readonly length?: number } = {},
  ) =>
    Effect.gen(function* () {
      const shards = yield* stores
      const over = (seed: number) => processOver(shards, undefined, pausesOf(seed))
      const acknowledged = Array.from({ length }, (_, n) => n)
      for (const n of acknowledged) yield* appending(makeSharded({ shards }), "s", n)
      const from = yield* over(0).placeOf("s")
      const names = shards.map(({ name }) => name).filter((name) => name !== from)
      const told = yield* Deferred.make<void>()
      let [next, longest] = [length - 1, 0]
      const write = (log: ShardedLog) =>
        Effect.gen(function* () {
          while (!(yield* Deferred.isDone(told))) {
            const n = ++next
            const began = yield* Clock.currentTimeMillis
            yield* appending(log, "s", n)
            longest = Math.max(longest, (yield* Clock.currentTimeMillis) - began)
            acknowledged.push(n)
          }
        })
      const writing = yield* Effect.fork(
        Effect.all(
          writerSeeds.map((seed) => write(over(seed))),
          { concurrency: "unbounded" },
        ),
      )
      const done = yield* run(shards, names)
      yield* Deferred.succeed(told, undefined)
      yield* Fiber.join(writing)
      yield* checked(shards, "s", acknowledged)
      return { done, longest }
    })

  const writers = fc.array(fc.nat({ max: 2 ** 30 }), { minLength: 1, maxLength: 4 })

  it("ends, and no write waits for long", () =>
    fc.assert(
      fc.asyncProperty(writers, fc.nat({ max: 2 ** 30 }), (seeds, mover) =>
        Effect.gen(function* () {
          const { done, longest } = yield* under(seeds, (shards, [to]) =>
            Effect.orDie(processOver(shards, undefined, pausesOf(mover)).move("s", to!)),
          )
          expect(done.outcome).toBe("moved")
          expect(longest).toBeLessThan(5_000)
        }).pipe(simulated),
      ),
      { numRuns: often(8, 300) },
    ))

  /** How many records a mover reads in each place that it writes to the directory: held, or not. */
  const reading = (shards: ReadonlyArray<Shard>) => {
    const read: Array<{ readonly held: boolean; records: number }> = [{ held: false, records: 0 }]
    const counted = shards.map((shard) => ({
      ...shard,
      log: {
        ...shard.log,
        append: (session, records, options) => {
          if (session.startsWith(placePrefix))
            read.push({ held: records[0].data.includes('"held":true'), records: 0 })
          return shard.log.append(session, records, options)
        },
        read: (session, page) =>
          Effect.tap(shard.log.read(session, page), (found) =>
            Effect.sync(() => session === "s" && (read.at(-1)!.records += found.length)),
          ),
      } satisfies EventLog.Service,
    }))
    return { counted, read }
  }

  it("reads only what came last while it holds the session, however long that is", () =>
    fc.assert(
      fc.asyncProperty(
        writers,
        fc.nat({ max: 2 ** 30 }),
        fc.integer({ min: 800, max: 1_500 }),
        (seeds, mover, length) =>
          Effect.gen(function* () {
            const { done } = yield* under(
              seeds,
              (shards, [to]) => {
                const { counted, read } = reading(shards)
                return Effect.map(
                  Effect.orDie(processOver(counted, undefined, pausesOf(mover)).move("s", to!)),
                  () => read,
                )
              },
              { length },
            )
            const held = done.filter(({ held }) => held)
            expect(held.length).toBeGreaterThan(0)
            for (const { records } of held) expect(records).toBeLessThan(length / 2)
          }).pipe(simulated),
      ),
      { numRuns: often(3, 60) },
    ))

  it("has the new data of each rewrite, also of one whose process was killed behind it", () =>
    fc.assert(
      fc.asyncProperty(
        writers,
        fc.array(fc.nat({ max: 2 ** 30 }), { minLength: 1, maxLength: 8 }),
        fc.nat({ max: 2 ** 30 }),
        (seeds, rewriters, mover) =>
          Effect.gen(function* () {
            yield* under(seeds, (shards, [to]) =>
              Effect.gen(function* () {
                const rewrite = (seed: number, n: number): Effect.Effect<unknown> =>
                  Effect.gen(function* () {
                    const pause = pausesOf(seed)
                    yield* Effect.sleep(seed % 7_000)
                    const place = (yield* directoryIn(shards[0]!.log).find("s"))!.shard
                    const { log } = shards.find(({ name }) => name === place)!
                    const expectedVersion = yield* EventLog.versionOf(log, "s")
                    const data = [{ version: 1 + (seed % 2), schemaVersion: 1, data: `{"rewritten":${n}}` }]
                    yield* pause
                    // As a process does that dies behind it, and as an older memfold does: it ends no move.
                    yield* log.rewrite("s", data, [record(n), record(n)], {
                      expectedVersion,
                      batchId: `b${n}`,
                    })
                  }).pipe(
                    Effect.catchTag("VersionConflict", () => rewrite(seed, n)),
                    Effect.orDie,
                  )
                const rewriting = yield* Effect.fork(
                  Effect.all(
                    rewriters.map((seed, at) => rewrite(seed, 1_000_000 + at)),
                    { concurrency: "unbounded" },
                  ),
                )
                const moved = yield* processOver(shards, undefined, pausesOf(mover)).move("s", to!)
                expect(moved.outcome).toBe("moved")
                yield* Fiber.join(rewriting)
                const found = yield* logOf(processOver(shards), "s")
                for (const version of [1, 2]) {
                  const last = found
                    .map(({ batchId }) => Number(batchId.slice(1)) - 1_000_000)
                    .findLast((at) => at >= 0 && 1 + (rewriters[at]! % 2) === version)
                  if (last !== undefined)
                    expect(found[version - 1]!.data).toBe(`{"rewritten":${1_000_000 + last}}`)
                }
              }).pipe(Effect.orDie),
            )
          }).pipe(simulated),
      ),
      { numRuns: often(4, 300) },
    ))

  it("that is killed at any call while it holds the session, holds it no longer than a while, and loses nothing", () =>
    fc.assert(
      fc.asyncProperty(
        writers,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom("before" as const, "behind" as const),
        (seeds, step, how) =>
          Effect.gen(function* () {
            const { done, longest } = yield* under(seeds, (shards, [to, other]) =>
              Effect.gen(function* () {
                let [held, calls] = [false, 0]
                const fate = (): Fate => (held && ++calls === step ? how : "on")
                const look = Effect.map(Effect.orDie(isHeld(shards)), (now) => void (held ||= now))
                const moved = yield* Effect.exit(
                  processOver(shards, fate, Effect.zipRight(look, Effect.yieldNow())).move("s", to!),
                )
                if (Exit.isFailure(moved) && !Cause.isDie(moved.cause)) throw Cause.squash(moved.cause)
                yield* Effect.sleep(7_000)
                expect(yield* isHeld(shards)).toBe(false)
                return yield* processOver(shards).move("s", other!)
              }).pipe(Effect.orDie),
            )
            expect(done.outcome).toBe("moved")
            expect(longest).toBeLessThan(6_000)
          }).pipe(simulated),
      ),
      { numRuns: often(8, 300) },
    ))
})
