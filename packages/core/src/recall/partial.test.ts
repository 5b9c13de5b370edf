/** A search says that it is partial: whatever asks, and whatever is behind. */
import { describe, expect, it } from "@effect/vitest"
import { embedder as computed } from "@memfold/testing/fakes"
import { Deferred, Effect, Fiber, Logger, TestClock } from "effect"
import { echo, pairs } from "@memfold/harness/engine"
import { Embedder, EventLog, InMemoryEventLog, Memory, Message, Summarizer } from "../index.js"

const mine = computed({ synonyms: [["car", "vehicle"]], minSimilarity: 0.35 })

/** What a memory searches with. */
interface Parts {
  readonly log: EventLog.Service
  readonly embedder: Embedder.Service | null
}

/** Something that is behind until a gate opens, with the sizes of the sessions of the owner. */
interface Behind {
  readonly sessions: ReadonlyArray<number>
  readonly held: (parts: Parts, gate: Effect.Effect<void>) => Parts
}

/** The index of a session in a store that outlives the process. */
const inStore: Behind = {
  sessions: [2_100, 3],
  held: ({ log, ...parts }, gate) => ({
    ...parts,
    log: {
      ...log,
      projections: {
        get: log.projections.get,
        drop: log.projections.drop,
        put: (session, at, changes) =>
          Effect.zipRight(
            changes.some(({ kind }) => kind === "index") ? gate : Effect.void,
            log.projections.put(session, at, changes),
          ),
      },
    },
  }),
}

/** The index of many sessions in the process. */
const inProcess: Behind = {
  sessions: Array.from({ length: 120 }, () => 20),
  held: ({ log, ...parts }, gate) => ({
    ...parts,
    log: {
      ...log,
      read: (session, page) =>
        Effect.zipRight(session === "s7" ? gate : Effect.void, log.read(session, page)),
    },
  }),
}

/** The vectors of some sessions of several: not of all of them can be looked at in time. */
const vectors: Behind = {
  sessions: Array.from({ length: 20 }, () => 3),
  held: (parts, gate) => ({
    ...parts,
    embedder: {
      ...mine,
      embed: (texts, options) =>
        Effect.zipRight(options.kind === "message" ? gate : Effect.void, mine.embed(texts, options)),
    },
  }),
}

const opened = ({ log, embedder }: Parts) =>
  Memory.make({ strategy: pairs, compaction: { mode: "off" }, indexAhead: false }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Embedder.Embedder, embedder),
    Effect.provideService(Summarizer.Summarizer, echo),
  )

type Asked = Effect.Effect<{ readonly answer: unknown; readonly left: number }, Memory.MemoryError>

/** The searches, and how much each says is left. */
const routes = {
  "a search of a session": (memory: Memory.Service): Asked =>
    Effect.map(memory.recall("s0", "vehicle"), ({ unsearched = 0, ...answer }) => ({
      answer,
      left: unsearched,
    })),
  "a search of an owner": (memory: Memory.Service): Asked =>
    Effect.map(memory.recallOf("ann", "vehicle"), ({ unsearchedSessions = 0, ...answer }) => ({
      answer,
      left: unsearchedSessions,
    })),
  "the tool of a model": (memory: Memory.Service): Asked =>
    Effect.map(
      memory.answerToolCall("s0", {
        type: "tool-call",
        id: "c",
        name: "search_memory",
        arguments: '{"query":"vehicle"}',
      }),
      (answer) => ({
        answer,
        left: Number(/\((\d+) later messages are not indexed yet/u.exec(JSON.stringify(answer))?.[1] ?? 0),
      }),
    ),
}

const table: ReadonlyArray<{
  readonly what: string
  readonly behind: Behind
  readonly embedders: ReadonlyArray<Embedder.Service | null>
  readonly left: Partial<Record<keyof typeof routes, number>>
}> = [
  {
    what: "the index in the store",
    behind: inStore,
    embedders: [null, mine],
    left: { "a search of a session": 2_100, "a search of an owner": 1, "the tool of a model": 2_100 },
  },
  {
    what: "the index in the process",
    behind: inProcess,
    embedders: [null, mine],
    left: { "a search of an owner": 1 },
  },
  {
    what: "the vectors",
    behind: vectors,
    embedders: [mine],
    left: { "a search of a session": 3, "a search of an owner": 20, "the tool of a model": 3 },
  },
]

const cases = table.flatMap(({ embedders, left, ...one }) =>
  embedders.flatMap((embedder) =>
    Object.entries(left).map(([route, count]) => ({
      ...one,
      embedder,
      route: route as keyof typeof routes,
      left: count,
      name: `${route}, ${embedder === null ? "by words" : "by meaning"}: ${one.what}`,
    })),
  ),
)

describe("a search that is partial says so, and finds all when it is asked again", () => {
  it.scoped.each(cases)("$name", ({ behind, embedder, route, left }) =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const writer = yield* opened({ log, embedder: null })
      for (const [at, length] of behind.sessions.entries())
        yield* writer.append(
          `s${at}`,
          Array.from({ length }, (_, index) => Message.user(`The car ${at} has vehicle papers ${index}.`)),
          { owner: "ann" },
        )
      const gate = yield* Deferred.make<void>()
      const memory = yield* opened(behind.held({ log, embedder }, Deferred.await(gate)))
      const ask = routes[route](memory)
      const search = yield* Effect.fork(ask)
      for (let second = 0; second < 6; second++) {
        yield* Effect.repeatN(Effect.yieldNow(), 2_000)
        yield* TestClock.adjust("1 second")
      }
      expect(yield* Fiber.poll(search)).toMatchObject({ value: { value: { left } } })
      yield* Deferred.succeed(gate, undefined)
      const all = (asked: Asked) => Effect.repeat(asked, { until: (found) => found.left === 0 })
      expect(yield* all(ask)).toEqual(yield* all(routes[route](yield* opened({ log, embedder }))))
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
  )
})
