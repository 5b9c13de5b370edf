/**
 * Sessions that move while they are written to: whoever is killed at any step, no record is lost, none is there twice, and each session is on
 * one shard.
 */
import { EventLog } from "@memfold/core"
import { often } from "@memfold/harness/depth"
import { Cause, Deferred, Effect, Exit, Fiber, LogLevel, Logger, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { rendezvous, makeSharded } from "../src/index.js"
import {
  appending,
  checked,
  Killed,
  killedAt,
  logOf,
  mortal,
  pausesOf,
  processOver,
  record,
  simulated,
  stopped,
  stores,
} from "./support.js"

const seeds = fc.nat({ max: 2 ** 30 })

/** How many calls a move makes at most here, with a few writes in between. */
const mostSteps = 60

describe("a move", () => {
  it("takes a session with its rows and its batches to another shard, once, and keeps its place", () =>
    Effect.gen(function* () {
      const shards = yield* stores
      const log = processOver(shards)
      const description = { key: "", data: JSON.stringify({ owner: "ann", title: "T" }) }
      yield* log.append("s", [record(1)], {
        expectedVersion: 0,
        batchId: "one",
        projections: [{ kind: "description", rows: [description] }],
      })
      const from = yield* log.placeOf("s")
      const to = shards.find(({ name }) => name !== from)!
      expect(yield* log.move("s", to.name)).toMatchObject({ outcome: "moved", from, to: to.name, events: 1 })
      expect(yield* log.placeOf("s")).toBe(to.name)
      expect(yield* to.log.head("s")).toEqual({ version: 1, batchId: "one" })
      expect(yield* shards.find(({ name }) => name === from)!.log.head("s")).toBeNull()
      expect((yield* log.list({ owner: "ann", limit: 5 })).map(({ title }) => title)).toEqual(["T"])
      const again = yield* log.append("s", [record(1)], { expectedVersion: 0, batchId: "one" })
      expect(again.duplicate).toBe(true)
      expect((yield* log.move("s", to.name)).outcome).toBe("there")
      expect((yield* Effect.flip(log.move("s", from!))).reason).toContain("never returns")
      expect((yield* log.move("nobody", to.name)).outcome).toBe("gone")
      expect(yield* log.delete("s")).toBe(true)
      expect((yield* log.list({ limit: 5 })).length).toBe(0)
    }).pipe(simulated))

  it("that is killed at any of its calls, while others write, loses nothing", () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat({ max: mostSteps }),
        fc.constantFrom("before" as const, "behind" as const),
        fc.tuple(seeds, seeds, seeds),
        (step, how, [mover, one, other]) =>
          Effect.gen(function* () {
            const shards = yield* stores
            const pauses = [pausesOf(one), pausesOf(other)]
            const writers = pauses.map((pause) => processOver(shards, undefined, pause))
            const acknowledged: Array<number> = []
            const write = (n: number) =>
              Effect.map(appending(writers[n % 2]!, "s", n), () => void acknowledged.push(n))
            yield* write(0)
            const from = yield* writers[0]!.placeOf("s")
            const [first, second] = shards.filter(({ name }) => name !== from)
            const moving = Effect.exit(
              processOver(shards, killedAt(step, how), pausesOf(mover)).move("s", first!.name),
            )
            const writing = (numbers: ReadonlyArray<number>) =>
              Effect.forEach(numbers, (n) => Effect.zipRight(Effect.repeatN(pauses[n % 2]!, 3), write(n)), {
                discard: true,
              })
            const [moved] = yield* Effect.all([moving, writing([1, 3, 5, 7, 9]), writing([2, 4, 6])], {
              concurrency: "unbounded",
            })
            if (Exit.isFailure(moved) && !Cause.isDie(moved.cause)) throw Cause.squash(moved.cause)
            yield* checked(shards, "s", acknowledged)
            // Whoever comes next finds it movable, and the writers, who know the old place, go on.
            const now = yield* writers[0]!.placeOf("s")
            const next = processOver(shards).move("s", now === second!.name ? first!.name : second!.name)
            yield* Effect.all([next, writing([10, 11, 12])], { concurrency: "unbounded" })
            yield* checked(shards, "s", acknowledged)
          }).pipe(simulated),
      ),
      { numRuns: often(50, 5_000) },
    ))

  it(
    "of two processes at once, with a deletion in between, leaves one session or none",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom("move-b", "move-c", "move-d", "append", "delete"), {
            minLength: 2,
            maxLength: 6,
          }),
          fc.nat({ max: mostSteps }),
          (commands, step) =>
            Effect.gen(function* () {
              const shards = yield* stores
              yield* appending(processOver(shards), "s", 0)
              const run = (command: string, at: number) => {
                const log = processOver(
                  shards,
                  at === 0 ? killedAt(step, "behind") : undefined,
                  pausesOf(step + at),
                )
                if (command === "append") return appending(log, "s", at + 1)
                return command === "delete" ? log.delete("s") : log.move("s", command.slice(5))
              }
              const exits = yield* Effect.all(
                commands.map((command, at) => Effect.exit(run(command, at))),
                { concurrency: "unbounded" },
              )
              // A process may be killed while it cleans up behind a failure.
              for (const exit of exits)
                if (Exit.isFailure(exit))
                  for (const defect of Cause.defects(exit.cause)) expect(defect).toBeInstanceOf(Killed)
              const log = processOver(shards)
              const found = yield* logOf(log, "s")
              const listed = yield* log.list({ limit: 5 })
              expect(listed.map(({ version }) => version)).toEqual(found.length === 0 ? [] : [found.length])
              expect(found.map(({ version }) => version)).toEqual(found.map((_, at) => at + 1))
              const acknowledged = commands.flatMap((command, at) =>
                command === "append" && Exit.isSuccess(exits[at]!) ? [`b${at + 1}`] : [],
              )
              if (!commands.includes("delete"))
                for (const batch of ["b0", ...acknowledged])
                  expect(found.map(({ batchId }) => batchId)).toContain(batch)
            }).pipe(simulated),
        ),
        { numRuns: often(50, 3_000), examples: [[["move-b", "move-c", "delete", "move-b"], 16]] },
      ),
    often(60_000, 600_000),
  )
})

