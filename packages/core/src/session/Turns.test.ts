/** Writers of one session, one after the other. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Scope, Stream, TestClock } from "effect"
import * as fc from "fast-check"
import { often } from "@memfold/harness/depth"
import { echo, pairs, said } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Message, Verify } from "../index.js"
import { CurrentSummarizer } from "../summarize/CurrentSummarizer.js"
import { Turns } from "./Turns.js"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** An in-memory log that yields before each append, as a real store does, and counts them. */
const counting = Effect.gen(function* () {
  const real = yield* InMemoryEventLog.make
  const batches: Array<number> = []
  const log: EventLog.Service = {
    ...real,
    append: (session, records, options) =>
      Effect.zipRight(
        Effect.yieldNow(),
        Effect.suspend(() => {
          batches.push(records.length)
          return real.append(session, records, options)
        }),
      ),
  }
  return { log, batches }
})

const engine = (log: EventLog.Service, options: Partial<Memory.Options> = {}) =>
  Memory.make({ strategy: pairs, compaction: "off", ...options }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(CurrentSummarizer, echo),
  )

const texts = (memory: Memory.Service) =>
  Effect.map(memory.state("s"), ({ uncovered }) => [...uncovered].map(({ message }) => Message.text(message)))

describe("appends that wait for one session", () => {
  it.effect("share commits, in the order in which they were called", () =>
    Effect.gen(function* () {
      const { log, batches } = yield* counting
      const memory = yield* engine(log)
      const answers = yield* Effect.all(
        numbers(2_500).map((index) => memory.append("s", Message.user(`${index}`))),
        { concurrency: "unbounded" },
      )
      expect(batches.length).toBeLessThan(10)
      expect(Math.max(...batches)).toBe(1_000)
      expect(answers.map(({ from, to, duplicate }) => [from, to, duplicate])).toEqual(
        numbers(2_500).map((index) => [index, index + 1, false]),
      )
      expect(yield* texts(memory)).toEqual(numbers(2_500).map(String))
      // The session was never in the middle of a batch: the version of an append is that of its commit.
      expect(new Set(answers.map(({ version }) => version)).size).toBe(batches.length)
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("have a commit of their own with an idempotency key, and where they are large", () =>
    Effect.gen(function* () {
      const { log, batches } = yield* counting
      const memory = yield* engine(log)
      const large = Message.user("x".repeat(600_000))
      yield* Effect.all(
        [
          memory.append("s", Message.user("0")),
          memory.append("s", Message.user("1")),
          memory.append("s", Message.user("2"), { idempotencyKey: "k" }),
          memory.append("s", large),
          memory.append("s", large),
          memory.append("s", Message.user("5")),
        ],
        { concurrency: "unbounded" },
      )
      expect(batches).toEqual([1, 1, 1, 1, 2])
    }).pipe(Effect.scoped),
  )

  it.effect.each([{}, { idempotencyKey: "k" }])("can be given up while they wait, with %j", (options) =>
    Effect.gen(function* () {
      const { log } = yield* counting
      const slow: EventLog.Service = {
        ...log,
        append: (...given) => Effect.delay(log.append(...given), "1 minute"),
      }
      // A scope that is not closed: that would wait for what goes on where the test fails.
      const memory = yield* Scope.extend(engine(slow), yield* Scope.make())
      const first = yield* Effect.forkDaemon(memory.append("s", Message.user("0")))
      yield* Effect.yieldNow()
      const given = memory.append("s", Message.user("1"), options)
      const second = yield* Effect.forkDaemon(Effect.timeoutOption(given, "1 second"))
      yield* TestClock.adjust("2 seconds")
      expect(second.unsafePoll()).toEqual(Exit.succeed(Option.none()))
      yield* TestClock.adjust("5 minutes")
      yield* Fiber.join(first)
      expect(yield* texts(memory)).toEqual(["0"])
    }),
  )

  it.effect("do not notice one among them whose rule for pins throws", () =>
    Effect.gen(function* () {
      const { log } = yield* counting
      const memory = yield* engine(log)
      const throwing = {
        ...pairs,
        pin: {
          describe: "throws",
          pins: () => {
            throw new Error("a bug in a rule")
          },
        },
      }
      const exits = yield* Effect.all(
        numbers(5).map((index) =>
          Effect.exit(
            memory.append("s", Message.user(`${index}`), index === 2 ? { strategy: throwing } : {}),
          ),
        ),
        { concurrency: "unbounded" },
      )
      expect(exits.map(({ _tag }) => _tag)).toEqual(["Success", "Success", "Failure", "Success", "Success"])
      expect(yield* texts(memory)).toEqual(["0", "1", "3", "4"])
    }).pipe(Effect.scoped),
  )

  it.effect("fail together when the store does, and none of them is stored", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const log: EventLog.Service = {
        ...real,
        append: (session, records, options) =>
          Effect.zipRight(
            Effect.yieldNow(),
            records.length > 1
              ? new EventLog.LogError({ operation: "append", session, reason: "the disk is full" })
              : real.append(session, records, options),
          ),
      }
      const memory = yield* engine(log)
      const exits = yield* Effect.all(
        numbers(4).map((index) => Effect.either(memory.append("s", Message.user(`${index}`)))),
        { concurrency: "unbounded" },
      )
      expect(exits.map(({ _tag }) => _tag)).toEqual(["Right", "Left", "Left", "Left"])
      expect(yield* texts(memory)).toEqual(["0"])
    }).pipe(Effect.scoped),
  )

  it("keep order and answers, whoever else writes and whoever gives up", async () => {
    const kind = fc.constantFrom("append", "append", "keyed", "gives up", "clear", "elsewhere")
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: 40 }), async (kinds) => {
        const program = Effect.gen(function* () {
          const { log } = yield* counting
          const memory = yield* engine(log)
          const other = yield* engine(log)
          const fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
          const acknowledged: Array<number> = []
          const unknown: Array<number> = []
          for (const [index, one] of kinds.entries()) {
            const by = one === "elsewhere" ? other : memory
            const key = one === "keyed" ? { idempotencyKey: `k${index}` } : {}
            const doing: Effect.Effect<unknown, unknown> =
              one === "clear"
                ? memory.removeFact("s", "none")
                : Effect.tap(by.append("s", Message.user(`${index}`), key), () =>
                    Effect.sync(() => acknowledged.push(index)),
                  )
            const fiber = yield* Effect.fork(doing)
            if (one === "gives up") {
              unknown.push(index)
              yield* Effect.fork(Fiber.interrupt(fiber))
            } else fibers.push(fiber)
          }
          yield* Fiber.joinAll(fibers)
          yield* memory.append("s", Message.user("end"))
          const stored = (yield* texts(memory)).slice(0, -1).map(Number)
          const given = kinds.flatMap((one, index) => (one === "clear" ? [] : [index]))
          const certain = given.filter((index) => !unknown.includes(index))
          expect(stored.toSorted((a, b) => a - b).filter((index) => certain.includes(index))).toEqual(certain)
          expect(new Set(stored).size).toBe(stored.length)
          // In the order of the calls, for each process.
          for (const process of ["elsewhere", "here"]) {
            const own = stored.filter((index) => (kinds[index] === "elsewhere") === (process === "elsewhere"))
            expect(own).toEqual(own.toSorted((a, b) => a - b))
          }
          for (const index of acknowledged) expect(stored).toContain(index)
          expect(yield* Verify.session(log, "s")).toEqual([])
        })
        await Effect.runPromise(Effect.scoped(program))
      }),
      { numRuns: often(20, 60) },
    )
  })
})

