import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Ref, Stream, TestClock } from "effect"
import { echo, gated, pairs, said, withMemory } from "../../test/engine.js"
import { EventLog, Fold, InMemoryEventLog, Memory, Message, type Summarizer, Verify } from "../index.js"
import { CurrentSummarizer } from "../summarize/CurrentSummarizer.js"

const tags = (session: string) =>
  Effect.flatMap(Memory.Memory, (memory) =>
    memory.events(session).pipe(
      Stream.map(({ event }) => event._tag),
      Stream.filter((tag) => tag !== "MessageAppended"),
      Stream.runCollect,
      Effect.map((all) => [...all]),
    ),
  )

const answering = (result: Summarizer.Result): Summarizer.Service => ({
  name: "fixed",
  summarize: () => Effect.succeed(result),
})

describe("a compaction that goes well", () => {
  it.effect("commits, then supersedes, and says what it saved", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      const [first] = yield* memory.settle("s")
      expect(first).toMatchObject({
        _tag: "Committed",
        started: { reason: "backlog", from: 0, to: 4, parts: [{ kind: "history", from: 0, to: 4 }] },
        committed: { through: 4, carried: 0, segments: [{ text: "[0,4)" }], calls: 1, summarizer: "echo" },
        supersedes: null,
      })
      yield* memory.append("s", said(4, 6))
      const [second] = yield* memory.settle("s")
      expect(second).toMatchObject({
        started: { from: 4, to: 8 },
        committed: { segments: [{ text: "[0,8)" }] },
      })
      expect(yield* tags("s")).toEqual([
        "CompactionStarted",
        "SummaryCommitted",
        "CompactionStarted",
        "SummaryCommitted",
        "SummarySuperseded",
      ])
      const state = yield* memory.state("s")
      const context = yield* memory.context("s")
      expect(second?._tag === "Committed" && second.committed.tokensAfter).toBe(context.tokens)
      expect(state.superseded).toBe(1)
      expect(context.messages.map(Message.text)[0]).toBe("[Conversation Summary]\n[0,8)")
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }))),
  )

  it.effect("takes on demand what no trigger asked for, and still leaves the tail (L2)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(4))
      expect(yield* memory.settle("s")).toEqual([])
      expect(yield* memory.compact("s")).toMatchObject({
        _tag: "Committed",
        started: { reason: "demand", to: 2 },
      })
      expect(yield* memory.compact("s")).toEqual({ _tag: "Idle", why: "nothing-to-take" })
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }))),
  )

  it.effect("drops without a summarizer when the fold says so", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(7))
      yield* memory.settle("s")
      const context = yield* memory.context("s")
      expect(context.layout).toMatchObject([
        { section: "summary", from: 0, to: 5, tokens: 0 },
        { section: "raw", from: 5, to: 6 },
        { section: "current", from: 6, to: 7 },
      ])
      expect(context.messages).toHaveLength(2)
    }).pipe(
      Effect.provide(
        withMemory(
          { strategy: { ...pairs, fold: Fold.drop }, compaction: "manual" },
          answering({ text: "never called" }),
        ),
      ),
    ),
  )
})

