import { describe, expect, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Option, Stream } from "effect"
import { echo, gated, pairs, said, withMemory } from "@memfold/harness/engine"
import {
  EventLog,
  SummaryMode,
  InMemoryEventLog,
  Keep,
  Memory,
  Message,
  Pin,
  Strategy,
  TokenCounter,
  Trigger,
  Verify,
  Wording,
  Summarizer,
} from "./index.js"

const small = Strategy.make({
  name: "small",
  when: Trigger.backlog({ messages: 6 }),
  keep: Keep.lastMessages(4),
  summaryMode: SummaryMode.rolling,
})

/** A clock on which every sleep is over at once. */
const impatient: Clock.Clock = Object.assign(Clock.make(), { sleep: () => Effect.yieldNow() })

const manual = withMemory({ strategy: small, compaction: { mode: "manual" } })

describe("append", () => {
  it.effect("answers where the messages stand, and stores a batch as one", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* memory.append("s", Message.user("one"))).toEqual({
        from: 0,
        to: 1,
        version: 1,
        duplicate: false,
      })
      expect(yield* memory.append("s", [Message.assistant("two"), Message.user("three")])).toEqual({
        from: 1,
        to: 3,
        version: 3,
        duplicate: false,
      })
      const ids = yield* Stream.runCollect(Stream.map(memory.events("s"), ({ id }) => id))
      const commits = [...ids].map((id) => id.slice(0, id.lastIndexOf(".")))
      expect(commits[1]).toBe(commits[2])
      expect(commits[0]).not.toBe(commits[1])
    }).pipe(Effect.provide(manual)),
  )

  it.effect("compacts inline in a region that cannot be interrupted, too", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      for (let turn = 0; turn < 8; turn++) {
        yield* Effect.uninterruptible(memory.append("s", [Message.user("one"), Message.assistant("two")]))
      }
      expect((yield* memory.summaries("s")).length).toBeGreaterThan(0)
    }).pipe(Effect.provide(withMemory({ strategy: small, compaction: { mode: "inline" } }))),
  )

  it.effect("applies an idempotency key once, and answers as the first time did (L12)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const first = yield* memory.append("s", [Message.user("a"), Message.assistant("b")], {
        idempotencyKey: "mine",
      })
      yield* memory.append("s", Message.user("c"))
      const again = yield* memory.append("s", [Message.user("a"), Message.assistant("b")], {
        idempotencyKey: "mine",
      })
      expect(again).toEqual({ ...first, duplicate: true })
      expect((yield* memory.state("s")).total).toBe(3)
    }).pipe(Effect.provide(manual)),
  )

  it.effect("refuses an idempotency key that was used for other messages", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const append = (...messages: ReadonlyArray<Message.Message>) =>
        memory.append("s", messages, { idempotencyKey: "mine" })
      yield* append(Message.user("a", { metadata: { x: 1, y: 2 } }), Message.assistant("b"))
      const others = [[Message.user("a")], [Message.user("a"), Message.assistant("c")]]
      for (const messages of others) {
        const error = yield* Effect.flip(append(...messages))
        expect(error).toMatchObject({ _tag: "IdempotencyKeyReused", session: "s" })
        expect(error.message).toContain("Use a new key")
      }
      expect((yield* memory.state("s")).total).toBe(2)
      const again = [Message.user("a", { metadata: { y: 2, x: 1 } }), Message.assistant("b")]
      expect(yield* append(...again)).toMatchObject({ from: 0, to: 2, duplicate: true })
      yield* memory.redact("s", 1)
      expect(yield* append(...again)).toMatchObject({ from: 0, to: 2, duplicate: true })
    }).pipe(Effect.provide(manual)),
  )

  it.effect("of nothing does nothing", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* memory.append("s", [])).toEqual({ from: 0, to: 0, version: 0, duplicate: false })
    }).pipe(Effect.provide(manual)),
  )

  it.effect("refuses what is no message or no session id, and writes nothing", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const wrong: ReadonlyArray<readonly [string, unknown]> = [
        ["", Message.user("x")],
        ["   ", Message.user("x")],
        ["\ud800", Message.user("x")],
        [undefined as unknown as string, Message.user("x")],
        ["s", "just text"],
        ["s", [Message.user("good"), { role: "robot", parts: [] }]],
        ["s", { role: "user", parts: [{ type: "text" }] }],
        ["s", null],
      ]
      for (const [session, message] of wrong) {
        const error = yield* Effect.flip(memory.append(session, message as Message.Message))
        expect(error._tag).toBe("InvalidInput")
        expect(error.message).not.toContain("just text")
      }
      expect((yield* Stream.runCollect(memory.sessions)).length).toBe(0)
    }).pipe(Effect.provide(manual)),
  )

  it.effect("lives with a counter that throws or answers nonsense (L8)", () =>
    Effect.gen(function* () {
      for (const count of [
        () => Number.NaN,
        () => -1,
        () => {
          throw new Error("no vocabulary")
        },
      ]) {
        const memory = yield* Memory.make({ strategy: small, compaction: { mode: "manual" } }).pipe(
          Effect.provideService(TokenCounter.TokenCounter, { name: "broken", count }),
          Effect.provideService(Summarizer.Summarizer, echo),
        )
        yield* memory.append("s", Message.user("some words to count"))
        expect((yield* memory.context("s")).tokens).toBeGreaterThan(4)
      }
    }).pipe(Effect.provide(InMemoryEventLog.layer), Effect.scoped),
  )

  it.live("by many fibers and two engines at once loses and doubles nothing (L12)", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const engine = Memory.make({ strategy: small }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const engines = [yield* engine, yield* engine]
      yield* Effect.forEach(
        Array.from({ length: 8 }, (_, writer) => writer),
        (writer) =>
          Effect.forEach(
            Array.from({ length: 25 }, (_, turn) => turn),
            (turn) =>
              engines[writer % 2]!.append(
                "s",
                Message.user(`writer ${writer} turn ${turn} and some more words`),
              ),
          ),
        { concurrency: "unbounded" },
      )
      yield* engines[0]!.compact("s", { which: "due" })
      const texts = yield* engines[1]!.events("s").pipe(
        Stream.filterMap(({ event }) =>
          event._tag === "MessageAppended" ? Option.some(Message.text(event.message)) : Option.none(),
        ),
        Stream.runCollect,
        Effect.map((all) => [...all]),
      )
      expect(new Set(texts).size).toBe(200)
      for (let writer = 0; writer < 8; writer++) {
        const own = texts.filter((text) => text.startsWith(`writer ${writer} `))
        expect(own).toEqual(own.toSorted((a, b) => Number(a.split(" ")[3]) - Number(b.split(" ")[3])))
      }
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )
})

