/** A session on its way back from an archive: until its last event is there, a process without the archive refuses it. */
import { EventLog, InMemoryEventLog, Message } from "@memfold/core"
import { said } from "@memfold/harness/engine"
import { servers } from "@memfold/harness/redisServers"
import { fileRoot, folderKeyring, sealLog } from "@memfold/sealed"
import * as SqliteEventLog from "@memfold/store-sqlite"
import { Context, Effect, Either, Fiber, Layer, Option, Schedule, type Scope, Stream } from "effect"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { catalogStore } from "../src/catalog.js"
import { archiveSession, behind, folderArchive, restoreSession } from "../src/index.js"
import { fill, folder, linesOf, memoryOver } from "./support.js"

const ofRedis = servers()

const stores: Record<string, Effect.Effect<EventLog.Service, EventLog.LogError, Scope.Scope>> = {
  memory: InMemoryEventLog.make,
  sqlite: Effect.suspend(() => SqliteEventLog.make({ filename: join(folder(), "chats.db") })),
  redis: Effect.flatMap(
    Effect.promise(() => ofRedis.server()),
    ({ url }) => Effect.map(Layer.build(catalogStore(url)), Context.get(EventLog.EventLog)),
  ),
  sealed: Effect.map(InMemoryEventLog.make, (store) => {
    const keys = folder()
    return sealLog(
      store,
      folderKeyring({ folder: join(keys, "owners"), root: fileRoot(join(keys, "root.key")) }),
    )
  }),
}

/** The log, with an end of the process behind so many appends to the session. */
const endingAfter = (log: EventLog.Service, appends: number): EventLog.Service => {
  let left = appends
  const counted = <A, E>(run: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => (left-- > 0 ? run : Effect.die("killed")))
  const ending = (one: EventLog.Service): EventLog.Service => ({
    ...one,
    append: (session, ...given) =>
      session === "s" ? counted(one.append(session, ...given)) : one.append(session, ...given),
    rewrite: (session, ...given) => counted(one.rewrite(session, ...given)),
  })
  return { ...ending(log), ...(log.stored === undefined ? {} : { stored: ending(log.stored) }) }
}

const whatItSays = (read: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.either(read), (done) => (Either.isLeft(done) ? String(done.left) : done.right))

/** What a memory without the archive answers about the session. */
const readings = (
  log: EventLog.Service,
  memory: Effect.Effect.Success<ReturnType<typeof memoryOver>>,
): Record<string, Effect.Effect<unknown, unknown>> => ({
  context: Effect.map(memory.context("s"), ({ messages }) => messages),
  state: Effect.map(memory.state("s"), ({ version }) => version),
  messages: Effect.map(memory.messages("s"), ({ messages }) => messages),
  newest: Effect.map(memory.messages("s", { limit: 1 }), ({ messages }) => messages),
  events: Effect.map(Stream.runCollect(memory.events("s")), (events) => events.length),
  records: Effect.map(linesOf(log, "s"), (lines) => lines.length),
  backwards: Effect.map(
    Stream.runCollect(EventLog.records(log, "s", { reverse: true })),
    (records) => records.length,
  ),
})

for (const [name, make] of Object.entries(stores))
  it(`${name}: a session that is cut off at any append of its way back is refused without the archive, not read in part`, () =>
    Effect.gen(function* () {
      const log = yield* make
      // One memory saw the session before its last events, one when it was whole, one when it was gone, and one never.
      const [early, late, gone] = [yield* memoryOver(log), yield* memoryOver(log), yield* memoryOver(log)]
      const { version: seen } = yield* Effect.zipRight(early.append("s", said(3)), early.state("s"))
      yield* fill(log, "s")
      yield* late.state("s")
      const whole = yield* Effect.all(readings(log, late))
      const before = yield* linesOf(log, "s")
      const archive = folderArchive(folder())
      let cuts = 0
      for (let wasCutOff = true; wasCutOff; cuts++) {
        yield* archiveSession(log, archive, "s")
        yield* gone.state("s")
        yield* Effect.exit(restoreSession(endingAfter(log, cuts), archive, "s"))
        const there = (yield* EventLog.storedLog(log).head("s"))?.version ?? 0
        wasCutOff = there < before.length
        if (there > 0)
          for (const [which, memory] of Object.entries({
            late,
            gone,
            fresh: yield* memoryOver(log),
            early,
          })) {
            // Where its last look ended, a memory asks for nothing but the head, and that is the head it knows.
            if (which === "early" && there === seen) continue
            for (const [reading, read] of Object.entries(readings(log, memory))) {
              const about = { cuts, which, reading }
              const found = yield* whatItSays(read)
              if (wasCutOff)
                expect({ ...about, found }).toEqual({
                  ...about,
                  found: expect.stringContaining("in an archive"),
                })
              else expect({ ...about, found }).toEqual({ ...about, found: whole[reading] })
            }
            if (wasCutOff)
              expect(yield* whatItSays(memory.append("s", Message.user("and?")))).toContain("in an archive")
          }
        // Whoever has the archive goes on with it.
        expect(yield* linesOf(yield* behind(log, archive), "s")).toEqual(before)
        expect(yield* archive.list).toEqual([])
      }
      expect(cuts).toBeGreaterThan(5)
    }).pipe(Effect.scoped, Effect.runPromise))

it.live(
  "a group that follows the feed without the archive waits for the rest of a session that is coming back",
  () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* fill(log, "s")
      const archive = folderArchive(folder())
      const { length } = yield* linesOf(log, "s")
      yield* archiveSession(log, archive, "s")
      yield* Effect.exit(restoreSession(endingAfter(log, 2), archive, "s"))
      const taken: Array<number> = []
      const group = EventLog.consume(
        log,
        "crm",
        (page) =>
          Effect.sync(() => {
            for (const { record } of page) if (record.session === "s") taken.push(record.version)
          }),
        { pollInterval: "10 millis" },
      )
      const reading = yield* Effect.fork(group)
      yield* Effect.sleep("50 millis")
      expect({ taken, ended: yield* Fiber.poll(reading) }).toEqual({ taken: [], ended: Option.none() })
      yield* (yield* behind(log, archive)).head("s")
      yield* Effect.suspend(() => (taken.length < length ? Effect.fail("not yet") : Effect.void)).pipe(
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout("20 seconds"),
      )
      expect(taken).toEqual(Array.from({ length }, (_, at) => at + 1))
      yield* Fiber.interrupt(reading)
    }),
)
