import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, type Scope, Stream, TestClock } from "effect"
import { embedder as computed } from "@memfold/testing/fakes"
import {
  Embedder,
  EventLog,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Metrics,
  Recall,
  Repair,
  Strategy,
  SummaryMode,
  Trigger,
  VectorIndex,
  Verify,
  Summarizer,
} from "../index.js"
import { echo } from "@memfold/harness/engine"

const strategy = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 1_000 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
})
const synonyms = [
  ["car", "vehicle"],
  ["doctor", "physician"],
]
const mine = computed({ synonyms, minSimilarity: 0.35 })

/** A memory as another process over the log would open it. */
const opened = (
  embedder: Embedder.Service | null,
  vectors: VectorIndex.Service = Recall.vectorsInProcess(),
  options: Partial<Memory.Options> = {},
) =>
  Memory.make({ strategy, ...options, compaction: { mode: "manual", ...options.compaction } }).pipe(
    Effect.provideService(Embedder.Embedder, embedder),
    Effect.provideService(VectorIndex.VectorIndex, vectors),
    Effect.provideService(Summarizer.Summarizer, echo),
  )

const talk = [
  Message.user("I bought a car in Graz."),
  Message.assistant("Congratulations."),
  Message.user("Tomorrow it rains."),
  Message.assistant("Take an umbrella."),
]
const texts = ({ messages }: Recall.Recalled) => messages.map(({ text }) => text)

/** An embedder that counts its calls, and does first what it is told. */
const watched = (before: Effect.Effect<unknown, Embedder.EmbedderError> = Effect.void) => {
  const asked: Array<ReadonlyArray<string>> = []
  const service: Embedder.Service = {
    ...mine,
    maxTexts: 64,
    embed: (list, options) =>
      Effect.suspend(() => {
        asked.push(list)
        return Effect.zipRight(before, mine.embed(list, options))
      }),
  }
  return { asked, service }
}

const entriesOf = (vectors: VectorIndex.Service, session: string) =>
  Effect.map(vectors.load(session), (kept) => (kept?.entries ?? []).map(({ index }) => index))

const inLog = <A, E>(test: Effect.Effect<A, E, EventLog.EventLog | Scope.Scope>) =>
  test.pipe(Effect.scoped, Effect.provide(InMemoryEventLog.layer))

