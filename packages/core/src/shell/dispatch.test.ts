import { Clock, Effect, Fiber, Layer, Option, type Scope, Stream, TestClock, TestContext } from "effect"
import { describe, expect, it } from "vitest"
import * as Dispatcher from "../Dispatcher.js"
import * as EventLog from "@memfold/log/EventLog"
import * as InMemoryEventLog from "@memfold/log/InMemoryEventLog"
import * as Memory from "../Memory.js"
import * as Message from "../Message.js"
import * as Keep from "../policy/Keep.js"
import * as Strategy from "../policy/Strategy.js"
import * as SummaryMode from "../policy/SummaryMode.js"
import * as Trigger from "../policy/Trigger.js"
import * as EchoSummarizer from "../summarize/EchoSummarizer.js"
import * as Summarizer from "../Summarizer.js"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 4 }),
  keep: Keep.lastMessages(1),
  summaryMode: SummaryMode.rolling,
  contextLimit: 1_000,
})

/** Looks come due later: when nobody has said anything for ten minutes. */
const later = { strategy: { ...strategy, when: Trigger.idle("10 minutes") } }

const messages = (count: number) =>
  Array.from({ length: count }, (_, at) => Message.user(`message ${at} with some more words about an order`))

/** A queue that gives what it is asked to dispatch to `take`, and whose worker is handed looks by the test. */
const byHand = (take: (look: Dispatcher.Look) => void) => {
  let work = (_look: Dispatcher.Look): Effect.Effect<void, Dispatcher.LookFailed> => Effect.void
  const queue: Dispatcher.Queue = {
    dispatch: (look) => Effect.sync(() => take(look)),
    work: (given) => Effect.sync(() => void (work = given)),
    deadLetters: Effect.succeed([]),
    revive: () => Effect.succeed(false),
  }
  return { queue, handle: (look: Dispatcher.Look) => work(look) }
}

/** A memory that dispatches to a queue which may be gone, and the looks that the queue has taken. */
const world = <A, E>(
  use: (world: {
    readonly memory: Memory.Service
    readonly looks: Array<Dispatcher.Look>
    readonly queue: { state: "there" | "refuses" | "hangs"; asked: number; room: number }
  }) => Effect.Effect<A, E, EventLog.EventLog | Summarizer.Summarizer>,
  options: Partial<Memory.Options> = {},
): Promise<A> => {
  const looks: Array<Dispatcher.Look> = []
  const queue = { state: "there" as "there" | "refuses" | "hangs", asked: 0, room: Infinity }
  const dispatcher: Dispatcher.Service = {
    dispatch: (look) =>
      Effect.suspend(() => {
        queue.asked++
        if (queue.state === "hangs") return Effect.never
        if (queue.state === "there" && queue.room-- > 0) return Effect.sync(() => void looks.push(look))
        return new Dispatcher.DispatchError({ operation: "dispatch", session: look.session, reason: "gone" })
      }),
  }
  return Effect.gen(function* () {
    const memory = yield* Memory.make({ strategy, compaction: { mode: "dispatch" }, ...options })
    return yield* use({ memory, looks, queue })
  }).pipe(
    Effect.provideService(Dispatcher.Dispatcher, dispatcher),
    Effect.scoped,
    Effect.provide([
      InMemoryEventLog.layer,
      Layer.succeed(Summarizer.Summarizer, EchoSummarizer.make()),
      TestContext.TestContext,
    ]),
    Effect.runPromise,
  )
}