describe("a mover that is stopped at any of its calls, and goes on much later,", () => {
  const holds = (step: number, commands: ReadonlyArray<string>, isKilled: boolean) =>
    Effect.gen(function* () {
      const shards = yield* stores
      const others = processOver(shards)
      yield* appending(others, "s", 0)
      yield* appending(others, "s", 1)
      const [hasStopped, goesOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const stop = Effect.zipRight(Deferred.succeed(hasStopped, undefined), Deferred.await(goesOn))
      const steps = { left: step }
      const killed = killedAt(1, "behind")
      const mover = makeSharded({
        shards: shards.map((shard) => {
          // Where it is killed, the call that it was stopped at is its last one.
          const log = mortal(shard.log, () => (isKilled && steps.left <= 0 ? killed() : "on"), Effect.void)
          return { ...shard, log: stopped(log, steps, stop) }
        }),
      })
      const from = (yield* others.placeOf("s"))!
      const [to, ...further] = shards.map(({ name }) => name).filter((name) => name !== from)
      const moving = yield* Effect.fork(Effect.exit(mover.move("s", to!)))
      yield* Effect.race(Deferred.await(hasStopped), Fiber.await(moving))
      let batches: Array<string> | null = ["b0", "b1"]
      for (const [at, command] of commands.entries()) {
        if (command === "append") {
          yield* appending(others, "s", at + 2)
          batches = [...(batches ?? []), `b${at + 2}`]
        } else if (command === "delete") {
          expect(yield* others.delete("s")).toBe(batches !== null)
          batches = null
        } else {
          // A shard that it has left, or that somebody may still copy it to, is refused.
          yield* Effect.either(others.move("s", command === "same" ? to! : further[0]!))
        }
      }
      yield* Deferred.succeed(goesOn, undefined)
      yield* Fiber.join(moving)
      for (const log of [others, processOver(shards)]) {
        const found = yield* logOf(log, "s")
        expect(found.filter((_, at) => at % 2 === 0).map(({ batchId }) => batchId)).toEqual(batches ?? [])
        expect((yield* log.list({ limit: 5 })).map(({ session }) => session)).toEqual(
          batches === null ? [] : ["s"],
        )
      }
      if (isKilled) yield* others.delete("s")
      else if (batches !== null) expect(yield* others.delete("s")).toBe(true)
      // Nothing is left on any shard, but of one that was killed when its session was gone already.
      if (!isKilled || batches !== null) for (const { log } of shards) expect(yield* log.head("s")).toBeNull()
    }).pipe(simulated)

  it(
    "writes nothing that anybody reads, and leaves nothing behind",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 30 }),
          fc.array(fc.constantFrom("same", "further", "append", "delete"), { maxLength: 5 }),
          fc.boolean(),
          holds,
        ),
        {
          numRuns: often(100, 2_000),
          examples: [[9, ["same", "delete"], false]],
        },
      ),
    often(60_000, 600_000),
  )

  it("is not waited for: the session goes to that shard again once it is told that no mover is left", () =>
    Effect.gen(function* () {
      const shards = yield* stores
      const log = processOver(shards)
      yield* appending(log, "s", 0)
      const from = yield* log.placeOf("s")
      const to = shards.find(({ name }) => name !== from)!.name
      yield* Effect.exit(processOver(shards, killedAt(5, "behind")).move("s", to))
      expect((yield* Effect.flip(log.move("s", to))).reason).toContain("was broken off")
      expect((yield* log.move("s", to, { again: true })).outcome).toBe("moved")
      yield* checked(shards, "s", [0])
    }).pipe(simulated))
})