describe("the past", () => {
  it.effect("can be rendered at any version, as it was (L10)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const then: Array<readonly [version: number, context: unknown]> = []
      for (let turn = 0; turn < 40; turn++) {
        yield* memory.append("s", Message.user(`turn ${turn} with a few words to make it longer`))
        yield* memory.compact("s", { which: "due" })
        const { version } = yield* memory.state("s")
        then.push([version, yield* memory.context("s")])
      }
      for (const [version, context] of then)
        expect(yield* memory.context("s", { atVersion: version })).toEqual(context)
    }).pipe(Effect.provide(manual)),
  )
})

describe("a session", () => {
  it.effect("starts over with a clear, keeps its log, and is gone with a delete", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user("before"), Message.assistant("yes")])
      yield* memory.clear("s")
      expect((yield* memory.context("s")).messages).toEqual([])
      expect(yield* memory.append("s", Message.user("after"))).toMatchObject({ from: 0, to: 1 })
      expect((yield* memory.context("s", { atVersion: 2 })).messages).toHaveLength(2)
      expect(yield* memory.delete("s")).toBe(true)
      expect(yield* memory.delete("s")).toBe(false)
      expect(yield* memory.append("s", Message.user("anew"))).toMatchObject({ from: 0, version: 1 })
    }).pipe(Effect.provide(manual)),
  )

  it.effect("does not touch another (caches are keyed by session)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.make({
        strategy: small,
        compaction: { mode: "inline" },
        cachedSessions: 2,
      }).pipe(Effect.provideService(Summarizer.Summarizer, echo))
      const names = ["a", "b", "c", "d"]
      for (let turn = 0; turn < 12; turn++) {
        for (const name of names)
          yield* memory.append(name, Message.user(`${name} says a few words, turn ${turn}`))
      }
      for (const name of names) {
        const state = yield* memory.state(name)
        expect(state).toMatchObject({ total: 12, session: name })
        expect(
          [...state.uncovered].every(({ message }) => Message.text(message).startsWith(`${name} `)),
        ).toBe(true)
      }
    }).pipe(Effect.provide(InMemoryEventLog.layer), Effect.scoped),
  )
})