describe("the mode dispatch", () => {
  it("compacts nothing, and tells the queue which session is due and how full it is", () =>
    world(({ memory, looks }) =>
      Effect.gen(function* () {
        yield* memory.append("s", messages(2))
        expect(looks).toEqual([])
        yield* memory.append("s", messages(4))
        const state = yield* memory.state("s")
        expect(state.summary).toBe(null)
        expect(looks).toMatchObject([{ session: "s", time: yield* Clock.currentTimeMillis }])
        expect(looks[0]?.fill).toBeGreaterThan(0)
        expect(looks[0]?.fill).toBeLessThan(1)
        // What a worker does.
        expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
      }),
    ))

  it("keeps looks while the queue refuses them, and hands each over when it is back; no append fails", () =>
    world(({ memory, looks, queue }) =>
      Effect.gen(function* () {
        queue.state = "refuses"
        for (const session of ["a", "b", "c"]) yield* memory.append(session, messages(6))
        expect(queue.asked).toBe(1)
        yield* TestClock.adjust("10 seconds")
        expect(looks).toEqual([])
        queue.state = "there"
        yield* TestClock.adjust("1 minute")
        expect(looks.map(({ session }) => session)).toEqual(["a", "b", "c"])
      }),
    ))

  it("waits 2 seconds for a queue that does not answer, and only once", () =>
    world(({ memory, queue }) =>
      Effect.gen(function* () {
        queue.state = "hangs"
        const began = yield* Clock.currentTimeMillis
        const appending = yield* Effect.fork(memory.append("a", messages(6)))
        yield* TestClock.adjust("2 seconds")
        yield* appending
        yield* memory.append("b", messages(6))
        expect((yield* Clock.currentTimeMillis) - began).toBe(2_000)
        // The memory tries once more when it closes.
        queue.state = "there"
      }),
    ))

  it("hands over every look for later: another process may have hurried the look before, and a worker has taken it", () =>
    world(
      ({ memory, looks }) =>
        Effect.gen(function* () {
          yield* memory.append("s", messages(2))
          yield* TestClock.adjust("1 second")
          yield* memory.append("s", messages(2))
          const [first, second] = looks
          expect(first?.time).toBe(600_000)
          expect(second?.time).toBe(601_000)
        }),
      later,
    ))

  it("a worker's look ends when the queue has the next one, also if the queue is gone for a while", () =>
    world(
      ({ memory, looks, queue }) =>
        Effect.gen(function* () {
          yield* memory.append("s", messages(2))
          queue.state = "refuses"
          const looking = yield* Effect.fork(memory.compact("s", { which: "due" }))
          yield* TestClock.adjust("10 seconds")
          expect(yield* Fiber.poll(looking)).toEqual(Option.none())
          queue.state = "there"
          yield* TestClock.adjust("1 minute")
          expect(yield* looking).toEqual([])
          expect(looks.map(({ time }) => time)).toEqual([600_000, 600_000])
        }),
      later,
    ))

  it("a look does not wait for ever for a queue that is gone for good", () =>
    world(
      ({ memory, queue }) =>
        Effect.gen(function* () {
          yield* memory.append("s", messages(2))
          queue.state = "refuses"
          const looking = yield* Effect.fork(memory.compact("s", { which: "due" }))
          yield* TestClock.adjust("25 seconds")
          expect(yield* Fiber.poll(looking)).toEqual(Option.none())
          yield* TestClock.adjust("10 seconds")
          expect(yield* looking).toEqual([])
        }),
      later,
    ))

  it("a worker's look waits for the look of its own session alone, and a slow queue is asked again soon", () =>
    world(
      ({ memory, queue }) =>
        Effect.gen(function* () {
          queue.state = "refuses"
          yield* memory.append("a", messages(2))
          yield* memory.append("b", messages(2))
          const first = yield* Effect.fork(memory.compact("a", { which: "due" }))
          const second = yield* Effect.fork(memory.compact("b", { which: "due" }))
          yield* TestClock.adjust("10 seconds")
          // It takes one look, and no more.
          Object.assign(queue, { state: "there", room: 1 })
          yield* TestClock.adjust("10 seconds")
          expect(yield* Fiber.poll(first)).not.toEqual(Option.none())
          expect(yield* Fiber.poll(second)).toEqual(Option.none())
          queue.room = 1
          yield* TestClock.adjust("5 seconds")
          expect(yield* Fiber.poll(second)).not.toEqual(Option.none())
        }),
      later,
    ))

  it("a memory that closes hands over what it has kept", async () => {
    const looks = await world(({ memory, looks, queue }) =>
      Effect.gen(function* () {
        queue.state = "refuses"
        yield* memory.append("a", messages(6))
        yield* memory.append("b", messages(6))
        queue.state = "there"
        return looks
      }),
    )
    expect(looks.map(({ session }) => session)).toEqual(["a", "b"])
  })

  it("a sweep dispatches what a killed process could not, each due look once, and the next sweep", () =>
    world(({ memory, looks, queue }) =>
      Effect.gen(function* () {
        // A process that is killed between the write and the look has dispatched nothing.
        const killed = yield* Memory.make({ strategy, compaction: { mode: "manual" } })
        yield* killed.append("old", messages(6))
        yield* TestClock.adjust("2 hours")
        yield* killed.append("due", messages(6))
        yield* killed.append("at rest", messages(2))
        expect(looks).toEqual([])
        const { queue: workers, handle } = byHand((look) => void looks.push(look))
        yield* Dispatcher.work(workers, memory, { sweepEvery: "1 minute" })
        yield* TestClock.adjust("0 millis")
        const [first] = looks.splice(0)
        // A sweep that waits in the queue is not hurried: it comes when it would have come without this worker.
        expect(first).toMatchObject({ time: 7_260_000 })
        yield* TestClock.adjust("1 minute")
        yield* handle(first!)
        expect(looks.map(({ session, time }) => [session, time])).toEqual([
          ["due", 7_260_000],
          [first!.session, 7_320_000],
        ])
        // The first sweep of a worker goes back an hour; the next one, two periods behind its time.
        looks.splice(0)
        yield* TestClock.adjust("30 minutes")
        yield* handle({ ...first!, time: 9_060_000 })
        expect(looks.map(({ session }) => session)).toEqual([first!.session])
        // Who has waited for two hours for a worker goes back that far.
        looks.splice(0)
        yield* TestClock.adjust("29 minutes")
        yield* handle({ ...first!, time: 0 })
        expect(
          looks
            .slice(0, -1)
            .map(({ session }) => session)
            .toSorted(),
        ).toEqual(["due", "old"])
        expect(queue.asked).toBe(3)
      }).pipe(Effect.scoped),
    ))

  it("sweeps read what has changed, and not the list of all sessions, whatever their number", () =>
    world(({ looks }) =>
      Effect.gen(function* () {
        let [listed, fed] = [0, 0]
        const log = yield* EventLog.EventLog
        const counting: EventLog.Service = {
          ...log,
          list: (page) => Effect.tap(log.list(page), (found) => void (listed += found.length)),
          feed: (page) => Effect.tap(log.feed!(page), (found) => void (fed += found.length)),
        }
        const killed = yield* Memory.make({ strategy, compaction: { mode: "manual" } })
        for (let at = 0; at < 600; at++) yield* killed.append(`old ${at}`, messages(1))
        const worker = yield* Memory.make({ strategy, compaction: { mode: "dispatch" } }).pipe(
          Effect.provideService(EventLog.EventLog, counting),
        )
        const { queue: workers, handle } = byHand((look) => void looks.push(look))
        yield* Dispatcher.work(workers, worker, { sweepEvery: "1 minute" })
        const sweep = Effect.gen(function* () {
          ;[listed, fed] = [0, 0]
          looks.splice(0)
          yield* TestClock.adjust("1 minute")
          yield* handle({ session: "memfold:sweep", time: yield* Clock.currentTimeMillis, fill: 1 })
          return looks
            .slice(0, -1)
            .map(({ session }) => session)
            .toSorted()
        })
        yield* sweep
        expect(listed).toBeGreaterThan(600)
        // The note of the sweep that it has taken its turn.
        expect(fed).toBe(1)
        for (const session of ["due", "old 3", "old 599"]) yield* killed.append(session, messages(6))
        const events = 18
        const lost = ["due", "old 3", "old 599"]
        // Each activity is seen twice, and then no more.
        expect(yield* sweep).toEqual(lost)
        expect([listed, fed]).toEqual([0, events + 1])
        expect(yield* sweep).toEqual(lost)
        expect([listed, fed]).toEqual([0, events + 2])
        expect(yield* sweep).toEqual([])
        expect([listed, fed]).toEqual([0, 1])
      }).pipe(Effect.scoped),
    ))

  describe("a sweep", () => {
    /** A worker whose sweeps look at a store through `look`, and what it dispatches. */
    const sweeping = (look: Effect.Effect<void, EventLog.LogError>) =>
      Effect.gen(function* () {
        const dispatched: Array<number> = []
        const { queue, handle } = byHand(({ time }) => void dispatched.push(time))
        yield* Dispatcher.work(
          queue,
          {
            compact: () => Effect.die("a sweep compacts nothing"),
            state: () => Effect.die("a sweep reads no state"),
            look: () => look,
            consume: () => new EventLog.LogError({ operation: "feed", reason: "the store has no feed" }),
            sessions: Stream.make({ session: "s", version: 1, createdTime: 0, updatedTime: 0 }),
          },
          { sweepEvery: "1 minute" },
        )
        yield* TestClock.adjust("0 millis")
        dispatched.splice(0)
        const sweep = () => handle({ session: "memfold:sweep", time: 60_000, fill: 1 })
        return { dispatched, sweep }
      })

    const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
      Effect.runPromise(effect.pipe(Effect.scoped, Effect.provide(TestContext.TestContext)))

    it("that takes long is alone in its worker, and the next one comes behind it, at its time", () =>
      run(
        Effect.gen(function* () {
          let looked = 0
          const { dispatched, sweep } = yield* sweeping(
            Effect.delay(
              Effect.sync(() => looked++),
              "3 minutes",
            ),
          )
          const first = yield* Effect.fork(sweep())
          yield* TestClock.adjust("2 minutes")
          expect(dispatched).toEqual([])
          // The queue hands out another one meanwhile: it is done at once.
          yield* sweep()
          expect(dispatched).toEqual([])
          yield* TestClock.adjust("1 minute")
          yield* Fiber.join(first)
          expect(looked).toBe(1)
          // Its time has passed, so it begins now, and looks at what came since this one began.
          expect(dispatched).toEqual([60_000])
          const next = yield* Effect.fork(sweep())
          yield* TestClock.adjust("3 minutes")
          yield* Fiber.join(next)
          expect(looked).toBe(2)
        }),
      ))

    it("leaves a session alone that cannot be read", () =>
      run(
        Effect.gen(function* () {
          const error = new EventLog.LogError({ operation: "read", session: "s", reason: "the disk failed" })
          const { dispatched, sweep } = yield* sweeping(Effect.fail(error))
          yield* sweep()
          expect(dispatched).toEqual([60_000])
        }),
      ))

    it("whose worker ends before it is done dispatches none: the queue repeats it", () =>
      run(
        Effect.gen(function* () {
          const { dispatched, sweep } = yield* sweeping(Effect.never)
          const first = yield* Effect.fork(sweep())
          yield* TestClock.adjust("1 minute")
          yield* Fiber.interrupt(first)
          expect(dispatched).toEqual([])
        }),
      ))
  })

  it("compacts by itself where a budget forces it", () =>
    world(
      ({ memory }) =>
        Effect.gen(function* () {
          yield* memory.append("s", messages(6))
          const { budget, layout } = yield* memory.context("s")
          expect(budget).toBe("compacted")
          expect(layout.map(({ section }) => section)).toContain("summary")
        }),
      { budget: { tokens: 40 } },
    ))

  it("is refused where there is no queue", async () => {
    const made = Memory.make({ strategy, compaction: { mode: "dispatch" } }).pipe(
      Effect.scoped,
      Effect.provide([InMemoryEventLog.layer, Layer.succeed(Summarizer.Summarizer, EchoSummarizer.make())]),
    )
    await expect(Effect.runPromise(made)).rejects.toThrow("dispatch hands its work to one")
  })
})
