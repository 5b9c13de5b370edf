import { describe, expect, it } from "@effect/vitest"
import { often } from "@memfold/harness/depth"
import { snapshotOf, versionIn } from "@memfold/harness/logs"
import { Chunk, Effect, Either, Fiber, Logger, Stream, TestClock } from "effect"
import * as fc from "fast-check"
import { chat, startOfTime, disorder, stored } from "@memfold/testing/arbitrary"
import { appended, committed, invalidated, started } from "@memfold/testing"
import { EventCodec, EventLog, InMemoryEventLog, Session } from "../index.js"
import * as Snapshot from "../projection/Snapshot.js"

/** Writes events as another engine would, each a commit of its own. */
const write = (log: EventLog.Service, ...events: ReadonlyArray<EventCodec.AnyEvent>) =>
  Effect.forEach(
    events,
    (event) =>
      Effect.flatMap(EventLog.versionOf(log, "s"), (expectedVersion) =>
        log.append("s", [{ time: startOfTime + expectedVersion, ...stored(event) }], {
          expectedVersion,
          batchId: `other-${expectedVersion}`,
        }),
      ),
    { discard: true },
  )

const taken = (state: Session.SessionState) => Snapshot.take({ state, batchId: "" })

/** The fold of all that is in a log, up to a version. */
const folded = (log: EventLog.Service, to = Number.POSITIVE_INFINITY) =>
  EventLog.records(log, "s").pipe(
    Stream.map((record) => Either.getOrThrow(EventCodec.decode(record))),
    Stream.filter(({ version }) => version <= to),
    Stream.runCollect,
    Effect.map((events) => Session.fold(Session.empty("s"), Chunk.toReadonlyArray(events))),
  )

const unavailable = (operation: string) =>
  new EventLog.LogError({ operation, session: "s", reason: "the disk is gone" })

/** A log whose reads fail half-way through, a number of times before they work; and how often it was asked. */
const failing = (real: EventLog.Service, operation: "read" | "snapshot") => {
  const counts = { left: 0, asked: 0 }
  const fails = () => {
    counts.asked++
    return counts.left-- > 0
  }
  const log: EventLog.Service = {
    ...real,
    read: (session, page) =>
      Effect.suspend(() =>
        operation === "read" && fails() ? Effect.fail(unavailable("read")) : real.read(session, page),
      ),
    projections: {
      ...real.projections,
      get: (session, kind, filter) =>
        Effect.suspend(() =>
          operation === kind && fails()
            ? Effect.fail(unavailable("projections.get"))
            : real.projections.get(session, kind, filter),
        ),
    },
  }
  return { log, counts }
}

/** Runs to its end, however long it pauses in between. */
const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(Effect.either(effect))
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  })

describe("a state", () => {
  it("is the fold of all there is, whoever wrote it, from the cache, a snapshot, or the log (L6)", () =>
    fc.assert(
      fc.asyncProperty(disorder, fc.array(fc.nat({ max: 8 }), { maxLength: 20 }), (events, steps) =>
        Effect.runPromise(
          Effect.gen(function* () {
            const log = yield* InMemoryEventLog.make
            const sessions = Session.make(log)
            const summaries = new Set<string>()
            for (const [position, { event }] of events.entries()) {
              const step = steps[position % Math.max(steps.length, 1)] ?? 0
              // No engine commits a summary's id twice: a store would refuse its row.
              const repeated = event._tag === "SummaryCommitted" && summaries.has(event.summary)
              if (event._tag === "SummaryCommitted") summaries.add(event.summary)
              const own =
                step % 2 === 0 &&
                !repeated &&
                event._tag !== "UnknownEvent" &&
                event._tag !== "DamagedSummary" &&
                event._tag !== "DamagedMessage"
              if (own) {
                const { state } = yield* sessions.transact("s", () => ({ events: [event], answer: null }))
                expect(taken(state)).toEqual(taken(yield* folded(log)))
              } else yield* write(log, event)
              if (step > 2) continue
              expect(taken(yield* sessions.load("s"))).toEqual(taken(yield* folded(log)))
            }
            expect(taken(yield* Session.make(log).load("s"))).toEqual(taken(yield* folded(log)))
            const version = steps.length % (events.length + 1)
            expect(taken(yield* sessions.stateAt("s", version))).toEqual(taken(yield* folded(log, version)))
          }),
        ),
      ),
      { numRuns: often(12, 300) },
    ))

  it.effect("is without every summary that was declared invalid, one after another (L6)", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const second = { compaction: "k2", summary: "s2" }
      yield* write(log, ...appended(chat(8)), started(6), committed(6), invalidated(10))
      yield* write(log, started(2, second), committed(2, second))
      expect(yield* Session.make(log).load("s")).toMatchObject({ coveredTo: 2, summary: { id: "s2" } })
      yield* write(log, invalidated(13))
      expect(yield* Session.make(log).load("s")).toMatchObject({ coveredTo: 0, summary: null })
    }),
  )

  it.effect("that has applied what another engine declares invalid is folded anew", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const sessions = Session.make(log)
      yield* write(log, ...appended(chat(8)), started(4), committed(4))
      expect(yield* sessions.load("s")).toMatchObject({ coveredTo: 4, summary: { id: "s1" } })
      yield* write(log, invalidated(10))
      const state = yield* sessions.load("s")
      expect(state).toMatchObject({ coveredTo: 0, summary: null, version: 11 })
      expect(state.uncovered.length).toBe(8)
      // What was, was: the declaration changes nothing before it (L10).
      expect(yield* sessions.stateAt("s", 10)).toMatchObject({ coveredTo: 4, summary: { id: "s1" } })
      expect(yield* sessions.stateAt("s", 11)).toMatchObject({ coveredTo: 0, summary: null })
    }),
  )

  it.effect("that declares its own summary invalid is folded anew, too", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const sessions = Session.make(log)
      yield* write(log, ...appended(chat(8)), started(4), committed(4))
      const { state } = yield* sessions.transact("s", () => ({ events: [invalidated(10)], answer: null }))
      expect(state).toMatchObject({ coveredTo: 0, summary: null, version: 11 })
      expect(yield* sessions.load("s")).toEqual(state)
    }),
  )

  it.effect("is not taken from a snapshot that has what was declared invalid since", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* write(log, ...appended(chat(8)), started(4))
      const commit = () => ({ events: [committed(4)], answer: null })
      yield* Session.make(log).transact("s", commit)
      const snapshot = yield* snapshotOf(log, "s")
      expect(versionIn(snapshot!)).toBe(10)
      yield* write(log, invalidated(10), ...appended(chat(1), { from: 8 }))
      expect(yield* Session.make(log).load("s")).toMatchObject({ total: 9, coveredTo: 0, summary: null })
      expect(yield* snapshotOf(log, "s")).toEqual(snapshot)
    }),
  )
})