describe("a damaged log", () => {
  it.effect(
    "is a typed error that names the session and the event, and leaves the other sessions alone",
    () =>
      Effect.gen(function* () {
        const log = yield* EventLog.EventLog
        const memory = yield* Memory.Memory
        yield* memory.append("good", Message.user("fine"))
        yield* log.append(
          "bad",
          [{ time: 0, type: "SessionDescribed", schemaVersion: 1, data: '{"secret":"text"' }],
          {
            expectedVersion: 0,
            batchId: "x",
          },
        )
        const exit = yield* Effect.exit(memory.context("bad"))
        expect(exit).toEqual(
          Exit.fail(expect.objectContaining({ _tag: "DamagedEvent", session: "bad", version: 1 })),
        )
        expect(JSON.stringify(exit)).not.toContain("text")
        expect((yield* memory.context("good")).messages).toHaveLength(1)
      }).pipe(Effect.provide(manual)),
  )
})

describe("a store that contradicts itself", () => {
  it.live("fails the append with a typed error in the end, and does not hang", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const log: EventLog.Service = {
        ...real,
        append: (session, _records, { expectedVersion }) =>
          Effect.fail(
            new EventLog.VersionConflict({ session, expectedVersion, actualVersion: expectedVersion + 1 }),
          ),
      }
      const memory = yield* Memory.make({ strategy: small, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const error = yield* Effect.flip(
        memory.append("s", Message.user("hello")).pipe(Effect.withClock(impatient)),
      )
      expect(error).toMatchObject({ _tag: "LogError", session: "s", operation: "append" })
    }).pipe(Effect.scoped),
  )
})

describe("a session that another process deletes", () => {
  it.effect("is seen as gone, or as the new one, and never as what it was", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const engine = Memory.make({ strategy: small, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      const mine = yield* engine
      const other = yield* engine
      const texts = Effect.map(mine.context("s"), ({ messages }) => messages.map(Message.text))
      yield* mine.append("s", [Message.user("old 0"), Message.user("old 1")])
      yield* other.delete("s")
      expect(yield* texts).toEqual([])
      yield* mine.append("s", [Message.user("old 2"), Message.user("old 3")])
      yield* other.delete("s")
      yield* other.append("s", [Message.user("new 0"), Message.user("new 1"), Message.user("new 2")])
      expect(yield* texts).toEqual(["new 0", "new 1", "new 2"])
      yield* other.delete("s")
      yield* other.append("s", [Message.user("x 0"), Message.user("x 1"), Message.user("x 2")])
      expect(yield* mine.append("s", Message.user("mine"))).toMatchObject({ from: 3 })
      expect(yield* texts).toEqual(["x 0", "x 1", "x 2", "mine"])
    }).pipe(Effect.scoped),
  )
})

describe("what was appended", () => {
  it.effect("is what will be read, whatever the caller does to it later (L6)", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const list = [1]
      const when = new Date(0)
      yield* memory.append("s", Message.user("hello", { metadata: { list, when } }))
      list.push(2)
      const live = [...(yield* memory.state("s")).uncovered][0]?.message
      expect(live?.metadata).toEqual({ list: [1], when: "1970-01-01T00:00:00.000Z" })
      expect([...(yield* memory.state("s", { atVersion: 1 })).uncovered][0]?.message).toEqual(live)
      const error = yield* Effect.flip(memory.append("s", Message.user("x", { metadata: { big: 1n } })))
      expect(error._tag).toBe("InvalidInput")
      const commit = yield* Effect.flip(memory.append("s", Message.user("x"), { idempotencyKey: "" }))
      expect(commit._tag).toBe("InvalidInput")
    }).pipe(Effect.provide(manual)),
  )
})