describe("a shard that is added", () => {
  it("gets the sessions that belong to it, and no other moves", () =>
    Effect.gen(function* () {
      const shards = yield* stores
      const three = processOver(shards.slice(0, 3))
      const ids = Array.from({ length: 40 }, (_, n) => `chat-${n}`)
      for (const id of ids) yield* appending(three, id, 0)
      const four = processOver(shards)
      const before = yield* Effect.forEach(ids, four.placeOf)
      const writing = Effect.forEach(ids, (id) => appending(three, id, 1), { concurrency: 4 })
      const [moved] = yield* Effect.all([Stream.runCollect(four.rebalance), writing], {
        concurrency: "unbounded",
      }).pipe(
        // Who does not have the new shard cannot write to it, and says which one it is.
        Effect.catchTag("LogError", (error) => {
          expect(error.reason).toContain('the shard "d"')
          return Effect.map(Stream.runCollect(four.rebalance), (all) => [all] as const)
        }),
      )
      void moved
      for (const [at, id] of ids.entries()) {
        const place = yield* four.placeOf(id)
        const belongs = rendezvous(shards, `session ${id}`)!.name
        expect(place).toBe(belongs)
        expect(belongs === "d" || belongs === before[at]).toBe(true)
      }
      expect((yield* Stream.runCollect(EventLog.sessions(four))).length).toBe(40)
    }).pipe(simulated))
})

describe("a shard that is leaving", () => {
  it("gets no session and loses all, while others write, and readers of the feed go on without it", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 39 }), (last, before) =>
        Effect.gen(function* () {
          const shards = yield* stores
          const ids = Array.from({ length: 40 }, (_, n) => `chat-${n}`)
          const all = processOver(shards)
          for (const id of ids) yield* appending(all, id, 0)
          const leaving = shards[last]!
          // Some have left the shard that they belong to without it: they never return there.
          for (const id of ids.slice(0, before))
            yield* Effect.either(all.move(id, shards.find(({ name }) => name !== leaving.name)!.name))
          for (const id of ids.slice(0, before)) yield* Effect.either(all.move(id, leaving.name))
          const found: Array<string> = []
          const reading = (log: EventLog.Service) =>
            EventLog.consume(
              log,
              "crm",
              (page) =>
                Effect.sync(
                  () => void found.push(...page.map(({ record }) => `${record.session} ${record.version}`)),
                ),
              { follow: false },
            )
          yield* reading(all)
          const without = processOver(
            shards.map((shard) => (shard === leaving ? { ...shard, leaving: true } : shard)),
          )
          const writing = Effect.forEach([...ids, "fresh-1", "fresh-2"], (id) => appending(without, id, 1), {
            concurrency: 4,
          })
          yield* Effect.all([Stream.runDrain(without.rebalance), writing], { concurrency: "unbounded" })
          yield* Stream.runDrain(without.rebalance)
          const rest = processOver(shards.filter((shard) => shard !== leaving))
          for (const id of [...ids, "fresh-1", "fresh-2"]) {
            expect((yield* logOf(rest, id)).length).toBe(id.startsWith("fresh") ? 2 : 4)
            expect(yield* leaving.log.head(id)).toBeNull()
          }
          yield* reading(rest)
          const expected = ids.flatMap((id) => [1, 2, 3, 4].map((version) => `${id} ${version}`))
          const fresh = ["fresh-1", "fresh-2"].flatMap((id) => [1, 2].map((version) => `${id} ${version}`))
          expect([...new Set(found)].toSorted()).toEqual([...expected, ...fresh].toSorted())
          const strange = makeSharded({ shards: shards.map(({ log }, at) => ({ name: `other-${at}`, log })) })
          const [page] = yield* rest.feed!({ limit: 1 })
          expect(yield* Effect.flip(strange.feed!({ limit: 1, after: page!.position }))).toMatchObject({
            refused: "position",
          })
        }).pipe(simulated),
      ),
      { numRuns: often(6, 60) },
    ))
})

