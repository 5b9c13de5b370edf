/** Sessions whose writers never pause: they are held for the last step of a move, and by nobody for long. */
import { often } from "@memfold/harness/depth"
import { Cause, Clock, Deferred, Effect, Exit, Fiber } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { directoryIn } from "../src/Directory.js"
import type { Shard, ShardedLog } from "../src/index.js"
import { appending, checked, type Fate, pausesOf, processOver, simulated, stores } from "./support.js"

const isHeld = (shards: ReadonlyArray<Shard>) =>
  Effect.map(directoryIn(shards[0]!.log).find("s"), (place) => place?.held === true)

describe("a move of a session whose writers never pause", () => {
  /** Writers of several processes append without a pause until they are told, each as long as its own seed says. */
  const under = <A>(
    writerSeeds: ReadonlyArray<number>,
    run: (shards: ReadonlyArray<Shard>, names: ReadonlyArray<string>) => Effect.Effect<A>,
  ) =>
    Effect.gen(function* () {
      const shards = yield* stores
      const over = (seed: number) => processOver(shards, undefined, pausesOf(seed))
      const acknowledged: Array<number> = [0]
      yield* appending(over(0), "s", 0)
      const from = yield* over(0).placeOf("s")
      const names = shards.map(({ name }) => name).filter((name) => name !== from)
      const told = yield* Deferred.make<void>()
      let [next, longest] = [0, 0]
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
                yield* Effect.sleep(20_000)
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
