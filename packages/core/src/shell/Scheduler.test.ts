/** What comes due by time alone is looked at when it is time. */
import { describe, expect, it } from "@effect/vitest"
import { type Clock, Deferred, Duration, Effect, Logger, LogLevel, Option, TestClock, Tracer } from "effect"
import { echo, pairs, said, withMemory } from "@memfold/harness/engine"
import { SummaryMode, InMemoryEventLog, Keep, Memory, Strategy, Summarizer, Trigger } from "../index.js"
import { EventLog, LogError } from "@memfold/log/EventLog"
import { SummarizerError } from "../summarize/Summarizer.js"

const by = (when: Trigger.Trigger) =>
  Strategy.make({ name: "by time", when, keep: Keep.lastMessages(2), summaryMode: SummaryMode.rolling })

const coveredTo = Effect.flatMap(Memory.Memory, (memory) =>
  Effect.map(memory.state("s"), (state) => state.coveredTo),
)

const engine = (log: EventLog["Type"], options: Memory.Options, summarizer: Summarizer.Service = echo) =>
  Memory.make(options).pipe(
    Effect.provideService(EventLog, log),
    Effect.provideService(Summarizer.Summarizer, summarizer),
  )

/** Sets a tracer: without one, there are no spans. */
const traced = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.tracer, (tracer) => Effect.withTracer(effect, Tracer.make(tracer)))