describe("a strategy that pins", () => {
  const strategy = { ...pairs, pin: Pin.firstUserMessage }
  const pinned = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const events = yield* Stream.runCollect(memory.events("s"))
    return [...events].flatMap(({ event }) =>
      event._tag === "MessageAppended" && event.message.pinned === true ? [event.index] : [],
    )
  })

  it.effect("has it written into the log with the message, and shown for ever", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.assistant("hello"), ...said(3)])
      yield* memory.append("s", said(6, 3))
      yield* memory.compact("s", { which: "due" })
      expect(yield* pinned).toEqual([1])
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 8 })
      const { messages } = yield* memory.context("s")
      expect(messages.map(Message.text)).toEqual([
        Message.text(said(1)[0]!),
        "[Conversation Summary]\n[0,8)",
        ...said(2, 7).map(Message.text),
      ])
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }))),
  )

  it.effect("begins anew with a clear, and pins no second one before it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", Message.user("one"))
      yield* memory.append("s", [Message.user("two"), Message.assistant("three"), Message.user("four")])
      expect(yield* pinned).toEqual([0])
      yield* memory.clear("s")
      yield* memory.append("s", Message.assistant("hello"))
      yield* memory.append("s", [Message.user("five"), Message.user("six")])
      expect(yield* pinned).toEqual([0, 1])
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }))),
  )

  it.effect("takes no mark of the caller's away", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user("q"), Message.assistant("a", { pinned: true })])
      expect(yield* pinned).toEqual([0, 1])
    }).pipe(Effect.provide(withMemory({ strategy, compaction: { mode: "manual" } }))),
  )
})

describe("a memory with a wording of its own", () => {
  const first = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    return Message.text((yield* memory.context("s")).messages[0]!).split("\n")[0]
  })

  it.effect("words summaries so from then on, whatever strategy writes them", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      expect(yield* first).toBe("Summary of earlier conversation: [0,4)")
      yield* memory.append("s", said(4, 6))
      yield* memory.compact("s", { which: "due", strategy: { ...pairs, name: "other" } })
      expect(yield* first).toBe("Summary of earlier conversation: [0,8)")
    }).pipe(
      Effect.provide(
        withMemory({ strategy: pairs, wording: Wording.earlierConversation, compaction: { mode: "manual" } }),
      ),
    ),
  )

  it.effect("leaves summaries as they were that were written before (L10)", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const engine = (options: Partial<Memory.Options>) =>
        Memory.make({
          strategy: pairs,
          ...options,
          compaction: { mode: "manual", ...options.compaction },
        }).pipe(
          Effect.provideService(EventLog.EventLog, log),
          Effect.provideService(Summarizer.Summarizer, echo),
        )
      const before = yield* engine({})
      yield* before.append("s", said(6))
      yield* before.compact("s", { which: "due" })
      const context = yield* before.context("s")
      const after = yield* engine({ wording: Wording.sessionMemory })
      expect(yield* after.context("s")).toEqual(context)
      yield* after.append("s", said(4, 6))
      yield* after.compact("s", { which: "due" })
      expect(Message.text((yield* before.context("s")).messages[0]!)).toBe("[Session Memory]\n[0,8)")
    }).pipe(Effect.scoped),
  )
})

