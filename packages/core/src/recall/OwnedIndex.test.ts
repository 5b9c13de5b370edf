/** The index of many sessions in the process, and the searches over it. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, TestClock } from "effect"
import * as fc from "fast-check"
import { inspect } from "node:util"
import { often } from "@memfold/harness/depth"
import { echo, pairs } from "@memfold/harness/engine"
import { EventLog, InMemoryEventLog, Memory, Message, Summarizer } from "../index.js"
import { redactMessage } from "../memory/erase.js"
import { makeParts } from "../memory/MemoryParts.js"
import { readState } from "../memory/readState.js"
import { recallOf } from "../memory/recall.js"
import { OwnedIndex } from "./OwnedIndex.js"
import { beginning, lookUp, SessionIndex } from "./SessionIndex.js"

const words = ["graz", "linz", "bern", "parcel", "order"]

const indexOf = (messages: ReadonlyArray<ReadonlyArray<string>>): SessionIndex => {
  const index = new SessionIndex(beginning([]), [])
  for (const [at, terms] of messages.entries())
    index.addTerms({ version: at + 1, time: 1_000 * at }, { terms, marks: [] })
  return index
}

const infoOf = (session: string, version: number) => ({
  session,
  version,
  createdTime: 0,
  updatedTime: version,
})

describe("the index of many sessions", () => {
  it("answers as the indexes of the sessions do, whatever was taken in and dropped before", async () => {
    const messages = fc.array(fc.array(fc.constantFrom(...words), { maxLength: 4 }), { maxLength: 4 })
    const step = fc.record({
      session: fc.constantFrom("a", "b", "c", "d"),
      messages: fc.option(messages),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const owned = new OwnedIndex(1_000)
        const expected = new Map<string, SessionIndex>()
        for (const [at, { session, messages: said }] of steps.entries()) {
          if (said === null) {
            owned.forget(session)
            expected.delete(session)
          } else {
            const index = indexOf(said)
            expect(owned.put(infoOf(session, at), "ann", index)).toBe(true)
            expect(owned.has(infoOf(session, at))).toBe(true)
            expect(owned.has(infoOf(session, at + 1))).toBe(false)
            expected.set(session, index)
          }
        }
        const found = await Effect.runPromise(owned.lookUp(["a", "b", "c", "d"], words))
        expect([...found.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
        for (const [session, index] of expected) {
          const { before, postings } = found.get(session)!
          const right = lookUp([index], { terms: words, before })
          expect(before).toBe(index.versions.length)
          expect(new Map([...postings.terms].map(([term, list]) => [term, Array.from(list)]))).toEqual(
            right.terms,
          )
          expect(Array.from(postings.times)).toEqual(Array.from(right.times))
          expect(Array.from(postings.lengths)).toEqual(Array.from(right.lengths))
          const all = Array.from({ length: before + 1 }, (_, index) => index)
          expect(Effect.runSync(postings.versions(all))).toEqual(Effect.runSync(right.versions(all)))
        }
      }),
      { numRuns: often(40, 400) },
    )
  })

  it("keeps no word of a session that was dropped", () => {
    const owned = new OwnedIndex(100)
    owned.put(infoOf("a", 1), "ann", indexOf([["graz", "linz"], ["graz"]]))
    owned.put(infoOf("b", 1), "ann", indexOf([["linz", "bern"]]))
    owned.forget("a")
    expect(inspect(owned, { depth: null })).not.toContain("graz")
    expect(inspect(owned, { depth: null })).toContain("linz")
  })

  it("holds no more than it may", () => {
    const owned = new OwnedIndex(3)
    expect(owned.put(infoOf("a", 1), "ann", indexOf([["graz", "linz"]]))).toBe(true)
    expect(owned.put(infoOf("b", 1), "ann", indexOf([["graz", "linz"]]))).toBe(false)
    expect(owned.has(infoOf("b", 1))).toBe(false)
    owned.forget("a")
    expect(owned.put(infoOf("b", 1), "ann", indexOf([["graz", "linz"]]))).toBe(true)
  })

  it("refuses a session only as it is now, and has nothing of it", () => {
    const owned = new OwnedIndex(100)
    owned.put(infoOf("a", 1), "ann", indexOf([["graz"]]))
    owned.refuse(infoOf("a", 2))
    expect(owned.isRefused(infoOf("a", 2))).toBe(true)
    expect(owned.isRefused(infoOf("a", 3))).toBe(false)
    expect(owned.isRefused(infoOf("b", 2))).toBe(false)
    expect(inspect(owned, { depth: null })).not.toContain("graz")
  })
})

/** A word of its own for each number. */
const word = (number: number) =>
  `zu${String(number).replaceAll(/\d/g, (digit) => "bcdfghklmn"[Number(digit)]!)}a`