describe("recall by meaning", () => {
  it.effect("finds a synonym, which words do not find, and embeds each message once", () =>
    inLog(
      Effect.gen(function* () {
        const { asked, service } = watched()
        const memory = yield* opened(service)
        yield* memory.append("s", talk, { owner: "ann" })
        yield* memory.append("t", Message.user("A vehicle of somebody else"), { owner: "bob" })
        expect(asked).toEqual([])
        expect(texts(yield* (yield* opened(null)).recall("s", "vehicle"))).toEqual([])
        expect(texts(yield* memory.recall("s", "vehicle"))).toEqual(["I bought a car in Graz."])
        const owned = yield* memory.recallOf("ann", "vehicle")
        expect(owned.messages.map(({ session, text }) => [session, text])).toEqual([
          ["s", "I bought a car in Graz."],
        ])
        yield* memory.append("s", Message.user("The car is red."))
        expect(texts(yield* memory.recall("s", "vehicle"))).toContain("The car is red.")
        expect(asked).toEqual([
          ["vehicle"],
          talk.map((message) => Message.text(message)),
          ["The car is red."],
        ])
      }),
    ),
  )

  it.effect("searches with a query without a word to search for", () =>
    inLog(
      Effect.gen(function* () {
        const memory = yield* opened(mine)
        yield* memory.append("s", Message.user("who is it"))
        expect(texts(yield* (yield* opened(null)).recall("s", "who is it"))).toEqual([])
        expect(texts(yield* memory.recall("s", "who is it"))).toEqual(["who is it"])
      }),
    ),
  )

  it.effect("words alone decide when the embedder fails; it is logged, counted, and asked again later", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const counted: Array<string> = []
      let fails = true
      const { asked, service } = watched(
        Effect.suspend(() =>
          fails
            ? new Embedder.EmbedderError({
                embedder: mine.name,
                reason: "unavailable",
                detail: "the request failed",
              })
            : Effect.void,
        ),
      )
      const logger = Logger.make(({ message, annotations }) => {
        const { session, why } = Object.fromEntries(annotations)
        logged.push(`${String(message)} in ${String(session)}: ${String(why)}`)
      })
      yield* inLog(
        Effect.gen(function* () {
          const memory = yield* opened(service)
          yield* memory.append("s", talk)
          expect(texts(yield* memory.recall("s", "umbrella"))).toContain("Take an umbrella.")
          expect(texts(yield* memory.recall("s", "vehicle"))).toEqual([])
          expect(asked).toEqual([["umbrella"]])
          fails = false
          yield* TestClock.adjust("30 seconds")
          expect(texts(yield* memory.recall("s", "vehicle"))).toEqual(["I bought a car in Graz."])
        }),
      ).pipe(
        Effect.provide(
          Layer.merge(
            Logger.replace(Logger.defaultLogger, logger),
            Metrics.listen(({ name, labels }) => counted.push(`${name} ${labels["reason"] ?? ""}`)),
          ),
        ),
      )
      expect(logged).toEqual([
        'words alone decided a search in s: The embedder "hashed words" failed (unavailable): the request failed',
      ])
      expect(counted.filter((name) => name.startsWith("memfold_embedder"))).toEqual([
        "memfold_embedder_calls ",
        "memfold_embedder_failures unavailable",
        "memfold_embedder_calls ",
        "memfold_embedder_calls ",
      ])
    }),
  )

  for (const [name, answer] of [
    ["too few vectors", []],
    ["no list", "vectors"],
    ["vectors of another length", [[1, 2]]],
    ["a number that is none", [[Number.NaN, ...Array.from({ length: 63 }, () => 1)]]],
    ["a vector of nothing", [Array.from({ length: 64 }, () => 0)]],
  ] as const) {
    it.effect(`words alone decide when the embedder answers with ${name}`, () =>
      inLog(
        Effect.gen(function* () {
          const memory = yield* opened({ ...mine, embed: () => Effect.succeed(answer as never) })
          yield* memory.append("s", talk)
          expect(texts(yield* memory.recall("s", "umbrella"))).toContain("Take an umbrella.")
        }),
      ).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
    )
  }

  it.effect("waits so long and not longer, and the next search finds what was embedded meanwhile", () =>
    inLog(
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        const asked: Array<string> = []
        const slow: Embedder.Service = {
          ...mine,
          embed: (list, options) =>
            Effect.suspend(() => {
              asked.push(options.kind)
              return options.kind === "query"
                ? mine.embed(list, options)
                : Effect.zipRight(Deferred.await(gate), mine.embed(list, options))
            }),
        }
        const memory = yield* opened({ ...slow, timeout: "2 seconds" }, Recall.vectorsInProcess())
        yield* memory.append("s", talk)
        const search = yield* Effect.fork(memory.recall("s", "vehicle"))
        yield* TestClock.adjust("1999 millis")
        expect(yield* Fiber.poll(search)).toMatchObject({ _tag: "None" })
        yield* TestClock.adjust("1 millis")
        expect(texts(yield* Fiber.join(search))).toEqual([])
        yield* Deferred.succeed(gate, undefined)
        expect(texts(yield* memory.recall("s", "vehicle"))).toEqual(["I bought a car in Graz."])
        expect(asked).toEqual(["query", "message"])
      }),
    ).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
  )

  it.effect("a context recalls what is near enough, and all contexts of a turn recall the same", () =>
    inLog(
      Effect.gen(function* () {
        let fails = true
        const flaky = watched(
          Effect.suspend(() =>
            fails
              ? new Embedder.EmbedderError({ embedder: mine.name, reason: "unavailable", detail: "down" })
              : Effect.void,
          ),
        ).service
        const memory = yield* opened(flaky, Recall.vectorsInProcess(), { strategy: lastTwo })
        const filler = Array.from({ length: 20 }, (_, at) => Message.assistant(`It rains, day ${at}.`))
        const recalled = Effect.map(
          memory.context("s", { recall: { tokens: 300 } }),
          ({ messages, layout }) =>
            layout.some(({ section }) => section === "recalled")
              ? messages.map((message) => Message.text(message)).join("\n")
              : null,
        )
        yield* memory.append("s", [...talk, ...filler, Message.user("Which vehicle?")])
        expect(yield* recalled).toBeNull()
        fails = false
        yield* TestClock.adjust("1 minute")
        // The question was answered by words once, so it is again.
        expect(yield* recalled).toBeNull()
        yield* memory.append("s", [Message.assistant("None."), Message.user("Is there a vehicle?")])
        const first = yield* recalled
        expect(first).toContain("I bought a car in Graz.")
        expect(first?.match(/It rains/g) ?? []).toHaveLength(1)
        fails = true
        yield* memory.append("s", Message.assistant("Let me see."))
        expect(yield* recalled).toContain("I bought a car in Graz.")
      }),
    ).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
  )

  it.effect("another model embeds a session anew", () =>
    inLog(
      Effect.gen(function* () {
        const vectors = Recall.vectorsInProcess()
        yield* (yield* opened(mine, vectors)).append("s", talk)
        yield* (yield* opened(mine, vectors)).recall("s", "vehicle")
        const before = yield* vectors.place("s")
        const wider = computed({ synonyms, name: "another", dimensions: 32, minSimilarity: 0.35 })
        expect(texts(yield* (yield* opened(wider, vectors)).recall("s", "vehicle"))).toEqual([
          "I bought a car in Graz.",
        ])
        expect(yield* vectors.place("s")).toEqual({ ...before, space: '["another",32,2000,1]' })
        expect(yield* entriesOf(vectors, "s")).toEqual([0, 1, 2, 3])
      }),
    ),
  )

  it.effect("an excerpt of a long message is the part that is near", () =>
    inLog(
      Effect.gen(function* () {
        const long = Array.from({ length: 300 }, (_, at) => `It rained on day ${at}.`).join(" ")
        const memory = yield* opened({ ...mine, maxCharacters: 40 })
        yield* memory.append("s", Message.user(`${long.slice(0, 300)} A red car. ${long}`))
        const found = yield* memory.recall("s", "red vehicle", { tokens: 80 })
        expect(found.messages[0]?.excerpt).toBe(true)
        expect(found.text).toContain("A red car.")
      }),
    ),
  )
})

