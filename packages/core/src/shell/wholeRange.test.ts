/** A log that has lost records: whoever reads there is told, and nobody else. */
import { describe, expect, it } from "@effect/vitest"
import { pairs, withMemory } from "@memfold/harness/engine"
import { withRecords } from "@memfold/harness/logs"
import { Effect, Exit, Stream } from "effect"
import { EventLog, Memory, Message, Session } from "../index.js"

const live = withMemory({ strategy: pairs, compaction: { mode: "inline" } })
const options = { strategy: pairs, compaction: { mode: "manual" } } as const

/** A memory of 100 messages with a snapshot, and another process at its log, which has lost some versions. */
const damaged = (isLost: (version: number) => boolean) =>
  Effect.gen(function* () {
    const memory = yield* Memory.Memory
    const log = yield* EventLog.EventLog
    for (let at = 0; at < 100; at++) {
      yield* memory.append("s", Message.user(`Number ${at}: the word of the day is ${word(at)}.`), {
        owner: "ann",
      })
    }
    // The index is stored now.
    yield* memory.recall("s", "word")
    const holed = withRecords(log, (records) =>
      records.filter(({ session, version }) => session !== "s" || !isLost(version)),
    )
    const other = yield* Effect.provideService(Memory.make(options), EventLog.EventLog, holed)
    return { memory: other, log: holed, whole: log }
  })

const word = (at: number): string => `zebra${String.fromCodePoint(97 + (at % 26), 97 + Math.floor(at / 26))}`

/** The version of each message. */
const versionsOf = (log: EventLog.Service) =>
  Effect.map(Stream.runCollect(Session.readEvents(log, "s")), (events) =>
    [...events].flatMap(({ event, version }) => (event._tag === "MessageAppended" ? [version] : [])),
  )

describe("a log with a hole", () => {
  it.effect("at its start: pages up to the hole are read, and the next one says what is missing", () =>
    Effect.gen(function* () {
      const { memory } = yield* damaged((version) => version <= 10)
      const page = yield* memory.messages("s", { limit: 50 })
      expect(page).toMatchObject({ from: 50, to: 100, total: 100 })
      const exit = yield* Effect.exit(memory.messages("s", { limit: 100 }))
      expect(exit).toEqual(
        Exit.fail(expect.objectContaining({ _tag: "DamagedEvent", session: "s", version: 10 })),
      )
      const older = yield* Effect.exit(memory.messages("s", { limit: 100, before: page.before! }))
      expect(older).toEqual(exit)
      // What nobody reads does not matter.
      expect((yield* memory.context("s")).messages.length).toBeGreaterThan(0)
      yield* memory.append("s", Message.user("on it goes"))
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.effect("anywhere is said by whoever reads it: pages, events in both orders, and recall", () =>
    Effect.gen(function* () {
      for (const lost of [0, 1, 5, 17, 40]) {
        const session = yield* Effect.scoped(
          Effect.gen(function* () {
            let version = 0
            const { memory, log, whole } = yield* damaged((one) => one === version)
            const versions = yield* versionsOf(whole)
            version = versions[lost]!
            const failure = Exit.fail(
              expect.objectContaining({ _tag: "DamagedEvent", session: "s", version }),
            )
            const read = (range: EventLog.ReadOptions) =>
              Effect.exit(Stream.runCollect(Session.make(log).events("s", range)))
            expect(yield* Effect.exit(memory.messages("s", { limit: 100 }))).toEqual(failure)
            expect(yield* Effect.exit(memory.recall("s", word(lost)))).toEqual(failure)
            for (const range of [
              { fromVersion: version, toVersion: version },
              { fromVersion: version, toVersion: version + 3 },
              { fromVersion: Math.max(version - 3, 1), toVersion: version },
              { toVersion: version },
              { fromVersion: version },
              {},
            ]) {
              expect([range, yield* read(range)]).toEqual([range, failure])
              if (range.toVersion === undefined && range.fromVersion !== undefined) continue
              expect([range, yield* read({ ...range, reverse: true })]).toEqual([range, failure])
            }
            const after = { fromVersion: version + 1, toVersion: version + 2 }
            expect(Exit.isSuccess(yield* read(after))).toBe(true)
            expect(Exit.isSuccess(yield* read({ ...after, reverse: true }))).toBe(true)
            expect((yield* memory.recall("s", word(lost + 30), { tokens: 100 })).text).toContain(
              word(lost + 30),
            )
            expect(Exit.isFailure(yield* Effect.exit(memory.fork("s", "copy")))).toBe(true)
            return memory
          }),
        )
        yield* session.delete("s")
      }
    }).pipe(Effect.provide(live)),
  )

  it.effect("at its end is said by the events of a memory, in both orders", () =>
    Effect.gen(function* () {
      const { memory, whole } = yield* damaged((version) => version > 90)
      expect((yield* versionsOf(whole)).at(-1)).toBeGreaterThan(91)
      const failure = Exit.fail(expect.objectContaining({ _tag: "DamagedEvent", session: "s", version: 91 }))
      for (const range of [undefined, {}, { fromVersion: 50 }, { fromVersion: 91 }, { reverse: true }])
        expect([range, yield* Effect.exit(Stream.runCollect(memory.events("s", range)))]).toEqual([
          range,
          failure,
        ])
      expect(yield* Effect.exit(Stream.runCollect(memory.eventsOf("ann")))).toEqual(failure)
      const before = yield* Stream.runCollect(memory.events("s", { toVersion: 90 }))
      expect([...before]).toHaveLength(90)
      expect([...(yield* Stream.runCollect(memory.events("none")))]).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.effect("is named by a search in all sessions of an owner, which finds the others", () =>
    Effect.gen(function* () {
      const { memory, whole } = yield* damaged((version) => version <= 3)
      yield* memory.append("t", Message.user(`${word(0)} again`), { owner: "ann" })
      expect((yield* versionsOf(whole))[0]).toBeLessThan(3)
      const found = yield* memory.recallOf("ann", word(0))
      expect(found.messages.map(({ session }) => session)).toEqual(["t"])
      expect(found.unreadable).toEqual(["s"])
    }).pipe(Effect.scoped, Effect.provide(live)),
  )

  it.effect("is none where a range goes beyond the log, or the session is gone", () =>
    Effect.gen(function* () {
      const memory = yield* Memory.Memory
      const sessions = Session.make(yield* EventLog.EventLog)
      for (let at = 0; at < 3; at++) yield* memory.append("s", Message.user(`${at}`))
      const versions = (session: string, range: EventLog.ReadOptions) =>
        Effect.map(Stream.runCollect(sessions.events(session, range)), (all) =>
          [...all].map(({ version }) => version),
        )
      expect(yield* versions("s", { toVersion: 99 })).toEqual([1, 2, 3])
      expect(yield* versions("s", { toVersion: 99, reverse: true })).toEqual([3, 2, 1])
      expect(yield* versions("s", { fromVersion: 4, toVersion: 9 })).toEqual([])
      expect(yield* versions("s", { fromVersion: 4, toVersion: 9, reverse: true })).toEqual([])
      expect(yield* versions("s", { fromVersion: 3, toVersion: 2 })).toEqual([])
      expect(yield* versions("s", { fromVersion: 2, toVersion: 1, reverse: true })).toEqual([])
      expect(yield* versions("none", { toVersion: 9, reverse: true })).toEqual([])
    }).pipe(Effect.provide(live)),
  )
})
