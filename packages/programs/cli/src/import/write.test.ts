import { createHash } from "node:crypto"
import * as fc from "fast-check"
import { EventCodec, EventLog, InMemoryEventLog, TokenCounter } from "@memfold/core"
import { Effect, Either, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { chat } from "@memfold/testing/arbitrary"
import { continued } from "./continued.js"
import { eventsOf } from "./events.js"
import { commitOf, importedBefore, write } from "./write.js"

const imported = eventsOf(
  { messages: chat(4), summaries: [] },
  { session: "s", now: 0, counter: TokenCounter.estimating },
)

const { events } = imported

const onLog = <A, E>(use: (log: EventLog.Service) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Effect.flatMap(EventLog.EventLog, use).pipe(Effect.provide(InMemoryEventLog.layer)))

describe("an import", () => {
  it("is one batch, and done once (L12)", () =>
    onLog((log) =>
      Effect.gen(function* () {
        expect(yield* importedBefore(log, "s", "c")).toBe(0)
        expect(yield* write(log, "s", "c", events)).toBe(true)
        expect(yield* importedBefore(log, "s", "c")).toBeNull()
        expect(yield* write(log, "s", "c", events)).toBe(false)
        expect(yield* EventLog.versionOf(log, "s")).toBe(events.length)
        const next = { time: 1, ...EventCodec.encode({ _tag: "SessionCleared" }) }
        yield* log.append("s", [next], { expectedVersion: events.length, batchId: "later" })
        // The session has gone on since.
        expect(yield* importedBefore(log, "s", "c")).toBeNull()
      }),
    ))

  it("goes into no session that has other content, and leaves it as it was", () =>
    onLog((log) =>
      Effect.gen(function* () {
        yield* write(log, "s", "c", events)
        const before = yield* Effect.flip(importedBefore(log, "s", "other"))
        expect(before).toMatchObject({ _tag: "SessionTaken", session: "s", events: events.length })
        // Somebody else was faster.
        const raced = yield* Effect.flip(write(log, "s", "other", events))
        expect(raced).toMatchObject({ _tag: "SessionTaken" })
        expect(yield* EventLog.versionOf(log, "s")).toBe(events.length)
      }),
    ))

  it.each([null, { id: "ann" }])("is continued by another user, each event with its own: %o", (first) =>
    onLog((log) =>
      Effect.gen(function* () {
        const known = events.length - 2
        const by = (actor: { readonly id: string } | null) =>
          events.map((one) => (actor === null ? one : { ...one, actor }))
        yield* write(log, "s", "c", by(first).slice(0, known))
        const more = { ...imported, events: by({ id: "ben" }) }
        const into = { session: "s", batchId: "d", from: "transcript" }
        expect(yield* continued(log, into, more, known)).toBe(true)
        const records = yield* Stream.runCollect(EventLog.records(log, "s"))
        const actors = [...records].map(
          (record) => Either.getOrNull(EventCodec.decode(record))?.actor ?? null,
        )
        expect(actors).toEqual([...Array.from({ length: known }, () => first), { id: "ben" }, { id: "ben" }])
      }),
    ),
  )

  it("is named after what it brings", () => {
    expect(commitOf({ a: 1 })).toBe(commitOf({ a: 1 }))
    expect(commitOf({ a: 1 })).not.toBe(commitOf({ a: 2 }))
  })

  it("is the hash of its JSON, of which no more than a message is made at once", () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (content) => {
        let json: string
        try {
          json = JSON.stringify(content)
        } catch {
          return
        }
        expect(commitOf(content)).toBe(
          `import-${createHash("sha256").update(json).digest("hex").slice(0, 20)}`,
        )
      }),
    ))
})