const engine = (log: EventLog.Service) =>
  Memory.make({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
    Effect.provideService(EventLog.EventLog, log),
    Effect.provideService(Summarizer.Summarizer, echo),
  )

describe("a search over sessions that were searched before", () => {
  it.scoped("reads the sessions alone that have what is found, or have changed", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const read: Array<string> = []
      const log: EventLog.Service = {
        ...real,
        read: (session, page) =>
          Effect.zipRight(
            Effect.sync(() => read.push(session)),
            real.read(session, page),
          ),
      }
      const memory = yield* engine(log)
      for (let at = 0; at < 50; at++)
        yield* memory.append(`s${at}`, Message.user(word(1_000 + at)), { owner: "ann" })
      const ask = (query: string) => Effect.map(memory.recallOf("ann", query), ({ messages }) => messages)
      expect(yield* ask(word(1_007))).toMatchObject([{ session: "s7" }])
      read.length = 0
      const other = yield* engine(real)
      yield* other.append("s3", Message.user(word(7_777)))
      expect(yield* ask(word(1_009))).toMatchObject([{ session: "s9" }])
      expect(new Set(read)).toEqual(new Set(["s3", "s9"]))
      // A message before it belongs to the answer.
      expect((yield* ask(word(7_777))).map(({ session, index }) => [session, index])).toEqual([
        ["s3", 0],
        ["s3", 1],
      ])
    }),
  )

  it.scoped("reads no session for the times of its messages", () =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const read = new Set<string>()
      const log: EventLog.Service = {
        ...real,
        read: (session, page) =>
          Effect.zipRight(
            Effect.sync(() => read.add(session)),
            real.read(session, page),
          ),
      }
      const memory = yield* engine(log)
      const day = 86_400_000
      for (let at = 0; at < 50; at++)
        yield* memory.append(
          `s${at}`,
          [Message.user(`the order ${word(at)}`), Message.assistant("Noted.")].map((message) => ({
            ...message,
            time: at * day,
          })),
          { owner: "ann" },
        )
      yield* memory.recallOf("ann", "order")
      yield* TestClock.setTime(20.5 * day)
      const asked: ReadonlyArray<readonly [string, Memory.RecallOptions, ReadonlyArray<string>]> = [
        ["order", { after: 7 * day, before: 8 * day }, ["s7"]],
        ["order", { after: 100 * day }, []],
        ["What did we say yesterday?", {}, ["s19"]],
      ]
      for (const [query, options, sessions] of asked) {
        read.clear()
        const { messages } = yield* memory.recallOf("ann", query, options)
        expect([...new Set(messages.map(({ session }) => session))]).toEqual(sessions)
        expect([...read]).toEqual(sessions)
      }
    }),
  )

  it.scoped(
    "finds nothing that was redacted, cleared, deleted or given away, here or by another process",
    () =>
      Effect.gen(function* () {
        const log = yield* InMemoryEventLog.make
        for (const by of ["here", "another"] as const) {
          const memory = yield* engine(log)
          const writer = by === "here" ? memory : yield* engine(log)
          const names = ["redacted", "cleared", "deleted", "given"].map((name) => `${name} ${by}`)
          for (const name of names)
            yield* memory.append(name, [Message.user("the code is KX-4471"), Message.user("hello")], {
              owner: by,
            })
          const ask = (query: string) =>
            Effect.map(memory.recallOf(by, query), ({ messages }) =>
              messages.filter(({ text }) => text.includes(query)),
            )
          expect(yield* ask("KX-4471")).toHaveLength(4)
          yield* writer.redact(names[0]!, 0)
          yield* writer.clear(names[1]!)
          yield* writer.delete(names[2]!)
          yield* writer.append(names[2]!, Message.user("begun anew"), { owner: by })
          yield* writer.describe(names[3]!, { owner: "bob" })
          expect(yield* ask("KX-4471")).toEqual([])
          expect(yield* ask("begun anew")).toMatchObject([{ session: names[2] }])
        }
        const { messages } = yield* (yield* engine(log)).recallOf("bob", "KX-4471")
        expect(messages.filter(({ text }) => text.includes("KX-4471"))).toHaveLength(2)
      }),
  )
})

