import { Deferred, Effect, Fiber } from "effect"
import { expect, it } from "vitest"
import { atMost } from "./atMost.js"

/** All that can go on has gone on. */
const settled = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Works that note when they begin, and go on when they are told to. */
const works = () => {
  const begun: Array<string> = []
  const inPlace = atMost(2)
  const gates = new Map<string, Deferred.Deferred<void>>()
  const start = (name: string) =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      gates.set(name, gate)
      return yield* Effect.fork(
        inPlace(
          Effect.zipRight(
            Effect.sync(() => begun.push(name)),
            Deferred.await(gate),
          ),
        ),
      )
    }).pipe(Effect.tap(settled))
  const end = (name: string) => Effect.zipRight(Deferred.succeed(gates.get(name)!, undefined), settled)
  return { begun, start, end, inPlace }
}

it("does so many works at a time, in the order of the calls", () =>
  Effect.gen(function* () {
    const { begun, start, end } = works()
    for (const name of ["a", "b", "c", "d"]) yield* start(name)
    expect(begun).toEqual(["a", "b"])
    yield* end("b")
    expect(begun).toEqual(["a", "b", "c"])
    // Who comes now is behind those who wait.
    yield* start("e")
    yield* end("a")
    yield* end("c")
    expect(begun).toEqual(["a", "b", "c", "d", "e"])
  }).pipe(Effect.runPromise))

it("gives the place of work that fails, or that is interrupted while it waits or goes on, to the next", () =>
  Effect.gen(function* () {
    const { begun, start, end, inPlace } = works()
    const first = yield* start("a")
    yield* start("b")
    const waits = yield* start("c")
    yield* start("d")
    yield* Fiber.interrupt(waits)
    yield* Fiber.interrupt(first)
    expect(begun).toEqual(["a", "b", "d"])
    yield* end("b")
    expect(yield* Effect.flip(inPlace(Effect.fail("no")))).toBe("no")
    yield* start("e")
    expect(begun).toEqual(["a", "b", "d", "e"])
  }).pipe(Effect.runPromise))

it("loses no place where one who waits is interrupted as it is handed over", () =>
  Effect.gen(function* () {
    const inPlace = atMost(1)
    const gate = yield* Deferred.make<void>()
    const first = yield* Effect.fork(inPlace(Deferred.await(gate)))
    yield* settled
    const second = yield* Effect.fork(inPlace(Effect.never))
    yield* settled
    yield* Effect.all([Deferred.succeed(gate, undefined), Fiber.interruptFork(second)])
    yield* Fiber.join(first)
    yield* Fiber.await(second)
    expect(yield* inPlace(Effect.succeed("done"))).toBe("done")
  }).pipe(Effect.runPromise))
