/** The runs of sessions, without their purpose: the work notes that it has begun, and ends when the test says so. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, FiberSet, Option } from "effect"
import { type RunEnd, Runs } from "./Runs.js"

/** Lets all other fibers go on as far as they get. */
const otherFibers = Effect.yieldNow().pipe(Effect.repeatN(50))

const runsOf = (atOnce: number) =>
  Effect.gen(function* () {
    const begun: Array<string> = []
    const ends = new Map<string, Deferred.Deferred<RunEnd>>()
    const fibers = yield* FiberSet.make<void>()
    const runs = new Runs<number>(
      (session, take) =>
        Effect.gen(function* () {
          begun.push(`${session}${take()}`)
          const end = yield* Deferred.make<RunEnd>()
          ends.set(session, end)
          return yield* Deferred.await(end)
        }),
      atOnce,
      fibers,
    )
    const end = (session: string, how: RunEnd = "done") =>
      Effect.zipRight(Deferred.succeed(ends.get(session)!, how), otherFibers)
    const ask = (session: string, request: number) =>
      Effect.zipRight(runs.checkNow(session, request), otherFibers)
    return { runs, begun, ask, end }
  })

describe("runs", () => {
  it.scoped("are limited in number: the others wait in the order in which they came", () =>
    Effect.gen(function* () {
      const { begun, ask, end } = yield* runsOf(2)
      for (const session of ["a", "b", "c", "d"]) yield* ask(session, 1)
      expect(begun).toEqual(["a1", "b1"])
      yield* end("b")
      yield* end("c")
      expect(begun).toEqual(["a1", "b1", "c1", "d1"])
    }),
  )

  it.scoped(
    "of one session are one at a time: requests that come meanwhile make one more, behind the other sessions",
    () =>
      Effect.gen(function* () {
        const { begun, ask, end } = yield* runsOf(1)
        yield* ask("a", 1)
        yield* ask("b", 1)
        yield* ask("a", 2)
        yield* ask("a", 3)
        yield* end("a")
        yield* end("b")
        yield* end("a")
        expect(begun).toEqual(["a1", "b1", "a3"])
      }),
  )

  it.scoped("go on as long as there is more to do, and tell how the last one ended", () =>
    Effect.gen(function* () {
      const { runs, begun, ask, end } = yield* runsOf(1)
      yield* ask("a", 1)
      yield* end("a", "more")
      const idle = yield* Effect.fork(runs.whenIdle("a"))
      yield* otherFibers
      yield* end("a", "failed")
      expect(begun).toEqual(["a1", "a1"])
      expect(yield* idle.poll).toEqual(Option.some(Exit.succeed(false)))
      expect(yield* runs.whenIdle("a")).toBe(true)
    }),
  )

  it.scoped("do not start after they are closed, and nobody waits for runs in the queue", () =>
    Effect.gen(function* () {
      const { runs, begun, ask, end } = yield* runsOf(1)
      yield* ask("a", 1)
      yield* ask("b", 1)
      yield* ask("a", 2)
      const idle = yield* Effect.fork(runs.whenIdle("b"))
      yield* otherFibers
      yield* runs.close(true)
      yield* otherFibers
      expect(yield* idle.poll).toEqual(Option.some(Exit.succeed(false)))
      yield* end("a")
      yield* ask("c", 1)
      expect(begun).toEqual(["a1"])
      const never = yield* Effect.fork(runs.whenIdle("c"))
      yield* otherFibers
      expect(yield* never.poll).toEqual(Option.some(Exit.succeed(true)))
    }),
  )
})
