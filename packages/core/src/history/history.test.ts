/** Going back, going another way, and forgetting. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { blocks, echo, gated, pairs, said, withMemory, withoutSummaryIds } from "@memfold/harness/engine"
import {
  EventCodec,
  EventLog,
  InMemoryEventLog,
  Memory,
  Message,
  type Render,
  Session,
  Verify,
  Summarizer,
} from "../index.js"

const manual = { strategy: pairs, compaction: { mode: "manual" } } as const

const texts = (messages: ReadonlyArray<Message.Message>) => messages.map(Message.text)

/** Ten messages, compacted twice: `[0,4)`, then `[0,8)`. */
const twice = Effect.gen(function* () {
  const memory = yield* Memory.Memory
  yield* memory.append("s", said(6))
  yield* memory.compact("s", { which: "due" })
  yield* memory.append("s", said(4, 6))
  yield* memory.compact("s", { which: "due" })
  const [first, second] = yield* memory.summaries("s")
  expect([first?.text, second?.text]).toEqual(["[0,4)", "[0,8)"])
  return { memory, first: first?.id ?? "", second: second?.id ?? "" }
})

const clean = Effect.gen(function* () {
  expect(yield* Verify.session(yield* EventLog.EventLog, "s")).toEqual([])
})

describe("revert", () => {
  it.effect("goes back to an earlier summary, and what it did not cover is raw again", () =>
    Effect.gen(function* () {
      const { memory, first } = yield* twice
      const before = yield* memory.context("s", { atVersion: 8 })
      expect(yield* memory.revert("s", { toSummary: first })).toBe(1)
      expect(yield* memory.state("s")).toMatchObject({ coveredTo: 4, total: 10, summary: { id: first } })
      const { messages } = yield* memory.context("s")
      expect(texts(messages).slice(0, before.messages.length)).toEqual(texts(before.messages))
      expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual(["active", "invalid"])
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("goes back to the raw messages", () =>
    Effect.gen(function* () {
      const { memory } = yield* twice
      expect(yield* memory.revert("s")).toBe(2)
      expect(texts((yield* memory.context("s")).messages)).toEqual(texts(said(10)))
      expect(yield* memory.revert("s")).toBe(0)
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("is not undone at once: nothing is compacted by itself until `pauseFor` messages have come", () =>
    Effect.gen(function* () {
      const { memory } = yield* twice
      yield* memory.revert("s", { pauseFor: 4 })
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      yield* memory.append("s", said(3, 10))
      expect(yield* memory.compact("s", { which: "due" })).toEqual([])
      yield* memory.append("s", said(1, 13))
      expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
        { _tag: "Committed", started: { from: 0, to: 12 } },
      ])

      yield* memory.revert("s")
      expect(yield* memory.compact("s")).toMatchObject({ _tag: "Committed" })
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("wins over a compaction that runs", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const memory = yield* Memory.make(manual).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, summarizer),
      )
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      yield* memory.revert("s")
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Lost" }])
      expect(yield* memory.state("s")).toMatchObject({ summary: null, running: null, coveredTo: 0 })
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("is seen by an engine that has the summary in its cache, and after a restart (L6)", () =>
    Effect.gen(function* () {
      const { memory, first } = yield* twice
      const other = yield* Memory.make(manual)
      expect((yield* other.state("s")).coveredTo).toBe(8)
      yield* memory.revert("s", { toSummary: first })
      expect((yield* other.state("s")).coveredTo).toBe(4)
      const restarted = yield* Memory.make(manual)
      expect(yield* restarted.context("s")).toEqual(yield* other.context("s"))
      expect((yield* other.state("s", { atVersion: 15 })).coveredTo).toBe(8)
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )

  it.effect("knows only summaries of the session that have not been taken back", () =>
    Effect.gen(function* () {
      const { memory, first, second } = yield* twice
      yield* memory.revert("s", { toSummary: first })
      for (const toSummary of ["nobody", second]) {
        const error = yield* Effect.flip(memory.revert("s", { toSummary }))
        expect(error).toMatchObject({ _tag: "UnknownSummary", session: "s", summary: toSummary })
        expect(error.message).toContain("summaries")
      }
      expect(yield* Effect.flip(memory.revert("s", { toSummary: 1 as never }))).toMatchObject({
        _tag: "InvalidInput",
        message: expect.stringContaining('"toSummary" must be the id of a summary'),
      })
      yield* memory.clear("s")
      expect(yield* Effect.flip(memory.revert("s", { toSummary: first }))).toMatchObject({
        _tag: "UnknownSummary",
      })
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("recompact", () => {
  it.effect("compacts anew from the raw log, under another strategy", () =>
    Effect.gen(function* () {
      const { memory } = yield* twice
      // Somebody held compactions before; who asks for them anew does not mean that.
      yield* memory.revert("s", { toSummary: (yield* memory.summaries("s"))[1]!.id, pauseFor: 100 })
      const outcomes = yield* memory.compact("s", { which: "all", strategy: blocks })
      expect(outcomes.map(({ _tag }) => _tag)).toEqual(["Committed", "Committed"])
      expect((yield* memory.state("s")).summary?.segments).toMatchObject([
        { kind: "block", from: 0, to: 4, text: "[0,4)" },
        { kind: "block", from: 4, to: 8, text: "[4,8)" },
      ])
      expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual([
        "invalid",
        "invalid",
        "superseded",
        "active",
      ])
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

/** A context without the ids of summaries, which differ in a fork. */
const withoutIds = ({ messages, ...rest }: Render.Context) => ({
  ...rest,
  messages: withoutSummaryIds(messages),
})

describe("fork", () => {
  it.effect("begins another session with the same events, up to a version", () =>
    Effect.gen(function* () {
      const { memory } = yield* twice
      const version = yield* memory.fork("s", "whole")
      expect(version).toBe((yield* memory.state("s")).version)
      expect(withoutIds(yield* memory.context("whole"))).toEqual(withoutIds(yield* memory.context("s")))
      yield* memory.fork("s", "early", { atVersion: 8 })
      expect(withoutIds(yield* memory.context("early"))).toEqual(
        withoutIds(yield* memory.context("s", { atVersion: 8 })),
      )

      yield* memory.append("early", Message.user("another way"))
      expect((yield* memory.state("s")).total).toBe(10)
      expect((yield* memory.state("early")).total).toBe(7)
      const log = yield* EventLog.EventLog
      expect(yield* Verify.session(log, "whole")).toEqual([])
      expect(yield* Verify.session(log, "early")).toEqual([])
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("gives the copies of summaries ids of their own, which follow from the session", () =>
    Effect.gen(function* () {
      const { memory, first } = yield* twice
      const log = yield* EventLog.EventLog
      /** The ids of summaries in the events of a session, in order. */
      const named = (session: string) =>
        Effect.map(Stream.runCollect(Session.readEvents(log, session)), (events) =>
          [...events].flatMap(({ event }) => {
            if (event._tag === "SummarySuperseded") return [event.summary, event.by]
            return event._tag === "SummaryCommitted" || event._tag === "SummaryInvalidated"
              ? [event.summary]
              : []
          }),
        )
      const ids = new Set<string | null>(yield* named("s"))
      expect(ids.size).toBe(2)
      const forked = Effect.fn(function* (from: string, to: string) {
        yield* memory.fork(from, to)
        const [own, copied] = [yield* named(from), yield* named(to)]
        // The events of both name the summaries in one order.
        expect(copied.map((id) => copied.indexOf(id))).toEqual(own.map((id) => own.indexOf(id)))
        const rows = yield* memory.summaries(to)
        expect(rows.map(({ id }) => id)).toEqual([...new Set(copied)])
        expect(yield* Verify.session(log, to)).toEqual([])
        for (const id of new Set(copied)) {
          expect(ids).not.toContain(id)
          ids.add(id)
        }
        return rows
      })
      const [older, newer] = yield* forked("s", "one")
      expect(older).toMatchObject({ status: "superseded", supersededBy: newer?.id })
      yield* memory.revert("one", { toSummary: older!.id })
      expect((yield* memory.state("one")).summary?.id).toBe(older?.id)
      yield* memory.revert("s", { toSummary: first })
      const statuses = (yield* forked("s", "two")).map(({ status }) => status)
      expect(statuses).toEqual(["active", "invalid"])
      yield* forked("two", "three")
      // A fork that is made again is equal.
      const before = yield* named("two")
      yield* memory.delete("two")
      yield* memory.fork("s", "two")
      expect(yield* named("two")).toEqual(before)
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("takes along what was taken back, and not the lock", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const memory = yield* Memory.make(manual).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, summarizer),
      )
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      yield* memory.fork("s", "copy")
      expect((yield* memory.state("copy")).running).toBeNull()
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Fiber.join(fiber)).toMatchObject([{ _tag: "Committed" }])
      yield* memory.revert("s")
      yield* memory.fork("s", "later")
      expect(yield* memory.state("later")).toMatchObject({ coveredTo: 0, total: 6, summary: null })
      expect(yield* Verify.session(log, "later")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("never writes over a session, and copies none that is not there", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("a", said(1))
      yield* memory.append("b", said(2))
      expect(yield* Effect.flip(memory.fork("a", "b"))).toMatchObject({ _tag: "CannotFork", session: "a" })
      expect(yield* Effect.flip(memory.fork("nobody", "c"))).toMatchObject({ _tag: "CannotFork" })
      expect(yield* Effect.flip(memory.fork("a", ""))).toMatchObject({ _tag: "InvalidInput" })
      expect((yield* memory.state("b")).total).toBe(2)
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

describe("redact (L15)", () => {
  const secret = "my name is Rumpelstiltskin"

  /** Everything a store has of a session, as one text. */
  const everything = Effect.gen(function* () {
    const log = yield* EventLog.EventLog
    const records = yield* Stream.runCollect(EventLog.records(log, "s"))
    const rows = yield* Effect.forEach(["snapshot", "summary", "index"], (kind) =>
      log.projections.get("s", kind),
    )
    return JSON.stringify([[...records], rows])
  })

  /** Repeats all it is given: what it has read comes back in its summary. */
  const parrot = {
    name: "parrot",
    summarize: ({
      messages,
      previous,
    }: {
      messages: ReadonlyArray<Message.Message>
      previous?: string | undefined
    }) => Effect.succeed({ text: [previous ?? "", ...messages.map(Message.text)].join("|").slice(0, 150) }),
  }

  it.effect(
    "a message: its words are gone from log, summaries, snapshot and contexts, and nothing else is",
    () =>
      Effect.gen(function* () {
        const memory = yield* Memory.Memory
        yield* memory.append("s", [Message.user(secret, { metadata: { copy: secret } }), ...said(5, 1)])
        yield* memory.compact("s", { which: "due" })
        yield* memory.append("s", said(4, 6))
        yield* memory.compact("s", { which: "due" })
        expect((yield* memory.state("s")).summary?.segments[0]?.text).toContain(secret)

        expect(yield* memory.redact("s", 0)).toEqual({ invalidated: 2 })
        expect(yield* everything).not.toContain("Rumpelstiltskin")
        expect(yield* memory.state("s")).toMatchObject({ coveredTo: 0, total: 10, summary: null })
        expect(texts((yield* memory.context("s")).messages)).toEqual(["[redacted]", ...texts(said(9, 1))])
        expect((yield* memory.summaries("s")).map(({ status }) => status)).toEqual(["invalid", "invalid"])
        yield* clean

        expect(yield* memory.compact("s", { which: "due" })).toMatchObject([{ _tag: "Committed" }])
        expect(yield* everything).not.toContain("Rumpelstiltskin")
        for (let at = 1; at <= (yield* memory.state("s")).version; at++) {
          expect(JSON.stringify(yield* memory.context("s", { atVersion: at }))).not.toContain(
            "Rumpelstiltskin",
          )
        }
        yield* clean
      }).pipe(Effect.provide(withMemory(manual, parrot))),
  )

  it.effect("a call and its result keep their ids, so that the pair stays one (L5)", () =>
    Effect.gen(function* () {
      const providerData = { anthropic: { fields: { note: secret } } }
      const memory = yield* Memory.Memory
      yield* memory.append("s", [
        Message.user("look it up"),
        Message.call([{ id: "c1", name: "find", arguments: `{"q":"${secret}"}`, providerData }], {
          text: secret,
        }),
        Message.result({ id: "c1", output: secret, content: [{ type: "text", text: secret }] }),
        ...said(2),
      ])
      yield* memory.redact("s", 1)
      yield* memory.redact("s", 2)
      expect(yield* everything).not.toContain("Rumpelstiltskin")
      const { messages } = yield* memory.context("s")
      expect(messages.flatMap(Message.calls)).toMatchObject([{ id: "c1", name: "find", arguments: "{}" }])
      expect(messages.flatMap(Message.results)).toMatchObject([{ id: "c1", output: "[redacted]" }])
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("wins over a compaction that has read the words", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      const { entered, gate, summarizer } = yield* gated
      const memory = yield* Memory.make(manual).pipe(
        Effect.provideService(EventLog.EventLog, log),
        Effect.provideService(Summarizer.Summarizer, summarizer),
      )
      yield* memory.append("s", said(6))
      const fiber = yield* Effect.fork(memory.compact("s", { which: "due" }))
      yield* Deferred.await(entered)
      yield* memory.redact("s", 1)
      yield* Deferred.succeed(gate, undefined)
      const outcomes = yield* Fiber.join(fiber)
      expect(outcomes[0]).toMatchObject({ _tag: "Lost" })
      expect(yield* Verify.session(log, "s")).toEqual([])
    }).pipe(Effect.scoped),
  )

  it.effect("erases a message that was stored in an earlier schema version", () =>
    Effect.gen(function* () {
      const log = yield* EventLog.EventLog
      const records = [secret, "Good day"].map((text, index): EventLog.NewRecord => {
        const stored = {
          time: 0,
          type: "MessageAppended",
          schemaVersion: 1,
          data: JSON.stringify({ index, message: Message.user(text), tokens: 5 }),
        }
        const place = { session: "s", version: index + 1, batchId: "b" }
        return { ...stored, checksum: EventCodec.checksumOf({ ...stored, ...place }) }
      })
      const [first, ...rest] = records
      yield* log.append("s", [first!, ...rest], { expectedVersion: 0, batchId: "b" })
      const memory = yield* Memory.Memory
      yield* memory.redact("s", 0)
      expect(yield* everything).not.toContain("Rumpelstiltskin")
      expect(texts((yield* memory.context("s")).messages)).toEqual(["[redacted]", "Good day"])
      yield* clean
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("is seen by an engine that has the message in its cache, and by whoever appends next", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user(secret), ...said(2, 1)])
      const other = yield* Memory.make(manual)
      yield* other.context("s")
      yield* memory.redact("s", 0)
      yield* other.append("s", said(1, 3))
      expect(texts((yield* other.context("s")).messages)[0]).toBe("[redacted]")
      yield* clean
    }).pipe(Effect.scoped, Effect.provide(withMemory(manual))),
  )

  it.effect("erases a message from before a clear, which its version names", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", [Message.user(secret), ...said(5, 1)])
      yield* memory.compact("s", { which: "due" })
      yield* memory.clear("s")
      yield* memory.append("s", said(6))
      yield* memory.compact("s", { which: "due" })
      const before = yield* memory.context("s")
      expect(yield* everything).toContain("Rumpelstiltskin")

      // The summary that covered it would be in force again if the clear was undone.
      expect(yield* memory.redact("s", { version: 1 })).toEqual({ invalidated: 1 })
      expect(yield* everything).not.toContain("Rumpelstiltskin")
      expect(JSON.stringify(yield* memory.summaries("s"))).not.toContain("Rumpelstiltskin")
      // Message 0 of today is another one, and its summary is as valid as before.
      const { prefix: _prefix, ...after } = yield* memory.context("s")
      const { prefix: _old, ...same } = before
      expect(after).toEqual(same)
      expect(texts((yield* memory.context("s", { atVersion: 6 })).messages)).toEqual([
        "[redacted]",
        ...texts(said(5, 1)),
      ])
      yield* clean
      // By its version, a message of today is the same one as by its index.
      const [first] = yield* Stream.runCollect(
        Stream.filter(
          memory.events("s", { fromVersion: 12 }),
          ({ event }) => event._tag === "MessageAppended",
        ),
      )
      expect(yield* memory.redact("s", { version: first?.version ?? 0 })).toEqual({ invalidated: 1 })
      expect(yield* memory.redact("s", 0)).toEqual({ invalidated: 0 })
      yield* clean
    }).pipe(Effect.provide(withMemory(manual, parrot))),
  )

  it.effect("says that no message was appended at a version", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(1))
      yield* memory.clear("s")
      for (const version of [0, 2, 3]) {
        const error = yield* Effect.flip(memory.redact("s", { version }))
        expect(error).toMatchObject({ _tag: "UnknownMessage", version, total: 0 })
        expect(error.message).toBe(`Session "s" has no message at version ${version}`)
      }
      for (const name of [{}, { version: "1" }, { version: -1 }, null, [1]]) {
        expect(yield* Effect.flip(memory.redact("s", name as never))).toMatchObject({ _tag: "InvalidInput" })
      }
    }).pipe(Effect.provide(withMemory(manual))),
  )

  it.effect("names the messages there are when there is no such one", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      yield* memory.append("s", said(2))
      for (const index of [2, -1, 0.5, Number.NaN]) {
        const error = yield* Effect.flip(memory.redact("s", index))
        expect(error).toMatchObject({ _tag: "UnknownMessage", session: "s" })
      }
      expect(yield* Effect.flip(memory.redact("s", "1" as never))).toMatchObject({ _tag: "InvalidInput" })
      yield* memory.clear("s")
      expect(yield* Effect.flip(memory.redact("s", 0))).toMatchObject({ _tag: "UnknownMessage", total: 0 })
    }).pipe(Effect.provide(withMemory(manual))),
  )
})

it.effect("the echo of a summary names what is covered after all of it (L4)", () =>
  Effect.gen(function* () {
    const { memory, first } = yield* twice
    yield* memory.revert("s", { toSummary: first, pauseFor: 0 })
    yield* memory.redact("s", 5)
    expect(yield* memory.compact("s", { which: "due" })).toMatchObject([
      { _tag: "Committed", started: { from: 4, to: 8 } },
    ])
    expect((yield* memory.state("s")).summary?.segments[0]?.text).toBe("[0,8)")
    yield* clean
  }).pipe(Effect.provide(withMemory(manual, echo))),
)
