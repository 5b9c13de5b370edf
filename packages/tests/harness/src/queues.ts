/** What every queue of looks holds, over a real server. */
import { Dispatcher } from "@memfold/core"
import { Deferred, Effect, type Scope } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { eventually } from "./eventually.js"

type Open = (name: string) => Effect.Effect<Dispatcher.Queue, Dispatcher.DispatchError, Scope.Scope>

const now = 0
const look = (session: string, rest: Partial<Dispatcher.Look> = {}): Dispatcher.Look => ({
  session,
  time: now,
  fill: 0.5,
  ...rest,
})

const inAnHour = () => Date.now() + 3_600_000

/** Works until the sessions in the queue are handled, and answers with them in their order. */
const taken = (queue: Dispatcher.Queue, count: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const sessions: Array<string> = []
      yield* queue.work(({ session }) => Effect.sync(() => void sessions.push(session)), {
        concurrency: 1,
        shutdown: 1_000,
      })
      yield* Effect.promise(() => eventually("all looks are taken", async () => sessions.length >= count))
      return sessions
    }),
  )

/** The tests of a queue. `start` starts its server; `many` sessions are in it at once. */
export const checkQueue = (start: () => Promise<Open>, many: number): void => {
  let open: Open
  let queues = 0
  beforeAll(async () => {
    open = await start()
  })
  const withQueue = <A, E>(use: (queue: Dispatcher.Queue) => Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
    Effect.runPromise(Effect.scoped(Effect.flatMap(open(`queue-${++queues}`), use)))

  describe("the queue", () => {
    it("has one look for each session, and takes the fullest context first", () =>
      withQueue((queue) =>
        Effect.gen(function* () {
          const sessions = Array.from({ length: many }, (_, at) => `s${at}`)
          for (let again = 0; again < 3; again++)
            for (const [at, session] of sessions.entries())
              yield* queue.dispatch(look(session, { fill: at / many }))
          yield* queue.dispatch(look("s0", { fill: 2 }))
          yield* queue.dispatch(look("last", { fill: 0 }))
          const found = yield* taken(queue, many + 1)
          const byFill = ["s0", ...sessions.slice(1).toReversed(), "last"]
          expect(found).toEqual(byFill)
        }),
      ))

    it("takes no look before its time, and an earlier one instead of a later one", () =>
      withQueue((queue) =>
        Effect.gen(function* () {
          yield* queue.dispatch(look("later", { time: inAnHour() }))
          yield* queue.dispatch(look("sooner", { time: inAnHour() }))
          yield* queue.dispatch(look("sooner"))
          yield* queue.dispatch(look("sooner", { time: inAnHour() }))
          yield* queue.dispatch(look("at once"))
          expect((yield* taken(queue, 2)).toSorted()).toEqual(["at once", "sooner"])
        }),
      ))

    it("takes a look for now, whatever other processes dispatch for later at that moment", () =>
      withQueue((queue) =>
        Effect.gen(function* () {
          const sessions = Array.from({ length: many }, (_, at) => `s${at}`)
          for (const session of sessions)
            yield* queue.dispatch(look(session, { time: 2 * inAnHour(), fill: 0.1 }))
          const all = sessions.flatMap((session) => [
            look(session, { time: inAnHour() + 1, fill: 0.6 }),
            look(session),
            look(session, { time: inAnHour(), fill: 0.9 }),
          ])
          yield* Effect.forEach(all, queue.dispatch, { concurrency: "unbounded", discard: true })
          const found = yield* taken(queue, many)
          expect([...new Set(found)].toSorted()).toEqual(sessions.toSorted())
        }),
      ))

    it("looks again at what is dispatched while a look is handled", () =>
      withQueue((queue) =>
        Effect.gen(function* () {
          const began = yield* Deferred.make<void>()
          const goOn = yield* Deferred.make<void>()
          let looks = 0
          yield* queue.work(
            () =>
              Effect.gen(function* () {
                looks++
                yield* Deferred.succeed(began, undefined)
                yield* Deferred.await(goOn)
              }),
            { concurrency: 1, shutdown: 1_000 },
          )
          yield* queue.dispatch(look("s"))
          yield* Deferred.await(began)
          yield* queue.dispatch(look("s"))
          yield* queue.dispatch(look("s"))
          yield* Deferred.succeed(goOn, undefined)
          yield* Effect.promise(() => eventually("the second look", async () => looks === 2))
          // Another session's look comes after whatever is left of this one.
          yield* queue.dispatch(look("other", { fill: 0 }))
          yield* Effect.promise(() => eventually("the other session", async () => looks === 3))
        }),
      ))

    it("tries a failed look again, gives it up after the last attempt, and takes it up when it is told to", () =>
      withQueue((queue) =>
        Effect.gen(function* () {
          const tries = new Map<string, number>()
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* queue.work(
                ({ session }) => {
                  tries.set(session, (tries.get(session) ?? 0) + 1)
                  const reason = `no luck with ${session}`
                  return session === "good"
                    ? Effect.void
                    : Effect.fail(new Dispatcher.LookFailed({ session, reason, final: session === "final" }))
                },
                { concurrency: 2, shutdown: 1_000 },
              )
              for (const session of ["bad", "good", "final"]) yield* queue.dispatch(look(session))
              yield* Effect.promise(() =>
                eventually(
                  "two dead letters",
                  async () => (await Effect.runPromise(queue.deadLetters)).length === 2,
                ),
              )
            }),
          )
          expect(Object.fromEntries(tries)).toEqual({ bad: 2, good: 1, final: 1 })
          const letters = yield* queue.deadLetters
          expect(letters.toSorted((one, other) => one.session.localeCompare(other.session))).toMatchObject([
            { session: "bad", attempts: 2, reason: "no luck with bad" },
            { session: "final", attempts: 1, reason: "no luck with final" },
          ])
          expect(yield* queue.revive("good")).toBe(false)
          expect(yield* queue.revive("bad")).toBe(true)
          expect((yield* queue.deadLetters).map(({ session }) => session)).toEqual(["final"])
          expect(yield* taken(queue, 1)).toEqual(["bad"])
        }),
      ))

    it("hands the look of a worker that is stopped to the next one", () =>
      withQueue((queue) =>
        Effect.gen(function* () {
          let interrupted = 0
          const began = yield* Deferred.make<void>()
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* queue.work(
                () =>
                  Effect.onInterrupt(Effect.zipRight(Deferred.succeed(began, undefined), Effect.never), () =>
                    Effect.sync(() => interrupted++),
                  ),
                { concurrency: 1, shutdown: 10 },
              )
              yield* queue.dispatch(look("s"))
              yield* Deferred.await(began)
            }),
          )
          expect(interrupted).toBe(1)
          expect(yield* taken(queue, 1)).toEqual(["s"])
        }),
      ))
  })
}