const lastTwo = Strategy.make({
  name: "short",
  when: Trigger.backlog({ messages: 1_000 }),
  keep: Keep.lastMessages(2),
  summaryMode: SummaryMode.rolling,
  context: { maxMessages: 2 },
})

describe("vectors of what was erased", () => {
  it.effect("are forgotten by a redaction, a clear and a delete", () =>
    inLog(
      Effect.gen(function* () {
        const vectors = Recall.vectorsInProcess()
        const memory = yield* opened(mine, vectors)
        for (const name of ["r", "c", "d"]) {
          yield* memory.append(name, talk)
          yield* memory.recall(name, "vehicle")
        }
        yield* memory.redact("r", 0)
        expect(yield* entriesOf(vectors, "r")).toEqual([1, 2, 3])
        expect(texts(yield* memory.recall("r", "vehicle"))).toEqual([])
        yield* memory.clear("c")
        yield* memory.delete("d")
        expect([...(yield* Stream.runCollect(vectors.sessions))]).toEqual(["r"])
      }),
    ),
  )

  it.effect("are forgotten if the message was redacted while it was being embedded", () =>
    inLog(
      Effect.gen(function* () {
        const vectors = Recall.vectorsInProcess()
        const log = yield* EventLog.EventLog
        const other = yield* opened(null, vectors)
        let redacts = true
        const memory = yield* opened(
          watched(
            Effect.suspend(() => {
              if (!redacts) return Effect.void
              redacts = false
              return Effect.orDie(other.redact("s", 0))
            }),
          ).service,
          vectors,
        )
        yield* memory.append("s", talk)
        // The query is embedded first: the redaction has to come with the messages.
        redacts = false
        yield* memory.recall("none", "vehicle")
        redacts = true
        expect(texts(yield* memory.recall("s", "vehicle"))).toEqual([])
        expect(yield* entriesOf(vectors, "s")).toEqual([1, 2, 3])
        expect(yield* Verify.session(log, "s", { vectorIndex: vectors })).toEqual([])
      }),
    ),
  )

  it.effect("are forgotten although the embedder fails after the redaction", () =>
    inLog(
      Effect.gen(function* () {
        const vectors = Recall.vectorsInProcess()
        const other = yield* opened(null, vectors)
        let calls = 0
        const { service } = watched(
          Effect.suspend(() => {
            calls++
            // The query comes first, then the messages, and then what was appended while they were embedded.
            if (calls === 2)
              return Effect.orDie(
                Effect.zipRight(other.redact("s", 0), other.append("s", [Message.user("It rains.")])),
              )
            return calls > 2
              ? new Embedder.EmbedderError({ embedder: "mine", reason: "unavailable", detail: "it is gone" })
              : Effect.void
          }),
        )
        const memory = yield* opened(service, vectors)
        yield* memory.append("s", talk)
        yield* memory.recall("s", "vehicle")
        expect(calls).toBe(3)
        expect(yield* entriesOf(vectors, "s")).toEqual([1, 2, 3])
      }),
    ),
  )

  it.effect("of a deleted log are forgotten by a redaction in the log that came after it", () =>
    inLog(
      Effect.gen(function* () {
        const vectors = Recall.vectorsInProcess()
        const log = yield* EventLog.EventLog
        const memory = yield* opened(mine, vectors)
        const elsewhere = yield* opened(null)
        yield* memory.append("s", talk)
        yield* memory.recall("s", "vehicle")
        yield* elsewhere.delete("s")
        yield* memory.append("s", talk.slice(0, 2))
        yield* memory.redact("s", 1)
        expect(yield* entriesOf(vectors, "s")).toEqual([])
        expect(yield* Verify.session(log, "s", { vectorIndex: vectors })).toEqual([])
      }),
    ),
  )

  it.effect(
    "are found by verify if a process could not forget them, and forgotten when a memory is opened",
    () =>
      inLog(
        Effect.gen(function* () {
          const vectors = Recall.vectorsInProcess()
          const log = yield* EventLog.EventLog
          const memory = yield* opened(mine, vectors)
          for (const name of ["r", "d"]) {
            yield* memory.append(name, talk)
            yield* memory.recall(name, "vehicle")
          }
          const broken: VectorIndex.Service = {
            ...vectors,
            forget: (session) =>
              new VectorIndex.VectorIndexError({ session, operation: "forget", detail: "the disk is gone" }),
          }
          const dying = yield* opened(null, broken)
          const failed = yield* Effect.flip(dying.redact("r", 0))
          expect(failed.message).toBe('The vector index failed at forget for session "r": the disk is gone')
          expect(yield* Effect.flip(dying.delete("d"))).toMatchObject({
            _tag: "VectorIndexError",
            session: "d",
          })
          const rules = Effect.map(Verify.session(log, "r", { vectorIndex: vectors }), (found) =>
            found.map(({ rule, version }) => `${rule} ${version}`),
          )
          expect(yield* rules).toEqual(["vectors 1"])
          yield* opened(null, vectors)
          yield* Effect.repeat(Effect.yieldNow(), {
            until: () => Effect.map(vectors.place("d"), (place) => place === null),
          })
          expect(yield* entriesOf(vectors, "r")).toEqual([1, 2, 3])
          expect(yield* rules).toEqual([])
        }),
      ),
  )

  it.effect("verify finds vectors of another text, of another log, and missing ones; repair drops them", () =>
    inLog(
      Effect.gen(function* () {
        const vectors = Recall.vectorsInProcess()
        const log = yield* EventLog.EventLog
        const memory = yield* opened(mine, vectors)
        yield* memory.append("s", talk)
        yield* memory.recall("s", "vehicle")
        const place = (yield* vectors.place("s"))!
        const pieces = [{ offset: 0, vector: Float32Array.from({ length: 64 }, () => 1 / 8) }]
        const change = { expected: place, place, anew: false, forget: [2], entries: [] }
        yield* vectors.write("s", { ...change, entries: [{ index: 0, version: 1, digest: 7, pieces }] })
        const problems = Effect.map(Verify.session(log, "s", { vectorIndex: vectors }), (found) =>
          found.map(({ version, detail }) => `${version}: ${detail.split(";")[0]}`),
        )
        expect(yield* problems).toEqual([
          "1: the vectors of the message were made from another text",
          "2: the vectors of the message are missing",
        ])
        yield* vectors.write("s", { ...change, place: { ...place, event: "another" } })
        expect(yield* problems).toEqual(["4: the vectors belong to another log"])
        const { mended, left } = yield* Repair.repair(log, "s", { vectorIndex: vectors })
        expect(mended).toEqual(["dropped the vectors; the next search makes them again"])
        expect(left).toEqual([])
        expect(texts(yield* memory.recall("s", "vehicle"))).toEqual(["I bought a car in Graz."])
        expect(yield* entriesOf(vectors, "s")).toEqual([0, 1, 2, 3])
      }),
    ),
  )
})

describe("vectors in the process", () => {
  it.effect(
    "are bounded: the sessions searched least recently go, and a larger one is searched by words",
    () =>
      inLog(
        Effect.gen(function* () {
          const vectors = Recall.vectorsInProcess({ capacity: 64 * 6 })
          const memory = yield* opened(mine, vectors)
          for (const name of ["a", "b"]) {
            yield* memory.append(name, talk)
            expect(texts(yield* memory.recall(name, "vehicle"))).toEqual(["I bought a car in Graz."])
          }
          expect([...(yield* Stream.runCollect(vectors.sessions))]).toEqual(["b"])
          yield* memory.append("b", talk)
          expect(texts(yield* memory.recall("b", "vehicle"))).toEqual([])
          expect(texts(yield* memory.recall("b", "umbrella"))).toContain("Take an umbrella.")
        }),
      ).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
  )
})
