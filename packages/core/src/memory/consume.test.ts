/** Consumers of the feed in groups. */
import { describe, expect, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import { echoing, pairs, said, withMemory } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory } from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const name = ({ session, version }: Memory.FedEvent) => `${session} ${version}`

class Refused extends Error {
  readonly _tag = "Refused"
  readonly reason = "not today"
}

describe("consume", () => {
  it.effect(
    "goes on where the group has come to, and begins another group with the first event or the end",
    () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        const found: Array<string> = []
        const reading = (group: string, from?: "end") =>
          memory.consume(
            group,
            (events) => Effect.sync(() => void found.push(...events.map((one) => `${group}: ${name(one)}`))),
            { follow: false, ...(from === undefined ? {} : { from }) },
          )
        yield* memory.append("one", said(1))
        yield* reading("a")
        yield* reading("late", "end")
        yield* memory.append("two", said(1))
        yield* reading("a")
        yield* reading("late")
        yield* reading("b")
        yield* reading("b")
        expect(found).toEqual(["a: one 1", "a: two 1", "late: two 1", "b: one 1", "b: two 1"])
      }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("goes on soon behind a store that has failed for long", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      let isAway = false
      const away = new EventLog.LogError({ operation: "head", reason: "it is away" })
      const failing: EventLog.Service = {
        ...log,
        head: (session) => (isAway ? away : log.head(session)),
      }
      const found: Array<string> = []
      isAway = true
      yield* Effect.forkScoped(
        EventLog.consume(failing, "a", (page) =>
          Effect.sync(() => void found.push(...page.map(({ record }) => record.session))),
        ),
      )
      yield* log.append("one", [{ time: 0, type: "Later", schemaVersion: 1, data: "{}" }], {
        expectedVersion: 0,
        batchId: "b",
      })
      for (let minute = 0; minute < 10; minute++) yield* TestClock.adjust("1 minute")
      expect(found).toEqual([])
      isAway = false
      yield* TestClock.adjust("7 seconds")
      expect(found).toEqual(["one"])
    }).pipe(Effect.scoped),
  )

  it.effect("keeps what is done: all, up to a position, or nothing of a call that fails", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (let at = 1; at <= 4; at++) yield* memory.append("chat", said(1, at))
      const calls: Array<ReadonlyArray<string>> = []
      const reading = (
        answer: (events: ReadonlyArray<Memory.FedEvent>) => Effect.Effect<Memory.Done, Refused>,
      ) =>
        memory.consume(
          "a",
          (events) => {
            calls.push(events.map(name))
            return answer(events)
          },
          { follow: false },
        )
      expect(yield* Effect.flip(reading(() => Effect.fail(new Refused("no"))))).toMatchObject({
        _tag: "ConsumerFailed",
        cause: expect.any(Refused) as Refused,
      })
      yield* reading(() => Effect.succeed(null))
      yield* reading((events) => Effect.succeed(events[1]!.position))
      yield* reading(() => Effect.void)
      yield* reading(() => Effect.void)
      const all = ["chat 1", "chat 2", "chat 3", "chat 4"]
      expect(calls).toEqual([all, all, all, ["chat 3", "chat 4"]])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("lets one consumer of a group read at a time, and another one take over when it ends", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const found: Array<string> = []
      const consumer = (who: string) =>
        Effect.fork(
          memory.consume("a", (events) =>
            Effect.sync(() => void found.push(...events.map((one) => `${who} ${name(one)}`))),
          ),
        )
      const first = yield* consumer("first")
      yield* TestClock.adjust("2 seconds")
      const second = yield* consumer("second")
      yield* memory.append("one", said(1))
      yield* TestClock.adjust("2 minutes")
      expect(found).toEqual(["first one 1"])
      yield* Fiber.interrupt(first)
      yield* memory.append("two", said(1))
      yield* TestClock.adjust("2 seconds")
      expect(found).toEqual(["first one 1", "second two 1"])
      yield* Fiber.interrupt(second)
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("takes over from a consumer that is silent, which then keeps nothing any more", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      /** The log of a process that a debugger or a scheduler holds: nothing that it writes comes, until it goes on. */
      const goesOn = yield* Effect.acquireRelease(Deferred.make<void>(), (deferred) =>
        // Also where a check has failed before: what is held could not be interrupted, and the test would not end.
        Deferred.succeed(deferred, undefined),
      )
      const frozen: EventLog.Service = {
        ...log,
        projections: {
          ...log.projections,
          put: (...args) => Effect.zipRight(Deferred.await(goesOn), log.projections.put(...args)),
        },
      }
      const memory = (over: EventLog.Service) =>
        Memory.make(manual).pipe(Effect.provideService(EventLog.EventLog, over))
      const [one, other] = [yield* memory(frozen), yield* memory(log)]
      yield* other.append("chat", said(1))
      const calls: Array<string> = []
      const consumer = (who: string, over: Memory.Service) =>
        Effect.fork(
          over.consume("a", (events) =>
            Effect.sync(() => void calls.push(`${who} ${events.map(name).join()}`)),
          ),
        )
      const silent = yield* consumer("silent", one)
      yield* TestClock.adjust("1 second")
      const healthy = yield* consumer("healthy", other)
      yield* TestClock.adjust("25 seconds")
      expect(calls).toEqual(["silent chat 1"])
      yield* TestClock.adjust("10 seconds")
      expect(calls).toEqual(["silent chat 1", "healthy chat 1"])
      yield* other.append("chat", said(1, 1))
      yield* TestClock.adjust("1 second")
      yield* Deferred.succeed(goesOn, undefined)
      yield* TestClock.adjust("1 minute")
      expect(calls).toEqual(["silent chat 1", "healthy chat 1", "healthy chat 2"])
      yield* Fiber.interruptAll([silent, healthy])
      yield* other.consume("a", () => Effect.die("nothing is left"), { follow: false })
    }).pipe(Effect.scoped, Effect.provide(echoing)),
  )

  it.effect(
    "gives up what fails as often as is allowed, goes on behind it, and is not fed with its own notes",
    () =>
      Effect.gen(function* () {
        const log = yield* EventLog.EventLog
        const memory = yield* Memory.make(manual)
        for (const session of ["good", "bad", "better"]) yield* memory.append(session, said(1))
        const tried: Array<string> = []
        const consumer = yield* Effect.fork(
          memory.consume(
            "a",
            ([event]) =>
              Effect.suspend(() => {
                tried.push(event!.session)
                return event!.session === "bad"
                  ? Effect.fail(new Refused(`no, because of ${JSON.stringify(event)}`))
                  : Effect.void
              }),
            { batch: 1, attempts: 3, pollInterval: "5 seconds" },
          ),
        )
        yield* TestClock.adjust("10 minutes")
        expect(tried).toEqual(["good", "bad", "bad", "bad", "better"])
        const letters = yield* Stream.runCollect(EventLog.givenUp(log, "a"))
        expect(Chunk.toReadonlyArray(letters)).toMatchObject([
          { session: "bad", version: 1, attempts: 3, reason: "not today" },
        ])
        yield* Fiber.interrupt(consumer)
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(InMemoryEventLog.layer, echoing))),
  )

  it.effect("no list and no feed has what the program notes about the store", () =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const memory = yield* Memory.make(manual)
      yield* memory.append("chat", said(1))
      for (const prefix of Object.values(EventLog.noted))
        yield* log.append(`${prefix}x`, [{ time: 0, type: "Noted", schemaVersion: 1, data: "{}" }], {
          expectedVersion: 0,
          batchId: "b",
        })
      const found: Array<string> = []
      yield* memory.consume("a", (events) => void found.push(...events.map(name)), { follow: false })
      const fed = yield* Stream.runCollect(memory.feed({ follow: false }))
      const sessions = yield* Stream.runCollect(memory.sessions)
      const all = [...found, ...[...fed].map(name), ...[...sessions].map(({ session }) => session)]
      expect(all).toEqual(["chat 1", "chat 1", "chat"])
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(InMemoryEventLog.layer, echoing))),
  )

  it.effect("hands over what it gave up once more, beside a consumer that keeps its turn", () =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const memory = yield* Memory.make(manual)
      const refused = ["bad", "deleted", "worse"]
      for (const session of refused) yield* memory.append(session, said(1))
      const [taken, offered]: [Array<string>, Array<string>] = [[], []]
      const consumer = yield* Effect.fork(
        memory.consume(
          "a",
          ([event]) =>
            // Anything else is taken: a group that is fed with its notes would give them up without end, and not come to the check.
            refused.includes(event!.session)
              ? Effect.fail(new Refused("no"))
              : Effect.sync(() => void taken.push(name(event!))),
          { batch: 1, attempts: 1 },
        ),
      )
      yield* TestClock.adjust("2 seconds")
      yield* memory.delete("deleted")
      const isOf = (refused: string) => (events: ReadonlyArray<Memory.FedEvent>) =>
        Effect.suspend(() => {
          offered.push(...events.map(name))
          return events[0]!.session === refused ? Effect.fail(new Refused("no")) : Effect.void
        })
      const again = (refused: string) => Stream.runCollect(Memory.redeliver(log, "a", isOf(refused)))
      expect([...(yield* again("worse"))]).toEqual([
        { session: "bad", version: 1, outcome: "delivered" },
        { session: "deleted", version: 1, outcome: "gone" },
        { session: "worse", version: 1, outcome: "failed", reason: "not today" },
      ])
      const left = () => Effect.map(Stream.runCollect(EventLog.givenUp(log, "a")), (all) => [...all])
      expect(yield* left()).toMatchObject([{ session: "worse", reason: "not today" }])
      // The consumer has not lost its turn: it goes on at once.
      yield* memory.append("good", said(1))
      yield* TestClock.adjust("1 second")
      expect(taken).toEqual(["good 1"])
      expect([...(yield* again("none"))]).toMatchObject([{ session: "worse", outcome: "delivered" }])
      expect([...(yield* again("none"))]).toEqual([])
      expect(offered).toEqual(["bad 1", "worse 1", "worse 1"])
      expect(yield* left()).toEqual([])
      yield* Fiber.interrupt(consumer)
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(InMemoryEventLog.layer, echoing))),
  )

  it.effect("refuses what is no group and no option, and says that a store has no feed", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const reading = (group: string, options?: object) =>
        Effect.flip(memory.consume(group, () => Effect.void, options as Memory.ConsumeOptions))
      for (const wrong of [{ batch: 0 }, { attempts: 1.5 }, { lease: 0 }, { pollInterval: "soon" }])
        expect((yield* reading("a", wrong)).message).toContain(Object.keys(wrong)[0])
      expect((yield* reading(" ")).message).toContain("name")
      const { feed: _feed, ...log } = yield* InMemoryEventLog.make
      const without = yield* Memory.make(manual).pipe(Effect.provideService(EventLog.EventLog, log))
      const error = yield* Effect.flip(without.consume("a", () => Effect.void))
      expect(error.message).toContain("the store has no feed")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(withMemory(manual), echoing))),
  )
})