describe("a strategy for one request", () => {
  const eager = Strategy.make({
    name: "eager",
    when: Trigger.uncovered({ messages: 1 }),
    keep: Keep.lastMessages(1),
    summaryMode: SummaryMode.rolling,
    context: { maxMessages: 2 },
  })
  const names = Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const events = yield* Stream.runCollect(memory.events("s"))
    return [...events].flatMap(({ event }) => (event._tag === "CompactionStarted" ? [event.strategy] : []))
  })

  it.effect("decides what that settling does, and the next one does not remember it", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(3))
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.compact("s", { which: "due", strategy: eager })).toHaveLength(1)
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 2 })
      yield* memory.append("s", said(3, 3))
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      expect(yield* memory.compact("s", { strategy: eager })).toMatchObject({ started: { to: 5 } })
      expect(yield* memory.compact("s")).toEqual({ _tag: "Idle", reason: "nothing-to-take" })
      expect(yield* names).toEqual(["eager", "eager"])
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )

  it.effect("decides what that append brings about, and what it pins", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const strategy = { ...eager, pin: Pin.firstUserMessage }
      yield* memory.append("s", said(2), { strategy })
      // The first message is pinned, so that there is nothing to say of it.
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 0 })
      yield* memory.append("s", said(1, 2), { strategy })
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 2, pinned: [{ index: 0 }] })
      yield* memory.append("s", said(2, 3))
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 2 })
      expect(yield* names).toEqual(["eager"])
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "inline" } }))),
  )

  it.effect("decides how that context looks, and nothing else", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(5))
      const own = yield* memory.context("s")
      expect(own.messages).toHaveLength(5)
      expect((yield* memory.context("s", { strategy: eager })).messages).toHaveLength(2)
      expect((yield* memory.context("s", { atVersion: 4, strategy: eager })).layout[0]).toMatchObject({
        section: "gap",
        from: 0,
        to: 2,
      })
      expect(yield* memory.context("s")).toEqual(own)
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )

  it.effect("of several that come while a compaction runs beside them, the newest counts (L11)", () =>
    Effect.gen(function* () {
      const { entered, gate, summarizer } = yield* gated
      yield* Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", said(6))
        yield* Deferred.await(entered)
        const keeping = (count: number) => ({ ...eager, name: `${count}`, keep: Keep.lastMessages(count) })
        yield* memory.append("s", said(1, 6), { strategy: keeping(1) })
        yield* memory.append("s", said(1, 7), { strategy: keeping(2) })
        yield* Deferred.succeed(gate, undefined)
        const state = yield* Effect.repeat(Effect.zipRight(Effect.yieldNow(), memory.state("s")), {
          until: ({ coveredTo, running }) => coveredTo > 4 && running === null,
          times: 1_000,
        })
        expect(state.coveredTo).toBe(6)
        expect(yield* names).toEqual(["pairs", "2"])
      }).pipe(Effect.provide(withMemory({ strategy: pairs }, summarizer)))
    }),
  )
})

describe("how far the rounds are compacted (reference design 2)", () => {
  it.effect("goes on from compaction to compaction, and is what it was at any version", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const coveredTo = (at?: number) =>
        Effect.map(
          memory.state("s", at === undefined ? {} : { atVersion: at }),
          (state) => state.compressedThroughRound,
        )
      expect(yield* coveredTo()).toBe(0)
      for (const turns of [2, 4, 6]) {
        yield* memory.append("s", said(turns === 2 ? 6 : 4))
        yield* memory.compact("s", { which: "due" })
        expect(yield* coveredTo()).toBe(turns)
      }
      expect(yield* coveredTo(6)).toBe(0)
      expect(yield* coveredTo(8)).toBe(2)
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )
})

describe("the summaries of a session", () => {
  it.effect("are all there, with what has become of each", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      expect(yield* memory.summaries("s")).toEqual([])
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      yield* memory.append("s", said(4, 6))
      yield* memory.compact("s", { which: "due" })
      const [older, newer] = yield* memory.summaries("s")
      expect(older).toMatchObject({ status: "superseded", supersededBy: newer?.id, text: "[0,4)", total: 6 })
      expect(newer).toMatchObject({ status: "active", supersededBy: null, text: "[0,8)", total: 10 })
      expect(newer?.id).toBe((yield* memory.state("s")).summary?.id)
      expect(yield* Effect.flip(memory.summaries(""))).toMatchObject({ _tag: "InvalidInput" })
    }).pipe(Effect.provide(withMemory({ strategy: pairs, compaction: { mode: "manual" } }))),
  )
})