describe("owners", () => {
  it("have their sessions together, and none outside of their region", () =>
    Effect.gen(function* () {
      const shards = (yield* stores).map((shard, at) => ({ ...shard, region: at < 2 ? "eu" : "us" }))
      const log = makeSharded({ shards, place: "owner", regionOf: (owner) => owner.slice(0, 2) })
      const described = (owner: string) => [
        { kind: "description", rows: [{ key: "", data: JSON.stringify({ owner, title: null }) }] },
      ]
      for (const owner of ["eu-ann", "us-bob"])
        for (let n = 0; n < 4; n++)
          yield* log.append(`${owner}-${n}`, [record(n)], {
            expectedVersion: 0,
            batchId: "b",
            projections: described(owner),
          })
      for (const [owner, region] of [
        ["eu-ann", ["a", "b"]],
        ["us-bob", ["c", "d"]],
      ] as const) {
        const places = yield* Effect.forEach([0, 1, 2, 3], (n) => log.placeOf(`${owner}-${n}`))
        expect(new Set(places).size).toBe(1)
        expect(region).toContain(places[0])
        expect((yield* log.list({ owner, limit: 10 })).length).toBe(4)
      }
      const refused = yield* Effect.flip(
        log.append("eu-ann-0", [record(9)], {
          expectedVersion: 1,
          batchId: "c",
          projections: described("us-bob"),
        }),
      )
      expect(refused.message).toContain("another region")
    }).pipe(simulated))
})

describe("a group of the feed", () => {
  it("has come as far as before where its log has moved, and what was delivered again stays delivered", () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom("start" as const, "end" as const),
        fc.array(fc.constantFrom("append", "consume", "fail", "redeliver", "move"), { maxLength: 12 }),
        (from, commands) =>
          Effect.gen(function* () {
            const shards = yield* stores
            const log = processOver(shards)
            const notes = EventLog.groupLog("crm")
            const consume = (fails: boolean) =>
              EventLog.consume(
                log,
                "crm",
                (page) =>
                  fails
                    ? Effect.fail({ reason: "not now" })
                    : Effect.sync(() => void found.push(...page.map(({ record }) => record.batchId))),
                { follow: false, from, attempts: 1, batch: 1 },
              )
            const found: Array<string> = []
            const expected: Array<string> = []
            const waiting: Array<string> = []
            const givenUp: Array<string> = []
            yield* consume(false)
            for (const [at, command] of commands.entries()) {
              if (command === "append") {
                yield* appending(log, `chat-${at % 3}`, at)
                waiting.push(`b${at}`, `b${at}`)
              } else if (command === "move") {
                const now = yield* log.placeOf(notes)
                // It never returns to a shard: at the last one, it stays.
                for (const { name } of shards)
                  if (name !== now && (yield* log.placeOf(notes)) === now)
                    yield* Effect.either(log.move(notes, name))
              } else if (command === "redeliver") {
                yield* Stream.runDrain(
                  EventLog.redeliver(log, "crm", ([fed]) =>
                    Effect.sync(() => void found.push(fed!.record.batchId)),
                  ),
                )
                expected.push(...givenUp.splice(0))
              } else {
                yield* consume(command === "fail")
                ;(command === "fail" ? givenUp : expected).push(...waiting.splice(0))
              }
            }
            expect(found.toSorted()).toEqual(expected.toSorted())
            expect((yield* Stream.runCollect(EventLog.givenUp(log, "crm"))).length).toBe(givenUp.length)
          }).pipe(Logger.withMinimumLogLevel(LogLevel.None), simulated),
      ),
      { numRuns: often(40, 1_000) },
    ))
})