describe("time alone", () => {
  it.effect("brings about what goes by idle time, counted from the last message", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* TestClock.adjust("50 minutes")
      yield* memory.append("s", said(2, 6))
      yield* TestClock.adjust("59 minutes")
      expect(yield* coveredTo).toBe(0)
      yield* TestClock.adjust("1 minute")
      expect(yield* coveredTo).toBe(6)
    }).pipe(Effect.provide(withMemory({ strategy: by(Trigger.idle("1 hour")) }))),
  )

  it.effect.each([5, 25, 45, 55, 65])(
    "brings about what comes due %i ms after it looked, while it reads",
    (later) =>
      Effect.gen(function* () {
        const log = yield* InMemoryEventLog.make
        let reading = Duration.zero
        const slow: EventLog["Type"] = {
          ...log,
          read: (...given) => Effect.delay(log.read(...given), reading),
        }
        const strategy = by(Trigger.idle("1 hour"))
        const memory = yield* engine(slow, { strategy })
        const other = yield* engine(log, { strategy, compaction: { mode: "off" } })
        yield* memory.append("s", said(6))
        yield* TestClock.adjust(later)
        // It looks an hour after its own append; this moves the time when the session has been idle for an hour.
        yield* other.append("s", said(2, 6))
        reading = Duration.millis(20)
        yield* TestClock.adjust("2 hours")
        expect((yield* other.state("s")).coveredTo).toBe(6)
      }).pipe(Effect.scoped),
  )

  it.effect("brings about a cooldown, however long", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* TestClock.adjust("39 days")
      expect(yield* coveredTo).toBe(0)
      yield* TestClock.adjust("1 day")
      expect(yield* coveredTo).toBe(4)
    }).pipe(Effect.provide(withMemory({ strategy: by(Trigger.cooldown("40 days")) }))),
  )

  it.effect("brings about no compaction unless they run in the background", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* TestClock.adjust("1 day")
      expect(yield* coveredTo).toBe(0)
    }).pipe(
      Effect.provide(withMemory({ strategy: by(Trigger.idle("1 hour")), compaction: { mode: "inline" } })),
    ),
  )

  it.effect("brings the next try after a failed try", () => {
    let fails = true
    const summarizer: Summarizer.Service = {
      name: "recovers",
      summarize: (request) =>
        fails
          ? Effect.fail(
              new SummarizerError({ session: request.session, reason: "unavailable", detail: "down" }),
            )
          : echo.summarize(request),
    }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* TestClock.adjust("1 second")
      expect((yield* memory.state("s")).failures).toMatchObject({ count: 1 })
      fails = false
      yield* TestClock.adjust("1 minute")
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 4, failures: null })
    }).pipe(
      Effect.provide(
        withMemory(
          { strategy: pairs, compaction: { summarizerRetries: 0, backOff: "1 minute" } },
          summarizer,
        ),
      ),
    )
  })

  it.effect("is tried again after the store was away when it came", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      let away = false
      const gone = new LogError({ operation: "version", reason: "the cable is out" })
      const flaky: EventLog["Type"] = {
        ...log,
        append: (...given) => Effect.suspend(() => (away ? gone : log.append(...given))),
      }
      const memory = yield* engine(flaky, {
        strategy: by(Trigger.idle("1 hour")),
        compaction: { backOff: "1 minute" },
      })
      yield* memory.append("s", said(6))
      yield* TestClock.adjust("59 minutes")
      away = true
      yield* TestClock.adjust("10 minutes")
      expect((yield* memory.state("s")).coveredTo).toBe(0)
      away = false
      yield* TestClock.adjust("10 minutes")
      expect((yield* memory.state("s")).coveredTo).toBe(4)
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.effect("brings the next try after a settle that failed, too", () => {
    let fails = true
    const summarizer: Summarizer.Service = {
      name: "recovers",
      summarize: (request) =>
        fails
          ? Effect.fail(
              new SummarizerError({ session: request.session, reason: "unavailable", detail: "down" }),
            )
          : echo.summarize(request),
    }
    return Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const manual = yield* engine(log, { strategy: pairs, compaction: { mode: "manual" } })
      yield* manual.append("s", said(6))
      const memory = yield* engine(
        log,
        { strategy: pairs, compaction: { summarizerRetries: 0, backOff: "1 minute" } },
        summarizer,
      )
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Failed" }])
      fails = false
      yield* TestClock.adjust("1 minute")
      expect((yield* memory.state("s")).coveredTo).toBe(4)
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None))
  })

  it.effect("asks a trigger whose time is always now no more than once a second", () => {
    let asked = 0
    const now: Trigger.Trigger = { due: () => null, dueTime: (view) => (asked++, view.now + 1) }
    return Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* TestClock.adjust("100 seconds")
      expect(asked).toBeGreaterThan(90)
      expect(asked).toBeLessThan(110)
    }).pipe(Effect.provide(withMemory({ strategy: by(now) })))
  })

  it.effect("is not kept for a session that was deleted, and is no part of the request that began it", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const read: Array<string> = []
      const spans: Array<string | undefined> = []
      const counting: EventLog["Type"] = {
        ...log,
        head: (session) => Effect.tap(log.head(session), () => Effect.sync(() => read.push(session))),
      }
      const memory = yield* engine(
        counting,
        { strategy: by(Trigger.idle("1 hour")) },
        {
          name: "asks where it is",
          summarize: (request) =>
            Effect.currentSpan.pipe(
              Effect.map((span) => {
                for (let at: Tracer.AnySpan | undefined = span; at !== undefined;) {
                  spans.push(at._tag === "Span" ? at.name : undefined)
                  at = at._tag === "Span" ? Option.getOrUndefined(at.parent) : undefined
                }
              }),
              Effect.ignore,
              Effect.zipRight(echo.summarize(request)),
            ),
        },
      )
      yield* memory.append("gone", said(6)).pipe(Effect.withSpan("a request"))
      yield* memory.append("s", said(6)).pipe(Effect.withSpan("a request"))
      yield* memory.delete("gone")
      read.length = 0
      yield* TestClock.adjust("2 hours")
      expect((yield* memory.state("s")).coveredTo).toBe(4)
      expect(spans).toContain("memfold.compact")
      expect(spans).not.toContain("a request")
      expect(read).not.toContain("gone")
    }).pipe(Effect.scoped, traced),
  )

  it.effect("takes over from a process that is gone, once its lease is over (L7)", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const options = { strategy: pairs, compaction: { lease: "1 hour" } } as const
      const other = yield* engine(log, options)
      yield* other.append("s", said(5))
      const entered = yield* Deferred.make<void>()
      const gone = yield* engine(log, options, {
        name: "gone",
        summarize: () => Effect.zipRight(Deferred.succeed(entered, undefined), Effect.never),
      })
      const clock = yield* Effect.clock
      const stopped: Clock.Clock = Object.assign(Object.create(clock), { sleep: () => Effect.never })
      yield* gone.append("s", said(1, 5)).pipe(Effect.withClock(stopped))
      yield* Deferred.await(entered)
      yield* other.append("s", said(1, 6))
      const leaseUntil = (yield* other.state("s")).running?.leaseUntil ?? 0
      yield* TestClock.setTime(leaseUntil - 1)
      expect((yield* other.state("s")).coveredTo).toBe(0)
      yield* TestClock.setTime(leaseUntil)
      expect((yield* other.state("s")).coveredTo).toBe(5)
    }).pipe(Effect.scoped),
  )

  it.effect("brings nothing about in a memory that was closed", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* engine(log, { strategy: by(Trigger.idle("1 hour")) }).pipe(
        Effect.flatMap((memory) => memory.append("s", said(6))),
        Effect.scoped,
      )
      yield* TestClock.adjust("1 day")
      expect((yield* log.head("s"))?.version).toBe(6)
    }),
  )

  it.live("does not keep a program from ending that has nothing else to do", () =>
    Effect.gen(function* () {
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
      const before = timers()
      yield* Effect.flatMap(Memory.Memory, (memory) => memory.append("s", said(6)))
      expect(timers()).toBe(before)
    }).pipe(Effect.provide(withMemory({ strategy: by(Trigger.idle("1 hour")) }))),
  )
})
