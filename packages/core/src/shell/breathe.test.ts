/** Long work on a session lets other work of the process run. */
import { Effect } from "effect"
import { describe, expect, it, vi } from "vitest"
import { pairs, said, withMemory, echo } from "@memfold/harness/engine"
import { EventCodec, EventLog, InMemoryEventLog, Memory, Summarizer } from "../index.js"
import { inSteps } from "@memfold/log/breathe"

/** Each look at the clock finds that the work has held the event loop for long, on a fast machine too. */
const everyLookIsLate = () => {
  let time = Date.now()
  return vi.spyOn(Date, "now").mockImplementation(() => (time += 11))
}

/** How often the event loop went on while something ran. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const clock = everyLookIsLate()
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await work()
  } finally {
    clock.mockRestore()
    over = true
  }
  return turns
}

describe("a session of 20,000 messages", () => {
  it("does not hold the event loop while it is copied, redacted, compacted anew or read", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (let from = 0; from < 20_000; from += 1_000) yield* memory.append("s", said(1_000, from))
      const works: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]> = [
        ["fork", memory.fork("s", "t")],
        ["redact", memory.redact("s", 5)],
        ["recompact", memory.compact("s", { which: "all" })],
        ["state", memory.state("s", { atVersion: 19_999 })],
        ["append", memory.append("u", said(10_000, 0))],
        ["rewrite", memory.rewrite("s", (messages) => messages.slice(0, -1))],
        [
          "trace",
          memory.trace("s", Array.from({ length: 500 }, (_, at) => `The message ${at} is there.`).join(" ")),
        ],
      ]
      for (const [name, work] of works) {
        const turns = yield* Effect.promise(() => turnsDuring(() => Effect.runPromise(work)))
        expect({ name, goesOn: turns > 4 }).toEqual({ name, goesOn: true })
      }
    }).pipe(
      Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } })),
      Effect.runPromise,
    ))
})

describe("a session of 20,000 events", () => {
  it("does not hold the event loop while a fork reads its records", () =>
    Effect.gen(function* () {
      const inner = yield* InMemoryEventLog.make
      const record = { time: 0, ...EventCodec.encode({ _tag: "CompactionReleased", compaction: "k" }) }
      const [first, ...rest] = Array.from({ length: 20_000 }, () => record)
      yield* inner.append("s", [first!, ...rest], { expectedVersion: 0, batchId: "a" })
      let turns = 0
      let over = false
      /** For each page: the versions that it begins and ends at, and the turn in which it was read. */
      const pages: Array<{ readonly from: number; readonly to: number; readonly turn: number }> = []
      const log: EventLog.Service = {
        ...inner,
        read: (session, page) =>
          Effect.tap(inner.read(session, page), (records) =>
            Effect.sync(() => {
              const [from, to] = [records[0]?.version ?? 0, records.at(-1)?.version ?? 0]
              pages.push({ from, to, turn: turns })
            }),
          ),
      }
      const turn = () => {
        turns++
        if (!over) setImmediate(turn)
      }
      setImmediate(turn)
      const memory = yield* Effect.provideService(
        Effect.provideService(
          Memory.make({ strategy: pairs, compaction: { mode: "manual" } }),
          Summarizer.Summarizer,
          echo,
        ),
        EventLog.EventLog,
        log,
      )
      // The state is known, and only the fork reads all records.
      yield* memory.state("s")
      pages.length = 0
      const clock = everyLookIsLate()
      expect(yield* memory.fork("s", "t")).toBe(20_000)
      clock.mockRestore()
      over = true
      // The fork reads all records twice: to copy them, and for the state that tells of a running compaction.
      const starts = pages.flatMap(({ from }, at) => (from === 1 ? [at] : []))
      expect(starts).toHaveLength(2)
      for (const [at, start] of starts.entries()) {
        const read = pages.slice(start, starts[at + 1])
        const last = read.findLast(({ to }) => to === 20_000)
        expect({ at, goesOn: (last?.turn ?? 0) - (read[0]?.turn ?? 0) > 4 }).toEqual({ at, goesOn: true })
      }
      expect(yield* EventLog.versionOf(inner, "t")).toBe(20_000)
    }).pipe(Effect.scoped, Effect.runPromise))
})