describe("the first search in many sessions of an owner", () => {
  const sessions = 120
  const each = 20

  /** A log with many sessions, and a memory of another process. Behind a read of a session, `after` runs. */
  const many = (after: (session: string) => Effect.Effect<void>) =>
    Effect.gen(function* () {
      const real = yield* InMemoryEventLog.make
      const writer = yield* engine(real)
      for (let at = 0; at < sessions; at++)
        yield* writer.append(
          `s${at}`,
          Array.from({ length: each }, (_, index) => Message.user(`${word(at)} ${word(100 + index)}`)),
          { owner: "ann" },
        )
      const log: EventLog.Service = {
        ...real,
        read: (session, page) => Effect.zipLeft(real.read(session, page), after(session)),
      }
      return { real, writer, memory: yield* engine(log) }
    })

  /** Searches until nothing is left out. */
  const whole = (memory: Memory.Service, query: string) =>
    Effect.repeat(memory.recallOf("ann", query), { while: (found) => found.unsearchedSessions !== undefined })

  it.scoped("answers from the sessions that are indexed by then, and says how many are not", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const { real, memory } = yield* many((session) =>
        session === "s25" ? Deferred.await(gate) : Effect.void,
      )
      const search = yield* Effect.fork(memory.recallOf("ann", word(103), { tokens: 10_000 }))
      yield* Effect.repeatN(Effect.yieldNow(), 10_000)
      yield* TestClock.adjust("300 millis")
      const { unsearchedSessions, messages } = yield* search
      expect(unsearchedSessions).toBe(1)
      expect(new Set(messages.map(({ session }) => session)).size).toBe(sessions - 1)
      yield* Deferred.succeed(gate, undefined)
      expect(yield* whole(memory, word(25))).toEqual(yield* (yield* engine(real)).recallOf("ann", word(25)))
    }),
  )

  it.scoped("keeps nothing of what is redacted while it is taken in", () =>
    Effect.gen(function* () {
      const log = yield* InMemoryEventLog.make
      yield* (yield* engine(log)).append("s", Message.user("graz"), { owner: "ann" })
      let redacted: Effect.Effect<unknown, unknown> = Effect.void
      // Behind the last read of the search, before the session is in the index.
      const parts = yield* makeParts({ strategy: pairs, compaction: { mode: "manual" } }).pipe(
        Effect.provideService(EventLog.EventLog, {
          ...log,
          read: (session, page) =>
            Effect.tap(log.read(session, page), (records) => {
              if (!records.some(({ type }) => type === "MessageAppended")) return Effect.void
              const once = redacted
              redacted = Effect.void
              return Effect.orDie(once)
            }),
        }),
        Effect.provideService(Summarizer.Summarizer, echo),
      )
      yield* readState(parts.sessions, "s")
      redacted = redactMessage(parts, "s", 0)
      yield* recallOf(parts, "ann", "graz")
      expect(inspect(parts.reading.owned, { depth: null })).not.toContain("graz")
    }),
  )

  it.scoped("comes to its end where many sessions are damaged, and names them", () =>
    Effect.gen(function* () {
      const { real, memory } = yield* many(() => Effect.void)
      const names = Array.from({ length: sessions }, (_, at) => `s${at}`)
      for (const name of names)
        yield* real.rewrite(
          name,
          Array.from({ length: each + 1 }, (_, at) => ({
            version: each + 1 - at,
            schemaVersion: 1,
            data: "{",
            checksum: 1,
          })),
          [{ time: 0, type: "Later", schemaVersion: 1, data: "{}" }],
          { expectedVersion: yield* EventLog.versionOf(real, name), batchId: `damage ${name}` },
        )
      for (let search = 0; search < 2; search++) {
        const { unreadable, unsearchedSessions } = yield* memory.recallOf("ann", word(1))
        expect(unsearchedSessions).toBeUndefined()
        expect(unreadable.toSorted()).toEqual(names.toSorted())
      }
    }),
  )
})
