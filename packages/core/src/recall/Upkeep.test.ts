/** A stored index that follows the appends, and a search that finds it far behind. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Scope, TestClock } from "effect"
import { pairs, said } from "@memfold/harness/engine"
import { EventLog, FullTextIndex, InMemoryEventLog, Memory, Recall, Summarizer, Verify } from "../index.js"

/** A log that outlives its memories, counts what is read of it, and asks before it reads or stores rows of an index. */
const kept = (before: Effect.Effect<void> = Effect.void, beforeGet: Effect.Effect<void> = Effect.void) =>
  Effect.map(InMemoryEventLog.make, (log) => {
    const counted = { read: 0 }
    const { get, put, drop } = log.projections
    const service: EventLog.Service = {
      ...log,
      read: (session, page) =>
        Effect.tap(log.read(session, page), (records) => Effect.sync(() => (counted.read += records.length))),
      projections: {
        get: (session, kind, filter) =>
          Effect.zipRight(kind === "index" ? beforeGet : Effect.void, get(session, kind, filter)),
        drop,
        put: (session, at, changes) =>
          Effect.zipRight(
            changes.some(({ kind }) => kind === "index") ? before : Effect.void,
            put(session, at, changes),
          ),
      },
    }
    return { log: service, counted }
  })

const summarizer: Summarizer.Service = { name: "short", summarize: () => Effect.succeed({ text: "short" }) }

/** A memory of another process over a log. */
const opened = (
  log: EventLog.Service,
  options: Partial<Memory.Options> = {},
  index: FullTextIndex.Service | null = null,
) =>
  Memory.make({ strategy: pairs, compaction: { mode: "off" }, ...options }).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(EventLog.EventLog, log),
        Layer.succeed(Summarizer.Summarizer, summarizer),
        Layer.succeed(FullTextIndex.FullTextIndex, index),
      ),
    ),
  )

/** The number of parts of the stored index. */
const partsOf = (log: EventLog.Service) =>
  Effect.map(log.projections.get("s", "index", { keys: ["parts"] }), ([row]) =>
    row === undefined ? 0 : (JSON.parse(row.data) as { readonly parts: ReadonlyArray<unknown> }).parts.length,
  )

/** Lets the background work until there are so many parts. */
const until = (log: EventLog.Service, parts: number) =>
  Effect.repeat(Effect.zipRight(Effect.yieldNow(), partsOf(log)), { until: (count) => count >= parts })

const appended = (memory: Memory.Service, from: number, to: number) =>
  Effect.forEach(
    Array.from({ length: (to - from) / 100 }, (_, at) => from + 100 * at),
    (at) => memory.append("s", said(100, at)),
    { discard: true },
  )

describe("an index that is written with the appends", () => {
  it.scoped("leaves less than a part to the first search of another process, which finds the same", () =>
    Effect.gen(function* () {
      const { log, counted } = yield* kept()
      const memory = yield* opened(log)
      yield* appended(memory, 0, 1_000)
      yield* Effect.yieldNow()
      expect(yield* partsOf(log)).toBe(0)
      yield* appended(memory, 1_000, 2_500)
      yield* until(log, 2)
      const other = yield* opened(log)
      yield* other.state("s")
      counted.read = 0
      const found = yield* other.recall("s", "message 17")
      expect(counted.read).toBeLessThan(700)
      expect(found).toEqual(yield* (yield* opened(log, {}, Recall.inProcess())).recall("s", "message 17"))
      expect(found.messages.length).toBeGreaterThan(0)
    }),
  )

  it.scoped("is not written where the option turns it off, and not of a short session", () =>
    Effect.gen(function* () {
      const { log } = yield* kept()
      yield* appended(yield* opened(log, { indexAhead: false }), 0, 2_500)
      yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow())
      expect(yield* partsOf(log)).toBe(0)
    }),
  )

  it.scoped("is written behind appends that go on meanwhile", () =>
    Effect.gen(function* () {
      const go = { on: (): Effect.Effect<unknown> => Effect.void }
      const { log } = yield* kept(
        Effect.void,
        Effect.suspend(() => Effect.asVoid(go.on())),
      )
      const memory = yield* opened(log)
      let more = 0
      // Whenever the index is read, the session moves on.
      go.on = () => (more++ < 50 ? Effect.orDie(memory.append("s", said(1, 5_000 + more))) : Effect.void)
      yield* appended(memory, 0, 1_200)
      yield* Effect.repeat(
        Effect.zipRight(
          Effect.yieldNow(),
          Effect.sync(() => more),
        ),
        {
          until: (count) => count > 1,
        },
      )
      yield* until(log, 1)
      expect((yield* memory.state("s")).total).toBeGreaterThan(1_201)
    }),
  )
})

describe("a search whose index is far behind", () => {
  it.scoped("says how many messages it has not searched, and a later one finds all", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      let writes = 0
      // The second part has to wait.
      const { log } = yield* kept(Effect.suspend(() => (writes++ === 1 ? Deferred.await(gate) : Effect.void)))
      yield* appended(yield* opened(log, { indexAhead: false }), 0, 4_000)
      const memory = yield* opened(log)
      const search = yield* Effect.fork(memory.recall("s", "message 17"))
      yield* until(log, 1)
      yield* TestClock.adjust("300 millis")
      const partial = yield* search
      expect(partial.unsearched).toBe(4_000 - 1_024)
      expect(yield* Verify.unindexed(log, "s")).toBe(4_000 - 1_024)
      expect(partial.messages.every(({ index }) => index < 1_024)).toBe(true)
      expect(partial.messages.length).toBeGreaterThan(0)
      yield* Deferred.succeed(gate, undefined)
      yield* until(log, 3)
      expect(yield* Verify.unindexed(log, "s")).toBe(0)
      const whole = yield* memory.recall("s", "message 17")
      expect(whole.unsearched).toBeUndefined()
      expect(whole).toEqual(yield* (yield* opened(log, {}, Recall.inProcess())).recall("s", "message 17"))
    }),
  )

  it.scoped("ends its work with the memory", () =>
    Effect.gen(function* () {
      const { log } = yield* kept(Effect.never)
      yield* appended(yield* opened(log, { indexAhead: false }), 0, 4_000)
      const scope = yield* Scope.make()
      const memory = yield* Scope.extend(opened(log), scope)
      const search = yield* Effect.fork(memory.recall("s", "message 17"))
      yield* Effect.yieldNow()
      yield* TestClock.adjust("300 millis")
      expect((yield* search).unsearched).toBe(4_000)
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
    }),
  )
})