describe("a search over the sessions of an owner", () => {
  it("rests between the pages of the list of sessions", () =>
    Effect.gen(function* () {
      const inner = yield* InMemoryEventLog.make
      let turns = 0
      const pages: Array<number> = []
      const log: EventLog.Service = {
        ...inner,
        list: (options) => Effect.tap(inner.list(options), () => Effect.sync(() => pages.push(turns))),
      }
      const memory = yield* Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(Summarizer.Summarizer, echo),
        Effect.provideService(EventLog.EventLog, log),
      )
      // A page has 512.
      for (let at = 0; at < 520; at++) yield* memory.append(`s${at}`, said(1, at), { owner: "ann" })
      const search = memory.recallOf("ann", "message", { tokens: 100 })
      yield* search
      pages.length = 0
      // A clock that stands still: no part looks late by itself.
      const still = vi.spyOn(Date, "now").mockReturnValue(Date.now())
      let over = false
      const turn = () => {
        turns++
        if (!over) setImmediate(turn)
      }
      setImmediate(turn)
      expect((yield* search).messages.length).toBeGreaterThan(0)
      over = true
      still.mockRestore()
      expect(pages).toHaveLength(2)
      expect(new Set(pages).size).toBe(2)
    }).pipe(Effect.scoped, Effect.runPromise))

  it("rests between its parts, and before it opens each session, also if each takes no time", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (let at = 0; at < 30; at++) yield* memory.append(`s${at}`, said(2, at), { owner: "ann" })
      const search = memory.recallOf("ann", "message", { tokens: 4_000 })
      yield* search
      // A clock that stands still: no part looks late by itself.
      const still = vi.spyOn(Date, "now").mockReturnValue(Date.now())
      let turns = 0
      let over = false
      const turn = () => {
        turns++
        if (!over) setImmediate(turn)
      }
      setImmediate(turn)
      yield* search
      over = true
      still.mockRestore()
      expect(turns).toBeGreaterThanOrEqual(3)
      const late = yield* Effect.promise(() => turnsDuring(() => Effect.runPromise(search)))
      // It is 270; without a look at the clock for each session and message that is read, 177.
      expect(late).toBeGreaterThan(220)
    }).pipe(
      Effect.scoped,
      Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } })),
      Effect.runPromise,
    ))
})

describe("several works at once", () => {
  it("hold the event loop one at a time, and let input and output have their turn between them", async () => {
    const order: Array<string> = []
    const work = (name: string) =>
      inSteps(function* () {
        for (let step = 0; step < 5; step++) {
          yield
          order.push(name)
          const end = performance.now() + 11
          while (performance.now() < end);
        }
      })
    let over = false
    // Input and output have their turn before this.
    const turn = (): void => {
      order.push("turn")
      if (!over) setImmediate(turn)
    }
    setImmediate(turn)
    await Effect.runPromise(Effect.all(["a", "b", "c", "d"].map(work), { concurrency: "unbounded" }))
    over = true
    const parts = order.join("").split(/(?:turn)+/)
    expect(parts.join("")).toHaveLength(20)
    expect(parts.filter((part) => part.length > 1)).toEqual([])
  })

  it("are searches that begin together, too", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(2, 0), { owner: "ann" })
      const searches: ReadonlyArray<Effect.Effect<unknown, Memory.MemoryError>> = [
        memory.recall("s", "message"),
        memory.recallOf("ann", "message"),
      ]
      for (const search of searches) {
        yield* search
        const one = yield* Effect.promise(() => turnsDuring(() => Effect.runPromise(search)))
        const all = Effect.all(
          Array.from({ length: 10 }, () => search),
          { concurrency: "unbounded" },
        )
        const turns = yield* Effect.promise(() => turnsDuring(() => Effect.runPromise(all)))
        expect({ one: one > 2, all: turns > 8 * one }).toEqual({ one: true, all: true })
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } })),
      Effect.runPromise,
    ))
})

it("appends in a loop let the compaction start that they make due, so that no look plans for all of them", async () => {
  const appends = 3_000
  const planned: Array<number> = []
  const strategy = {
    ...pairs,
    batchSize: {
      to: (view: { readonly coveredTo: number }, tailFrom: number) => {
        planned.push(tailFrom - view.coveredTo)
        return tailFrom
      },
    },
  }
  await Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const [message] = said(1)
    for (let at = 0; at < appends; at++)
      yield* Effect.promise(() => Effect.runPromise(memory.append("s", message!)))
    // Before the loop is over, most of them are covered.
    expect((yield* memory.state("s")).coveredTo).toBeGreaterThan(appends / 2)
    expect(Math.max(...planned)).toBeLessThan(appends / 2)
  }).pipe(Effect.provide(withMemory({ strategy })), Effect.runPromise)
})