describe("a stampede", () => {
  it("holds the events of few sessions at a time, however many are opened at once (L19)", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const names = Array.from({ length: 200 }, (_, at) => `s${at}`)
      const writer = Session.make(real)
      for (const name of names)
        yield* writer.transact(name, () => ({ events: appended(chat(1)), answer: null }))
      const open = { now: 0, most: 0 }
      const log: EventLog.Service = {
        ...real,
        read: (session, page) =>
          Effect.acquireUseRelease(
            Effect.sync(() => (open.most = Math.max(open.most, ++open.now))),
            () => Effect.zipLeft(real.read(session, page), Effect.yieldNow()),
            () => Effect.sync(() => open.now--),
          ),
      }
      const states = yield* Effect.forEach(names, Session.make(log).load, { concurrency: "unbounded" })
      expect(states.map(({ version }) => version)).toEqual(names.map(() => 1))
      expect(open.most).toBeGreaterThan(1)
      expect(open.most).toBeLessThanOrEqual(32)
    }).pipe(Effect.runPromise))
})

describe("a store that cannot be read", () => {
  for (const [what, times] of [
    ["now, is asked again", 3],
    ["at all, is asked three times more, and the error says so", 4],
  ] as const) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const { log, counts } = failing(yield* InMemoryEventLog.make, "read")
        yield* write(log, ...appended(chat(6)), started(4), committed(4))
        // The first to open it writes the summary rows, which are missing.
        yield* Session.make(log).load("s")
        const reading: ReadonlyArray<Effect.Effect<unknown, Session.SessionError>> = [
          Session.make(log).load("s"),
          Session.make(log).stateAt("s", 8),
          Session.make(log).transact("s", ({ total }) => ({ events: [], answer: total })),
        ]
        for (const open of reading) {
          Object.assign(counts, { left: times, asked: 0 })
          const answer = yield* patiently(open)
          expect(counts.asked).toBe(4)
          expect(Either.isRight(answer)).toBe(times === 3)
          if (Either.isLeft(answer)) expect(answer.left).toMatchObject({ _tag: "LogError", session: "s" })
        }
      }),
    )
  }

  it.effect("is asked again for what is new, too, and what is known is not doubled", () =>
    Effect.gen(function* () {
      const { log, counts } = failing(yield* InMemoryEventLog.make, "read")
      const sessions = Session.make(log)
      yield* write(log, ...appended(chat(3)))
      yield* sessions.load("s")
      yield* write(log, ...appended(chat(2), { from: 3 }))
      counts.left = 2
      expect(yield* patiently(sessions.load("s"))).toMatchObject({ _tag: "Right", right: { total: 5 } })
      yield* write(log, ...appended(chat(1), { from: 5 }))
      counts.left = 9
      expect(yield* patiently(sessions.load("s"))).toMatchObject({ _tag: "Left" })
      counts.left = 0
      expect(yield* sessions.load("s")).toMatchObject({ total: 6 })
    }),
  )
})

describe("a snapshot that cannot be read", () => {
  const logged: Array<string> = []
  const listening = Logger.replace(
    Logger.defaultLogger,
    Logger.make((options) => {
      if (options.logLevel._tag !== "Info") logged.push(Logger.logfmtLogger.log(options))
    }),
  )

  it.effect("is asked for three times more, and done without", () =>
    Effect.gen(function* () {
      const { log, counts } = failing(yield* InMemoryEventLog.make, "snapshot")
      yield* write(log, ...appended(chat(6)), started(4))
      yield* Session.make(log).transact("s", () => ({ events: [committed(4)], answer: null }))
      for (const [times, lines] of [
        [3, 0],
        [4, 1],
      ] as const) {
        logged.length = 0
        Object.assign(counts, { left: times, asked: 0 })
        expect(yield* patiently(Session.make(log).load("s"))).toMatchObject({
          _tag: "Right",
          right: { total: 6, coveredTo: 4 },
        })
        expect(counts.asked).toBe(4)
        expect(logged).toHaveLength(lines)
      }
      expect(logged[0]).toContain("session=s")
      expect(logged[0]).toContain("the disk is gone")
      expect(logged[0]).not.toContain("question")
    }).pipe(Effect.provide(listening)),
  )
})