describe("turns", () => {
  it.effect("pass by whoever was interrupted, before and after it was woken", () =>
    Effect.gen(function* () {
      const turns = new Turns<never>()
      const order: Array<string> = []
      const gate = yield* Deferred.make<void>()
      const first = yield* Effect.fork(turns.alone("s", Deferred.await(gate)))
      yield* Effect.yieldNow()
      const [gone, woken, last] = yield* Effect.forEach(["gone", "woken", "last"], (name) =>
        Effect.fork(
          turns.alone(
            "s",
            Effect.sync(() => order.push(name)),
          ),
        ),
      )
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(gone!)
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.fork(Fiber.interrupt(woken!))
      yield* Fiber.join(first)
      yield* Fiber.join(last!)
      yield* Fiber.await(woken!)
      expect(order.at(-1)).toBe("last")
      expect(order).not.toContain("gone")
      yield* turns.alone(
        "s",
        Effect.sync(() => order.push("after")),
      )
      expect(order.at(-1)).toBe("after")
    }),
  )
})

describe("a log that is opened", () => {
  it.effect("is read again when a redaction came between its pages (L15)", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const writer = yield* engine(real)
      yield* writer.append("s", [Message.user("my secret"), ...said(3)])
      let between: Effect.Effect<unknown, unknown> = Effect.void
      /** Reads in pages of two records. */
      const log: EventLog.Service = {
        ...real,
        read: (session, options) =>
          Stream.paginateChunkEffect(options?.fromVersion ?? 1, (fromVersion) =>
            Effect.gen(function* () {
              if (fromVersion > 1) {
                const once = between
                between = Effect.void
                yield* Effect.orDie(once)
              }
              const page = yield* Stream.runCollect(
                Stream.take(real.read(session, { ...options, fromVersion }), 2),
              )
              const next = (yield* real.version(session)) < fromVersion + 2 ? null : fromVersion + 2
              return [page, next === null ? Option.none() : Option.some(next)] as const
            }),
          ),
      }
      const reader = yield* engine(log)
      between = writer.redact("s", 0)
      expect((yield* texts(reader))[0]).toBe("[redacted]")
    }).pipe(Effect.scoped),
  )
})