describe("a summarizer that misbehaves (L8)", () => {
  const refusals: ReadonlyArray<readonly [reason: string, result: Summarizer.Result]> = [
    ["empty", { text: "  \n" }],
    ["truncated", { text: "half a sum", finish: "length" }],
    ["refused", { text: "I cannot", finish: "refused" }],
    ["not-smaller", { text: "word ".repeat(500) }],
  ]
  for (const [reason, result] of refusals) {
    it.effect(`is refused when its result is ${reason}; nothing is lost`, () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        const outcomes = yield* memory.settle("s")
        expect(outcomes).toMatchObject([{ _tag: "Failed", error: { reason, session: "s" } }])
        expect(yield* tags("s")).toEqual(["CompactionStarted", "CompactionFailed"])
        expect((yield* memory.context("s")).messages).toHaveLength(6)
        expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }, answering(result)))),
    )
  }

  it.effect("may throw: that is a failure, and what it threw stays out of the log", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.settle("s"))
      yield* TestClock.adjust("10 seconds")
      const [outcome] = yield* Fiber.join(fiber)
      expect(outcome).toMatchObject({ _tag: "Failed", error: { reason: "unavailable" } })
      const log = yield* Stream.runCollect(memory.events("s"))
      expect(JSON.stringify([...log])).not.toContain("secret")
    }).pipe(
      Effect.provide(
        withMemory(
          { strategy: pairs, compaction: "manual" },
          {
            name: "throwing",
            summarize: () => {
              throw new Error("secret of the conversation")
            },
          },
        ),
      ),
    ),
  )

  it.effect("is given up after its time, and asked as often as the setting says", () =>
    Effect.gen(function* () {
      const asked = yield* Ref.make(0)
      const silent: Summarizer.Service = {
        name: "silent",
        summarize: () =>
          Effect.zipRight(
            Ref.update(asked, (n) => n + 1),
            Effect.never,
          ),
      }
      const outcome = yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        const fiber = yield* Effect.fork(memory.settle("s"))
        yield* TestClock.adjust("5 minutes")
        return yield* Fiber.join(fiber)
      }).pipe(
        Effect.provide(
          withMemory(
            { strategy: pairs, compaction: "manual", summarizerTimeout: "30 seconds", summarizerRetries: 3 },
            silent,
          ),
        ),
      )
      expect(outcome).toMatchObject([{ _tag: "Failed", error: { reason: "timeout" } }])
      expect(yield* Ref.get(asked)).toBe(4)
    }),
  )

  it.effect("is left alone for a while after a failure, longer after each, and tried again (L9)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      expect(yield* memory.settle("s")).toHaveLength(1)
      expect(yield* memory.settle("s")).toHaveLength(0)
      yield* TestClock.adjust("59 seconds")
      expect(yield* memory.settle("s")).toHaveLength(0)
      yield* TestClock.adjust("1 second")
      expect(yield* memory.settle("s")).toHaveLength(1)
      yield* TestClock.adjust("119 seconds")
      expect(yield* memory.settle("s")).toHaveLength(0)
      yield* TestClock.adjust("1 second")
      expect(yield* memory.settle("s")).toHaveLength(1)
      expect((yield* memory.state("s")).failures?.count).toBe(3)
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }, answering({ text: "" })))),
  )

  it.effect("is tried again with new messages, too, where the clock stands still", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.settle("s")
      yield* memory.append("s", said(7, 6))
      expect(yield* memory.settle("s")).toHaveLength(0)
      yield* memory.append("s", said(1, 13))
      expect(yield* memory.settle("s")).toHaveLength(1)
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }, answering({ text: "" })))),
  )
})

describe("chunking", () => {
  it.effect("hands a large input over in pieces, each merged into the text before, and nothing is cut", () =>
    Effect.gen(function* () {
      const requests: Array<Summarizer.Request> = []
      const small: Summarizer.Service = {
        name: "small",
        maxInputTokens: 60,
        summarize: (request) => {
          requests.push(request)
          return Effect.succeed({ text: `part ${requests.length}` })
        },
      }
      const huge = Array.from({ length: 400 }, (_, word) => `word${word}`).join(" ")
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", [...said(1), Message.assistant(huge), ...said(4, 2)])
        const [outcome] = yield* memory.settle("s")
        expect(outcome).toMatchObject({
          _tag: "Committed",
          committed: { calls: requests.length, segments: [{ text: `part ${requests.length}` }] },
        })
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }, small)))
      expect(requests.length).toBeGreaterThan(10)
      expect(requests.map((request) => request.previous)).toEqual([
        undefined,
        ...requests.slice(1).map((_, call) => `part ${call + 1}`),
      ])
      const seen = requests.flatMap((request) => request.messages.map(Message.text)).join("")
      expect(seen).toContain("message number 0")
      expect(seen).toContain(huge)
    }),
  )
})

describe("while it runs", () => {
  it.effect("messages go on coming in; they are kept and looked at afterwards (L4, L11)", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        yield* Deferred.await(entered)
        yield* memory.append("s", said(4, 6))
        expect((yield* memory.context("s")).messages).toHaveLength(10)
        yield* Deferred.succeed(gate, undefined)
        // The background fiber finishes the first compaction and takes the second look by itself.
        const state = yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), memory.state("s")), {
          until: ({ through }) => through === 8,
          times: 1_000,
        })
        expect(state.through).toBe(8)
      }).pipe(Effect.provide(withMemory({ strategy: pairs }, summarizer)))
    }),
  )

  it.effect("a clear wins over it: the late result is thrown away", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        const fiber = yield* Effect.fork(memory.settle("s"))
        yield* Deferred.await(entered)
        yield* memory.clear("s")
        yield* Deferred.succeed(gate, undefined)
        expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Lost" }])
        expect(yield* memory.state("s")).toMatchObject({ total: 0, summary: null, through: 0 })
        expect(yield* tags("s")).toEqual(["CompactionStarted", "SessionCleared"])
      }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: "manual" }, summarizer)))
    }),
  )

  it.effect("an engine that is shut down gives the lock back", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.make({ strategy: pairs })
        yield* memory.append("s", said(6))
        yield* Deferred.await(entered)
      }).pipe(
        Effect.provideService(CurrentSummarizer, summarizer),
        Effect.provideService(EventLog.EventLog, log),
        Effect.scoped,
      )
      const next = yield* Memory.make({ strategy: pairs, compaction: "manual" }).pipe(
        Effect.provideService(CurrentSummarizer, echo),
        Effect.provideService(EventLog.EventLog, log),
      )
      expect(yield* next.settle("s")).toMatchObject([{ _tag: "Committed" }])
    }).pipe(Effect.scoped),
  )
})
